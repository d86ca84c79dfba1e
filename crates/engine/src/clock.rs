//! How long the phases of a run took.

use crate::Phase;
use crate::report::PhaseReport;
use std::time::Duration;
use vesica_net::Meter;

/// Wall time of the engine's own phases; those on the wire are in the meter.
#[derive(Default)]
pub(crate) struct PhaseClock {
    phases: Vec<(Phase, Duration)>,
}

impl PhaseClock {
    pub(crate) fn add(&mut self, phase: Phase, elapsed: Duration) {
        self.phases.push((phase, elapsed));
    }

    pub(crate) fn report(&self, meter: &Meter) -> Vec<PhaseReport> {
        let own = self.phases.iter().map(|(phase, elapsed)| PhaseReport {
            name: phase.name().to_owned(),
            wall_s: elapsed.as_secs_f64(),
            bytes_sent: 0,
            bytes_received: 0,
        });
        let metered = meter.report().into_iter().filter(|row| !row.label.is_empty());
        let metered = metered.map(|row| PhaseReport {
            name: row.label,
            wall_s: row.wall.as_secs_f64(),
            bytes_sent: row.bytes_sent,
            bytes_received: row.bytes_received,
        });
        own.chain(metered).collect()
    }
}
