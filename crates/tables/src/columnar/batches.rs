//! The cells of some columns, and whole rows, a batch at a time.

use super::cells::{CellForm, NoText, TextColumn, may_lack_text, type_name};
use super::fields::{CellColumn, CellPath};
use super::file::{TableFile, parquet_error};
use super::guard::guarded;
use super::table::Table;
use crate::known_file::KnownFile;
use crate::row::Row;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::Fields;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection,
};
use std::path::PathBuf;
use vesica_inputs::error::{EncodingGuess, InFile, InputError, OutputError, Place, WriteError};

pub(super) const BATCH_ROWS: usize = 4096;

/// Some columns of a table in text form.
pub(crate) struct CellBatches {
    reader: ParquetRecordBatchReader,
    /// In the order in which they are asked for.
    columns: Vec<ColumnCells>,
    next_row: u64,
    path: PathBuf,
}

/// The place of the cells of one column that is read, and how they become text.
pub(super) struct ColumnCells {
    /// The column of a batch.
    pub(super) at: usize,
    /// The cell in it, by its column in the file.
    pub(super) path: CellPath,
    pub(super) name: String,
    pub(super) form: CellForm,
}

impl ColumnCells {
    /// The cells of `column` among columns of the types in `fields`, in column `at` of the batches.
    pub(super) fn new(column: &CellColumn, at: usize, fields: &Fields) -> Self {
        let form = column.path.field(fields).map(|field| CellForm::new(field, column.form));
        Self {
            at,
            path: column.path.clone(),
            name: fields[column.path.column].name().clone(),
            form: form.unwrap_or_default(),
        }
    }
}

/// The cells of some rows.
pub(crate) struct CellBatch {
    columns: Vec<TextColumn>,
    first_row: u64,
    len: usize,
}

/// One row of a batch.
pub(crate) struct CellRow<'a> {
    batch: &'a CellBatch,
    row: usize,
}

impl CellBatches {
    /// The rows of one row group with the number of its first row, or of all row groups.
    pub(crate) fn open(
        known: &KnownFile,
        table: &Table,
        columns: &[CellColumn],
        group: Option<(usize, u64)>,
    ) -> Result<Self, InputError> {
        let indices: Vec<usize> = columns.iter().map(|column| column.path.column).collect();
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
            TableFile(known.reopen()?),
            table.keys(known, &indices)?.clone(),
        );
        let schema = builder.parquet_schema();
        let leaves = columns.iter().flat_map(|column| column.path.leaves(schema));
        let mask = ProjectionMask::leaves(schema, leaves);
        let mut builder = builder.with_projection(mask).with_batch_size(BATCH_ROWS);
        if let Some((group, _)) = group {
            builder = builder.with_row_groups(vec![group]);
        }
        // A projected batch has its columns in the file's order, each once.
        let mut projected = indices;
        projected.sort_unstable();
        projected.dedup();
        let columns = columns
            .iter()
            .map(|column| {
                let index = column.path.column;
                let at = projected.partition_point(|known| *known < index);
                ColumnCells::new(column, at, table.schema().fields())
            })
            .collect();
        let reader = guarded(known.path(), || {
            builder.build().map_err(|error| parquet_error(known, &error))
        })?;
        Ok(Self {
            reader,
            columns,
            next_row: group.map_or(0, |(_, first_row)| first_row) + 1,
            path: known.path().to_path_buf(),
        })
    }

    pub(crate) fn next(&mut self) -> Result<Option<CellBatch>, InputError> {
        let Self { reader, columns, next_row, path } = self;
        guarded(path, || {
            let damaged = || InputError::DamagedParquet { path: path.clone() };
            let Some(batch) = reader.next() else { return Ok(None) };
            let batch = batch.map_err(|_| damaged())?;
            let first_row = *next_row;
            *next_row += batch.num_rows() as u64;
            let text = |ColumnCells { at, path: cell, name, form }: &ColumnCells| {
                let array = batch.columns().get(*at).and_then(|column| cell.cells(column));
                TextColumn::new(&array.ok_or_else(damaged)?, *form)
                    .map_err(|reason| no_text(&reason, path, first_row, name))
            };
            let columns = columns.iter().map(text).collect::<Result<_, _>>()?;
            Ok(Some(CellBatch { columns, first_row, len: batch.num_rows() }))
        })
    }
}

/// The error for a column without a text form.
pub(crate) fn no_text(
    reason: &NoText,
    path: &std::path::Path,
    first_row: u64,
    column: &str,
) -> InputError {
    let path = path.to_path_buf();
    match *reason {
        NoText::NotUtf8 { row, byte } => InputError::InvalidUtf8 {
            path,
            place: Place::Row(first_row + row as u64),
            byte: byte as u64 + 1,
            column: Some(column.to_string()),
            guess: EncodingGuess::Unknown,
        },
        NoText::Damaged => InputError::DamagedParquet { path },
    }
}

/// Reads the columns that may have cells without a text form, and reports the first such cell.
pub(crate) fn check_texts(known: &KnownFile, at: &InFile, table: &Table) -> Result<(), WriteError> {
    let fields = table.schema().fields();
    let doubtful: Vec<usize> =
        (0..fields.len()).filter(|at| may_lack_text(fields[*at].data_type())).collect();
    if doubtful.is_empty() {
        return Ok(());
    }
    let file = TableFile(known.reopen()?);
    let mut reader = guarded(known.path(), || {
        let whole = table.whole(known)?.clone();
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, whole);
        let mask = ProjectionMask::roots(builder.parquet_schema(), doubtful.iter().copied());
        builder
            .with_projection(mask)
            .with_batch_size(BATCH_ROWS)
            .build()
            .map_err(|error| parquet_error(known, &error))
    })?;
    let mut first_row = 1;
    loop {
        let found = guarded(known.path(), || {
            let Some(batch) = reader.next() else { return Ok(None) };
            let damaged = |_| InputError::DamagedParquet { path: known.path().to_path_buf() };
            let batch = batch.map_err(damaged)?;
            let bad = batch
                .columns()
                .iter()
                .zip(&doubtful)
                .find_map(|(array, column)| Some((unwritable_row(array)?, *column)));
            Ok(Some((batch.num_rows(), bad)))
        })?;
        let Some((rows, bad)) = found else { return Ok(()) };
        if let Some((row, column)) = bad {
            let field = &fields[column];
            let (column, type_name) = (field.name().clone(), type_name(field.data_type()));
            let place = at.place(Place::Row(first_row + row as u64));
            return Err(OutputError::UnwritableCell { place, column, type_name }.into());
        }
        first_row += rows as u64;
    }
}

/// The first row of `array` without a text form.
fn unwritable_row(array: &ArrayRef) -> Option<usize> {
    match TextColumn::new(array, CellForm::default()) {
        Ok(_) => None,
        Err(NoText::NotUtf8 { row, .. }) => Some(row),
        Err(NoText::Damaged) => Some(
            (0..array.len())
                .find(|row| TextColumn::new(&array.slice(*row, 1), CellForm::default()).is_err())
                .unwrap_or(0),
        ),
    }
}

impl CellBatch {
    /// `len` rows from number `first_row` on, which counts from 1.
    pub(super) fn new(columns: Vec<TextColumn>, first_row: u64, len: usize) -> Self {
        Self { columns, first_row, len }
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = CellRow<'_>> {
        (0..self.len).map(|row| CellRow { batch: self, row })
    }
}

impl Row for CellRow<'_> {
    #[inline]
    fn cell<'a>(&'a self, index: usize, _: &'a mut Vec<u8>) -> &'a [u8] {
        self.batch.columns[index].cell(self.row)
    }

    #[inline]
    fn place(&self) -> Place {
        Place::Row(self.batch.first_row + self.row as u64)
    }
}

/// Whole rows of one row group.
pub(crate) struct RowBatches {
    reader: ParquetRecordBatchReader,
    path: PathBuf,
}

impl RowBatches {
    /// The selected rows of a row group, with all columns.
    pub(crate) fn open(
        known: &KnownFile,
        table: &Table,
        group: usize,
        selection: RowSelection,
    ) -> Result<Self, InputError> {
        let file = TableFile(known.reopen()?);
        let reader = guarded(known.path(), || {
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, table.whole(known)?.clone())
                .with_row_groups(vec![group])
                .with_row_selection(selection)
                .with_batch_size(BATCH_ROWS)
                .build()
                .map_err(|error| parquet_error(known, &error))
        })?;
        Ok(Self { reader, path: known.path().to_path_buf() })
    }

    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>, InputError> {
        let Self { reader, path } = self;
        guarded(path, || {
            let damaged = |_| InputError::DamagedParquet { path: path.clone() };
            reader.next().transpose().map_err(damaged)
        })
    }
}
