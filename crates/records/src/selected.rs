//! Writes the rows that a bitmap selects.

use crate::columnar::Table;
use crate::error::{InputError, WriteError};
use crate::output::OutputOptions;
use crate::progress::{Meter, Progress};
use crate::rows::{Row, TextRow};
use crate::second_pass::{Copying, Wanted, Written, write_wanted};
use crate::source::Source;
use arrow_buffer::BooleanBuffer;
use std::ops::ControlFlow;

/// Writes the rows of `source` whose bit is set, with all columns, in the order of the input. Row r,
/// from 0, has bit r mod 64 of `wanted[r / 64]`, from the lowest; `rows` is the number of rows that an
/// earlier pass saw. Does not compute keys again, so it is faster than [`crate::write_matches`], and
/// otherwise the same.
///
/// Only the file's identity, length, modification time and number of rows show that it is unchanged: a
/// caller that may have lost the [`Source`] of the earlier pass must ensure it by other means.
///
/// # Errors
/// [`InputError::Changed`] if the file changed since `source` was opened, or has another number of
/// rows; any other error of reading, and any error of writing.
///
/// # Panics
/// Unless `wanted` has ⌈`rows`/64⌉ words.
pub fn write_rows(
    source: &Source,
    rows: u64,
    wanted: &[u64],
    options: &OutputOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Written, WriteError> {
    assert_eq!(wanted.len() as u64, rows.div_ceil(64), "a bit for each row");
    write_wanted(source, &[], ByBit { bits: wanted, expected: rows, rows: 0 }, options, progress)
}

/// The rows whose bit is set.
struct ByBit<'a> {
    bits: &'a [u64],
    /// Expected number of rows.
    expected: u64,
    /// Rows so far.
    rows: u64,
}

impl ByBit<'_> {
    #[inline]
    fn bit(&self, row: u64) -> bool {
        // Rows beyond the last are detected at the end.
        let word = usize::try_from(row / 64).ok().and_then(|word| self.bits.get(word));
        row < self.expected && word.is_some_and(|word| word >> (row % 64) & 1 == 1)
    }
}

impl Wanted for ByBit<'_> {
    fn rows(&self) -> u64 {
        self.rows
    }

    #[inline]
    fn wants(&mut self, _: &impl Row) -> bool {
        self.rows += 1;
        self.bit(self.rows - 1)
    }

    #[inline]
    fn take(&mut self, row: &TextRow<'_>, copy: &mut impl Copying) -> Result<(), WriteError> {
        if self.wants(row) {
            let (body, whole) = row.record.raw();
            copy(body, whole)?;
        }
        Ok(())
    }

    fn copy_rest(&mut self, _: &mut impl Copying) -> Result<(), WriteError> {
        Ok(())
    }

    fn group(
        &mut self,
        source: &Source,
        table: &Table,
        group: usize,
        _: &mut Meter<'_>,
    ) -> Result<BooleanBuffer, InputError> {
        let damaged = || InputError::DamagedParquet { path: source.path().to_path_buf() };
        let rows = usize::try_from(table.file().row_group(group).num_rows());
        let rows = rows.map_err(|_| damaged())?;
        let first = self.rows;
        // The file's metadata may claim too many rows: nothing is allocated for unexpected ones.
        if first + rows as u64 > self.expected {
            return Err(InputError::Changed { path: source.path().to_path_buf() });
        }
        self.rows += rows as u64;
        Ok(BooleanBuffer::collect_bool(rows, |row| self.bit(first + row as u64)))
    }

    fn saw_all(self) -> bool {
        self.rows == self.expected
    }
}
