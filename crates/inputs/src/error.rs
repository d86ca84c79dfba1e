//! Errors in a file, and their places. No variant holds a value of the file.

mod columns;
mod folder;
mod kinds;
mod output;
mod shown;

pub use columns::Columns;
pub use folder::{InFile, StrayKind, Unlike};
use kinds::Beyond;
pub use kinds::{EncodingGuess, FileKind, Misquoted, Place, Stray, ValueFault};
pub use output::{OutputError, WriteError};
pub use shown::shown;

use crate::format::{Codec, Content, Format};
use crate::workbook::Workbook;
use std::io;
use std::path::{Path, PathBuf};
use vesica_profiles::Refusal;

/// The data cannot be used; the owner of the file must act.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// There is no file of that name.
    #[error("{} does not exist", shown(path))]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// Only regular files can be read twice.
    #[error("{} is {kind}, not a regular file", shown(path))]
    NotAFile {
        /// The file.
        path: PathBuf,
        /// The kind of file it is.
        kind: FileKind,
    },
    /// The system refused to open or read the file.
    #[error("{} cannot be read: {reason}", shown(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: io::ErrorKind,
    },
    /// The path is `-`, and there is no file of that name.
    #[error("standard input cannot be read twice")]
    StandardInput,
    /// The file is a workbook of a spreadsheet program, by its content or its name.
    #[error("{} is {workbook}", shown(path))]
    Workbook {
        /// The file.
        path: PathBuf,
        /// The kind of workbook.
        workbook: Workbook,
    },
    /// The format is neither given nor known from the name's extension.
    #[error("the format of {} is not known from its name", shown(path))]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The delimiter is a quote, a line end or not ASCII.
    #[error("byte {delimiter:#04x} cannot be a delimiter")]
    BadDelimiter {
        /// The requested byte.
        delimiter: u8,
    },
    /// The mark of comments is a quote, a line end, not ASCII, or the delimiter.
    #[error("byte {comment:#04x} cannot mark comments")]
    BadComment {
        /// The requested byte.
        comment: u8,
    },
    /// The first bytes are those of another format than the name indicates.
    #[error("{} should hold {expected} but holds {found}", shown(path))]
    WrongContent {
        /// The file.
        path: PathBuf,
        /// The format of the name or the option.
        expected: Content,
        /// The format of the first bytes.
        found: Content,
    },
    /// The file has no bytes, or only blank lines.
    #[error("{} is empty", shown(path))]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file has no more lines than are to be skipped at its top.
    #[error("{} has only {lines} lines", shown(path))]
    AllSkipped {
        /// The file.
        path: PathBuf,
        /// Its lines.
        lines: u64,
    },
    /// The file has columns but no row.
    #[error("{} has no data rows", shown(path))]
    NoRows {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
    },
    /// The file has no column of that name.
    #[error("{} has no column {column:?}", shown(path))]
    ColumnMissing {
        /// The file.
        path: PathBuf,
        /// The requested column.
        column: String,
        /// Similar names in the file, nearest first; at most three.
        nearest: Vec<String>,
        /// The delimiter, if it was detected.
        guessed: Option<u8>,
        /// The columns that there are.
        columns: Box<Columns>,
    },
    /// Two columns have the name of a key or of values.
    #[error("{} has two columns {column:?}, number {first} and {second}", shown(path))]
    DuplicateColumn {
        /// The file.
        path: PathBuf,
        /// The requested column.
        column: String,
        /// Its first position, from 1.
        first: usize,
        /// Its second position, from 1.
        second: usize,
    },
    /// A row has more or fewer fields than the first one.
    #[error("{}, line {line}: {found} fields where {expected} were expected", shown(path))]
    Ragged {
        /// The file.
        path: PathBuf,
        /// Line on which the row starts.
        line: u64,
        /// Fields of the header, or of the first row.
        expected: usize,
        /// Fields of this row.
        found: usize,
    },
    /// A byte sequence is not UTF-8.
    #[error("{}, {place}: not valid UTF-8", shown(path))]
    InvalidUtf8 {
        /// The file.
        path: PathBuf,
        /// The physical line or row with the first bad byte.
        place: Place,
        /// Position of the first bad byte in that line or cell, in bytes from 1.
        byte: u64,
        /// The column, where known.
        column: Option<String>,
        /// What the text looks like instead.
        guess: EncodingGuess,
    },
    /// A byte at an invalid position.
    #[error("{}, line {line}, byte {byte}: {stray}", shown(path))]
    Stray {
        /// The file.
        path: PathBuf,
        /// The physical line.
        line: u64,
        /// Position in the line, in bytes from 1.
        byte: u64,
        /// What is wrong with it.
        stray: Stray,
    },
    /// A key is quoted in a way that CSV does not define: the quotes would be compared too, and
    /// match nothing.
    #[error("{}, {place}: column {column:?} {how}", shown(path))]
    Misquoted {
        /// The file.
        path: PathBuf,
        /// The first such row.
        place: Place,
        /// Column in the file.
        column: String,
        /// The kind of quoting.
        how: Misquoted,
    },
    /// A quoted cell does not end before the file does.
    #[error("{}, line {line}: the quote opened here is never closed", shown(path))]
    UnterminatedQuote {
        /// The file.
        path: PathBuf,
        /// The line with the opening quote.
        line: u64,
    },
    /// One record is larger than the limit; usually a quote is missing.
    #[error("{}, line {line}: the record is longer than {limit_bytes} bytes", shown(path))]
    RecordTooLong {
        /// The file.
        path: PathBuf,
        /// Line on which the record starts.
        line: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// The compressed data is cut off or broken.
    #[error("{}: the {codec} data is damaged or cut off", shown(path))]
    DamagedCompression {
        /// The file.
        path: PathBuf,
        /// The compression.
        codec: Codec,
    },
    /// Zstandard data with a larger window than supported, as from `zstd --long=28`.
    #[error("{}: the zstd data needs a window of more than 128 MiB", shown(path))]
    WindowTooLarge {
        /// The file.
        path: PathBuf,
    },
    /// This process has reached its limit of open files.
    #[error("{} cannot be opened: too many files are open", shown(path))]
    TooManyOpen {
        /// The file.
        path: PathBuf,
    },
    /// The Parquet structure is broken or uses a feature that is not supported.
    #[error("{}: the Parquet data is damaged or not supported", shown(path))]
    DamagedParquet {
        /// The file.
        path: PathBuf,
    },
    /// A column of a Parquet file cannot be decoded, the others can.
    #[error("{}: column {column:?} is damaged, encrypted or not supported", path.display())]
    DamagedColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// A key column has a type without a text form.
    #[error("{}: column {column:?} of type {type_name} cannot be a key", shown(path))]
    UnsupportedKeyType {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// Arrow's name of the type.
        type_name: String,
    },
    /// A column of points in time with a time zone is a key of days: which day each is on depends
    /// on the zone.
    #[error("{}: column {column:?} has times with a time zone, not days", path.display())]
    DayWithTimeZone {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// A column of 16 bytes is a key of text: the digits of the bytes would equal no UUID in text.
    #[error("{}: column {column:?} has values of 16 bytes, not text", path.display())]
    SixteenBytes {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// Timestamps of 96 bits that no unit of 64 bits holds together: some have parts of a
    /// microsecond, and some are far from today.
    #[error("{}: column {column:?} has INT96 timestamps that do not fit 64 bits", path.display())]
    TimestampRange {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// A column of values has a type without a text form.
    #[error("{}: column {column:?} of type {type_name} has no whole numbers", shown(path))]
    UnsupportedValueType {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// Arrow's name of the type.
        type_name: String,
    },
    /// A cell is not a valid value.
    #[error("{}, {place}: column {column:?} {fault}", shown(path))]
    BadValue {
        /// The file.
        path: PathBuf,
        /// The place of the cell.
        place: Place,
        /// Column in the file.
        column: String,
        /// What is wrong with it.
        fault: ValueFault,
    },
    /// The values of the rows of one key exceed the range in sum.
    #[error(
        "{}, {place}: the values of one key in column {column:?} add up to {}",
        shown(path),
        Beyond { bits: *bits, signed: *signed }
    )]
    TotalTooLarge {
        /// The file.
        path: PathBuf,
        /// The row at which they do.
        place: Place,
        /// Column in the file.
        column: String,
        /// Bits of the agreement.
        bits: u32,
        /// Whether values have a sign.
        signed: bool,
    },
    /// Two rows have the same key, and the settings refuse that.
    #[error("{}, {second}: the key is already in {first}", shown(path))]
    DuplicateKey {
        /// The file.
        path: PathBuf,
        /// The first row with it.
        first: Place,
        /// The second.
        second: Place,
    },
    /// The text of a key is longer than agreed.
    #[error(
        "{}, {place}: column {column:?} makes the key longer than {max_bytes} bytes",
        shown(path)
    )]
    KeyTooLong {
        /// The file.
        path: PathBuf,
        /// The place of the key.
        place: Place,
        /// The column that makes it too long.
        column: String,
        /// Most bytes of a key.
        max_bytes: usize,
    },
    /// A profile refused a value, and reading is strict.
    #[error("{}, {place}: column {column:?} {reason}", shown(path))]
    Refused {
        /// The file.
        path: PathBuf,
        /// The place of the value.
        place: Place,
        /// Column in the file.
        column: String,
        /// The reason.
        reason: Refusal,
    },
    /// No row has a usable key.
    #[error("{}: none of the {rows} rows has a usable key", shown(path))]
    NoKeys {
        /// The file.
        path: PathBuf,
        /// Rows read.
        rows: u64,
        /// Rows with an empty key column.
        empty: u64,
        /// Rows with a refused key column.
        refused: u64,
    },
    /// The file has more rows than agreed.
    #[error("{} has more than {limit} rows", shown(path))]
    TooManyRows {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// The file is not the one that was read before.
    #[error("{} changed while it was being used", shown(path))]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The rows can be read only once, and were read before.
    #[error("{} was read before, and can be read only once", shown(path))]
    AlreadyRead {
        /// The name of the frame.
        path: PathBuf,
    },
    /// What gives the record batches failed, or gave one that its own schema does not describe.
    #[error("{}: a record batch could not be read", shown(path))]
    BadBatch {
        /// The name of the frame.
        path: PathBuf,
    },
    /// A folder has no file with rows.
    #[error("the folder {} holds no file with rows", path.display())]
    NoParts {
        /// The folder.
        path: PathBuf,
    },
    /// A folder has an entry that is neither a part of the data nor left out by its name.
    #[error("the folder {} holds {}, {kind}", folder.display(), path.display())]
    StrayEntry {
        /// The folder.
        folder: PathBuf,
        /// The entry.
        path: PathBuf,
        /// What it is.
        kind: StrayKind,
    },
    /// The files of a folder do not fit together.
    #[error("{} and {} {unlike}", first.display(), second.display())]
    UnlikeParts {
        /// A file of the folder.
        first: PathBuf,
        /// Another one.
        second: PathBuf,
        /// In what they differ.
        unlike: Unlike,
    },
    /// Folders are named after a column that the files have too.
    #[error("column {column:?} is in {} and in the name of its folder", path.display())]
    ColumnOfFolders {
        /// A file of the folder.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// The errors of Linux and similar systems when a process, or the machine, has too many open files;
/// the standard library has no name for them.
const TOO_MANY_OPEN: [i32; 2] = [24, 23];

/// Whether no file can be opened at all.
pub fn is_too_many_open(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|number| TOO_MANY_OPEN.contains(&number))
}

impl InputError {
    /// The error for a failure to open or read `path`.
    pub fn io(path: &Path, error: &io::Error) -> Self {
        let path = path.to_path_buf();
        if is_too_many_open(error) {
            return InputError::TooManyOpen { path };
        }
        match error.kind() {
            io::ErrorKind::NotFound => InputError::Missing { path },
            reason => InputError::Unreadable { path, reason },
        }
    }

    /// The place of the faulty row, if the error concerns a row.
    pub fn place(&self) -> Option<Place> {
        match self {
            InputError::Ragged { line, .. }
            | InputError::Stray { line, .. }
            | InputError::UnterminatedQuote { line, .. }
            | InputError::RecordTooLong { line, .. } => Some(Place::Line(*line)),
            InputError::InvalidUtf8 { place, .. }
            | InputError::Misquoted { place, .. }
            | InputError::BadValue { place, .. }
            | InputError::TotalTooLarge { place, .. }
            | InputError::KeyTooLong { place, .. }
            | InputError::Refused { place, .. }
            | InputError::DuplicateKey { second: place, .. } => Some(place.clone()),
            _ => None,
        }
    }

    /// Whether `other` is the same fault in the same column, in any row.
    pub fn is_like(&self, other: &Self) -> bool {
        use InputError::*;
        match (self, other) {
            (InvalidUtf8 { column: a, guess: b, .. }, InvalidUtf8 { column: c, guess: d, .. }) => {
                (a, b) == (c, d)
            }
            (Stray { stray: a, .. }, Stray { stray: b, .. }) => a == b,
            (Misquoted { column: a, how: b, .. }, Misquoted { column: c, how: d, .. }) => {
                (a, b) == (c, d)
            }
            (BadValue { column: a, fault: b, .. }, BadValue { column: c, fault: d, .. }) => {
                (a, b) == (c, d)
            }
            (Refused { column: a, reason: b, .. }, Refused { column: c, reason: d, .. }) => {
                (a, b) == (c, d)
            }
            (KeyTooLong { column: a, .. }, KeyTooLong { column: b, .. })
            | (TotalTooLarge { column: a, .. }, TotalTooLarge { column: b, .. }) => a == b,
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
        }
    }
}
