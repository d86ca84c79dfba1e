//! Delimited text: bytes to records.
//!
//! * [`stream`] — the file's bytes, decompressed.
//! * [`marks`] — where cells of a buffer can end.
//! * [`scan`] — finds one record in a buffer.
//! * [`reader`] — the records of a file, with line numbers and checks.
//! * `backslash` — quotes written with a backslash, which CSV does not know.
//! * [`top`] — the lines above the header.
//! * [`dialect`] — detects the delimiter of a file.

mod backslash;
pub mod dialect;
pub mod marks;
pub mod reader;
pub mod scan;
pub mod stream;
pub mod top;
