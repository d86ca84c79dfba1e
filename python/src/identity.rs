//! A party's identity.

use crate::away::away;
use crate::failure::Failed;
use pyo3::prelude::*;
use std::path::PathBuf;

/// A secret key; shows its public half only.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct Identity(pub(crate) vesica_link::Identity);

#[pymethods]
impl Identity {
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let loaded = away(py, || vesica_link::Identity::load(path));
        Ok(Self(loaded.map_err(|error| Failed::identity(&error).raise(py))?))
    }

    #[staticmethod]
    fn generate(py: Python<'_>) -> PyResult<Self> {
        let made = vesica_link::Identity::generate();
        Ok(Self(made.map_err(|error| Failed::identity(&error).raise(py))?))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let saved = away(py, || self.0.save(path));
        saved.map_err(|error| Failed::identity(&error).raise(py))
    }

    #[getter]
    fn public(&self) -> String {
        self.0.public().to_string()
    }
}
