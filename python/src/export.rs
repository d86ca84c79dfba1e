//! Columns and tables that other libraries import through the Arrow C interfaces, without a copy.

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Date32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::DataType;
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDate, PyDelta, PyTuple};
use std::sync::Arc;

/// A column of booleans, of whole numbers, of dates or of texts.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct Column(pub(crate) ArrayRef);

fn failed(error: &arrow_schema::ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[pymethods]
impl Column {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // The interface lets a producer ignore a schema that it cannot cast to.
        let _ = requested_schema;
        let data = self.0.to_data();
        let schema = FFI_ArrowSchema::try_from(data.data_type()).map_err(|error| failed(&error))?;
        let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
        let array = PyCapsule::new_with_value(py, FFI_ArrowArray::new(&data), c"arrow_array")?;
        PyTuple::new(py, [schema, array])
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema =
            FFI_ArrowSchema::try_from(self.0.data_type()).map_err(|error| failed(&error))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        let len = self.0.len();
        let index = if index < 0 { index.wrapping_add_unsigned(len) } else { index };
        let index = usize::try_from(index)
            .ok()
            .filter(|index| *index < len)
            .ok_or_else(|| PyIndexError::new_err("no such row"))?;
        cell(py, &self.0, index)
    }

    fn __repr__(&self) -> String {
        format!("<Column, {} rows>", self.0.len())
    }

    /// For `numpy.asarray`.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // It is always a copy.
        let _ = copy;
        let numpy = py.import("numpy")?;
        let array = match self.to_bytes(py) {
            Ok(bytes) => {
                let own = if self.0.as_boolean_opt().is_some() { "bool" } else { "int64" };
                numpy.call_method1("frombuffer", (bytes, own))?
            }
            Err(_) => numpy.call_method1("array", (self.to_list(py)?, "object"))?,
        };
        match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,)),
            None => Ok(array),
        }
    }

    /// What its cells hold.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0.data_type() {
            DataType::Boolean => "boolean",
            DataType::Date32 => "date",
            DataType::Int64 | DataType::UInt64 => "integer",
            _ => "text",
        }
    }

    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        (0..self.0.len()).map(|index| cell(py, &self.0, index)).collect()
    }

    /// The values as an array of bytes (booleans) or of 64-bit integers in the machine's byte
    /// order.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        if let Some(truths) = self.0.as_boolean_opt().filter(|truths| truths.null_count() == 0) {
            return PyBytes::new_with(py, truths.len(), |bytes| {
                for (byte, is) in bytes.iter_mut().zip(truths.values()) {
                    *byte = u8::from(is);
                }
                Ok(())
            });
        }
        match self.0.as_primitive_opt::<Int64Type>().filter(|numbers| numbers.null_count() == 0) {
            Some(numbers) => Ok(PyBytes::new(py, numbers.values().inner().as_slice())),
            None => Err(PyTypeError::new_err("texts and missing values have no fixed width")),
        }
    }
}

fn cell<'py>(py: Python<'py>, array: &ArrayRef, index: usize) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(index) {
        return Ok(py.None().into_bound(py));
    }
    if let Some(truths) = array.as_boolean_opt() {
        return Ok(truths.value(index).into_pyobject(py)?.to_owned().into_any());
    }
    if let Some(numbers) = array.as_primitive_opt::<Int64Type>() {
        return Ok(numbers.value(index).into_pyobject(py)?.into_any());
    }
    if let Some(days) = array.as_primitive_opt::<Date32Type>() {
        let epoch = PyDate::new(py, 1970, 1, 1)?;
        // Python's dates reach from year 1 to 9999.
        let span = PyDelta::new(py, days.value(index), 0, 0, false)?;
        return Ok(epoch.add(span).unwrap_or_else(|_| py.None().into_bound(py)));
    }
    if let Some(numbers) = array.as_primitive_opt::<UInt64Type>() {
        return Ok(numbers.value(index).into_pyobject(py)?.into_any());
    }
    if let Some(texts) = array.as_string_opt::<i32>() {
        return Ok(texts.value(index).into_pyobject(py)?.into_any());
    }
    if let Some(texts) = array.as_string_opt::<i64>() {
        return Ok(texts.value(index).into_pyobject(py)?.into_any());
    }
    match array.as_list_opt::<i32>() {
        Some(lists) => {
            let list = lists.value(index);
            let cells: Vec<_> =
                (0..list.len()).map(|at| cell(py, &list, at)).collect::<PyResult<_>>()?;
            Ok(cells.into_pyobject(py)?.into_any())
        }
        None => Err(PyTypeError::new_err("not a Python value")),
    }
}

/// Named columns.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct Table(pub(crate) RecordBatch);

#[pymethods]
impl Table {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema =
            FFI_ArrowSchema::try_from(self.0.schema().as_ref()).map_err(|error| failed(&error))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<Table of {}, {} rows>", self.names().join(", "), self.0.num_rows())
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn column(&self, name: &str) -> Option<Column> {
        self.0.column_by_name(name).map(|array| Column(Arc::clone(array)))
    }
}
