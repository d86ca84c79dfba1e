//! A run on threads of its own.

use crate::agreement::Agreement;
use crate::failure::{Failed, Kind};
use crate::identity::Identity;
use crate::input::{Input, format_of};
use crate::outcome::Outcome;
use pyo3::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};
use vesica_engine::{Event, Finished, Job, MEMORY_BYTES_DEFAULT, Observer, StateOptions};
use vesica_link::{CancelToken, Endpoint, LinkEvent, LinkOptions};
use vesica_records::{OutputOptions, ReadOptions, Source};

/// Most events that wait for Python to look at them.
const MAX_NOTES: usize = 256;

/// An event for Python: its kind, a text, and two numbers (how much is done, and of how much).
type Note = (&'static str, String, u64, u64);

/// What the threads of a run and Python share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    notes: VecDeque<Note>,
    /// The latest progress of a step.
    step: Option<Note>,
    result: Option<Result<Box<Finished>, Failed>>,
    has_ended: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, kind: &'static str, text: String, done: u64, total: u64) {
        let mut state = self.lock();
        if state.notes.len() < MAX_NOTES {
            state.notes.push_back((kind, text, done, total));
        }
    }

    fn end(&self, result: Result<Box<Finished>, Failed>) {
        let mut state = self.lock();
        state.result = Some(result);
        state.has_ended = true;
        self.ended.notify_all();
    }
}

impl Observer for Shared {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Phase(phase) => self.note("phase", phase.name().to_owned(), 0, 0),
            Event::Reading { rows, .. } => {
                self.lock().step = Some(("step", "reading".to_owned(), *rows, 0));
            }
            Event::Writing { rows, .. } => {
                self.lock().step = Some(("step", "writing".to_owned(), *rows, 0));
            }
            Event::Step { label, done, total } => {
                self.lock().step = Some(("step", (*label).to_owned(), *done, *total));
            }
            Event::KeysRead(counts) => {
                self.note("keys", String::new(), counts.distinct, counts.rows);
            }
            Event::Link(LinkEvent::Listening { address }) => {
                self.note("listening", address.to_string(), 0, 0);
            }
            Event::Link(LinkEvent::Connected { address, .. }) => {
                self.note("connected", address.to_string(), 0, 0);
            }
            Event::Sizes { here, there } => self.note("sizes", String::new(), *here, *there),
            Event::Chosen(choice) => self.note("protocol", choice.row.id.to_owned(), 0, 0),
            Event::Checked => self.note("checked", String::new(), 0, 0),
            _ => {}
        }
    }
}

/// A run that was started.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct Running {
    shared: Arc<Shared>,
    cancel: CancelToken,
    file: Mutex<Option<Source>>,
    /// The process that started it. In a fork of it nothing works on the run, and what it holds is not ours to end.
    process: u32,
}

/// The path of a file, its delimiter, whether it has a header, and its format.
type Again = (PathBuf, Option<u8>, bool, Option<String>);

/// The file of an input, opened once more: for rows that are written after the run.
fn file_of(again: Option<Again>) -> Option<Source> {
    let (path, delimiter, header, format) = again?;
    let format = format.as_deref().and_then(format_of);
    Source::open(path, &ReadOptions { delimiter, header, format }).ok()
}

#[pymethods]
impl Running {
    /// Starts a run. `wait`, `idle` and `total` are in seconds; `total` 0 is no limit.
    #[staticmethod]
    #[pyo3(signature = (agreement, identity, input, columns, *, listen, connect, wait, idle, total, threads, state,
        memory, restart, insecure, strict, output, force, again))]
    #[expect(
        clippy::too_many_arguments,
        reason = "they are named, and one function in Python calls it"
    )]
    fn start(
        py: Python<'_>,
        agreement: &Agreement,
        identity: &Identity,
        input: &Input,
        columns: BTreeMap<String, String>,
        listen: Option<String>,
        connect: Option<String>,
        wait: f64,
        idle: f64,
        total: f64,
        threads: Option<NonZeroUsize>,
        state: Option<PathBuf>,
        memory: Option<u64>,
        restart: bool,
        insecure: bool,
        strict: bool,
        output: Option<PathBuf>,
        force: bool,
        again: Option<Again>,
    ) -> PyResult<Self> {
        let endpoint = match (listen, connect) {
            (Some(address), None) => Endpoint::Listen(address),
            (None, Some(address)) => Endpoint::Connect(address),
            _ => {
                let (what, hint) = ("no address", "give either listen= or connect=");
                return Err(Failed::new(Kind::Settings, what, hint).raise(py));
            }
        };
        // Python has checked their ranges.
        let seconds = |time: f64| Duration::try_from_secs_f64(time).unwrap_or(Duration::ZERO);
        let link = LinkOptions {
            endpoint,
            wait: seconds(wait),
            idle: seconds(idle),
            total: (total > 0.0).then(|| seconds(total)),
        };
        let job = Job {
            agreement: agreement.0.clone(),
            identity: identity.0.clone(),
            source: input.take(py)?,
            columns,
            output: output.map(|path| OutputOptions { path, force }),
            link,
            threads: threads
                .unwrap_or_else(|| available_parallelism().unwrap_or(NonZeroUsize::MIN)),
            state: StateOptions {
                folder: state,
                memory_bytes: memory.unwrap_or(MEMORY_BYTES_DEFAULT),
                restart,
            },
            allow_insecure: insecure,
            strict,
        };
        let running = Self {
            shared: Arc::default(),
            cancel: CancelToken::new(),
            file: Mutex::new(py.detach(|| file_of(again))),
            process: std::process::id(),
        };
        let (shared, cancel) = (Arc::clone(&running.shared), running.cancel.clone());
        let work = move || {
            let observer = Arc::clone(&shared) as Arc<dyn Observer>;
            let run = || vesica_engine::run(job, observer, &cancel);
            let result = catch_unwind(AssertUnwindSafe(run));
            shared.end(match result {
                Ok(Ok(finished)) => Ok(Box::new(finished)),
                Ok(Err(error)) => Err(Failed::run(&error)),
                Err(_) => Err(Failed::panic()),
            });
        };
        let started = std::thread::Builder::new().name("vesica-run".to_owned()).spawn(work);
        match started {
            Ok(_) => Ok(running),
            Err(_) => {
                let what = "the system cannot give this process any more threads";
                Err(Failed::new(Kind::Settings, what, "raise the limit on threads").raise(py))
            }
        }
    }

    /// Waits at most so many seconds for the end; returns whether the run has ended.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        self.check_process(py)?;
        Ok(py.detach(|| {
            let until = Instant::now() + Duration::try_from_secs_f64(seconds).unwrap_or_default();
            let mut state = self.shared.lock();
            while !state.has_ended {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return false;
                }
                let waited = self.shared.ended.wait_timeout(state, left);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            true
        }))
    }

    /// Asks the run to end.
    fn cancel(&self, py: Python<'_>) -> PyResult<()> {
        self.check_process(py)?;
        py.detach(|| self.cancel.cancel());
        Ok(())
    }

    /// What has happened since the last call.
    fn notes(&self, py: Python<'_>) -> PyResult<Vec<Note>> {
        self.check_process(py)?;
        let mut state = self.shared.lock();
        let step = state.step.take();
        Ok(state.notes.drain(..).chain(step).collect())
    }

    /// The result of a run that has ended; only once.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<Outcome>> {
        self.check_process(py)?;
        let file = || self.file.lock().unwrap_or_else(PoisonError::into_inner).take();
        match self.shared.lock().result.take() {
            Some(Ok(finished)) => Ok(Some(Outcome::new(*finished, file()))),
            Some(Err(failed)) => Err(failed.raise(py)),
            None => Ok(None),
        }
    }
}

impl Running {
    fn check_process(&self, py: Python<'_>) -> PyResult<()> {
        if self.process == std::process::id() {
            return Ok(());
        }
        let what = "this process was forked from the one in which the run is";
        let hint = "start a run in the process that waits for it; \
                    use multiprocessing's start method \"spawn\"";
        Err(Failed::new(Kind::Settings, what, hint).raise(py))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            self.cancel.cancel();
        }
    }
}
