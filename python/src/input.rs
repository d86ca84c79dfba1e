//! The rows of a party: a file, or a frame that is passed through the Arrow C interfaces.

use crate::away::away;
use crate::failure::{Failed, Kind};
use crate::stream::{Stream, batch_of, guarded};
use arrow_array::RecordBatchIterator;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_schema::{ArrowError, Schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::CStr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use vesica_tables::{Batches, Format, InputError, ReadOptions, Source};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// The format of that name.
fn format_of(name: &str) -> Option<Format> {
    match name {
        "csv" => Some(Format::Csv),
        "tsv" => Some(Format::Tsv),
        "parquet" => Some(Format::Parquet),
        _ => None,
    }
}

/// A file and how it is read, as `vesica._frames.File` gives it.
#[derive(FromPyObject)]
pub(crate) struct FileOptions {
    path: PathBuf,
    delimiter: Option<u8>,
    header: bool,
    format: Option<String>,
    skip_rows: u64,
    comment: Option<u8>,
}

impl FileOptions {
    /// Opens the file.
    pub(crate) fn open(self) -> Result<Source, InputError> {
        let Self { path, delimiter, header, format, skip_rows, comment } = self;
        let format = format.as_deref().and_then(format_of);
        Source::open(path, &ReadOptions { delimiter, skip_rows, comment, header, format })
    }
}

/// Rows that one run, or one check, takes.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct Input {
    source: Mutex<Option<Source>>,
    columns: Vec<String>,
}

impl Input {
    fn of(source: Source) -> Self {
        let columns = source.columns().to_vec();
        Self { source: Mutex::new(Some(source)), columns }
    }

    /// The rows; an error the second time.
    pub(crate) fn take(&self, py: Python<'_>) -> PyResult<Source> {
        let source = self.source.lock().unwrap_or_else(PoisonError::into_inner).take();
        source.ok_or_else(|| {
            Failed::new(Kind::Data, "this input was used before", "make it again").raise(py)
        })
    }
}

#[pymethods]
impl Input {
    /// A CSV or Parquet file.
    #[staticmethod]
    fn file(py: Python<'_>, file: FileOptions) -> PyResult<Self> {
        if file.format.as_deref().is_some_and(|name| format_of(name).is_none()) {
            let hint = "the formats are csv, tsv and parquet";
            return Err(Failed::new(Kind::Settings, "unknown file format", hint).raise(py));
        }
        let source = away(py, || file.open());
        source.map(Self::of).map_err(|error| Failed::input(&error).raise(py))
    }

    /// The batches of a capsule from `__arrow_c_stream__`, and the number of their rows if it is
    /// known.
    #[staticmethod]
    fn stream(py: Python<'_>, capsule: &Bound<'_, PyCapsule>, rows: Option<u64>) -> PyResult<Self> {
        let reader =
            Stream::of_capsule(py, capsule)?.map_err(|error| no_frame(&error).raise(py))?;
        Ok(Self::of(Source::of_batches(Box::new(reader), rows)))
    }

    /// The one batch of two capsules from `__arrow_c_array__`.
    #[staticmethod]
    fn array(
        py: Python<'_>,
        schema: &Bound<'_, PyCapsule>,
        array: &Bound<'_, PyCapsule>,
    ) -> PyResult<Self> {
        let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
        let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
        // SAFETY: capsules of these names point to a valid schema and a valid array, which these
        // calls take over and mark as released.
        let (schema, array) = unsafe {
            (FFI_ArrowSchema::from_raw(schema.as_ptr()), FFI_ArrowArray::from_raw(array.as_ptr()))
        };
        let batch = guarded(|| {
            let schema = Arc::new(Schema::try_from(&schema)?);
            // SAFETY: the producer has passed the array with its schema.
            unsafe { batch_of(array, &schema) }
        })
        .map_err(|error| no_frame(&error).raise(py))?;
        let (schema, rows) = (batch.schema(), batch.num_rows() as u64);
        let batches: Batches = Box::new(RecordBatchIterator::new([Ok(batch)], Arc::clone(&schema)));
        Ok(Self::of(Source::of_batches(batches, Some(rows))))
    }

    #[getter]
    fn columns(&self) -> Vec<String> {
        self.columns.clone()
    }
}

/// The failure of a frame that does not have the shape of a table. Arrow's own text may quote a
/// value.
fn no_frame(_: &ArrowError) -> Failed {
    Failed::new(
        Kind::Data,
        "the frame is not a table of named columns that Arrow can describe",
        "give a data frame or a table; leave out columns of unusual types that are not keys",
    )
}
