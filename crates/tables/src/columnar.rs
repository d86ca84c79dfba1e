//! Tables of typed columns, Parquet or Arrow, read column by column, compared by text forms.
//!
//! * [`table`] — a Parquet file's columns and types.
//! * [`frame`] — record batches that are in memory.
//! * [`fields`] — fields of structs as columns.
//! * [`cells`] — the text form of every type.
//! * [`key_types`] — which types can be keys, and under which profiles.
//! * [`batches`] — cells of some columns and whole rows, a batch at a time.
//! * [`int96`] — the unit of timestamps that a Parquet file keeps in 96 bits.
//! * [`file`] — the file, whose end is an error.
//! * [`trial`] — whether every column can be decoded.
//! * [`guard`] — catches the decoder's panics.

mod batches;
pub(crate) mod cells;
mod fields;
mod file;
mod frame;
mod guard;
mod int96;
mod key_types;
mod table;
mod trial;

pub(crate) use batches::{CellBatch, CellBatches, RowBatches, check_texts, no_text};
pub use fields::CellColumn;
pub(crate) use fields::CellPath;
pub use frame::Batches;
pub(crate) use frame::Frame;
pub(crate) use guard::guarded;
pub use guard::panic_is_caught;
pub(crate) use key_types::check_key;
pub(crate) use table::Table;
pub(crate) use trial::try_columns;
