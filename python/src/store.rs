//! A Python object as the store of a run.
//!
//! Threads of the run call its methods while the thread that started the run waits without the GIL.
//! An exception of a method ends the run, and becomes the cause of the run's own exception.

use crate::away::ends;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyString};
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use vesica_engine::Error;
use vesica_store_session::{ExchangeError, Lengths, Listed, OBJECT_MAX_BYTES, Store};

/// The methods that every object has.
const NEEDED: [&str; 2] = ["put_if_absent", "get"];

/// The latest exception of an object.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    fn lock(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the exception, and returns an error that represents it in the run.
    fn keep(&self, py: Python<'_>, error: PyErr) -> io::Error {
        let stands = io::Error::from(error.clone_ref(py));
        let old = self.lock().replace(error);
        // Dropping it may run Python code, which must not happen under the lock.
        drop(old);
        match stands.kind() {
            // `Unsupported` means that the object lacks a method; a method that raises is another
            // error.
            ErrorKind::Unsupported => ErrorKind::Other.into(),
            kind => kind.into(),
        }
    }

    /// If an exception caused `error`: its kind, its class, and the exception.
    pub(crate) fn of(&self, error: &Error) -> Option<(ErrorKind, String, PyErr)> {
        let Error::Exchange { kind, .. } = error else { return None };
        let ExchangeError::Store(kind) = **kind else { return None };
        let raised = self.lock().take()?;
        let class = |py: Python<'_>| raised.get_type(py).name().map(|name| name.to_string()).ok();
        let class = Python::try_attach(class)??;
        Some((kind, class, raised))
    }
}

/// A store whose operations are methods of a Python object.
pub(crate) struct ObjectStore {
    object: Py<PyAny>,
    place: String,
    raised: Raised,
}

impl ObjectStore {
    /// # Errors
    /// `TypeError` if the object is not a store.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let class = object.get_type().name()?;
        for method in NEEDED {
            if method_of(object, method)?.is_none() {
                let needs = NEEDED.join(" and ");
                return Err(PyTypeError::new_err(format!(
                    "exchange is a path, a URL or an object with the methods {needs}, not {class}"
                )));
            }
        }
        let place = format!("an object of class {class}");
        Ok(Self { object: object.clone().unbind(), place, raised: Raised::default() })
    }

    /// The exception that its methods raised.
    pub(crate) fn raised(&self) -> Raised {
        self.raised.clone()
    }

    /// Does `work` with the method; [`ErrorKind::Unsupported`] if the object does not have it.
    fn call<T>(
        &self,
        method: &str,
        work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> io::Result<T> {
        // No thread may enter Python any more.
        if ends() {
            return Err(ErrorKind::Interrupted.into());
        }
        Python::try_attach(|py| {
            let given = match method_of(self.object.bind(py), method) {
                Ok(None) => return Err(ErrorKind::Unsupported.into()),
                Ok(Some(method)) => work(&method),
                Err(error) => Err(error),
            };
            given.map_err(|error| self.raised.keep(py, error))
        })
        .unwrap_or_else(|| Err(ErrorKind::Interrupted.into()))
    }
}

impl ObjectStore {
    /// The length of an object before it is read, if the Python object has a method for it.
    fn size(&self, name: &str) -> io::Result<Option<u64>> {
        let size = self.call("size", |size| {
            let given = size.call1((name,))?;
            let bytes = given.extract::<Option<u64>>();
            bytes.map_err(|_| wrong("size", "a number of bytes or None", &given))
        });
        match size {
            Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
            size => size,
        }
    }
}

/// The method of this name; `None` if the object has no such attribute that can be called.
fn method_of<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(object.getattr_opt(name)?.filter(|method| method.is_callable()))
}

/// A method returned a value of the wrong kind.
fn wrong(method: &str, should: &str, given: &Bound<'_, PyAny>) -> PyErr {
    match given.get_type().name() {
        Ok(class) => PyTypeError::new_err(format!("{method} gives {should}, not {class}")),
        Err(error) => error,
    }
}

fn bytes_of(given: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let is_bytes = given.is_instance_of::<PyBytes>() || given.is_instance_of::<PyByteArray>();
    if !is_bytes {
        return Err(wrong("get", "bytes or None", given));
    }
    if given.len()? as u64 > OBJECT_MAX_BYTES {
        return Err(PyValueError::new_err("get gave more bytes than an object has, 1 GiB"));
    }
    match given.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes().to_vec()),
        Err(_) => Ok(given.cast::<PyByteArray>()?.to_vec()),
    }
}

fn names_of(method: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let should = "names";
    if given.is_instance_of::<PyString>() {
        return Err(wrong(method, should, given));
    }
    let Ok(names) = given.try_iter() else { return Err(wrong(method, should, given)) };
    names
        .map(|name| {
            let name = name?;
            let text: String = name.extract().map_err(|_| wrong(method, should, &name))?;
            if text.contains('/') {
                let why = "gives names alone, without the folder that they are in";
                return Err(PyValueError::new_err(format!("{method} {why}")));
            }
            Ok(text)
        })
        .collect()
}

impl Store for ObjectStore {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        self.call("put_if_absent", |put| {
            let given = put.call1((name, PyBytes::new(put.py(), bytes)))?;
            let is_new = given.cast::<PyBool>();
            is_new.map(|is_new| is_new.is_true()).map_err(|_| {
                wrong("put_if_absent", "True, or False if there is such an object", &given)
            })
        })
    }

    fn get(&self, name: &str, lengths: Lengths) -> io::Result<Option<Vec<u8>>> {
        if let Some(bytes) = self.size(name)? {
            lengths.check(name, bytes)?;
        }
        let object = self.call("get", |get| {
            let given = get.call1((name,))?;
            if given.is_none() { Ok(None) } else { bytes_of(&given).map(Some) }
        })?;
        if let Some(object) = &object {
            lengths.check(name, object.len() as u64)?;
        }
        Ok(object)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Listed>> {
        let names = self.call("list", |list| names_of("list", &list.call1((folder,))?))?;
        // Only `vesica exchange` needs sizes and times, and it does not take such a store.
        Ok(names.into_iter().map(|name| Listed { name, bytes: 0, written: None }).collect())
    }

    fn folders(&self) -> io::Result<Vec<String>> {
        self.call("folders", |folders| names_of("folders", &folders.call0()?))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.call("remove", |remove| remove.call1((name,)).map(drop))
    }

    fn place(&self) -> String {
        self.place.clone()
    }
}
