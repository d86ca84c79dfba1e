//! Errors in writing results.

use super::{FileKind, InputError, Place, is_too_many_open};
use std::io;
use std::path::{Path, PathBuf};

/// The result cannot be written; the target is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The name's extension indicates no format.
    #[error("the format of {} is not known from its name", path.display())]
    UnknownFormat {
        /// The output.
        path: PathBuf,
    },
    /// The name is taken.
    #[error("{} already exists", path.display())]
    Exists {
        /// The output.
        path: PathBuf,
    },
    /// The name belongs to a directory, a pipe or a device.
    #[error("{} is {kind}, not a regular file", path.display())]
    NotAFile {
        /// The output.
        path: PathBuf,
        /// The kind of file it is.
        kind: FileKind,
    },
    /// The output is the input, possibly through a link or another spelling.
    #[error("{} is the input file itself", path.display())]
    SameAsInput {
        /// The output.
        path: PathBuf,
    },
    /// The output is in the folder that is the input.
    #[error("{} is within the folder that is the input", path.display())]
    WithinInput {
        /// The output.
        path: PathBuf,
    },
    /// The directory of the output does not exist.
    #[error("the directory {} does not exist", directory.display())]
    NoDirectory {
        /// The directory.
        directory: PathBuf,
    },
    /// The disk, or the user's quota, is full.
    #[error("no space left to write {}", path.display())]
    DiskFull {
        /// The output.
        path: PathBuf,
    },
    /// The system refused to write.
    #[error("{} cannot be written: {reason}", path.display())]
    Unwritable {
        /// The output.
        path: PathBuf,
        /// The system's reason.
        reason: io::ErrorKind,
    },
    /// This process has reached its limit of open files.
    #[error("{} cannot be created: too many files are open", path.display())]
    TooManyOpen {
        /// The output.
        path: PathBuf,
    },
    /// A document is written as JSON, but the name has another extension.
    #[error("{} does not end in .json", path.display())]
    NotJson {
        /// The output.
        path: PathBuf,
    },
    /// A column that the result gets has the name of one of the input, or of one that it gets too.
    #[error("there is a column {column:?} already")]
    ColumnTaken {
        /// The name.
        column: String,
        /// Whether the column would mark rows, so that the caller chose the name.
        is_mark: bool,
    },
    /// A column has a type that a text file cannot hold.
    #[error("column {column:?} of type {type_name} cannot be written as text")]
    UnsupportedTextType {
        /// The column.
        column: String,
        /// Arrow's name of the type.
        type_name: String,
    },
    /// A cell has no text form: binary that is not UTF-8, or a time outside every calendar.
    #[error("{place}: column {column:?} of type {type_name} cannot be written as text")]
    UnwritableCell {
        /// The first row with such a cell, or the first of some thousand rows that contain one.
        place: Place,
        /// The column.
        column: String,
        /// Arrow's name of the type.
        type_name: String,
    },
    /// A column has a type that cannot be written back to Parquet.
    #[error("column {column:?} of type {type_name} cannot be written as Parquet")]
    UnsupportedParquetType {
        /// The column.
        column: String,
        /// Arrow's name of the type.
        type_name: String,
    },
}

impl OutputError {
    /// The error for a failure to create or write `path`.
    pub fn io(path: &Path, error: &io::Error) -> Self {
        let path = path.to_path_buf();
        if is_too_many_open(error) {
            return OutputError::TooManyOpen { path };
        }
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                OutputError::DiskFull { path }
            }
            io::ErrorKind::AlreadyExists => OutputError::Exists { path },
            reason => OutputError::Unwritable { path, reason },
        }
    }
}

/// Writing the matching rows failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The input can no longer be read, or has changed.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
}
