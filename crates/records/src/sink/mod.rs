//! Rows to a file.
//!
//! * [`text`] — delimited text, plain or compressed.
//! * [`parquet`] — Parquet, from text cells or from whole batches.

pub(crate) mod parquet;
pub(crate) mod text;
