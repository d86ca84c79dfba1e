//! The helper.

use crate::away::away;
use crate::failure::{Failed, Kind};
use crate::identity::Identity;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use vesica_diagnostics::Speech;
use vesica_diagnostics::helper::{self, HelperFailure, HelperPlaces};
use vesica_helper::{Service as Helper, Settings};

/// How long a helper takes to tell waiting parties that it is shutting down.
const GRACE: Duration = Duration::from_secs(5);

/// A helper that serves its parties until it is closed.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct Service {
    helper: Mutex<Option<Helper>>,
    addresses: Vec<String>,
    metrics: Option<String>,
    /// The process that has its threads.
    process: u32,
}

#[pymethods]
impl Service {
    /// Starts a helper with the settings in the file `config`, or in `text`; the other arguments
    /// take precedence.
    #[staticmethod]
    #[expect(
        clippy::too_many_arguments,
        reason = "they are named in Python, and one function there calls it"
    )]
    fn start(
        py: Python<'_>,
        config: Option<PathBuf>,
        text: &str,
        identity: &Identity,
        listen: Option<String>,
        state: Option<PathBuf>,
        backend: Option<String>,
        metrics_off: bool,
    ) -> PyResult<Self> {
        let identity = identity.0.clone();
        let started = away(py, || {
            let mut settings = match config {
                Some(path) => Settings::load(path),
                None => Settings::parse(text),
            }
            .map_err(HelperFailure::Settings)?;
            settings.listen = listen.unwrap_or(settings.listen);
            if let Some(state) = state {
                settings.state = state;
                // Otherwise the directory of the backend in the settings would take precedence.
                settings.backend = settings.backend.filter(|url| !url.starts_with("disk:"));
            }
            if backend.is_some() {
                settings.backend = backend;
            }
            if metrics_off {
                settings.metrics = None;
            }
            let at = HelperPlaces::of(&settings);
            let options = settings
                .options(identity)
                .map_err(|error| HelperFailure::Options { error, at: at.clone() })?;
            Helper::start(options).map_err(|error| HelperFailure::Start { error, at })
        });
        let helper = started.map_err(|failure| {
            let message = helper::failure(&failure, Speech::Python);
            Failed::of(Kind::Settings, message).raise(py)
        })?;
        Ok(Self {
            addresses: helper.addresses().iter().map(ToString::to_string).collect(),
            metrics: helper.metrics_address().map(|address| address.to_string()),
            helper: Mutex::new(Some(helper)),
            process: std::process::id(),
        })
    }

    #[getter]
    fn addresses(&self) -> Vec<String> {
        self.addresses.clone()
    }

    #[getter]
    fn metrics(&self) -> Option<String> {
        self.metrics.clone()
    }

    /// Ends it; returns whether all requests had finished.
    fn close(&self, py: Python<'_>) -> bool {
        if self.process != std::process::id() {
            return true;
        }
        let helper = self.helper.lock().unwrap_or_else(PoisonError::into_inner).take();
        away(py, || helper.is_none_or(|helper| helper.shutdown(GRACE)))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // The threads and connections belong to the parent of a forked process.
        if self.process != std::process::id() {
            let helper = self.helper.get_mut().unwrap_or_else(PoisonError::into_inner).take();
            std::mem::forget(helper);
        }
    }
}
