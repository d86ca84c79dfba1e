//! What happens when the system gives no more memory.
//!
//! Rust ends a program by SIGABRT when an allocation fails, and lets nobody say anything before it. A program whose
//! global allocator is [`Heap`] says its [`LastWords`] instead, and ends with the exit code they name. Code that has
//! an answer of its own to a large allocation that fails asks for it within [`may_fail`].
//!
//! This and `simd` are the only crates with unsafe code; here it is the calls of the system's allocator and the
//! system's `_exit`.

mod allocator;
mod last_words;

pub use allocator::Heap;
pub use last_words::{LastWords, may_fail, set_last_words};
