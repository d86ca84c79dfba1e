//! Keys and values of the rows of tables: normalisers, the encoding of keys, passes that read them.
//!
//! * [`Profile`] — a named, versioned rule that makes equal what two organisations write
//!   differently.
//! * [`KeyColumn`] — a column of the key, and its profile.
//! * [`KeyRule`] — one of several keys of a row.
//! * [`encoding`] — the injective encoding of a composite key.
//! * [`read_keys`] — first pass: rows to a sorted set of distinct items;
//!   [`read_keys_with`] — also the values of columns, and the texts of keys.
//! * [`payloads`] — cells of columns that the other party gets with common keys.
//! * [`stream_items`] — the same pass for sets of any size: the item of every row, in the order of
//!   the rows.
//! * [`survey_keys`], [`survey_items`] — the same passes, which count faults of rows and continue;
//!   a [`Survey`] holds these, and what the values of the key columns look like, without showing
//!   one.
//! * [`RefusedList`] — the places of rows whose key is refused, as a table.
//!
//! The rows come from a [`Source`](vesica_tables::Source) of `vesica-tables`. They are streamed:
//! memory is fixed buffers and 16 bytes a key (none if items are streamed too), plus the values,
//! texts and rows of [`read_keys_with`], for any size of the file.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod counts;
mod doubts;
pub mod encoding;
mod faults;
mod key;
mod key_items;
mod key_pass;
mod keys;
mod never;
pub mod payloads;
mod refused_list;
mod row_numbers;
mod rule;
mod shapes;
mod stream;
mod survey;
mod tally;
mod texts;
mod values;

pub use counts::{KeyCounts, KeyLimits, RefusedCount, RuleCounts, SingleQuoted};
pub use doubts::{FloatTexts, FrequentKey, Misfit, PartShape};
pub use faults::{FaultCount, Faults};
pub use key::KeyColumn;
pub use key_items::{KeyItems, NO_ITEM};
pub use keys::{Extra, KeySet, read_keys, read_keys_with, survey_keys};
pub use refused_list::RefusedList;
pub use row_numbers::RowNumbers;
pub use rule::{KeyRule, RuleColumn, max_keys};
pub use shapes::{ColumnShapes, SHAPE_MAX_CHARS, Shape};
pub use stream::{StreamError, Streamed, stream_items, stream_items_with, survey_items};
pub use survey::Survey;
pub use texts::{KeyTexts, key_values};
pub use values::{Duplicates, Groups, ValueColumns};
pub use vesica_profiles::{CatalogueRow, Normalised, Profile, ProfileError, Refusal};
pub use vesica_transforms::{Transform, TransformError, unsuited};
