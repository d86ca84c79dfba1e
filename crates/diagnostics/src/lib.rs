//! The error messages of Vesica: what is wrong, and what to do next.
//!
//! The layers below give typed errors. Here each becomes a [`Message`], with a module for each
//! family of errors. Messages start in lower case and end without a full stop. They name files,
//! lines, columns, peers and phases; never a key, an item or the value of a cell.
//!
//! * [`Message`], [`Who`] — an error with its hint, and who must act.
//! * [`Speech`] — whether a message names the options of the command or the arguments of the Python
//!   package.
//! * [`agreement`] — agreements that cannot be used.
//! * [`arguments`] — addresses, keys and names that contradict each other.
//! * [`checked`] — the results of checking a file.
//! * [`engine`] — a run between two parties, and its files and settings.
//! * [`with_helper`] — a run with a helper.
//! * [`helper`] — the helper's service.
//! * [`input`] — inputs that cannot be used, and results that cannot be written.
//! * [`link`] — keys, addresses and connections.
//! * [`memory`] — amounts of memory.
//! * [`runs`] — the runs in a store, and what cleaning it removes.
//! * [`shares`] — files of shares.
//! * [`stores`] — stores and shared folders that cannot be used.
//! * [`files`] — what the operating system says about files.
//! * [`words`] — lists, counts and times in words.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod agreement;
pub mod arguments;
pub mod checked;
mod columns;
mod doubts;
pub mod engine;
mod exchange;
pub mod files;
pub mod helper;
pub mod input;
pub mod link;
pub mod memory;
mod message;
mod no_memory;
pub mod runs;
pub mod shares;
mod speech;
pub mod stores;
mod tables;
pub mod with_helper;
pub mod words;

pub use message::{Message, Who, defect, no_threads};
pub use no_memory::{NO_MEMORY, no_memory};
pub use speech::Speech;
