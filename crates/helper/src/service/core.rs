//! What all threads of a service share.

use super::metrics::{Counted, Metrics, Now, reason};
use super::options::PartyLimits;
use super::queue::Queue;
use super::run::{Over, Run};
use super::runs::Runs;
use crate::store::{Found, Keeping, Store};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use vesica_backends::{Backend, RunName};
use vesica_core::{Refusal, StopReason};
use vesica_link::{PublicIdentity, Session};
use vesica_net::{Pool, Streams};

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

/// A connection that stands.
struct Visiting {
    session: Session,
    is_busy: bool,
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
    sweeper: Mutex<Option<Sender<Rest>>>,
    visits: Mutex<HashMap<u64, Visiting>>,
    visits_changed: Condvar,
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
            sweeper: Mutex::new(Some(sweeper)),
            visits: Mutex::default(),
            visits_changed: Condvar::new(),
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
                tracing::warn!("a run with a party that is not served any more is removed");
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
        if let Err(error) = self.store.check() {
            tracing::warn!(error = %error.kind(), "the helper's directory cannot be written");
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
        Refusal::Storage
    }

    /// Ends `run` for all and removes what was kept of it. Without effect on one that is over.
    pub(super) fn end(&self, run: &Arc<Run>, over: Over, counted: Counted, told: u16) {
        let Some(gone) = self.runs.close(run, over, told, &self.members) else { return };
        self.metrics.run(counted);
        let age = run.record.created.elapsed().unwrap_or_default().as_secs();
        match over {
            Over::Finished => tracing::info!(run = %short(run), age, "run finished and forgotten"),
            Over::Refused(refusal) => {
                let reason = reason(refusal);
                tracing::info!(run = %short(run), age, reason, "run ended and forgotten");
            }
        }
        let rest = Rest { run: short(run), name: RunName(run.record.instance), gone };
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
            // A clock that was set back makes no run old.
            let age = now.duration_since(run.record.created).unwrap_or_default();
            if age >= self.keep {
                self.end(&run, Over::Refused(Refusal::Expired), Counted::Expired, 0);
            }
        }
        self.runs.forget_ended(self.keep);
    }

    /// A connection stands from now on.
    pub(super) fn visit_begins(&self, number: u64, session: Session) {
        self.visits().insert(number, Visiting { session, is_busy: true });
    }

    /// Whether a connection's party has asked something and has no reply yet.
    pub(super) fn visit_is_busy(&self, number: u64, is_busy: bool) {
        if let Some(visiting) = self.visits().get_mut(&number) {
            visiting.is_busy = is_busy;
        }
    }

    pub(super) fn visit_ends(&self, number: u64) {
        self.visits().remove(&number);
        self.visits_changed.notify_all();
    }

    /// Ends the connections, those at once whose party waits for no reply, and the others when they have it, at the
    /// latest after `grace`. Says whether all are gone.
    pub(super) fn end_visits(&self, grace: Duration) -> bool {
        let started = Instant::now();
        let mut visits = self.visits();
        while !visits.is_empty() && started.elapsed() < grace {
            let idle = visits.values().filter(|visiting| !visiting.is_busy);
            idle.for_each(|visiting| visiting.session.abort(StopReason::Cancelled));
            visits = self.wait_for_visits(visits);
        }
        let rest = Instant::now();
        while !visits.is_empty() && rest.elapsed() < LAST_WORDS {
            visits.values().for_each(|visiting| visiting.session.abort(StopReason::Cancelled));
            visits = self.wait_for_visits(visits);
        }
        visits.is_empty()
    }

    fn wait_for_visits<'a>(
        &'a self,
        visits: MutexGuard<'a, HashMap<u64, Visiting>>,
    ) -> MutexGuard<'a, HashMap<u64, Visiting>> {
        let tick = Duration::from_millis(20);
        self.visits_changed.wait_timeout(visits, tick).unwrap_or_else(PoisonError::into_inner).0
    }

    fn visits(&self) -> MutexGuard<'_, HashMap<u64, Visiting>> {
        self.visits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long connections may take to end once they are told to.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// A name of a run for logs: the beginning of its id.
pub(super) fn short(run: &Run) -> String {
    short_id(&run.id)
}

pub(super) fn short_id(id: &[u8; 32]) -> String {
    id[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}
