//! What all threads of a service share.

use super::desk::RunDesk;
use super::members::{Member, Members};
use super::memory::Memory;
use super::metrics::{Counted, Metrics, Now, PartyNow, reason};
use super::options::PartyLimits;
use super::queue::Queue;
use super::room::{DiskLimits, Ledger};
use super::run::{Over, Run};
use super::runs::Runs;
use super::visits::Visits;
use crate::store::{Damage, Found, Keeping, Store};
use crate::wire::Instance;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use vesica_backends::{Backend, RunName};
use vesica_core::Refusal;
use vesica_link::PublicIdentity;
use vesica_net::Pool;
use vesica_protocols::kmrs14::helper::{left, may_be_ended};

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
    pub(super) members: Members,
    pub(super) ledger: Ledger,
    /// For slots on their way in and out.
    pub(super) memory: Memory,
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
        disk: DiskLimits,
        sweeper: Sender<Rest>,
    ) -> Self {
        let metrics = Metrics::new(backend.name());
        let queue = Queue::new(workers);
        let in_memory_bytes = match keeping {
            Keeping::Files => 0,
            Keeping::Memory { limit_bytes } => limit_bytes,
        };
        let of_connections = Memory::part_of(memory_bytes);
        Self {
            members: Members::new(parties),
            ledger: Ledger::new(disk, in_memory_bytes),
            memory: Memory::new(of_connections),
            runs: Runs::default(),
            store,
            keeping,
            backend,
            queue,
            metrics,
            pool,
            step_memory_bytes: memory_bytes.saturating_sub(of_connections) / workers as u64,
            keep,
            is_stopping: AtomicBool::new(false),
            storage_failed: Mutex::default(),
            sweeper: Mutex::new(Some(sweeper)),
            visits: Visits::default(),
        }
    }

    /// Takes on the runs that a process before this one has left. Those with a party that is not served any more
    /// are ended, but for one that nobody may end: what one of its parties has learned the other is to learn, too.
    pub(super) fn adopt(&self, found: Vec<Found>) {
        for (id, record, store) in found {
            // The process before this one ended when all had said that they are done, or one that it is over.
            let is_finished = store.done().count_ones() as usize == record.spec.parties.len();
            if is_finished || self.runs.has_ended(&id, &record.instance) {
                self.store.sweep(store.remove(0).1);
                continue;
            }
            let parties = record.spec.parties.iter();
            let identities = parties.map(|party| PublicIdentity::from_bytes(party.identity));
            let members: Vec<usize> =
                identities.map(|identity| self.members.number(&identity)).collect();
            let run = self.runs.adopt(Run::new(id, record, store, members, false));
            let charges = run.store.charges(run.members.len());
            for (number, bytes) in run.members.iter().zip(charges) {
                self.members.get(*number).stored_bytes.fetch_add(bytes, Ordering::Relaxed);
            }
            if self.take_on(&run).is_err() {
                tracing::warn!(run = %short(&run), "it cannot be read how much a run needs");
            }
            tracing::info!(run = %short(&run), "run found again");
            if !self.end_if_revoked(&run) {
                self.queue.push(&run);
            }
        }
    }

    /// Reserves what a run needs that is here already.
    pub(super) fn take_on(&self, run: &Run) -> io::Result<()> {
        self.ledger.take_on(&self.members, &self.store, run, &RunDesk::new(self, run))
    }

    /// Ends `run` where one of its parties is not served (any more), and it may be ended; says whether it is over.
    pub(super) fn end_if_revoked(&self, run: &Arc<Run>) -> bool {
        let is_served = |number: &usize| self.members.get(*number).is_served();
        let Some(party) = run.members.iter().position(|number| !is_served(number)) else {
            return run.over().is_some();
        };
        let over = Over::Refused(Refusal::Revoked { party: party as u8 });
        let may = || may_be_ended(&run.record.spec, &RunDesk::new(self, run));
        self.end_if(run, over, Counted::Revoked, 0, may)
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
        let (waiting, running) = self.queue.depth();
        let party = |member: &Arc<Member>| PartyNow {
            name: member.limits().name.clone(),
            connections: member.connections.load(Ordering::Acquire),
            stored_bytes: member.stored_bytes.load(Ordering::Relaxed),
            reserved_bytes: member.reserved_bytes.load(Ordering::Relaxed),
        };
        Now {
            open_runs: self.runs.open().len() as u64,
            waiting_runs: waiting as u64,
            running_runs: running as u64,
            stored_bytes: self.store.bytes(),
            stored_labels: self.store.labels(),
            reserved_bytes: self.ledger.reserved(),
            free_disk_bytes: self.store.free_bytes().unwrap_or(0),
            parties: self.members.all_served().iter().map(party).collect(),
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
        let checked = run.store.check(&|| self.is_stopping());
        let left = match checked {
            Ok(damage) => self.salvage(run, damage),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(Refusal::ShuttingDown),
            Err(error) => Err(self.storage(&error)),
        };
        self.recount(run);
        left?;
        run.store.set_checked();
        run.set_checked();
        // Something may be due that nobody asks for any more.
        run.set_dirty();
        Ok(())
    }

    /// Empties what is of no use without what was damaged, or never came to the disk.
    fn salvage(&self, run: &Run, damage: Damage) -> Result<(), Refusal> {
        let left = left(&run.record.spec, &RunDesk::new(self, run))?;
        run.store.empty_all(&left.useless).map_err(|error| self.storage(&error))?;
        let useless = left.useless.len();
        if damage != Damage::default() || useless > 0 {
            let (damaged, secret) = (damage.slots, damage.secret);
            tracing::warn!(run = %short(run), damaged, secret, useless, "damaged slots count as empty");
        }
        if damage.secret && left.needs_secret { Err(Refusal::Expired) } else { Ok(()) }
    }

    /// Counts anew what the parties of `run` have put: slots that were damaged, or could not be synced, have gone.
    pub(super) fn recount(&self, run: &Run) {
        let after = run.store.charges(run.members.len());
        let mut holding = run.holding();
        let before = holding.recount(after.clone());
        for ((number, before), after) in run.members.iter().zip(before).zip(after) {
            let stored = &self.members.get(*number).stored_bytes;
            stored.fetch_add(after.wrapping_sub(before), Ordering::Relaxed);
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
        let Some(rest) = self.runs.close(run, over, told, &self.store, may) else { return false };
        self.ledger.release(&self.members, run);
        self.metrics.run(counted);
        let age_s = run.record.created.elapsed().unwrap_or_default().as_secs();
        match over {
            Over::Finished => {
                tracing::info!(run = %short(run), age_s, "run finished and forgotten");
            }
            Over::Refused(refusal) => {
                let (reason, by) = (reason(refusal), self.blamed(run, refusal));
                let by = by.as_deref();
                tracing::info!(run = %short(run), age_s, reason, by, "run ended and forgotten");
            }
        }
        self.hand_over(rest);
        true
    }

    /// The name of the party that a refusal names.
    fn blamed(&self, run: &Run, refusal: Refusal) -> Option<String> {
        let (Refusal::Ended { party }
        | Refusal::Malformed { party }
        | Refusal::OpenedOther { party }
        | Refusal::TooFew { party }
        | Refusal::Revoked { party }) = refusal
        else {
            return None;
        };
        let member = run.members.get(usize::from(party))?;
        Some(self.members.get(*member).limits().name.clone())
    }

    /// Forgets an empty run, after a while or because it has given way to another.
    pub(super) fn forget(&self, run: &Arc<Run>) {
        let rest = self.runs.forget(run);
        self.ledger.release(&self.members, run);
        self.hand_over(rest);
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
        for run in self.runs.empty(self.keep.min(KEEP_EMPTY)) {
            self.forget(&run);
        }
        self.runs.forget_ended(self.keep, &self.store);
    }
}

/// How long a run is kept in which nobody has said anything: a party whose connection is lost just then, or that the
/// disk had no room for, comes back.
const KEEP_EMPTY: Duration = Duration::from_secs(120);

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
