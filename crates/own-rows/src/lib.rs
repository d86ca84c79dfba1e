//! The items of a party's rows, in the order of its file; its set as it enters a protocol; and the
//! way from common items to rows.
//!
//! * [`RowItems`] — the items, in memory or in a file.
//! * [`distinct`], [`Spread`], [`bits`] — from rows to items and back.
//! * [`RowSet`] — a set of rows.
//! * [`self_check`] — the set with self-check items and padding, and the checks of a result.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod items;
pub mod self_check;
mod set;

pub use items::{RowItems, Spread, bits, distinct};
pub use set::RowSet;
