//! Faults in a file, and their positions.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// A line and column of a text, both starting at 1. Columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The character in the line.
    pub column: u32,
}

impl Position {
    /// The position of the byte `offset` of `text`.
    pub fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self {
            line: number(before.matches('\n').count() + 1),
            column: number(before[line_start..].chars().count() + 1),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// The faults of one kind of file.
pub trait Fault: fmt::Debug + fmt::Display + From<FileFault> + From<TableFault> {
    /// The name of a text that does not come from a file.
    const TEXT: &'static str;
}

/// A file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<F> {
    /// The file, if the text was read from one.
    pub path: Option<PathBuf>,
    /// The position in the text, if known.
    pub at: Option<Position>,
    /// What is wrong.
    pub fault: Box<F>,
}

impl<F> Located<F> {
    /// The error of `fault` without a position.
    pub fn without_place(fault: F) -> Self {
        Self { path: None, at: None, fault: Box::new(fault) }
    }

    /// The error of `fault` at the byte `offset` of `text`.
    pub fn at(text: &str, offset: usize, fault: F) -> Self {
        Self { at: Some(Position::of(text, offset)), ..Self::without_place(fault) }
    }
}

impl<F: Fault> fmt::Display for Located<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}", path.display())?,
            None => f.write_str(F::TEXT)?,
        }
        if let Some(at) = self.at {
            write!(f, ", {at}")?;
        }
        write!(f, ": {}", self.fault)
    }
}

impl<F: Fault> std::error::Error for Located<F> {}

/// Why a file could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileFault {
    /// There is no such file.
    #[error("there is no such file")]
    Missing,
    /// A directory, a device or a pipe.
    #[error("not a regular file")]
    NotAFile,
    /// The operating system refused to read it.
    #[error("cannot be read ({0})")]
    Unreadable(io::ErrorKind),
    /// Far longer than a file written by hand.
    #[error("longer than {max_bytes} bytes")]
    TooLong {
        /// Most bytes of such a file.
        max_bytes: u64,
    },
    /// The bytes are not UTF-8.
    #[error("not UTF-8 text")]
    NotUtf8,
}

/// A fault in the form of a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableFault {
    /// The text is not TOML.
    #[error("not valid TOML: {}", .0.message())]
    Syntax(toml::de::Error),
    /// A field that the table does not have.
    #[error("unknown field {field:?}")]
    UnknownField {
        /// The field's path.
        field: String,
        /// The known field it resembles.
        nearest: Option<&'static str>,
        /// The fields that the table has.
        known: &'static [&'static str],
    },
    /// A field that must be there.
    #[error("the field {field:?} is missing")]
    MissingField {
        /// The field's path.
        field: String,
        /// The meaning of the field.
        meaning: &'static str,
    },
    /// A value of the wrong type.
    #[error("{field:?} is {found}, not {expected}")]
    WrongType {
        /// The field's path.
        field: String,
        /// The expected type, with article.
        expected: &'static str,
        /// The type of the value, with article.
        found: &'static str,
    },
    /// A number outside its range.
    #[error("{field:?} is {found}, outside {min} to {max}")]
    OutOfRange {
        /// The field's path.
        field: String,
        /// The number.
        found: i64,
        /// The smallest allowed number.
        min: u64,
        /// The largest allowed number.
        max: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let text = "é = 1\n\nab = \"ü\" x";
        let places = [(0, 1, 1), (3, 1, 3), (7, 2, 1), (8, 3, 1), (text.len(), 3, 11)];
        for (offset, line, column) in places {
            assert_eq!(Position::of(text, offset), Position { line, column }, "{offset}");
        }
        // Beyond the end, or inside a character.
        assert_eq!(Position::of(text, 1), Position::of(text, text.len()));
    }
}
