//! Delimited text: bytes to records.
//!
//! * [`stream`] — the file's bytes, decompressed.
//! * [`marks`] — where cells of a buffer can end.
//! * [`scan`] — finds one record in a buffer.
//! * [`reader`] — the records of a file, with line numbers and checks.
//! * [`dialect`] — detects the delimiter of a file.

pub(crate) mod dialect;
mod marks;
pub(crate) mod reader;
pub(crate) mod scan;
pub(crate) mod stream;
