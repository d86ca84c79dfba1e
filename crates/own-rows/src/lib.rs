//! The items of a party's rows, in the order of its file; its set as it enters a protocol; and the
//! way from common items to rows.
//!
//! * [`RowItems`] — the items, in memory or in a file.
//! * [`distinct`], [`Spread`], [`bits`] — from rows to items and back.
//! * [`RowSet`] — a set of rows; [`RowEntries`] — how many entries a row has; [`PartnerColumns`] —
//!   the other party's columns for the rows of a set.
//! * [`Union`], [`Ids`] — results that name keys; [`KeyRows`] — the rows of own keys in them.
//! * [`SharesOrder`] — what a party knows of the order of its shares.
//! * [`added_columns`] — the columns that a result has besides those of the input.
//! * [`self_check`] — the set with self-check items and padding, and the checks of a result.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod files;
mod items;
mod keys;
mod order;
mod partner;
pub mod self_check;
mod set;

pub use files::{added_columns, write_totals};
pub use items::{RowItems, Spread, bits, distinct};
pub use keys::{IdEntry, Ids, KeyRows, Union, UnionEntry};
pub use order::{OrderLine, SharesOrder};
pub use partner::PartnerColumns;
pub use set::{RowEntries, RowSet};
