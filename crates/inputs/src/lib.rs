//! Input files: their formats, what is wrong with them, and the records of delimited text.
//!
//! * [`InputError`], [`OutputError`] — errors in a file, and their [`Place`]s.
//! * [`Format`], [`Codec`], [`Content`], [`Workbook`], [`Foreign`] — what a file is, by its name
//!   and its first bytes.
//! * [`snapshot`], [`text`] — for `vesica-tables`: whether a file is still what it was, and its
//!   records.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod foreign;
#[doc(hidden)]
pub mod format;
#[doc(hidden)]
pub mod snapshot;
#[doc(hidden)]
pub mod text;
#[doc(hidden)]
pub mod workbook;

pub use error::{
    Columns, EncodingGuess, FileKind, InputError, Misquoted, OutputError, Place, Stray, StrayKind,
    Unlike, ValueFault, WriteError, shown,
};
pub use foreign::Foreign;
pub use format::{Codec, Content, Format};
pub use workbook::Workbook;
