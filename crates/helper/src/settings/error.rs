//! What is wrong with settings, and where.

use std::fmt;
use std::io;
use std::path::PathBuf;
use vesica_backends::BackendError;
use vesica_link::ParseIdentityError;

/// A line and column of a text, both from 1. Columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The character in the line.
    pub column: u32,
}

impl Position {
    /// The position of the byte `offset` of `text`.
    pub(super) fn of(text: &str, offset: usize) -> Self {
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

/// Settings that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// The file, when they were read from one.
    pub path: Option<PathBuf>,
    /// Where in the text, when known.
    pub at: Option<Position>,
    /// What is wrong.
    pub fault: Box<SettingsFault>,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}", path.display())?,
            None => f.write_str("settings")?,
        }
        if let Some(at) = self.at {
            write!(f, ", {at}")?;
        }
        write!(f, ": {}", self.fault)
    }
}

impl std::error::Error for SettingsError {}

/// What is wrong with settings. Holds words of the file, but never the backend's address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsFault {
    /// The file could not be read.
    #[error("cannot be read ({0})")]
    Unreadable(io::ErrorKind),
    /// The text is not TOML.
    #[error("not valid TOML: {}", .0.message())]
    Syntax(toml::de::Error),
    /// A field that settings do not have.
    #[error("unknown field {field:?}{}", nearest.map_or(String::new(), |near| format!("; is {near:?} meant?")))]
    UnknownField {
        /// The field's path.
        field: String,
        /// The field it resembles.
        nearest: Option<&'static str>,
    },
    /// A field that must be there.
    #[error("the field {field:?} is missing: {meaning}")]
    MissingField {
        /// The field's path.
        field: String,
        /// What it says.
        meaning: &'static str,
    },
    /// A value of another type than the field has.
    #[error("{field:?} is {found}, not {expected}")]
    WrongType {
        /// The field's path.
        field: String,
        /// The type it has, with article.
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
        /// Least.
        min: u64,
        /// Most.
        max: u64,
    },
    /// The backend's address.
    #[error("\"helper.backend\": {0}")]
    Backend(BackendError),
    /// A party's name with other characters than a name has.
    #[error("the party name {name:?} is not of a-z, 0-9, - and _, at most 32")]
    PartyName {
        /// The name.
        name: String,
    },
    /// A party's identity.
    #[error("the identity of {name:?}: {error}")]
    Identity {
        /// The party.
        name: String,
        /// What is wrong with it.
        error: ParseIdentityError,
    },
    /// Two parties have the same identity.
    #[error("the parties {one:?} and {other:?} have the same identity")]
    SameIdentity {
        /// The first.
        one: String,
        /// The second.
        other: String,
    },
    /// Nobody is served.
    #[error("there is no party: each has a table of its own, such as [party.acme]")]
    NoParty,
}
