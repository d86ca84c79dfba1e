//! The ends of runs, and the removal of their files.

use super::core::Core;
use super::log_names::short;
use super::metrics::{Counted, reason};
use super::run::{Over, Run};
use super::run_slots::RunSlots;
use super::runs::Remains;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};
use vesica_core::Refusal;
use vesica_server_aided::kmrs14::helper::may_be_ended;

/// How long an empty run is kept: a party whose connection was just lost, or for which the disk had
/// no space, returns.
const KEEP_EMPTY: Duration = Duration::from_secs(120);

impl Core {
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
