//! Delimited text: bytes to records.
//!
//! * [`stream`] — the file's bytes, decompressed.
//! * [`scan`] — one record out of a buffer.
//! * [`reader`] — the records of a file, with line numbers and checks.
//! * [`dialect`] — which delimiter a file uses.

pub(crate) mod dialect;
pub(crate) mod reader;
pub(crate) mod scan;
pub(crate) mod stream;
