//! Places, and what is wrong at them.

use std::fmt;
use std::sync::Arc;

/// A place in a file. Places are ordered as a pass reaches them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Physical line of a text file, from 1; the line on which the record starts.
    Line(u64),
    /// Row of a columnar file, from 1.
    Row(u64),
    /// A line of a file of a folder.
    PartLine {
        /// The file's path within the folder.
        part: Arc<str>,
        /// As for [`Place::Line`].
        line: u64,
    },
    /// A row of a file of a folder.
    PartRow {
        /// The file's path within the folder.
        part: Arc<str>,
        /// As for [`Place::Row`].
        row: u64,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(n) => write!(f, "line {n}"),
            Place::Row(n) => write!(f, "row {n}"),
            Place::PartLine { part, line } => write!(f, "{part} line {line}"),
            Place::PartRow { part, row } => write!(f, "{part} row {row}"),
        }
    }
}

/// The kind of a file that is not a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A directory.
    Directory,
    /// A named pipe or an inherited pipe.
    Pipe,
    /// A device or a terminal.
    Device,
    /// A socket.
    Socket,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::Directory => "a directory",
            FileKind::Pipe => "a pipe",
            FileKind::Device => "a device",
            FileKind::Socket => "a socket",
        })
    }
}

/// The likely encoding of text that is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EncodingGuess {
    /// One byte per character: Latin-1, Windows-1252 and related encodings.
    SingleByte,
    /// UTF-16, either byte order.
    Utf16,
    /// None of these.
    Unknown,
}

/// A byte at an invalid position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stray {
    /// A NUL byte: the file is damaged, binary, or UTF-16.
    Nul,
    /// Text between a closing quote and the next delimiter, such as `"a"b`.
    AfterQuote,
    /// A quote in a quoted cell that is written with a backslash, as in `"a\"b"`.
    AfterBackslash,
}

impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stray::Nul => "a NUL byte",
            Stray::AfterQuote => "text after a closing quote",
            Stray::AfterBackslash => "a quote inside a quoted value that is written as \\\"",
        })
    }
}

/// A cell quoted in a way that CSV does not define. Completes the sentence "the column …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Misquoted {
    /// `, "a"`: a blank before the quote, which makes the quotes part of the value.
    BlankBeforeQuote,
    /// `'a'`.
    SingleQuotes,
}

impl fmt::Display for Misquoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Misquoted::BlankBeforeQuote => "has a blank before an opening quote",
            Misquoted::SingleQuotes => "holds values in single quotes",
        })
    }
}

/// Why a cell is not a valid value. Completes the sentence "the column …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueFault {
    /// Below zero.
    Negative,
    /// Digits with something between them: a decimal point, or a separator.
    NotPlain,
    /// 2^`bits` or more.
    TooLarge {
        /// Bits of the agreement.
        bits: u32,
    },
    /// Below −2^(`bits`−1) or above 2^(`bits`−1) − 1, where values have a sign.
    OutOfRange {
        /// Bits of the agreement.
        bits: u32,
    },
    /// Anything else.
    NotANumber,
    /// The text of no group.
    NoGroup,
    /// A text that is too long.
    TooLong {
        /// Most bytes of UTF-8 in the agreement.
        max_bytes: u16,
    },
    /// Not a day as `2026-11-29`.
    NotADate,
}

impl fmt::Display for ValueFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueFault::Negative => f.write_str("holds a number below zero"),
            ValueFault::NotPlain => {
                f.write_str("holds a number with a point, a comma or another separator")
            }
            ValueFault::TooLarge { bits } => write!(f, "holds a number of 2^{bits} or more"),
            ValueFault::OutOfRange { bits } => {
                write!(f, "holds a number outside -2^{0} to 2^{0} - 1", bits - 1)
            }
            ValueFault::NotANumber => f.write_str("holds something other than a whole number"),
            ValueFault::NoGroup => f.write_str("holds the name of no group"),
            ValueFault::TooLong { max_bytes } => {
                write!(f, "holds a text of more than {max_bytes} bytes")
            }
            ValueFault::NotADate => f.write_str("holds something other than a date"),
        }
    }
}

/// The range that a sum of values exceeds.
pub(super) struct Beyond {
    pub(super) bits: u32,
    pub(super) signed: bool,
}

impl fmt::Display for Beyond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.signed {
            write!(f, "less than -2^{0} or more than 2^{0} - 1", self.bits - 1)
        } else {
            write!(f, "2^{} or more", self.bits)
        }
    }
}
