//! Strict reading of TOML files that people write: agreements, settings.
//!
//! * [`load`] — the text of a file, if it is one of a sensible size.
//! * [`document`], [`Table`] — its tables: every field is known, of its type, and its place is known.
//! * [`Located`] — what is wrong, in which line; [`Fault`] — the faults of one kind of file, [`TableFault`] and
//!   [`FileFault`] among them.

#![forbid(unsafe_code)]

mod fault;
mod file;
mod table;

pub use fault::{Fault, FileFault, Located, Position, TableFault};
pub use file::load;
pub use table::{At, Field, Table, Texts, document, nearest};
