//! State shared by all threads of a service.

use super::connections::Connections;
use super::members::{Member, Members};
use super::memory::Memory;
use super::metrics::{Counted, Metrics, Now, PartyNow, reason};
use super::options::PartyLimits;
use super::queue::Queue;
use super::room::{DiskLimits, Ledger};
use super::run::{Over, Run};
use super::run_slots::RunSlots;
use super::runs::Runs;
use crate::locks::{Guard, Lock, Rank};
use crate::store::{Damage, Found, Keeping, Store};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime};
use vesica_core::Refusal;
use vesica_helper_wire::Instance;
use vesica_label_joins::{Backend, RunName};
use vesica_link::PublicIdentity;
use vesica_net::Pool;
use vesica_server_aided::kmrs14::helper::{left, may_be_ended};

/// What remains of an ended run.
pub(super) struct Remains {
    run: String,
    name: RunName,
    gone: Option<PathBuf>,
}

impl Remains {
    /// What remains of `run`, and where its files are now.
    pub(super) fn of(run: &Run, gone: Option<PathBuf>) -> Self {
        Self { run: short(run), name: RunName(run.record.instance), gone }
    }
}

/// State shared by all threads of a service.
pub(super) struct Core {
    pub(super) members: Members,
    pub(super) ledger: Ledger,
    /// For slots being received and sent.
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
    /// The last failure of the directory.
    storage_failed: Lock<Option<Instant>>,
    sweeper: Lock<Option<Sender<Remains>>>,
    pub(super) connections: Connections,
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
        sweeper: Sender<Remains>,
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
            storage_failed: Lock::new(Rank::Leaf, None),
            sweeper: Lock::new(Rank::Leaf, Some(sweeper)),
            connections: Connections::default(),
        }
    }

    /// Resumes the runs of an earlier process. Runs with a party that is no longer served are
    /// ended, except runs that no party may end: if one party has learned its answer, the other
    /// must be able to learn it too.
    pub(super) fn adopt(&self, found: Vec<Found>) {
        for (id, record, store) in found {
            // The earlier process ended after all had sent done, or after one had ended the run.
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
                tracing::warn!(run = %short(&run), "the space that a run needs cannot be read");
            }
            tracing::info!(run = %short(&run), "run resumed");
            if !self.end_if_revoked(&run) {
                self.queue.push(&run);
            }
        }
    }

    /// Reserves space for a run whose data exists already.
    pub(super) fn take_on(&self, run: &Run) -> io::Result<()> {
        self.ledger.take_on(&self.members, &self.store, run, &RunSlots::new(self, run))
    }

    /// Ends `run` if one of its parties is not served and it may be ended; returns whether it has
    /// ended.
    pub(super) fn end_if_revoked(&self, run: &Arc<Run>) -> bool {
        let is_served = |number: &usize| self.members.get(*number).is_served();
        let Some(party) = run.members.iter().position(|number| !is_served(number)) else {
            return run.over().is_some();
        };
        let over = Over::Refused(Refusal::Revoked { party: party as u8 });
        let may = || may_be_ended(&run.record.spec, &RunSlots::new(self, run));
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

    /// Lists the missing parts that runs need.
    pub(super) fn ailing(&self) -> Vec<&'static str> {
        let mut ailing = Vec::new();
        // The file of the write test is small, and may fit where a list does not.
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
            free_disk_bytes: self.store.disk_space().map_or(0, |(free, _)| free),
            parties: self.members.all_served().iter().map(party).collect(),
        }
    }

    /// Queues `run` for a worker if something is new.
    pub(super) fn consider(&self, run: &Arc<Run>) {
        if run.take_dirty() {
            run.set_hindrance(None);
            self.queue.push(run);
        }
    }

    /// Checks what an earlier process has left of `run`, once. Calls `alive` at intervals.
    ///
    /// # Errors
    /// [`Refusal::Storage`]; the refusal that ends the run if too much of it is damaged.
    pub(super) fn check(&self, run: &Run, mut alive: impl FnMut()) -> Result<(), Refusal> {
        let _one = loop {
            if let Some(one) = run.checking.try_lock() {
                break one;
            }
            // Another connection checks, which may take minutes.
            if self.is_stopping() {
                return Err(Refusal::ShuttingDown);
            }
            alive();
            std::thread::sleep(CHECKING_POLL);
        };
        if run.is_checked() {
            return Ok(());
        }
        let checked = run.store.check(&mut || {
            alive();
            self.is_stopping()
        });
        let left = match checked {
            Ok(damage) => self.salvage(run, damage),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(Refusal::ShuttingDown),
            Err(error) => Err(self.storage(&error)),
        };
        self.recount(run);
        left?;
        run.store.set_checked();
        run.set_checked();
        // Work may be due that no party requests any more.
        run.set_dirty();
        Ok(())
    }

    /// Empties slots that are useless without the damaged or missing ones.
    fn salvage(&self, run: &Run, damage: Damage) -> Result<(), Refusal> {
        let left = left(&run.record.spec, &RunSlots::new(self, run))?;
        run.store.empty_all(&left.useless).map_err(|error| self.storage(&error))?;
        let useless = left.useless.len();
        if damage != Damage::default() || useless > 0 {
            let (damaged, secret) = (damage.slots, damage.secret);
            let run = short(run);
            tracing::warn!(%run, damaged, secret, useless, "damaged slots count as empty");
        }
        if damage.secret && left.needs_secret { Err(Refusal::Expired) } else { Ok(()) }
    }

    /// Recounts what the parties of `run` have put: damaged or unsynced slots are gone.
    pub(super) fn recount(&self, run: &Run) {
        let after = run.store.charges(run.members.len());
        let mut holding = run.holding();
        let before = holding.recount(after.clone());
        for ((number, before), after) in run.members.iter().zip(before).zip(after) {
            let stored = &self.members.get(*number).stored_bytes;
            stored.fetch_add(after.wrapping_sub(before), Ordering::Relaxed);
        }
    }

    /// Records a failure of the disk.
    pub(super) fn storage(&self, error: &io::Error) -> Refusal {
        tracing::error!(error = %error.kind(), "the helper's directory cannot be written or read");
        self.storage_fails();
        Refusal::Storage
    }

    /// Records that the directory has failed.
    pub(super) fn storage_fails(&self) {
        *self.storage_failed() = Some(Instant::now());
    }

    fn storage_failed(&self) -> Guard<'_, Option<Instant>> {
        self.storage_failed.lock()
    }

    /// Ends `run` for all and removes its data. No effect on an ended one.
    pub(super) fn end(&self, run: &Arc<Run>, over: Over, counted: Counted, notified: u16) {
        self.end_if(run, over, counted, notified, || true);
    }

    /// Like [`end`](Self::end), if `may` permits it at the moment of the end; returns whether it
    /// did.
    pub(super) fn end_if(
        &self,
        run: &Arc<Run>,
        over: Over,
        counted: Counted,
        notified: u16,
        may: impl FnOnce() -> bool,
    ) -> bool {
        let Some(rest) = self.runs.close(run, over, notified, &self.store, may) else {
            return false;
        };
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

    /// The name of the party in a refusal.
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

    /// Forgets an empty run, after a time or to make room for another.
    pub(super) fn forget(&self, run: &Arc<Run>) {
        let rest = self.runs.forget(run);
        self.ledger.release(&self.members, run);
        self.hand_over(rest);
    }

    fn hand_over(&self, rest: Remains) {
        if let Some(sweeper) = &*self.sweeper() {
            // If it is not swept now, the next start does it.
            let _ = sweeper.send(rest);
        }
    }

    /// Removes the files of ended runs, which may take a while, until the service stops; and at
    /// intervals of `every`, ends runs that are too old.
    pub(super) fn sweep(&self, remains: &Receiver<Remains>, every: Duration) {
        let mut next = Instant::now();
        loop {
            if Instant::now() >= next {
                self.expire();
                next = Instant::now() + every;
            }
            match remains.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(_) | Err(RecvTimeoutError::Disconnected) if self.is_stopping() => return,
                Ok(rest) => {
                    self.store.sweep(rest.gone);
                    if self.backend.forget(&rest.name).is_err() {
                        tracing::warn!(run = rest.run, "the backend may have kept data");
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn sweeper(&self) -> Guard<'_, Option<Sender<Remains>>> {
        self.sweeper.lock()
    }

    /// Ends all runs that are too old.
    fn expire(&self) {
        let now = SystemTime::now();
        for run in self.runs.open() {
            let slots = RunSlots::new(self, &run);
            let may_be_ended = || may_be_ended(&run.record.spec, &slots);
            // A party may have read its answer by now: the other has the whole time to read its
            // own.
            let bound = run.bound_since(|| !may_be_ended()).map(|since| since.elapsed());
            // Setting the clock back makes no run old.
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

/// How long an empty run is kept: a party whose connection was just lost, or for which the disk had
/// no space, returns.
const KEEP_EMPTY: Duration = Duration::from_secs(120);

/// How often a connection checks whether another one has verified the files of their run.
const CHECKING_POLL: Duration = Duration::from_millis(50);

/// How long the directory counts as failing after a failure.
const FAILING_FOR: Duration = Duration::from_secs(60);

/// The name of a run in logs.
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
