//! A frame: rows as Arrow record batches, from memory or from something that makes them. Read once.

use super::batches::{BATCH_ROWS, CellBatch, ColumnCells, no_text};
use super::cells::{NoText, TextColumn};
use super::fields::CellColumn;
use super::guard::unless_it_panics;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::SchemaRef;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use vesica_inputs::error::InputError;

/// Record batches with one schema.
pub type Batches = Box<dyn RecordBatchReader + Send>;

/// The batches of a frame until they are read, and their schema.
pub(crate) struct Frame {
    schema: SchemaRef,
    rows: Option<u64>,
    batches: Mutex<Option<Batches>>,
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frame").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl Frame {
    pub(crate) fn new(batches: Batches, rows: Option<u64>) -> Self {
        Self { schema: batches.schema(), rows, batches: Mutex::new(Some(batches)) }
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    pub(crate) fn rows(&self) -> Option<u64> {
        self.rows
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The key columns in text form, from the first row on.
    pub(crate) fn read(
        &self,
        path: &Path,
        columns: &[CellColumn],
    ) -> Result<FrameBatches, InputError> {
        let batches = self
            .batches
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
            .ok_or_else(|| InputError::AlreadyRead { path: path.to_path_buf() })?;
        let cells = |column: &CellColumn| {
            ColumnCells::new(column, column.path.column, self.schema.fields())
        };
        Ok(FrameBatches {
            batches,
            schema: SchemaRef::clone(&self.schema),
            columns: columns.iter().map(cells).collect(),
            batch: None,
            next_row: 1,
            path: path.to_path_buf(),
        })
    }
}

/// The key columns of a frame in text form.
pub(crate) struct FrameBatches {
    batches: Batches,
    schema: SchemaRef,
    /// For each position in the key.
    columns: Vec<ColumnCells>,
    /// The key columns of a batch, and how many of its rows were given already.
    batch: Option<(Vec<ArrayRef>, usize)>,
    next_row: u64,
    path: PathBuf,
}

impl FrameBatches {
    pub(crate) fn next(&mut self) -> Result<Option<CellBatch>, InputError> {
        let unusable = InputError::BadBatch { path: self.path.clone() };
        // Arrow's own code panics on some batches that contradict themselves.
        unless_it_panics(|| self.next_text()).unwrap_or(Err(unusable))
    }

    fn next_text(&mut self) -> Result<Option<CellBatch>, InputError> {
        loop {
            let unusable = || InputError::BadBatch { path: self.path.clone() };
            if let Some((arrays, done)) = &mut self.batch
                && let Some(left) = arrays.first().map(|array| array.len() - *done)
                && left > 0
            {
                // A whole frame may be one batch: the text form of all its rows would take as much
                // memory again.
                let len = left.min(BATCH_ROWS);
                let (first_row, path) = (self.next_row, &self.path);
                let text = |(array, cells): (&ArrayRef, &ColumnCells)| {
                    let text = TextColumn::new(&array.slice(*done, len), cells.form);
                    text.map_err(|reason| match reason {
                        NoText::Damaged => unusable(),
                        reason => no_text(&reason, path, first_row, &cells.name),
                    })
                };
                let columns =
                    arrays.iter().zip(&self.columns).map(text).collect::<Result<_, _>>()?;
                *done += len;
                self.next_row += len as u64;
                return Ok(Some(CellBatch::new(columns, first_row, len)));
            }
            let Some(batch) = self.batches.next() else { return Ok(None) };
            let batch = batch.map_err(|_| unusable())?;
            // The offsets of an empty array that is a slice may lie outside the values that come
            // with it.
            if batch.num_rows() == 0 {
                return Ok(Some(CellBatch::new(Vec::new(), self.next_row, 0)));
            }
            let arrays = self.key_arrays(&batch).ok_or_else(unusable)?;
            self.batch = Some((arrays, 0));
        }
    }

    /// The key columns of a batch, if they match the schema, which has not been checked yet.
    fn key_arrays(&self, batch: &RecordBatch) -> Option<Vec<ArrayRef>> {
        let array = |cells: &ColumnCells| {
            let array = batch.columns().get(cells.at)?;
            let same_type = array.data_type() == self.schema.field(cells.at).data_type();
            if !same_type || array.to_data().validate_full().is_err() {
                return None;
            }
            cells.path.cells(array)
        };
        self.columns.iter().map(array).collect()
    }
}
