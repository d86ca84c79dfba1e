//! The result of a check of rows, and the counts of rows that the result of a run has too.

use pyo3::prelude::*;
use pythonize::pythonize;
use vesica_diagnostics::input::warnings;
use vesica_diagnostics::{Speech, checked};
use vesica_engine::Report;
use vesica_preflight::Read;
use vesica_records::KeyCounts;

/// A key column, and the patterns of its shapes with the number of rows of each.
type Shapes<'a> = (&'a str, Vec<(&'a str, u64)>);

/// The result of a check whose rows were read to their end.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct Checked {
    found: vesica_preflight::Checked,
    read: Read,
}

/// What a run takes of the machine, in bytes.
#[pyclass(frozen, get_all, module = "vesica._vesica")]
pub(crate) struct Needs {
    /// At most.
    disk: u64,
    free_disk: u64,
    least_memory: Option<u64>,
}

impl Checked {
    /// `None` if the rows were not read to their end.
    pub(crate) fn new(found: vesica_preflight::Checked) -> Option<Self> {
        let read = found.read.clone()?;
        Some(Self { found, read })
    }
}

#[pymethods]
impl Checked {
    /// All results, as `vesica check --json` prints them.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize(py, &checked::document(&self.found, Speech::Python))?)
    }

    /// Why a run would refuse the rows, and a hint.
    #[getter]
    fn refusal(&self) -> Option<(String, String)> {
        let message = checked::why(&self.found, Speech::Python)?;
        Some((message.error, message.hint))
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        warnings(&self.read.counts)
    }

    #[getter]
    fn counts(&self) -> RowCounts {
        RowCounts::from(&self.read.counts)
    }

    /// Different keys, if they were counted.
    #[getter]
    fn distinct(&self) -> Option<u64> {
        self.read.distinct
    }

    /// Rows whose key an earlier row has; 0 if the different keys were not counted.
    #[getter]
    fn duplicates(&self) -> u64 {
        self.read.counts.duplicates
    }

    /// The shapes of the values of each key column, in the first rows.
    #[getter]
    fn shapes(&self) -> Vec<Shapes<'_>> {
        self.found
            .key
            .iter()
            .map(|key| {
                let shapes = key.shapes.shapes.iter();
                let shapes = shapes.map(|shape| (&*shape.pattern, shape.count)).collect();
                (&*key.shapes.column, shapes)
            })
            .collect()
    }

    /// What a run takes, if it is known.
    #[getter]
    fn needs(&self) -> Option<Needs> {
        self.found.needs.as_ref().map(|needs| Needs {
            disk: needs.disk_bytes,
            free_disk: needs.free_bytes,
            least_memory: needs.least_memory_bytes,
        })
    }
}

/// The counts of the rows of an input.
#[pyclass(frozen, get_all, module = "vesica._vesica")]
pub(crate) struct RowCounts {
    rows: u64,
    /// Without a key.
    empty: u64,
    /// With a key that its profile refuses.
    refused: u64,
    /// The refused rows: the column, the reason, and how many.
    refused_by: Vec<(String, String, u64)>,
}

impl From<&Report> for RowCounts {
    fn from(report: &Report) -> Self {
        let input = &report.input;
        let refused_by = input.refused_by.iter();
        Self {
            rows: input.rows,
            empty: input.empty,
            refused: input.refused,
            refused_by: refused_by
                .map(|row| (row.column.clone(), row.reason.clone(), row.count))
                .collect(),
        }
    }
}

impl From<&KeyCounts> for RowCounts {
    fn from(counts: &KeyCounts) -> Self {
        let refused_by = counts.refused_by.iter();
        Self {
            rows: counts.rows,
            empty: counts.empty,
            refused: counts.refused,
            refused_by: refused_by
                .map(|row| (row.column.clone(), row.reason.to_string(), row.count))
                .collect(),
        }
    }
}
