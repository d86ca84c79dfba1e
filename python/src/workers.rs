//! The requests of a run to detached workers. Python takes them and has Spark executors serve them.

use crate::away::away;
use crate::tasks::{RunSpec, Task};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use vesica_detached::{BucketCounts, TaskResult, WorkersFault};

/// A request of the run.
enum Request {
    Group { secret: [u8; 32], buckets: u64 },
    Take { spec: Box<RunSpec>, tasks: Vec<Task>, kept: Vec<(String, Vec<u8>)> },
}

enum Answer {
    Grouped(BucketCounts),
    TaskResult(Vec<TaskResult>),
}

#[derive(Default)]
struct State {
    request: Option<Request>,
    answer: Option<Answer>,
    has_ended: bool,
}

/// The state that the thread of a run and Python share.
#[derive(Default)]
pub(crate) struct RequestQueue {
    state: Mutex<State>,
    changed: Condvar,
}

impl RequestQueue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// No more answers will come.
    pub(crate) fn end(&self) {
        self.lock().has_ended = true;
        self.changed.notify_all();
    }

    fn ask(&self, request: Request) -> Result<Answer, WorkersFault> {
        let mut state = self.lock();
        state.request = Some(request);
        self.changed.notify_all();
        loop {
            if let Some(answer) = state.answer.take() {
                return Ok(answer);
            }
            if state.has_ended {
                return Err(WorkersFault);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl vesica_detached::Workers for RequestQueue {
    fn group(&self, secret: &[u8; 32], buckets: u64) -> Result<BucketCounts, WorkersFault> {
        match self.ask(Request::Group { secret: *secret, buckets })? {
            Answer::Grouped(bucketed) => Ok(bucketed),
            Answer::TaskResult(_) => Err(WorkersFault),
        }
    }

    fn take(
        &self,
        spec: &vesica_detached::RunSpec,
        tasks: &[vesica_detached::Task],
        kept: Vec<(String, Vec<u8>)>,
    ) -> Result<Vec<TaskResult>, WorkersFault> {
        let spec = Box::new(RunSpec(spec.clone()));
        let tasks = tasks.iter().cloned().map(Task).collect();
        match self.ask(Request::Take { spec, tasks, kept })? {
            Answer::TaskResult(taken) => Ok(taken),
            Answer::Grouped(_) => Err(WorkersFault),
        }
    }
}

/// A request to turn all rows into items, under the secret, and to group them into buckets.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct GroupRequest {
    secret: Py<PyBytes>,
    buckets: u64,
}

#[pymethods]
impl GroupRequest {
    #[getter]
    fn secret(&self, py: Python<'_>) -> Py<PyBytes> {
        self.secret.clone_ref(py)
    }

    #[getter]
    fn buckets(&self) -> u64 {
        self.buckets
    }
}

/// A request to run tasks.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct TakeRequest {
    spec: Py<RunSpec>,
    tasks: Vec<Py<Task>>,
    kept: Vec<(String, Py<PyBytes>)>,
}

#[pymethods]
impl TakeRequest {
    #[getter]
    fn spec(&self, py: Python<'_>) -> Py<RunSpec> {
        self.spec.clone_ref(py)
    }

    #[getter]
    fn tasks(&self, py: Python<'_>) -> Vec<Py<Task>> {
        self.tasks.iter().map(|task| task.clone_ref(py)).collect()
    }

    /// The messages to be kept for the tasks, with their names.
    #[getter]
    fn kept(&self, py: Python<'_>) -> Vec<(&str, Py<PyBytes>)> {
        self.kept.iter().map(|(name, bytes)| (&**name, bytes.clone_ref(py))).collect()
    }
}

/// The requests of one run, and the answers.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct Workers(pub(crate) Arc<RequestQueue>);

#[pymethods]
impl Workers {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// The next request, if one comes within `seconds`: a [`GroupRequest`] or a [`TakeRequest`].
    fn request<'py>(&self, py: Python<'py>, seconds: f64) -> PyResult<Option<Bound<'py, PyAny>>> {
        let limit = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let request = away(py, || {
            let waits = |state: &mut State| state.request.is_none() && !state.has_ended;
            let waited = self.0.changed.wait_timeout_while(self.0.lock(), limit, waits);
            waited.unwrap_or_else(PoisonError::into_inner).0.request.take()
        });
        let Some(request) = request else { return Ok(None) };
        let request = match request {
            Request::Group { secret, buckets } => {
                let secret = PyBytes::new(py, &secret).unbind();
                Bound::new(py, GroupRequest { secret, buckets })?.into_any()
            }
            Request::Take { spec, tasks, kept } => {
                let tasks = tasks.into_iter().map(|task| Py::new(py, task));
                let kept = kept.into_iter();
                let request = TakeRequest {
                    spec: Py::new(py, *spec)?,
                    tasks: tasks.collect::<PyResult<_>>()?,
                    kept: kept
                        .map(|(name, bytes)| (name, PyBytes::new(py, &bytes).unbind()))
                        .collect(),
                };
                Bound::new(py, request)?.into_any()
            }
        };
        Ok(Some(request))
    }

    /// Answers "group": the counts of all rows and of the rows in buckets, the number of distinct
    /// items in each bucket, and the digest of all buckets.
    fn grouped(
        &self,
        rows: u64,
        empty: u64,
        refused: u64,
        keyed: u64,
        distinct: Vec<u64>,
        digest: [u8; 32],
    ) {
        let bucketed = BucketCounts { rows, empty, refused, keyed, distinct, digest };
        self.answer(Answer::Grouped(bucketed));
    }

    /// Answers "take": the result of each task.
    fn taken(&self, taken: Vec<String>) -> PyResult<()> {
        let taken = taken
            .iter()
            .map(|one| TaskResult::from_json(one))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| PyValueError::new_err("not the result of a task"))?;
        self.answer(Answer::TaskResult(taken));
        Ok(())
    }
}

impl Workers {
    fn answer(&self, answer: Answer) {
        self.0.lock().answer = Some(answer);
        self.0.changed.notify_all();
    }
}
