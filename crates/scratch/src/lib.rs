//! Files without a name, of which a process that ends leaves nothing behind: for large intermediate
//! data, which may also stay in memory, and for files that get their name when they are complete.
//!
//! * [`Scratch`], [`ScratchFile`] — storage that grows, and is read and written over at any place.
//! * [`MemoryScratch`] — in memory.
//! * [`FolderScratch`] — in files of a folder.
//! * [`UnnamedFile`] — a file that appears under its name whole or not at all.
//! * [`MemoryDefault`] — how much stays in memory by default, by what the system gives.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod folder;
mod memory;
mod storage;
mod unnamed;

pub use folder::FolderScratch;
pub use memory::{Bound, MEMORY_BYTES_DEFAULT, MemoryDefault, MemoryLimit};
pub use storage::{MemoryScratch, Scratch, ScratchFile};
pub use unnamed::UnnamedFile;
