//! A run on background threads.

use crate::agreement::Agreement;
use crate::away::{away, end, ends, wait_for_all};
use crate::checked::Checked;
use crate::checking;
use crate::failure::{Circumstances, Failed, Kind};
use crate::identity::Identity;
use crate::input::{FileOptions, Input};
use crate::outcome::Outcome;
use crate::place::{self, Meeting, Memory};
use crate::watch::{Done, Note, Watch};
use crate::workers::Workers;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};
use vesica_diagnostics::Speech;
use vesica_engine::{Job, Observer, StateOptions};
use vesica_link::{CancelToken, LinkOptions};
use vesica_tables::{OutputOptions, Source};

/// A run that was started.
#[pyclass(frozen, module = "vesica._vesica")]
pub(crate) struct Running {
    watch: Arc<Watch>,
    cancel: CancelToken,
    file: Mutex<Option<Source>>,
    /// The column for marks of rows.
    mark: Option<String>,
    /// The process that started the run. A fork of it has no threads of the run, and must not end
    /// the run.
    process: u32,
}

/// How long Python threads may take to drop the objects of a run when Python shuts down.
const SETTLING: Duration = Duration::from_millis(300);

/// The runs of this process that may not have ended yet.
static STARTED: Mutex<Vec<(Weak<Watch>, CancelToken)>> = Mutex::new(Vec::new());

fn started() -> MutexGuard<'static, Vec<(Weak<Watch>, CancelToken)>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends all runs of this process, and waits at most `seconds` for them. For the shutdown of Python:
/// afterwards no thread may enter it, and a producer of rows that is written in Python would. Not
/// for a forked process.
#[pyfunction]
pub(crate) fn end_all(py: Python<'_>, seconds: f64) {
    // This thread is not counted as away.
    py.detach(|| {
        end();
        let runs = std::mem::take(&mut *started());
        let until = Instant::now() + Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let runs: Vec<Arc<Watch>> = runs
            .into_iter()
            .filter_map(|(watch, cancel)| {
                let watch = watch.upgrade()?;
                cancel.cancel();
                watch.abandon();
                Some(watch)
            })
            .collect();
        let had_any = runs.iter().any(|watch| !watch.is_over());
        runs.iter().for_each(|watch| watch.wait_over(until));
        wait_for_all(until);
        if had_any {
            // The Python threads that waited for these runs now drop their frames. Libraries of
            // frames release the GIL for that, as this module does.
            std::thread::sleep(SETTLING);
        }
    });
}

/// The result of work on a background thread, unless it was already passed on.
type Worked = Option<Result<Done, Failed>>;

/// A time whose range Python has checked.
fn seconds(time: f64) -> Duration {
    Duration::try_from_secs_f64(time).unwrap_or(Duration::ZERO)
}

#[pymethods]
impl Running {
    /// Starts a run. `wait`, `idle` and `total` are in seconds; `total` 0 is no limit.
    #[staticmethod]
    #[pyo3(signature = (agreement, identity, input, columns, *, party, listen, connect, proxy,
        exchange, wait, idle, total, threads, state, memory, scratch, restart, insecure, strict,
        output, mark=None, refused=None, force, again, workers))]
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
        party: Option<String>,
        listen: Option<String>,
        connect: Option<String>,
        proxy: Option<String>,
        exchange: Option<&Bound<'_, PyAny>>,
        wait: f64,
        idle: f64,
        total: f64,
        threads: Option<NonZeroUsize>,
        state: Option<PathBuf>,
        memory: Option<Memory>,
        scratch: Option<PathBuf>,
        restart: bool,
        insecure: bool,
        strict: bool,
        output: Option<PathBuf>,
        mark: Option<String>,
        refused: Option<PathBuf>,
        force: bool,
        again: Option<FileOptions>,
        workers: Option<&Workers>,
    ) -> PyResult<Self> {
        let agreement = agreement.0.clone();
        let Meeting { endpoint, store, raised } =
            place::meeting(py, &agreement, listen, connect, exchange)?;
        let keeps_without = store.is_none() && state.is_none();
        let checked =
            if keeps_without && restart { place::check_restart(&agreement) } else { Ok(()) };
        let party = checked
            .and_then(|()| place::party(&agreement, Some(&identity.0), party.as_deref()))
            .map_err(|failed| failed.raise(py))?;
        let proxy = place::proxy(proxy.as_deref(), &endpoint).map_err(|failed| failed.raise(py))?;
        let link = LinkOptions {
            endpoint,
            wait: seconds(wait),
            idle: seconds(idle),
            total: (total > 0.0).then(|| seconds(total)),
            proxy,
        };
        let state = StateOptions { folder: state, restart };
        let keeps_state = agreement.helper.is_some() || store.is_some() || state.folder.is_some();
        let folder = party.as_ref().filter(|_| keeps_state);
        let folder = folder.map(|party| state.folder_of(&agreement, party));
        let run = Circumstances { agreement: agreement.clone(), link: link.clone(), folder };
        let (cancel, watch) = (CancelToken::new(), Arc::new(Watch::new(&agreement, link.wait)));
        let workers = workers.map(|workers| Arc::clone(&workers.0));
        if let Some(desk) = workers.clone() {
            cancel.on_cancel(move || desk.end());
        }
        let workers = workers.map(|desk| desk as Arc<dyn vesica_detached::Workers>);
        let memory_bytes = place::memory_bytes(memory);
        let job = Job {
            agreement,
            identity: identity.0.clone(),
            source: input.take(py)?,
            columns,
            output: output.map(|path| OutputOptions { path, force }),
            mark: mark.clone(),
            order: None,
            refused: place::replaced(refused),
            link,
            store,
            workers,
            threads: threads
                .unwrap_or_else(|| available_parallelism().unwrap_or(NonZeroUsize::MIN)),
            memory_bytes: memory_bytes.map_err(|failed| failed.raise(py))?,
            scratch,
            state,
            allow_insecure: insecure,
            strict,
        };
        let file = away(py, || again.map(FileOptions::open).transpose())
            .map_err(|error| Failed::input(&error).raise(py))?;
        let work = move |watch: &Arc<Watch>, cancel: &CancelToken| {
            let observer = Arc::clone(watch) as Arc<dyn Observer>;
            let mut is_handed_over = false;
            let done = vesica_engine::run_and(job, observer, cancel, |finished| {
                is_handed_over = true;
                if watch.hand_over(finished) {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            });
            let failed = done.err().map(|error| match raised.of(&error) {
                Some(raised) => Failed::raised(raised),
                None => Failed::run(error, watch.absent(), &run),
            });
            match failed {
                Some(failed) if !is_handed_over => Some(Err(failed)),
                Some(failed) => {
                    watch.warn(failed.message);
                    None
                }
                None => None,
            }
        };
        let mut running = Self::spawn(py, watch, cancel, file, work)?;
        running.mark = mark;
        Ok(running)
    }

    /// Starts a check of rows.
    #[staticmethod]
    #[pyo3(signature = (agreement, identity, input, columns, *, party, strict, shape_rows, memory,
        scratch, refused=None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "they are named, and one function in Python calls it"
    )]
    fn check(
        py: Python<'_>,
        agreement: &Agreement,
        identity: Option<&Identity>,
        input: &Input,
        columns: BTreeMap<String, String>,
        party: Option<String>,
        strict: bool,
        shape_rows: u64,
        memory: Option<Memory>,
        scratch: Option<PathBuf>,
        refused: Option<PathBuf>,
    ) -> PyResult<Self> {
        let agreement = agreement.0.clone();
        let identity = identity.map(|identity| &identity.0);
        let party = place::party(&agreement, identity, party.as_deref())
            .map_err(|failed| failed.raise(py))?;
        let source = input.take(py)?;
        let memory_bytes = place::memory_bytes(memory).map_err(|failed| failed.raise(py))?;
        let refused = place::replaced(refused);
        let options = vesica_preflight::Options {
            columns,
            strict,
            shape_rows,
            memory_bytes,
            scratch,
            refused,
        };
        let watch = Arc::new(Watch::new(&agreement, Duration::MAX));
        let work = move |watch: &Arc<Watch>, cancel: &CancelToken| {
            let party = party.as_deref();
            Some(checking::check(&agreement, party, &source, &options, watch, cancel))
        };
        Self::spawn(py, watch, CancelToken::new(), None, work)
    }

    /// Starts connecting to the other side, or the helper.
    #[staticmethod]
    #[pyo3(signature = (agreement, identity, *, listen, connect, proxy, wait, idle))]
    #[expect(
        clippy::too_many_arguments,
        reason = "they are named, and one function in Python calls it"
    )]
    fn reach(
        py: Python<'_>,
        agreement: &Agreement,
        identity: &Identity,
        listen: Option<String>,
        connect: Option<String>,
        proxy: Option<String>,
        wait: f64,
        idle: f64,
    ) -> PyResult<Self> {
        let agreement = agreement.0.clone();
        let endpoint = place::endpoint(&agreement, listen, connect);
        let link = endpoint.and_then(|endpoint| {
            let proxy = place::proxy(proxy.as_deref(), &endpoint)?;
            Ok((endpoint, proxy))
        });
        let (endpoint, proxy) = link.map_err(|failed| failed.raise(py))?;
        let (wait, idle) = (seconds(wait), seconds(idle));
        let link = LinkOptions { endpoint, wait, idle, total: None, proxy };
        let identity = identity.0.clone();
        let watch = Arc::new(Watch::new(&agreement, link.wait));
        let work = move |watch: &Arc<Watch>, cancel: &CancelToken| {
            Some(checking::reach(agreement, identity, link, watch, cancel))
        };
        Self::spawn(py, watch, CancelToken::new(), None, work)
    }

    /// Waits at most `seconds` for the end; returns whether the run has ended.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        self.check_process(py)?;
        if self.watch.has_lost_patience() {
            away(py, || self.cancel.cancel());
        }
        if ends() && !self.watch.wait(Duration::ZERO) {
            return Err(Failed::new(Kind::Cancelled, "Python ends", "").raise(py));
        }
        let limit = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        Ok(away(py, || self.watch.wait(limit)))
    }

    /// Asks the run to end.
    fn cancel(&self, py: Python<'_>) -> PyResult<()> {
        self.check_process(py)?;
        away(py, || self.cancel.cancel());
        Ok(())
    }

    /// What has happened since the last call.
    fn notes(&self, py: Python<'_>) -> PyResult<Vec<Note>> {
        self.check_process(py)?;
        Ok(self.watch.take_notes())
    }

    /// The result of a run that has ended; only once. Until `release` is called, a repeated run can
    /// produce it again.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<Outcome>> {
        self.check_process(py)?;
        let file = || self.file.lock().unwrap_or_else(PoisonError::into_inner).take();
        match self.watch.take_result() {
            Some(Ok(Done::Run(finished))) => {
                Ok(Some(Outcome::new(*finished, file(), self.mark.clone())))
            }
            Some(Err(failed)) => {
                away(py, || self.watch.release());
                Err(failed.raise(py))
            }
            _ => Ok(None),
        }
    }

    /// The result has been kept: the run need not be able to produce it again.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        self.check_process(py)?;
        away(py, || self.watch.release());
        Ok(())
    }

    /// The result of a check of rows that has ended; only once.
    fn finish_check(&self, py: Python<'_>) -> PyResult<Checked> {
        match self.finish_other(py)? {
            Some(Done::Checked(checked)) => Ok(*checked),
            _ => Err(Failed::panic().raise(py)),
        }
    }

    /// The parties that were connected, once this has ended; only once.
    fn finish_reach(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        match self.finish_other(py)? {
            Some(Done::Present(parties)) => Ok(parties),
            _ => Err(Failed::panic().raise(py)),
        }
    }
}

impl Running {
    /// The result of work that cannot be asked to produce it again.
    fn finish_other(&self, py: Python<'_>) -> PyResult<Option<Done>> {
        self.check_process(py)?;
        let result = self.watch.take_result();
        away(py, || self.watch.release());
        result.transpose().map_err(|failed| failed.raise(py))
    }

    /// Starts `work` on a background thread.
    fn spawn(
        py: Python<'_>,
        watch: Arc<Watch>,
        cancel: CancelToken,
        file: Option<Source>,
        work: impl FnOnce(&Arc<Watch>, &CancelToken) -> Worked + Send + 'static,
    ) -> PyResult<Self> {
        let running = Self {
            watch: Arc::clone(&watch),
            cancel: cancel.clone(),
            file: Mutex::new(file),
            mark: None,
            process: std::process::id(),
        };
        {
            let mut started = started();
            started.retain(|(watch, _)| watch.strong_count() > 0);
            started.push((Arc::downgrade(&watch), cancel.clone()));
        }
        let guarded = move || {
            let result = catch_unwind(AssertUnwindSafe(|| work(&watch, &cancel)));
            // The handlers of the token hold the session, and so the lock of the state. Cancelling
            // drops them: the next run needs the lock even while an exception keeps this run alive.
            cancel.cancel();
            watch.close(result.unwrap_or_else(|_| Some(Err(Failed::panic()))));
        };
        match std::thread::Builder::new().name("vesica-run".to_owned()).spawn(guarded) {
            Ok(_) => Ok(running),
            Err(_) => {
                let message = vesica_diagnostics::no_threads(Speech::Python);
                Err(Failed::of(Kind::Settings, message).raise(py))
            }
        }
    }

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
            self.watch.abandon();
        }
    }
}
