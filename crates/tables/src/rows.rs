//! A pass over some columns of a file of any format.

use crate::columnar::{self, CellBatch, CellColumn};
use crate::progress::Meter;
use crate::row::Row;
use crate::source::{Layout, Source, SourceFile};
use std::ops::ControlFlow;
use vesica_inputs::error::{InFile, InputError, Misquoted, Place};
use vesica_inputs::text::reader::Record;

/// A pass reads the clock once in this many rows.
pub(crate) const ROWS_PER_TICK: u64 = 256;

/// The actions of a pass on its rows.
pub trait Visit {
    /// The rows that follow are of `file`, and so are their places.
    fn file(&mut self, file: &InFile);

    /// Takes a row; `Break` ends the pass early.
    ///
    /// # Errors
    /// Any error, which ends the pass.
    fn row(&mut self, row: &impl Row) -> Result<ControlFlow<()>, InputError>;

    /// Whether the pass continues after faulty rows.
    fn goes_on(&self) -> bool {
        false
    }

    /// Takes what is wrong with a row, or gives it back to end the pass; `is_cut` says that the
    /// rest of the file is hidden by it.
    ///
    /// # Errors
    /// `error`, where the pass is to end.
    fn fault(&mut self, error: InputError, _is_cut: bool) -> Result<(), InputError> {
        Err(error)
    }
}

/// A record of a text file, seen through the columns that are read.
struct TextRow<'a> {
    record: Record<'a>,
    columns: &'a [CellColumn],
}

impl Row for TextRow<'_> {
    #[inline]
    fn cell<'a>(&'a self, index: usize, scratch: &'a mut Vec<u8>) -> &'a [u8] {
        self.record.cell(self.columns[index].path.column, scratch)
    }

    #[inline]
    fn place(&self) -> Place {
        Place::Line(self.record.line())
    }

    #[inline]
    fn misquoted(&self, index: usize) -> Option<Misquoted> {
        self.record.misquoted(self.columns[index].path.column)
    }
}

/// Shows every row of `source` to `visitor`, with the cells of `columns`; gives the number of rows
/// shown. A visitor may end the pass before the last row.
///
/// # Errors
/// Any error of reading that the visitor gives back, and its own; [`InputError::Changed`] if the
/// file was written to meanwhile; [`InputError::Interrupted`] if the caller of `meter` says so.
pub fn visit(
    source: &Source,
    columns: &[CellColumn],
    meter: &mut Meter<'_>,
    visitor: &mut impl Visit,
) -> Result<u64, InputError> {
    let mut rows = 0;
    for index in 0..source.files() {
        let file = source.file(index)?;
        visitor.file(&file.at);
        let end = match Named::of(&file, columns) {
            None => visit_file(&file, columns, &mut rows, meter, visitor)?,
            Some((named, columns)) => {
                let mut visitor = WithNamed { named: &named, visitor };
                visit_file(&file, &columns, &mut rows, meter, &mut visitor)?
            }
        };
        match end {
            End::Whole => {}
            End::Cut => break,
            End::Stopped => return Ok(rows),
        }
    }
    source.check_unchanged()?;
    meter.finish(rows)?;
    Ok(rows)
}

/// How the pass over a file ended.
enum End {
    /// With its last row.
    Whole,
    /// With a fault that hides the rest.
    Cut,
    /// The visitor ended it.
    Stopped,
}

/// Shows the rows of one file to `visitor`, and adds their number to `rows`.
fn visit_file(
    file: &SourceFile<'_>,
    columns: &[CellColumn],
    rows: &mut u64,
    meter: &mut Meter<'_>,
    visitor: &mut impl Visit,
) -> Result<End, InputError> {
    let source: &Source = file;
    match source.layout() {
        Layout::Text(_) => {
            let (mut reader, _) = source.records()?;
            if visitor.goes_on() {
                reader.go_on_after_faults();
            }
            loop {
                let record = match reader.next_record() {
                    Ok(Some(record)) => record,
                    Ok(None) => {
                        source.keep_digest_of(&reader);
                        return Ok(End::Whole);
                    }
                    Err(error) => {
                        let is_cut = reader.is_cut();
                        visitor.fault(error, is_cut)?;
                        if is_cut {
                            return Ok(End::Cut);
                        }
                        continue;
                    }
                };
                *rows += 1;
                if visitor.row(&TextRow { record, columns })?.is_break() {
                    return Ok(End::Stopped);
                }
                if rows.is_multiple_of(ROWS_PER_TICK) {
                    meter.tick(file.bytes_before + reader.bytes_done(), *rows)?;
                }
            }
        }
        Layout::Parquet(table) => {
            source.keep_digest(table, columns)?;
            let mut batches = columnar::CellBatches::open(source.known(), table, columns, None)?;
            let first_row = *rows;
            let bytes_at = |row| file.bytes_before + source.bytes_at_row(row - first_row, table);
            visit_batches(|| batches.next(), bytes_at, rows, meter, visitor)
        }
        Layout::Frame(frame) => {
            let mut batches = frame.read(source.path(), columns)?;
            visit_batches(|| batches.next(), |_| 0, rows, meter, visitor)
        }
        // A file of a folder is none.
        Layout::Folder(..) => Err(InputError::Changed { path: source.path().to_path_buf() }),
    }
}

/// Shows the rows of all batches to `visitor`, and adds their number to `rows`.
fn visit_batches(
    mut next: impl FnMut() -> Result<Option<CellBatch>, InputError>,
    bytes_at: impl Fn(u64) -> u64,
    rows: &mut u64,
    meter: &mut Meter<'_>,
    visitor: &mut impl Visit,
) -> Result<End, InputError> {
    loop {
        let batch = match next() {
            Ok(Some(batch)) => batch,
            Ok(None) => return Ok(End::Whole),
            Err(error) => {
                visitor.fault(error, true)?;
                return Ok(End::Cut);
            }
        };
        // The producer of a frame's batches may take long for a few rows.
        meter.tick(bytes_at(*rows), *rows)?;
        for row in batch.rows() {
            *rows += 1;
            if visitor.row(&row)?.is_break() {
                return Ok(End::Stopped);
            }
            if rows.is_multiple_of(ROWS_PER_TICK) {
                meter.tick(bytes_at(*rows), *rows)?;
            }
        }
    }
}

/// Where the cells of a row are, if the names of folders give some of them: the same for all rows
/// of a file.
struct Named<'a> {
    /// For each column that is read: its cell, or its position among those that are in the file.
    cells: Vec<Result<&'a [u8], usize>>,
}

impl<'a> Named<'a> {
    /// The cells that names give, and the columns that the file has; `None` if it has all.
    fn of(file: &'a SourceFile<'_>, columns: &[CellColumn]) -> Option<(Self, Vec<CellColumn>)> {
        let own = file.columns().len();
        if columns.iter().all(|cell| cell.path.column < own) {
            return None;
        }
        let mut read = Vec::new();
        let cells = columns
            .iter()
            .map(|cell| match cell.path.column.checked_sub(own) {
                Some(named) => Ok(file.named[named].as_deref().unwrap_or_default().as_bytes()),
                None => {
                    read.push(cell.clone());
                    Err(read.len() - 1)
                }
            })
            .collect();
        Some((Self { cells }, read))
    }
}

/// A row with cells that names of folders give.
struct NamedRow<'a, R> {
    named: &'a Named<'a>,
    row: &'a R,
}

impl<R: Row> Row for NamedRow<'_, R> {
    fn cell<'a>(&'a self, index: usize, scratch: &'a mut Vec<u8>) -> &'a [u8] {
        match self.named.cells[index] {
            Ok(cell) => cell,
            Err(index) => self.row.cell(index, scratch),
        }
    }

    fn place(&self) -> Place {
        self.row.place()
    }

    fn misquoted(&self, index: usize) -> Option<Misquoted> {
        self.named.cells[index].err().and_then(|index| self.row.misquoted(index))
    }
}

/// Shows rows to a visitor with the cells that names of folders give.
struct WithNamed<'a, V> {
    named: &'a Named<'a>,
    visitor: &'a mut V,
}

impl<V: Visit> Visit for WithNamed<'_, V> {
    fn file(&mut self, file: &InFile) {
        self.visitor.file(file);
    }

    fn row(&mut self, row: &impl Row) -> Result<ControlFlow<()>, InputError> {
        self.visitor.row(&NamedRow { named: self.named, row })
    }

    fn goes_on(&self) -> bool {
        self.visitor.goes_on()
    }

    fn fault(&mut self, error: InputError, is_cut: bool) -> Result<(), InputError> {
        self.visitor.fault(error, is_cut)
    }
}
