//! A folder of small files that survive a crash: what a party keeps of an unfinished run.
//!
//! * [`Folder`] — only its owner may enter it, and one process at a time uses it. Each file is
//!   written whole or not at all, and is on the disk when the call returns.
//! * [`FolderError`] — why a folder cannot be used.
//! * [`Directory`] — any folder, held by a descriptor: no link in it is followed, and only regular
//!   files are opened.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod directory;
mod folder;
mod parent;

pub use directory::{Directory, Found, FoundKind, Opened};
pub use folder::{Folder, FolderError};
