//! What is wrong with a folder of files, and in which of them a place is.

use super::kinds::Place;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The file that a pass reads: the input, or a part of it.
#[derive(Clone, Debug)]
pub struct InFile {
    pub path: Arc<Path>,
    /// Its path within the folder, if the input is one.
    pub part: Option<Arc<str>>,
}

impl InFile {
    /// A place of this file as a place of the whole input.
    pub fn place(&self, place: Place) -> Place {
        match (place, &self.part) {
            (Place::Line(line), Some(part)) => Place::PartLine { part: Arc::clone(part), line },
            (Place::Row(row), Some(part)) => Place::PartRow { part: Arc::clone(part), row },
            (place, _) => place,
        }
    }
}

/// What an entry of a folder is that is no part of the data. Completes the sentence "the folder
/// holds x, …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StrayKind {
    /// A file of a format that is not known from its name.
    OtherFile,
    /// A folder whose name is not `column=value`.
    Folder,
    /// A folder whose name is not UTF-8, or not after percent decoding.
    BadName,
    /// A symbolic link to a folder.
    LinkToFolder,
    /// The log of a table format, which says which of the files count.
    TableLog,
}

impl fmt::Display for StrayKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StrayKind::OtherFile => "whose name shows no format",
            StrayKind::Folder => "a folder whose name is not column=value",
            StrayKind::BadName => "a folder whose name is damaged text",
            StrayKind::LinkToFolder => "a symbolic link to a folder",
            StrayKind::TableLog => "the log of a table that does not count all of its files",
        })
    }
}

/// In what two files of a folder differ. Completes the sentence "the files … and … …".
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unlike {
    /// Their formats.
    Formats,
    /// The names of the columns, or their order. They are not shown: without a header they are
    /// values.
    Columns,
    /// The type of a column.
    Types {
        /// The column.
        column: String,
        /// The types of the first and the second file.
        types: [String; 2],
    },
    /// The columns that the names of their folders give.
    Folders,
}

impl fmt::Display for Unlike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unlike::Formats => f.write_str("have different formats"),
            Unlike::Columns => f.write_str("have different columns, or in another order"),
            Unlike::Types { column, types: [first, second] } => {
                write!(f, "have column {column:?} with different types, {first} and {second}")
            }
            Unlike::Folders => f.write_str("are in folders that name different columns"),
        }
    }
}
