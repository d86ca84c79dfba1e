//! The times of the phases of a run.

use crate::Phase;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use vesica_net::Meter;
use vesica_report::PhaseReport;

/// A phase, how long it took, and the payload bytes that this side sent and received.
type Timed = (Phase, Duration, (u64, u64));

/// Wall time of the engine's own phases; those on the wire are in the meter.
#[derive(Default)]
pub(crate) struct PhaseClock {
    phases: Mutex<Vec<Timed>>,
}

impl PhaseClock {
    pub(crate) fn add(&self, phase: Phase, elapsed: Duration) {
        self.add_with_bytes(phase, elapsed, (0, 0));
    }

    /// As [`add`](Self::add), for a phase in which this side sent and received this many payload
    /// bytes.
    pub(crate) fn add_with_bytes(&self, phase: Phase, elapsed: Duration, bytes: (u64, u64)) {
        self.lock().push((phase, elapsed, bytes));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Timed>> {
        self.phases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn report(&self, meter: &Meter) -> Vec<PhaseReport> {
        let phases = self.lock();
        let own = phases.iter().map(|(phase, elapsed, bytes)| PhaseReport {
            name: phase.name().to_owned(),
            wall_s: elapsed.as_secs_f64(),
            bytes_sent: bytes.0,
            bytes_received: bytes.1,
        });
        let metered =
            meter.report().into_iter().filter(|row| !row.label.is_empty()).map(|row| PhaseReport {
                name: row.label,
                wall_s: row.wall.as_secs_f64(),
                bytes_sent: row.bytes_sent,
                bytes_received: row.bytes_received,
            });
        own.chain(metered).collect()
    }
}
