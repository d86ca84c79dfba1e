//! A run as the helper's steps see it.

use super::core::Core;
use super::log_names::short;
use super::run::Run;
use crate::store::Mark;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use vesica_label_joins::{BackendError, RunName};
use vesica_labels::{Bits, List};
use vesica_net::Pool;
use vesica_scratch::{MemoryScratch, Scratch};
use vesica_server_aided::kmrs14::helper::{CommonFailure, HelperStore};
use vesica_server_aided::kmrs14::{Kind, Slot};

/// A run of a service, for the helper's steps.
pub(super) struct RunSlots<'a> {
    core: &'a Core,
    run: &'a Run,
    pub(super) mark: Mark,
    /// In the size-hiding protocol: labels were made again.
    has_relabelled: AtomicBool,
}

impl<'a> RunSlots<'a> {
    pub(super) fn new(core: &'a Core, run: &'a Run) -> Self {
        Self { core, run, mark: run.store.mark(), has_relabelled: AtomicBool::new(false) }
    }

    /// Logs what a step has written and nothing else reports.
    pub(super) fn log(&self) {
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
