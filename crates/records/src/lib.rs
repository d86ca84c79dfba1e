//! Files and columns: CSV, Parquet, normalisers, key encoding.
//!
//! * [`Source`] — a file of rows, or a folder of such files, opened and checked once, read any
//!   number of times; or a frame, read once.
//! * [`Profile`] — a named, versioned rule that makes equal what two organisations write
//!   differently.
//! * [`KeyColumn`] — a column of the key, and its profile.
//! * [`encoding`] — the injective encoding of a composite key.
//! * [`read_keys`] — first pass: rows to a sorted set of distinct items;
//!   [`read_keys_with`] — also the values of columns, and the texts of keys.
//! * [`stream_items`] — the same pass for sets of any size: the item of every row, in the order of
//!   the rows.
//! * [`survey_keys`], [`survey_items`] — the same passes, which count faults of rows and continue;
//!   a [`Survey`] holds these, and what the values of the key columns look like, without showing
//!   one.
//! * [`TableWriter`], [`write_figures`], [`write_document`] — results that are not rows of the
//!   input.
//! * [`RefusedList`] — the places of rows whose key is refused, as a table.
//! * [`write_rows`], [`mark_rows`] — second pass: the rows of a bitmap, or all with a mark, in
//!   input order.
//! * [`panic_is_caught`] — for a panic hook: whether a damaged file is the cause; [`fuzzing`] — for
//!   fuzzers.
//! * [`InputError`], [`OutputError`] — errors in a file, and their places.
//!
//! Only this crate knows file formats. Rows are streamed: memory is fixed buffers and 16 bytes a
//! key (none if items are streamed too), plus the values, texts and rows of [`read_keys_with`], for
//! any size of the file.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod column_names;
mod columnar;
mod doubts;
pub mod encoding;
mod faults;
mod figures;
mod folder;
pub mod fuzzing;
mod key;
mod key_items;
mod key_pass;
mod keys;
mod never;
mod output;
mod progress;
mod refused_list;
mod row_numbers;
mod rows;
mod second_pass;
mod shapes;
mod sink;
mod source;
mod stream;
mod survey;
mod texts;
mod values;

pub use column_names::distinct_columns;
pub use columnar::{Batches, panic_is_caught};
pub use doubts::{FloatTexts, FrequentKey, Misfit, PartShape};
pub use faults::{FaultCount, Faults};
pub use figures::{TableWriter, write_figures};
pub use key::KeyColumn;
pub use key_items::KeyItems;
pub use keys::{
    Beside, KeyCounts, KeyLimits, KeySet, RefusedCount, SingleQuoted, read_keys, read_keys_with,
    survey_keys,
};
pub use output::{
    Origin, OutputOptions, check_columns, check_document_output, check_mark, check_marked_output,
    check_output, check_table_output, write_document,
};
pub use progress::Progress;
pub use refused_list::RefusedList;
pub use row_numbers::RowNumbers;
pub use second_pass::{Written, mark_rows, write_rows};
pub use shapes::{ColumnShapes, SHAPE_MAX_CHARS, Shape};
pub use source::{FRAME, ReadOptions, Source};
pub use stream::{NO_ITEM, StreamError, Streamed, stream_items, stream_items_with, survey_items};
pub use survey::Survey;
pub use texts::{KeyTexts, key_values};
pub use values::{Duplicates, Groups, ValueColumns};
pub use vesica_inputs::{
    Codec, Columns, Content, EncodingGuess, FileKind, Foreign, Format, InputError, Misquoted,
    OutputError, Place, Stray, StrayKind, Unlike, ValueFault, Workbook, WriteError, shown,
};
pub use vesica_profiles::{CatalogueRow, Normalised, Profile, ProfileError, Refusal};
