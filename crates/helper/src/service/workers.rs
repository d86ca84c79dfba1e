//! The workers: they execute the steps of the runs.

use super::core::Core;
use super::log_names::short;
use super::metrics::{Counted, reason};
use super::run::{Over, Run};
use super::run_slots::RunSlots;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use vesica_core::Refusal;
use vesica_server_aided::kmrs14::helper::{HelperStore, advance};

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
