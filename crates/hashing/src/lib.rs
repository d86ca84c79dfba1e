//! Hashing to bins: one party places each of its items in one bin, the other in all bins where the
//! first could have placed it, so that equal items meet.
//!
//! * [`Table`] — how many bins, hash functions and stash places: the tables of safe sizes.

#![forbid(unsafe_code)]

mod table;

pub use table::Table;
