//! Combining the shares of two parties.

use crate::away::away;
use crate::export::Table;
use crate::failure::{Failed, Kind};
use crate::tables;
use pyo3::prelude::*;
use std::path::Path;
use vesica_diagnostics::Speech;
use vesica_engine::shares::{self, SharesError, SharesFile};

/// The content of two documents of shares.
#[pyfunction]
pub(crate) fn combine(py: Python<'_>, one: &str, other: &str) -> PyResult<Table> {
    let batch = away(py, || {
        let parse = |text: &str, name: &str| SharesFile::parse(text.as_bytes(), Path::new(name));
        let (one, other) =
            (parse(one, "the first document")?, parse(other, "the second document")?);
        let combined = shares::combine(&one, &other)?;
        Ok::<_, SharesError>(tables::combined(&combined))
    })
    .map_err(|error| {
        let message = vesica_diagnostics::shares::error(&error, Speech::Python);
        Failed::of(Kind::Data, message).raise(py)
    })?;
    Ok(Table(batch.map_err(|_| Failed::panic().raise(py))?))
}
