//! The detached work of a run.

use crate::away::away;
use crate::export::Column;
use crate::failure::{Failed, Kind};
use crate::grouping::{collect, digest_of};
use crate::place;
use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_core::{Error, Item};
use vesica_detached::ReceivedAt;
use vesica_diagnostics::{Speech, stores};
use vesica_link::letters::Sealer;
use vesica_store_session::{Lengths, RetryingStore, Store};

const SEAL_LABEL: &str = "vesica python 2026 sealed for a job v1";

/// Encrypts a text between the driver and the tasks of a job under the `key` of the job, in the
/// given direction. Two different texts with the same number reveal only that they differ.
#[pyfunction]
pub(crate) fn seal<'py>(
    py: Python<'py>,
    key: [u8; 32],
    from_driver: bool,
    number: u32,
    text: &[u8],
) -> Bound<'py, PyBytes> {
    let text = text.to_vec();
    let sealed = Sealer::new(&key, SEAL_LABEL, from_driver.into()).seal(number, text);
    PyBytes::new(py, &sealed)
}

/// Decrypts the result of [`seal`]; `None` if it is not one.
#[pyfunction]
pub(crate) fn unseal<'py>(
    py: Python<'py>,
    key: [u8; 32],
    from_driver: bool,
    number: u32,
    sealed: &[u8],
) -> Option<Bound<'py, PyBytes>> {
    let text = Sealer::new(&key, SEAL_LABEL, from_driver.into()).open(number, sealed.to_vec());
    Some(PyBytes::new(py, &text.ok()?))
}

/// The items in the batches of a capsule from `__arrow_c_stream__`.
fn entries(py: Python<'_>, capsule: &Bound<'_, PyCapsule>) -> PyResult<Vec<Item>> {
    collect(py, capsule, |batch, items: &mut Vec<Item>| {
        let column = batch.column_by_name("item")?.as_fixed_size_binary_opt()?;
        if column.value_length() != Item::LEN as i32 || column.null_count() > 0 {
            return None;
        }
        // The data begins where the slice does.
        let (found, _) = column.value_data().as_chunks();
        items.extend(found.iter().take(column.len()).map(|item| Item::from_bytes(*item)));
        Some(())
    })
}

/// The digest of the entries of a bucket, in their order.
#[pyfunction]
pub(crate) fn digest<'py>(
    py: Python<'py>,
    capsule: &Bound<'_, PyCapsule>,
) -> PyResult<Bound<'py, PyBytes>> {
    let items = entries(py, capsule)?;
    let digest = away(py, || digest_of(items.iter()));
    Ok(PyBytes::new(py, &digest))
}

/// An open store.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct Place(Arc<dyn Store>);

#[pymethods]
impl Place {
    #[new]
    fn new(py: Python<'_>, place: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(Arc::new(RetryingStore::new(place::store(py, place)?.1))))
    }

    /// Refuses a store where this process cannot write, read and remove an object. Uses a temporary
    /// object of this name.
    fn check(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        let store = &*self.0;
        let checked = away(py, || {
            store.put_if_absent(name, name.as_bytes())?;
            let found = store.get(name, Lengths::ANY)?;
            store.remove(name)?;
            if found.as_deref() == Some(name.as_bytes()) {
                Ok(())
            } else {
                Err(ErrorKind::NotFound.into())
            }
        });
        checked.map_err(|error: std::io::Error| {
            let message = stores::cause(&store.place(), error.kind());
            Failed::of_place(message).raise(py)
        })
    }
}

/// What tasks need to know of a run; secret.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct RunSpec(pub(crate) vesica_detached::RunSpec);

#[pymethods]
impl RunSpec {
    /// The spec with this [text](Self::text).
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str) -> PyResult<Self> {
        let spec = vesica_detached::RunSpec::from_json(text);
        spec.map(Self).ok_or_else(|| Failed::panic().raise(py))
    }

    /// For another process of this version.
    #[getter]
    fn text(&self) -> String {
        self.0.to_json()
    }

    #[getter]
    fn partitions(&self) -> u64 {
        self.0.partitions
    }
}

/// A turn of a partition; secret.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct Task(pub(crate) vesica_detached::Task);

#[pymethods]
impl Task {
    /// The task with this [text](Self::text).
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str) -> PyResult<Self> {
        let task = vesica_detached::Task::from_json(text);
        task.map(Self).ok_or_else(|| Failed::panic().raise(py))
    }

    /// For another process of this version.
    #[getter]
    fn text(&self) -> String {
        self.0.to_json()
    }

    /// The number of the partition.
    #[getter]
    fn part(&self) -> u64 {
        self.0.part
    }

    /// The names under which the messages are kept that it reads.
    #[getter]
    fn kept(&self) -> Vec<&str> {
        let received = self.0.received.iter();
        received
            .filter_map(|at| match at {
                ReceivedAt::Kept(name, _) => Some(&**name),
                ReceivedAt::Parcel(..) => None,
            })
            .collect()
    }
}

/// Runs a task with the items of its partition, whose rows have numbers, and the messages kept
/// under names. Returns the result and, if the partition has finished and this party learns it, for
/// each entry whether it is common.
#[pyfunction]
pub(crate) fn take(
    py: Python<'_>,
    spec: &RunSpec,
    task: &Task,
    capsule: &Bound<'_, PyCapsule>,
    place: &Place,
    kept: HashMap<String, Vec<u8>>,
) -> PyResult<(String, Option<Column>)> {
    let items = entries(py, capsule)?;
    let store = &*place.0;
    let taken = away(py, || {
        let kept = |name: &str| kept.get(name).cloned();
        task.0.take(&spec.0, &items, store, NonZeroUsize::MIN, &kept)
    });
    let (taken, common) = taken.map_err(|error| failed(&error, store).raise(py))?;
    let common = common.map(|common| Column(Arc::new(BooleanArray::from(common))));
    Ok((taken.to_json(), common))
}

fn failed(error: &Error, store: &dyn Store) -> Failed {
    match error {
        Error::Storage(kind) => {
            let message = format!("the store {} failed: {kind}", store.place());
            Failed::new(Kind::Network, message, "Spark runs the task again")
        }
        Error::Bug(what) => {
            Failed::of(Kind::Internal, vesica_diagnostics::defect(what, Speech::Python))
        }
        _ => Failed::panic(),
    }
}
