//! What all threads of a service share.

use super::desk::RunDesk;
use super::metrics::{Counted, Metrics, Now, reason};
use super::options::PartyLimits;
use super::queue::Queue;
use super::run::{Over, Run};
use super::runs::Runs;
use super::visits::Visits;
use crate::store::{Found, Keeping, Store};
use crate::wire::Instance;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use vesica_backends::{Backend, RunName};
use vesica_core::Refusal;
use vesica_link::PublicIdentity;
use vesica_net::Pool;
use vesica_protocols::kmrs14::helper::may_be_ended;

/// A party, and what it uses.
pub(super) struct Member {
    pub(super) limits: PartyLimits,
    pub(super) connections: AtomicU32,
    pub(super) stored_bytes: AtomicU64,
}

impl Member {
    /// Takes `bytes` of what the party may have stored; false when that is too much.
    pub(super) fn reserve(&self, bytes: u64) -> bool {
        let take =
            |now: u64| now.checked_add(bytes).filter(|sum| *sum <= self.limits.max_stored_bytes);
        self.stored_bytes.try_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    pub(super) fn release(&self, bytes: u64) {
        let give = |now: u64| Some(now.saturating_sub(bytes));
        let _ = self.stored_bytes.try_update(Ordering::Relaxed, Ordering::Relaxed, give);
    }
}

/// What an ended run has left.
pub(super) struct Rest {
    run: String,
    name: RunName,
    gone: Option<PathBuf>,
}

impl Rest {
    /// What `run` has left, and where its files are now.
    pub(super) fn of(run: &Run, gone: Option<PathBuf>) -> Self {
        Self { run: short(run), name: RunName(run.record.instance), gone }
    }
}

/// What all threads of a service share.
pub(super) struct Core {
    pub(super) members: Vec<Member>,
    pub(super) by_identity: HashMap<PublicIdentity, usize>,
    pub(super) runs: Runs,
    pub(super) store: Arc<Store>,
    pub(super) keeping: Keeping,
    pub(super) backend: Box<dyn Backend>,
    pub(super) queue: Queue,
    pub(super) metrics: Metrics,
    pub(super) pool: Pool,
    pub(super) step_memory_bytes: u64,
    pub(super) keep: Duration,
    is_stopping: AtomicBool,
    /// When the directory failed last.
    storage_failed: Mutex<Option<Instant>>,
    sweeper: Mutex<Option<Sender<Rest>>>,
    pub(super) visits: Visits,
}

impl Core {
    #[expect(clippy::too_many_arguments, reason = "each is a part, and there is one caller")]
    pub(super) fn new(
        parties: Vec<PartyLimits>,
        store: Arc<Store>,
        keeping: Keeping,
        backend: Box<dyn Backend>,
        pool: Pool,
        workers: usize,
        memory_bytes: u64,
        keep: Duration,
        sweeper: Sender<Rest>,
    ) -> Self {
        let by_identity =
            parties.iter().enumerate().map(|(number, party)| (party.identity, number)).collect();
        let names = parties.iter().map(|party| party.name.clone());
        let metrics = Metrics::new(backend.name(), names);
        let queue = Queue::new(parties.len(), workers);
        let member = |limits| Member {
            limits,
            connections: AtomicU32::new(0),
            stored_bytes: AtomicU64::new(0),
        };
        Self {
            members: parties.into_iter().map(member).collect(),
            by_identity,
            runs: Runs::default(),
            store,
            keeping,
            backend,
            queue,
            metrics,
            pool,
            step_memory_bytes: memory_bytes / workers as u64,
            keep,
            is_stopping: AtomicBool::new(false),
            storage_failed: Mutex::default(),
            sweeper: Mutex::new(Some(sweeper)),
            visits: Visits::default(),
        }
    }

    /// Takes on the runs that a process before this one has left. Those with a party that is not served any more
    /// are removed.
    pub(super) fn adopt(&self, found: Vec<Found>) {
        for (id, record, store) in found {
            let identities = record.spec.parties.iter().map(|party| party.identity);
            let members: Option<Vec<usize>> = identities
                .map(|identity| {
                    self.by_identity.get(&PublicIdentity::from_bytes(identity)).copied()
                })
                .collect();
            let Some(members) = members else {
                let run = short_name(&record.instance);
                tracing::warn!(run, "a run with a party that is not served any more is removed");
                self.store.sweep(store.remove(0).1);
                continue;
            };
            for (member, charge) in members.iter().zip(store.charges(members.len())) {
                self.members[*member].stored_bytes.fetch_add(charge, Ordering::Relaxed);
            }
            let run = self.runs.adopt(Run::new(id, record, store, members, false));
            tracing::info!(run = %short(&run), "run found again");
            self.queue.push(&run);
        }
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    pub(super) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        self.queue.close();
        *self.sweeper() = None;
        self.runs.open().iter().for_each(|run| run.wake());
    }

    /// Whether everything that a run needs is there; the parts that are not.
    pub(super) fn ailing(&self) -> Vec<&'static str> {
        let mut ailing = Vec::new();
        // What is written to see whether anything can be is small, and may have room where a list has none.
        let has_failed = self.storage_failed().is_some_and(|at| at.elapsed() < FAILING_FOR);
        let checked = self.store.check();
        if let Err(error) = &checked {
            tracing::warn!(error = %error.kind(), "the helper's directory cannot be written");
        }
        if has_failed || checked.is_err() {
            ailing.push("store");
        }
        if self.backend.check().is_err() {
            ailing.push("backend");
        }
        ailing
    }

    pub(super) fn now(&self) -> Now {
        Now {
            open_runs: self.runs.open().len() as u64,
            stored_bytes: self.store.bytes(),
            stored_labels: self.store.labels(),
        }
    }

    /// Has a worker look at `run` when something is new.
    pub(super) fn consider(&self, run: &Arc<Run>) {
        if run.take_dirty() {
            run.set_hindrance(None);
            self.queue.push(run);
        }
    }

    /// Looks at what a process before this one has left of `run`, once.
    ///
    /// # Errors
    /// [`Refusal::Storage`]; what ends the run when too much of it is damaged.
    pub(super) fn check(&self, run: &Run) -> Result<(), Refusal> {
        let _one = run.checking.lock().unwrap_or_else(PoisonError::into_inner);
        if run.is_checked() {
            return Ok(());
        }
        let before = run.store.charges(run.members.len());
        match run.store.check() {
            Ok(damaged) => {
                let after = run.store.charges(run.members.len());
                for ((member, before), after) in run.members.iter().zip(before).zip(after) {
                    self.members[*member].release(before - after);
                }
                if damaged > 0 {
                    tracing::warn!(run = %short(run), damaged, "damaged slots count as empty");
                }
                run.set_checked();
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(Refusal::Expired),
            Err(error) => Err(self.storage(&error)),
        }
    }

    /// Notes that the disk failed.
    pub(super) fn storage(&self, error: &io::Error) -> Refusal {
        tracing::error!(error = %error.kind(), "the helper's directory cannot be written or read");
        self.storage_fails();
        Refusal::Storage
    }

    /// The directory has just failed, as it was said.
    pub(super) fn storage_fails(&self) {
        *self.storage_failed() = Some(Instant::now());
    }

    fn storage_failed(&self) -> MutexGuard<'_, Option<Instant>> {
        self.storage_failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends `run` for all and removes what was kept of it. Without effect on one that is over.
    pub(super) fn end(&self, run: &Arc<Run>, over: Over, counted: Counted, told: u16) {
        self.end_if(run, over, counted, told, || true);
    }

    /// As [`end`](Self::end), where `may` says so at the moment that it ends; says whether it did.
    pub(super) fn end_if(
        &self,
        run: &Arc<Run>,
        over: Over,
        counted: Counted,
        told: u16,
        may: impl FnOnce() -> bool,
    ) -> bool {
        let Some(rest) = self.runs.close(run, over, told, &self.members, may) else { return false };
        self.metrics.run(counted);
        let age_s = run.record.created.elapsed().unwrap_or_default().as_secs();
        match over {
            Over::Finished => {
                tracing::info!(run = %short(run), age_s, "run finished and forgotten");
            }
            Over::Refused(refusal) => {
                let (reason, by) = (reason(refusal), self.blamed(run, refusal));
                tracing::info!(run = %short(run), age_s, reason, by, "run ended and forgotten");
            }
        }
        self.hand_over(rest);
        true
    }

    /// The name of the party that a refusal names.
    fn blamed(&self, run: &Run, refusal: Refusal) -> Option<&str> {
        let (Refusal::Ended { party }
        | Refusal::Malformed { party }
        | Refusal::OpenedOther { party }
        | Refusal::TooFew { party }) = refusal
        else {
            return None;
        };
        let member = run.members.get(usize::from(party))?;
        Some(&self.members[*member].limits.name)
    }

    /// A connection leaves `run`. A service that stops loses no run by it.
    pub(super) fn leave(&self, run: &Arc<Run>) {
        if let Some(rest) = self.runs.leave(run, self.is_stopping()) {
            self.hand_over(rest);
        }
    }

    fn hand_over(&self, rest: Rest) {
        if let Some(sweeper) = &*self.sweeper() {
            // Without somebody to sweep it is swept at the next start.
            let _ = sweeper.send(rest);
        }
    }

    /// Removes what ended runs have left, which may take a while, until the service stops; and, `every` so often,
    /// ends the runs that are too old.
    pub(super) fn sweep(&self, rests: &Receiver<Rest>, every: Duration) {
        let mut next = Instant::now();
        loop {
            if Instant::now() >= next {
                self.expire();
                next = Instant::now() + every;
            }
            match rests.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(_) | Err(RecvTimeoutError::Disconnected) if self.is_stopping() => return,
                Ok(rest) => {
                    self.store.sweep(rest.gone);
                    if self.backend.forget(&rest.name).is_err() {
                        tracing::warn!(run = rest.run, "the backend may have kept something");
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn sweeper(&self) -> MutexGuard<'_, Option<Sender<Rest>>> {
        self.sweeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all runs that are too old.
    fn expire(&self) {
        let now = SystemTime::now();
        for run in self.runs.open() {
            let desk = RunDesk::new(self, &run);
            let may_be_ended = || may_be_ended(&run.record.spec, &desk);
            // A party may have read its answer by now: the other has the whole time to come for its own.
            let bound = run.bound_since(|| !may_be_ended()).map(|since| since.elapsed());
            // A clock that was set back makes no run old.
            let age = || now.duration_since(run.record.created).unwrap_or_default();
            if bound.unwrap_or_else(age) >= self.keep {
                let over = Over::Refused(Refusal::Expired);
                let may = || bound.is_some() || may_be_ended();
                self.end_if(&run, over, Counted::Expired, 0, may);
            }
        }
        self.runs.forget_ended(self.keep);
    }
}

/// How long the directory counts as failing after it has.
const FAILING_FOR: Duration = Duration::from_secs(60);

/// A name of a run for logs.
pub(super) fn short(run: &Run) -> String {
    short_name(&run.record.instance)
}

/// The beginning of an instance: two runs of one agreement have different ones.
pub(super) fn short_name(instance: &Instance) -> String {
    hex(&instance[..6])
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
