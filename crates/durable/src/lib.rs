//! A folder of small files that survive a crash: what a party keeps of an unfinished run.
//!
//! * [`Folder`] — only its owner may enter it, and one process at a time uses it. Each file is written whole or not at
//!   all, and is on the disk when the call returns.
//! * [`FolderError`] — why a folder cannot be used.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod folder;

pub use folder::{Folder, FolderError};
