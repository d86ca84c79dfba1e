//! Shares as files: one of each party. Both together give the shared items and values.
//!
//! * [`SharesFile`] — one party's file, written and read.
//! * [`combine`] — the items and values of two files that belong together.
//! * [`SharesError`] — why a file, or two of them, cannot be used.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod combine;
mod error;
mod file;

pub use combine::{Combined, combine};
pub use error::SharesError;
pub use file::{SharedColumn, SharesFile};
