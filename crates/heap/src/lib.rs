//! Ends a program with a message when the system has no more memory.
//!
//! Rust ends a program with SIGABRT when an allocation fails, without a chance to print anything. A
//! program whose global allocator is [`Heap`] prints its [`OutOfMemoryMessage`] instead, and ends
//! with its exit code. Code that can handle the failure of a large allocation makes it within
//! [`may_fail`].
//!
//! [`keep_pages`] sets how the system's allocator returns memory.
//!
//! Unsafe code here is the calls of the system's allocator, of its settings, and of the system's
//! `_exit`.

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod allocator;
mod out_of_memory;
mod pages;

pub use allocator::Heap;
pub use out_of_memory::{OutOfMemoryMessage, may_fail, set_message};
pub use pages::keep_pages;
