//! A run as the helper's steps see it, and the workers that execute the steps.

use super::core::{Core, short};
use super::metrics::{Counted, reason};
use super::run::{Over, Run};
use crate::store::Mark;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use vesica_core::Refusal;
use vesica_label_joins::{BackendError, RunName};
use vesica_labels::{Bits, List};
use vesica_net::Pool;
use vesica_scratch::{MemoryScratch, Scratch};
use vesica_server_aided::kmrs14::helper::{CommonFailure, HelperStore, advance};
use vesica_server_aided::kmrs14::{Kind, Slot};

/// A run of a service, for the helper's steps.
pub(super) struct RunSlots<'a> {
    core: &'a Core,
    run: &'a Run,
    mark: Mark,
    /// In the size-hiding protocol: labels were made again.
    has_relabelled: AtomicBool,
}

impl<'a> RunSlots<'a> {
    pub(super) fn new(core: &'a Core, run: &'a Run) -> Self {
        Self { core, run, mark: run.store.mark(), has_relabelled: AtomicBool::new(false) }
    }

    /// Logs what a step has written and nothing else reports.
    fn log(&self) {
        if self.has_relabelled.swap(false, Ordering::Relaxed) {
            tracing::info!(run = %short(self.run), "labels replaced by new ones");
        }
    }
}

impl HelperStore for RunSlots<'_> {
    fn read(&self, slot: Slot) -> io::Result<Vec<u8>> {
        self.run.store.read(slot)
    }

    fn head(&self, slot: Slot, len: usize) -> io::Result<Vec<u8>> {
        self.run.store.head(slot, len)
    }

    fn write(&self, slot: Slot, body: &[u8]) -> io::Result<()> {
        self.run.store.replace(slot, body, &self.run.record)?;
        if slot.kind == Kind::Relabelled {
            self.has_relabelled.store(true, Ordering::Relaxed);
        }
        self.run.wake();
        Ok(())
    }

    fn settle(&self) -> io::Result<()> {
        self.run.store.sync(self.mark)
    }

    fn is_filled(&self, slot: Slot) -> bool {
        self.run.store.is_filled(slot)
    }

    fn secret(&self) -> io::Result<[u8; 32]> {
        self.run.store.secret(&self.run.record)
    }

    fn scratch(&self) -> &dyn Scratch {
        match self.core.keeping {
            crate::Keeping::Files => self.core.store.scratch(),
            // The intermediate data of a small run stays in memory.
            crate::Keeping::Memory { limit_bytes } if self.core.store.bytes() < limit_bytes / 2 => {
                &MemoryScratch
            }
            crate::Keeping::Memory { .. } => self.core.store.scratch(),
        }
    }

    fn memory_bytes(&self) -> u64 {
        self.core.step_memory_bytes
    }

    fn pool(&self) -> &Pool {
        &self.core.pool
    }

    fn stop(&self) -> bool {
        self.core.is_stopping() || self.run.over().is_some()
    }

    fn common(&self, lists: &[List<'_>]) -> Result<Option<Vec<Bits>>, CommonFailure> {
        let started = Instant::now();
        let name = RunName(self.run.record.instance);
        let bits = self.core.backend.common(&name, lists, &|| self.stop());
        let seconds = started.elapsed().as_secs_f64();
        match bits {
            Ok(bits) => {
                if bits.is_some() {
                    self.core.metrics.compared(seconds);
                    let labels: Vec<String> =
                        lists.iter().map(|list| list.len().to_string()).collect();
                    let labels = labels.join(", ");
                    tracing::info!(run = %short(self.run), seconds, labels, "lists compared");
                }
                Ok(bits)
            }
            Err(BackendError::Malformed { list }) => Err(CommonFailure::Malformed { list }),
            Err(BackendError::Storage { .. } | BackendError::Directory(_)) => {
                Err(CommonFailure::Storage)
            }
            Err(error) => {
                tracing::error!(run = %short(self.run), %error, "lists could not be compared");
                Err(CommonFailure::Backend)
            }
        }
    }
}

/// Executes steps of one run after the other until the service stops.
pub(super) fn work(core: &Core) {
    while let Some(run) = core.queue.next() {
        take_steps(core, &run);
        core.queue.put_back(&run);
    }
}

fn take_steps(core: &Core, run: &Arc<Run>) {
    // A connection's thread checks the files when one of the run's parties connects: that takes
    // minutes for a large run, and others have steps to execute.
    if !run.is_checked() {
        return;
    }
    let steps = || {
        let slots = RunSlots::new(core, run);
        loop {
            // Nothing is computed from data that could be lost.
            slots.settle().map_err(|_| Refusal::Storage)?;
            if slots.stop() {
                return Ok(());
            }
            match advance(&run.record.spec, &slots) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                // The fault may be the consequence of a slot that could not be synced.
                Err(_) if run.store.mark() != slots.mark => return Err(Refusal::Storage),
                Err(refusal) => return Err(refusal),
            }
            slots.log();
        }
    };
    let result = catch_unwind(AssertUnwindSafe(steps)).unwrap_or_else(|_| {
        tracing::error!(run = %short(run), "a step of the helper panicked");
        Err(Refusal::Internal)
    });
    // A failure caused by the end is not a failure.
    if core.is_stopping() || run.over().is_some() {
        return;
    }
    match result {
        Ok(()) => {}
        Err(hindrance) if hindrance.passes() => {
            if hindrance == Refusal::Storage {
                core.recount(run);
                core.storage_fails();
            }
            let reason = reason(hindrance);
            tracing::warn!(run = %short(run), reason, "a run cannot continue for now");
            run.set_hindrance(Some(hindrance));
        }
        Err(refusal) => {
            // This run cannot continue, whereas a connection with a defect may be followed by
            // others.
            let refusal = if refusal == Refusal::Internal { Refusal::Broken } else { refusal };
            core.end(run, Over::Refused(refusal), Counted::Failed, 0);
        }
    }
}
