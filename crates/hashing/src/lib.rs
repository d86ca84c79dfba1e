//! Hashing to bins: one party places each of its items in one bin, the other in all bins where the
//! first could have placed it, so that equal items meet.
//!
//! | module | what it gives |
//! |---|---|
//! | [`Table`] | how many bins, hash functions and stash places: the tables of safe sizes |
//! | [`locations`] | the bins of an item under each function: of digests, and permutation-based |
//! | [`cuckoo`] | at most one item a bin, and a stash |
//! | [`simple`] | every item in the bins of all its functions, bin by bin |
//! | [`ShortItems`] | items hashed to the length that protocols need |
//! | [`max_load()`] | how full a bin of simple hashing gets |

#![forbid(unsafe_code)]

pub mod cuckoo;
pub mod locations;
mod max_load;
mod short;
pub mod simple;
mod table;

pub use cuckoo::{Cuckoo, Placed};
pub use locations::Locations;
pub use max_load::max_load;
pub use short::ShortItems;
pub use simple::Simple;
pub use table::{MAX_FUNCTIONS, Table};
