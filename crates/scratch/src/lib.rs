//! Large intermediate data: in memory, or in files without a name, of which nothing is left behind.
//!
//! * [`Scratch`], [`ScratchFile`] — storage that grows, and is read and written over at any place.
//! * [`MemoryScratch`] — in memory.
//! * [`FolderScratch`] — in files of a folder.
//! * [`MemoryDefault`] — how much stays in memory by default, by what the system gives.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod folder;
mod memory;
mod storage;

pub use folder::FolderScratch;
pub use memory::{Bound, MEMORY_BYTES_DEFAULT, MemoryDefault, MemoryLimit};
pub use storage::{MemoryScratch, Scratch, ScratchFile};
