//! Files that have no name until they are complete: a process that ends before leaves nothing behind.
//!
//! * [`UnnamedFile`] — a file that appears under its name whole or not at all.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod file;

pub use file::UnnamedFile;
