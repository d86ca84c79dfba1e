//! The requests of a run to detached workers. Python takes them and has Spark executors serve them.

use crate::away::away;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use vesica_detached::{BucketCounts, RunSpec, Task, TaskResult, WorkersFault};

/// A request of the run.
enum Request {
    Group { secret: [u8; 32], buckets: u64 },
    Take { orders: String, tasks: Vec<String>, kept: Vec<(String, Vec<u8>)> },
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
        orders: &RunSpec,
        tasks: &[Task],
        kept: Vec<(String, Vec<u8>)>,
    ) -> Result<Vec<TaskResult>, WorkersFault> {
        let tasks = tasks.iter().map(Task::to_json).collect();
        match self.ask(Request::Take { orders: orders.to_json(), tasks, kept })? {
            Answer::TaskResult(taken) => Ok(taken),
            Answer::Grouped(_) => Err(WorkersFault),
        }
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

    /// The next request, if one comes within `seconds`: `("group", secret, buckets)` or
    /// `("take", orders, tasks, kept)`.
    fn request<'py>(&self, py: Python<'py>, seconds: f64) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let limit = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let request = away(py, || {
            let waits = |state: &mut State| state.request.is_none() && !state.has_ended;
            let waited = self.0.changed.wait_timeout_while(self.0.lock(), limit, waits);
            waited.unwrap_or_else(PoisonError::into_inner).0.request.take()
        });
        let Some(request) = request else { return Ok(None) };
        let tuple = match request {
            Request::Group { secret, buckets } => {
                ("group", PyBytes::new(py, &secret), buckets).into_pyobject(py)?
            }
            Request::Take { orders, tasks, kept } => {
                let kept: Vec<(String, Bound<'_, PyBytes>)> = kept
                    .into_iter()
                    .map(|(name, bytes)| (name, PyBytes::new(py, &bytes)))
                    .collect();
                ("take", orders, tasks, kept).into_pyobject(py)?
            }
        };
        Ok(Some(tuple))
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
