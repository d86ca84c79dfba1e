//! How a file is read.

use vesica_inputs::format::Format;

/// The options for reading a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// The delimiter of a text file; `None` takes the one from a first line `sep=;`, or else
    /// detects one of `,` `;` tab `|` (a tab for TSV).
    pub delimiter: Option<u8>,
    /// Lines to skip at the top of a text file, before its header or its first row.
    pub skip_rows: u64,
    /// If given, lines of a text file that begin with this ASCII character are skipped too, up to
    /// the first one that does not. Later ones are rows.
    pub comment: Option<u8>,
    /// Whether the first record of a text file holds the column names. Without it the columns
    /// are named `1`, `2`, … Parquet always has names.
    pub header: bool,
    /// The format; `None` takes it from the name's extension.
    pub format: Option<Format>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { delimiter: None, skip_rows: 0, comment: None, header: true, format: None }
    }
}
