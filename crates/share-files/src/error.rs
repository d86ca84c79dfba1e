use std::io;
use std::path::PathBuf;

/// What is wrong with files of shares.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SharesError {
    /// The file could not be read.
    #[error("{} cannot be read: {kind}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        kind: io::ErrorKind,
    },
    /// The file is not a JSON document of shares.
    #[error("{} is no file of shares", path.display())]
    NotShares {
        /// The file.
        path: PathBuf,
    },
    /// A file of another version.
    #[error("{} has version {found} where this software knows {known}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The version of this software.
        known: u64,
    },
    /// A part of the file contradicts the rest: invalid base64, or another length.
    #[error("{}: {what} is damaged or cut off", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The part: a field, or a column.
        what: String,
    },
    /// The shares are not those that were written.
    #[error("{}: the shares do not have the checksum that is given", path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
    },
    /// The shares give a value that the column cannot hold.
    #[error("a value in {column:?} is outside the column's {bits} bits")]
    OutOfRange {
        /// The column.
        column: String,
        /// Bits of a value.
        bits: u32,
    },
    /// Both files belong to one party.
    #[error("both files are share {share} of the computation")]
    SameShare {
        /// Which.
        share: u8,
    },
    /// The files are of different computations.
    #[error("the files are of different computations")]
    OtherComputation,
    /// The files are of the same computation but disagree about it.
    #[error("the files differ in {field}")]
    Differ {
        /// The field.
        field: &'static str,
    },
}
