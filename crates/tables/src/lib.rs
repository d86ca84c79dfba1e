//! Tables of rows: text files, Parquet, frames; read, and written.
//!
//! * [`Source`] — a file of rows, or a folder of such files, opened and checked once, read any
//!   number of times; or a frame, read once.
//! * [`visit`] — a pass over the cells of some columns, row by row; [`Visit`] takes the [`Row`]s.
//! * [`TableWriter`], [`write_figures`], [`write_document`] — results that are not rows of the
//!   input.
//! * [`write_rows`], [`write_with`] — second pass: the rows of a bitmap, or all, in input order,
//!   also with more columns.
//! * [`panic_is_caught`] — for a panic hook: whether a damaged file is the cause; [`fuzzing`] — for
//!   fuzzers.
//! * [`InputError`], [`OutputError`] — errors in a file, and their places.
//!
//! Only this crate, with `vesica-inputs` below it, knows file formats. It knows no keys: a pass
//! shows the text of cells. Rows are streamed: memory is fixed buffers for any size of the file.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod added;
mod column_names;
mod columnar;
mod figures;
mod folder;
pub mod fuzzing;
mod known_file;
mod output;
mod progress;
mod row;
mod rows;
mod second_pass;
mod sink;
mod source;

pub use added::{Added, AddedCell, AddedColumn, AddedType};
pub use column_names::distinct_columns;
pub use columnar::{Batches, CellColumn, panic_is_caught};
pub use figures::{TableWriter, write_figures};
pub use output::{
    Origin, OutputOptions, check_added, check_added_output, check_columns, check_document_output,
    check_output, check_table_output, write_document,
};
pub use progress::{Meter, Progress};
pub use row::Row;
pub use rows::{Visit, visit};
pub use second_pass::{Written, write_rows, write_with};
pub use source::{FRAME, ReadOptions, Source};
pub use vesica_inputs::{
    Codec, Columns, Content, EncodingGuess, FileKind, Foreign, Format, InputError, Misquoted,
    OutputError, Place, Stray, StrayKind, Unlike, ValueFault, Workbook, WriteError, shown,
};
