//! State shared by all threads of a service.

use super::connections::Connections;
use super::members::{Member, Members};
use super::memory::Memory;
use super::metrics::{Metrics, Now, PartyNow};
use super::options::PartyLimits;
use super::queue::Queue;
use super::room::{DiskLimits, Ledger};
use super::run::Run;
use super::runs::{Remains, Runs};
use crate::locks::{Guard, Lock, Rank};
use crate::store::{Keeping, Store};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};
use vesica_core::Refusal;
use vesica_label_joins::Backend;
use vesica_net::Pool;

/// How long the directory counts as failing after a failure.
const FAILING_FOR: Duration = Duration::from_secs(60);

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

    pub(super) fn sweeper(&self) -> Guard<'_, Option<Sender<Remains>>> {
        self.sweeper.lock()
    }
}
