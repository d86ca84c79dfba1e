//! Parquet: a table of typed columns, read column by column, compared by text forms.
//!
//! * [`table`] — the file's columns and types.
//! * [`cells`] — the text form of every type.
//! * [`batches`] — key cells and whole rows, a batch at a time.
//! * [`file`] — the file, whose end is an error.
//! * [`guard`] — catches the decoder's panics.

mod batches;
pub(crate) mod cells;
mod file;
mod guard;
mod table;

pub(crate) use batches::{KeyBatches, RowBatches, check_texts, no_text};
pub use guard::panic_is_caught;
pub(crate) use table::Table;
