//! Batches of the Arrow C stream interface, from producers that may be broken.
//!
//! Like the reader of the crate `arrow`, but refuses rows that are null as a whole, and structures
//! that contradict their schema, as far as that can be seen. The length of a buffer cannot be
//! checked: the interface does not carry it.

use crate::away::away;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchOptions, RecordBatchReader, StructArray};
use arrow_data::layout;
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The name of capsules with streams.
const NAME: &CStr = c"arrow_array_stream";

/// Most rows of a batch: more than any memory holds, and few enough for lengths in bits.
const MAX_ROWS: usize = 1 << 48;

/// Batches of a producer.
pub(crate) struct Stream {
    stream: FFI_ArrowArrayStream,
    schema: SchemaRef,
    /// After the last batch, or an error, the producer is not called again.
    has_ended: bool,
}

/// An error whose text is never shown.
fn unusable() -> ArrowError {
    ArrowError::CDataInterface(String::new())
}

/// Runs `work`; a panic becomes an error. `arrow` panics if structures contradict their schema.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ArrowError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(unusable()))
}

impl Stream {
    /// The batches of a capsule from `__arrow_c_stream__`.
    ///
    /// # Errors
    /// The outer error if it is not such a capsule, the inner one if its producer is broken.
    pub(crate) fn of_capsule(
        py: Python<'_>,
        capsule: &Bound<'_, PyCapsule>,
    ) -> PyResult<Result<Self, ArrowError>> {
        let pointer = capsule.pointer_checked(Some(NAME))?.cast::<FFI_ArrowArrayStream>();
        // SAFETY: a capsule of this name points to a valid stream, which this call takes over and
        // marks as released.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
        Ok(away(py, || guarded(|| Self::new(stream))))
    }

    fn new(mut stream: FFI_ArrowArrayStream) -> Result<Self, ArrowError> {
        let get_schema =
            stream.get_schema.filter(|_| stream.release.is_some()).ok_or_else(unusable)?;
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: the stream is not released, so it may be asked for its schema.
        if unsafe { get_schema(&raw mut stream, &raw mut schema) } != 0 {
            return Err(unusable());
        }
        let schema = Arc::new(Schema::try_from(&schema)?);
        Ok(Self { stream, schema, has_ended: false })
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let get_next = self.stream.get_next.ok_or_else(unusable)?;
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the stream is not released, and has not ended.
        if unsafe { get_next(&raw mut self.stream, &raw mut array) } != 0 {
            return Err(unusable());
        }
        if array.is_released() {
            return Ok(None);
        }
        // SAFETY: the producer gives arrays of the stream's schema.
        unsafe { batch_of(array, &self.schema) }.map(Some)
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let batch = guarded(|| self.batch());
        self.has_ended = !matches!(batch, Ok(Some(_)));
        batch.transpose()
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}

/// The rows of a struct array.
///
/// # Safety
/// The array is one of the C data interface, of this schema: with buffers as long as its type, its
/// length and its offsets need.
pub(crate) unsafe fn batch_of(
    array: FFI_ArrowArray,
    schema: &SchemaRef,
) -> Result<RecordBatch, ArrowError> {
    let data_type = DataType::Struct(schema.fields().clone());
    if array.is_released() || !has_shape(&array, &data_type) {
        return Err(unusable());
    }
    // SAFETY: the caller keeps this function's contract.
    let data = unsafe { from_ffi_and_data_type(array, data_type) }?;
    let rows = StructArray::from(data);
    // A column may have a value in a null row: it must not become a key.
    if rows.null_count() > 0 {
        return Err(unusable());
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    let (_, columns, _) = rows.into_parts();
    RecordBatch::try_new_with_options(SchemaRef::clone(schema), columns, &options)
}

/// Whether an array has as many buffers and children as its type needs, and a possible length.
fn has_shape(array: &FFI_ArrowArray, data_type: &DataType) -> bool {
    let layout = layout(data_type);
    let fixed = layout.buffers.len() + usize::from(layout.can_contain_null_mask);
    // The last buffer of a view array has the lengths of the variadic buffers.
    let least = fixed + usize::from(layout.variadic);
    // Negative numbers appear as large ones here.
    let has_buffers = array.num_buffers() >= least && array.num_buffers() < MAX_ROWS;
    let has_len = array.len() < MAX_ROWS && array.offset() < MAX_ROWS;
    let child = |at: usize, data_type: &DataType| {
        at < array.num_children() && has_shape(array.child(at), data_type)
    };
    has_buffers
        && has_len
        && match data_type {
            DataType::Struct(fields) => {
                array.num_children() == fields.len()
                    && fields.iter().enumerate().all(|(at, one)| child(at, one.data_type()))
            }
            DataType::List(field)
            | DataType::LargeList(field)
            | DataType::FixedSizeList(field, _)
            | DataType::ListView(field)
            | DataType::LargeListView(field)
            | DataType::Map(field, _) => child(0, field.data_type()),
            DataType::RunEndEncoded(ends, values) => {
                child(0, ends.data_type()) && child(1, values.data_type())
            }
            DataType::Union(fields, _) => {
                array.num_children() == fields.len()
                    && fields.iter().enumerate().all(|(at, (_, one))| child(at, one.data_type()))
            }
            DataType::Dictionary(_, values) => {
                array.dictionary().is_some_and(|given| has_shape(given, values))
            }
            _ => true,
        }
}
