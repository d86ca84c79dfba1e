//! A pass over the key columns of a file, whatever its format.

use crate::columnar::{self, KeyBatch};
use crate::error::{InputError, Misquoted, Place};
use crate::progress::Meter;
use crate::source::{CellColumn, Layout, Source};
use crate::text::reader::Record;
use std::ops::ControlFlow;

/// A pass looks at the clock once in so many rows.
pub(crate) const ROWS_PER_TICK: u64 = 256;

/// The key cells of one row.
pub(crate) trait Row {
    /// The text of the key column at position `key` of the key; empty for a null.
    fn cell<'a>(&'a self, key: usize, scratch: &'a mut Vec<u8>) -> &'a [u8];

    /// Where the row is.
    fn place(&self) -> Place;

    /// How the column at position `key` is quoted, where that is not the way of its format.
    #[inline]
    fn misquoted(&self, _key: usize) -> Option<Misquoted> {
        None
    }
}

/// What is done with each row.
pub(crate) trait Visit {
    /// Takes a row; `Break` ends the pass early.
    fn row(&mut self, row: &impl Row) -> Result<ControlFlow<()>, InputError>;

    /// Whether the pass continues after faulty rows.
    fn goes_on(&self) -> bool {
        false
    }

    /// Takes what is wrong with a row, or gives it back to end the pass; `is_cut` says that the rest of the file is
    /// hidden by it.
    fn fault(&mut self, error: InputError, _is_cut: bool) -> Result<(), InputError> {
        Err(error)
    }
}

/// A record of a text file, seen through its key columns.
pub(crate) struct TextRow<'a> {
    pub(crate) record: Record<'a>,
    /// Column in the file for each position in the key.
    pub(crate) columns: &'a [CellColumn],
}

impl Row for TextRow<'_> {
    #[inline]
    fn cell<'a>(&'a self, key: usize, scratch: &'a mut Vec<u8>) -> &'a [u8] {
        self.record.cell(self.columns[key].index, scratch)
    }

    fn place(&self) -> Place {
        Place::Line(self.record.line())
    }

    #[inline]
    fn misquoted(&self, key: usize) -> Option<Misquoted> {
        self.record.misquoted(self.columns[key].index)
    }
}

/// Shows every row of `source` to `visitor`; gives the number of rows shown.
pub(crate) fn visit(
    source: &Source,
    columns: &[CellColumn],
    meter: &mut Meter<'_>,
    visitor: &mut impl Visit,
) -> Result<u64, InputError> {
    let mut rows = 0;
    match source.layout() {
        Layout::Text(_) => {
            let (mut reader, _) = source.records()?;
            if visitor.goes_on() {
                reader.go_on_after_faults();
            }
            loop {
                let record = match reader.next() {
                    Ok(Some(record)) => record,
                    Ok(None) => break,
                    Err(error) => {
                        let is_cut = reader.is_cut();
                        visitor.fault(error, is_cut)?;
                        if is_cut {
                            break;
                        }
                        continue;
                    }
                };
                rows += 1;
                if visitor.row(&TextRow { record, columns })?.is_break() {
                    return Ok(rows);
                }
                if rows.is_multiple_of(ROWS_PER_TICK) {
                    meter.tick(reader.bytes_done(), rows)?;
                }
            }
        }
        Layout::Parquet(table) => {
            let mut batches = columnar::KeyBatches::open(source, table, columns, None)?;
            let bytes_at = |row| source.bytes_at_row(row, table);
            if visit_batches(|| batches.next(), bytes_at, &mut rows, meter, visitor)?.is_break() {
                return Ok(rows);
            }
        }
        Layout::Frame(frame) => {
            let mut batches = frame.read(source.path(), columns)?;
            if visit_batches(|| batches.next(), |_| 0, &mut rows, meter, visitor)?.is_break() {
                return Ok(rows);
            }
        }
    }
    source.check_unchanged()?;
    meter.finish(rows)?;
    Ok(rows)
}

/// Shows the rows of all batches to `visitor`, and adds their number to `rows`. `Break` if the visitor ended the pass.
fn visit_batches(
    mut next: impl FnMut() -> Result<Option<KeyBatch>, InputError>,
    bytes_at: impl Fn(u64) -> u64,
    rows: &mut u64,
    meter: &mut Meter<'_>,
    visitor: &mut impl Visit,
) -> Result<ControlFlow<()>, InputError> {
    loop {
        let batch = match next() {
            Ok(Some(batch)) => batch,
            Ok(None) => break,
            Err(error) => {
                visitor.fault(error, true)?;
                break;
            }
        };
        // Who makes the batches of a frame may take long for a few rows.
        meter.tick(bytes_at(*rows), *rows)?;
        for row in batch.rows() {
            *rows += 1;
            if visitor.row(&row)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if rows.is_multiple_of(ROWS_PER_TICK) {
                meter.tick(bytes_at(*rows), *rows)?;
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}
