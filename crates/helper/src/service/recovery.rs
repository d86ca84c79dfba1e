//! What an earlier process has left: its runs are resumed, and checked when a party returns.

use super::core::Core;
use super::log_names::short;
use super::run::Run;
use super::run_slots::RunSlots;
use crate::store::{Damage, Found};
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;
use vesica_core::Refusal;
use vesica_link::PublicIdentity;
use vesica_server_aided::kmrs14::helper::left;

/// How often a connection checks whether another one has verified the files of their run.
const CHECKING_POLL: Duration = Duration::from_millis(50);

impl Core {
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
}
