//! The list of the rows that a pass refuses.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use vesica_inputs::error::{OutputError, Place};
use vesica_inputs::format::Format;
use vesica_profiles::Refusal;
use vesica_tables::{Origin, OutputOptions, Source, TableWriter};

/// The rows that a pass refuses, written one by one: where each is, its column and the reason. A
/// value would be a copy of personal data in another file, and the place is enough to find it, so
/// the list has no values.
///
/// The columns are `line` (of a text file) or `row` (of a columnar file or a frame), from 1, then
/// `column` and `reason`; before them `file`, the path within the folder, if the input is a folder.
/// Memory is fixed buffers. The file appears with [`finish`](Self::finish), whole or not at all,
/// and only its owner can read it.
pub struct RefusedList {
    /// A lock, because a pass and its threads share what is read in addition to the items.
    written: Mutex<Listed>,
    has_parts: bool,
}

struct Listed {
    table: TableWriter,
    /// The first error, after which nothing is written.
    failed: Option<OutputError>,
}

impl RefusedList {
    /// An empty list for rows of `source`. The name's extension sets the format.
    ///
    /// # Errors
    /// Any error of [`TableWriter::create`].
    pub fn create(source: &Source, options: &OutputOptions) -> Result<Self, OutputError> {
        let has_parts = source.parts().is_some();
        let place = match source.format() {
            Format::Csv | Format::Tsv => "line",
            Format::Parquet | Format::Arrow => "row",
        };
        let names: Vec<String> = has_parts
            .then_some("file")
            .into_iter()
            .chain([place, "column", "reason"])
            .map(str::to_owned)
            .collect();
        let table = TableWriter::create(Origin::OwnersAlone(source), &names, options)?;
        Ok(Self { written: Mutex::new(Listed { table, failed: None }), has_parts })
    }

    /// Adds a row. An error of writing is kept for [`finish`](Self::finish).
    #[cold]
    pub(crate) fn push(&self, place: &Place, column: &str, reason: Refusal) {
        let (part, number) = match place {
            Place::Line(number) | Place::Row(number) => ("", number),
            Place::PartLine { part, line } => (&**part, line),
            Place::PartRow { part, row } => (&**part, row),
        };
        let (number, reason) = (number.to_string(), reason.to_string());
        let cells = [part, &number, column, &reason];
        let cells = if self.has_parts { &cells[..] } else { &cells[1..] };
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.failed.is_none() {
            written.failed = written.table.row(cells).err();
        }
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// Any error of writing.
    pub fn finish(self) -> Result<(), OutputError> {
        let Listed { table, failed } =
            self.written.into_inner().unwrap_or_else(PoisonError::into_inner);
        match failed {
            Some(error) => Err(error),
            None => table.finish(),
        }
    }
}

impl fmt::Debug for RefusedList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RefusedList").finish_non_exhaustive()
    }
}
