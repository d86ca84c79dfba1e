//! The work of a cluster for a helper: comparing the lists of labels in a folder, some ranges at a
//! time.

use crate::away::{away, ends};
use crate::failure::{Failed, Kind};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::{self, ErrorKind};
use std::sync::{Mutex, PoisonError};
use vesica_label_joins::{BackendError, Copies, Digest, JoinRequest as Request};

/// A request of a helper.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct JoinRequest(Request);

#[pymethods]
impl JoinRequest {
    /// The request in these bytes; `None` if they do not hold one.
    #[staticmethod]
    fn decode(py: Python<'_>, data: &[u8]) -> Option<Self> {
        away(py, || Request::decode(data)).map(Self)
    }

    /// The prefix of the names of requests' folders.
    #[classattr]
    const FOLDER_PREFIX: &'static str = Request::FOLDER_PREFIX;
    /// The name of the file of a request.
    #[classattr]
    const FILE: &'static str = Request::FILE;
    /// The name of the file of an answer.
    #[classattr]
    const ANSWER_FILE: &'static str = Request::ANSWER_FILE;

    /// The name of its folder.
    #[getter]
    fn folder(&self) -> String {
        self.0.folder()
    }

    /// How many labels each list has.
    #[getter]
    fn lens(&self) -> Vec<u64> {
        self.0.lens()
    }

    /// How many ranges the lists are cut into.
    #[getter]
    fn ranges(&self) -> u32 {
        self.0.ranges()
    }

    /// The name of the file with a list's copy.
    #[staticmethod]
    fn list_file(list: usize) -> String {
        Request::list_file(list)
    }

    /// The name of the file with the bits of these ranges.
    #[staticmethod]
    fn bits_file(start: u32, end: u32) -> String {
        Request::bits_file(&(start..end))
    }

    /// The bits of these ranges and their digest, or the index of a malformed list. `files` are the
    /// open copies of the lists, with the method `read_at(length, offset)`.
    #[expect(clippy::type_complexity, reason = "a tuple of Python")]
    fn compare<'py>(
        &self,
        py: Python<'py>,
        files: Vec<Py<PyAny>>,
        start: u32,
        end: u32,
    ) -> PyResult<(Option<(Bound<'py, PyBytes>, Digest)>, Option<usize>)> {
        if files.len() != self.0.lens().len() || start > end || end > self.0.ranges() {
            return Err(Failed::panic().raise(py));
        }
        let files = Files { files, raised: Mutex::default() };
        let ranges = start..end;
        let compared = away(py, || {
            let bits = self.0.compare(&files, ranges.clone(), &ends)?;
            Ok(bits.map(|bits| {
                let digest = self.0.digest_of_bits(&ranges, &bits);
                (bits, digest)
            }))
        });
        if let Some(raised) = files.raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(raised);
        }
        match compared {
            Ok(Some((bits, digest))) => Ok((Some((PyBytes::new(py, &bits), digest)), None)),
            Err(BackendError::Malformed { list }) => Ok((None, Some(list))),
            Err(BackendError::Storage { list, kind: ErrorKind::InvalidData }) => {
                let message = format!("the copy of list {list} is not what the helper wrote");
                let hint = "check the storage; the helper asks again when a party asks it";
                Err(Failed::new(Kind::Data, message, hint).raise(py))
            }
            Ok(None) | Err(_) => Err(Failed::panic().raise(py)),
        }
    }

    /// The bytes of the answer that names the files of bits of these ranges, each with its digest.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        mut parts: Vec<(u32, u32, Digest)>,
    ) -> Bound<'py, PyBytes> {
        parts.sort_unstable();
        let parts: Vec<_> =
            parts.into_iter().map(|(start, end, digest)| (start..end, digest)).collect();
        PyBytes::new(py, &self.0.answer(&parts))
    }

    /// The bytes of the answer that a list is malformed.
    fn answer_malformed<'py>(&self, py: Python<'py>, list: u32) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.answer_malformed(list))
    }
}

/// Open Python files, and the first exception that one raised.
struct Files {
    files: Vec<Py<PyAny>>,
    raised: Mutex<Option<PyErr>>,
}

impl Copies for Files {
    fn read_at(&self, list: usize, offset: u64, len: u64) -> io::Result<Vec<u8>> {
        // No thread may enter Python any more.
        if ends() {
            return Err(ErrorKind::Interrupted.into());
        }
        let read = Python::try_attach(|py| {
            let read = self.files[list].call_method1(py, "read_at", (len, offset));
            let bytes =
                read.and_then(|read| Ok(read.cast_bound::<PyBytes>(py)?.as_bytes().to_vec()));
            bytes.map_err(|error| {
                let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
                raised.get_or_insert(error);
                io::Error::from(ErrorKind::Other)
            })
        });
        read.unwrap_or_else(|| Err(ErrorKind::Interrupted.into()))
    }
}
