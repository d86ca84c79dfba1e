//! One open run.

use super::holding::Holding;
use crate::locks::{self, Guard, Lock, Rank};
use crate::store::{Record, RunId, RunStore};
use std::sync::Condvar;
use std::time::{Duration, Instant};
use vesica_core::Refusal;
use vesica_helper_wire::WaitingFor;
use vesica_server_aided::kmrs14::{Kind, Slot, Variant};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// All parties have what they need.
    Finished,
    /// With a refusal for all.
    Refused(Refusal),
}

impl Over {
    /// The refusal for a party that sends further requests.
    pub(super) fn refusal(self) -> Refusal {
        match self {
            Over::Finished => Refusal::Expired,
            Over::Refused(refusal) => refusal,
        }
    }
}

/// Whether a run is open, without waiting for its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Open,
    /// It is about to end.
    Ending,
    Over(Over),
}

/// The state of a run between its connections and the workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Turn {
    /// Nothing new.
    #[default]
    Idle,
    /// Waits for a worker.
    Queued,
    /// A worker has it.
    Running,
    /// A worker has it, and there is new work.
    RunningBehind,
}

#[derive(Default)]
struct State {
    over: Option<Over>,
    /// It is about to end; nothing of it is sent until then.
    is_ending: bool,
    /// Why the last computation could not continue; tried again when a party asks.
    hindrance: Option<Refusal>,
    /// Slots were filled that no worker has seen.
    is_dirty: bool,
    is_checked: bool,
    turn: Turn,
    joined: u16,
    connections: usize,
    /// When it was first known that no party may end it any more.
    bound_since: Option<Instant>,
    /// Since when it has been without connections and data.
    empty_since: Option<Instant>,
}

/// A run, and the threads that wait for it.
pub(super) struct Run {
    pub(super) id: RunId,
    pub(super) record: Record,
    pub(super) store: RunStore,
    /// The number of each party in the service's list.
    pub(super) members: Vec<usize>,
    state: Lock<State>,
    changed: Condvar,
    /// Held while the files of an earlier process are checked.
    pub(super) checking: Lock<()>,
    /// Held while a hello arrives: the last of them decides whether there is space.
    pub(super) admitting: Lock<()>,
    holding: Lock<Holding>,
}

impl Run {
    pub(super) fn new(
        id: RunId,
        record: Record,
        store: RunStore,
        members: Vec<usize>,
        is_checked: bool,
    ) -> Self {
        let joined = store.joined() | 1 << record.opener;
        let empty_since = store.is_empty().then(Instant::now);
        let state = State { joined, is_checked, empty_since, ..State::default() };
        let holding = Holding::new(store.charges(members.len()));
        Self {
            id,
            record,
            store,
            members,
            state: Lock::new(Rank::Run, state),
            changed: Condvar::new(),
            checking: Lock::new(Rank::Checking, ()),
            admitting: Lock::new(Rank::Admitting, ()),
            holding: Lock::new(Rank::Holding, holding),
        }
    }

    /// Its space on the disk.
    pub(super) fn holding(&self) -> Guard<'_, Holding> {
        self.holding.lock()
    }

    /// The number, in the service's list, of the party that started it.
    pub(super) fn opener(&self) -> usize {
        self.members[usize::from(self.record.opener)]
    }

    pub(super) fn parties(&self) -> u8 {
        self.members.len() as u8
    }

    /// How it ended. Waits if it is about to end, so it is not called under a lock.
    pub(super) fn over(&self) -> Option<Over> {
        // Also where it is not about to end now.
        locks::waits();
        self.state().wait_while(&self.changed, |state| state.is_ending).over
    }

    /// Whether it is open now; never waits.
    pub(super) fn standing(&self) -> Standing {
        let state = self.state();
        match state.over {
            _ if state.is_ending => Standing::Ending,
            Some(over) => Standing::Over(over),
            None => Standing::Open,
        }
    }

    /// Starts its end if `may` permits it; false if it does not, or if it has already started.
    /// Nothing of the run is sent until [`end`](Self::end), and [`over`](Self::over) waits for it.
    pub(super) fn begin_end(&self, may: impl FnOnce() -> bool) -> bool {
        let mut state = self.state();
        let begins = state.over.is_none() && !state.is_ending && may();
        state.is_ending |= begins;
        begins
    }

    /// Like [`begin_end`](Self::begin_end), if the run has been without connections and data since
    /// before `than`.
    pub(super) fn begin_to_forget(&self, than: Instant) -> bool {
        let mut state = self.state();
        let is_old = state.empty_since.is_some_and(|since| since <= than);
        let begins = state.over.is_none() && !state.is_ending && is_old;
        state.is_ending |= begins;
        begins
    }

    /// Completes the end.
    pub(super) fn end(&self, over: Over) {
        let mut state = self.state();
        state.over = Some(over);
        state.is_ending = false;
        drop(state);
        self.changed.notify_all();
    }

    /// Since when it is known that no party may end it any more: from now on, if `is_bound` returns
    /// true for the first time.
    pub(super) fn bound_since(&self, is_bound: impl FnOnce() -> bool) -> Option<Instant> {
        let mut state = self.state();
        if state.bound_since.is_none() && is_bound() {
            state.bound_since = Some(Instant::now());
        }
        state.bound_since
    }

    pub(super) fn is_checked(&self) -> bool {
        self.state().is_checked
    }

    pub(super) fn set_checked(&self) {
        self.state().is_checked = true;
    }

    /// The parties that have connected so far, one bit each.
    pub(super) fn joined(&self) -> u16 {
        self.state().joined
    }

    /// Counts one more connection of a party.
    pub(super) fn enter(&self, party: u8) {
        let mut state = self.state();
        state.joined |= 1 << party;
        state.connections += 1;
        state.empty_since = None;
    }

    /// Counts a closed connection.
    pub(super) fn leave(&self) {
        let mut state = self.state();
        state.connections -= 1;
        if state.connections == 0 && state.over.is_none() && self.store.is_empty() {
            state.empty_since = Some(Instant::now());
        }
    }

    pub(super) fn has_connections(&self) -> bool {
        self.state().connections > 0
    }

    /// Slots were filled, or the last computation is to be tried again.
    pub(super) fn set_dirty(&self) {
        self.state().is_dirty = true;
    }

    /// Whether there is new work; clears the flag.
    pub(super) fn take_dirty(&self) -> bool {
        std::mem::take(&mut self.state().is_dirty)
    }

    /// Why it cannot continue.
    pub(super) fn hindrance(&self) -> Option<Refusal> {
        self.state().hindrance
    }

    /// Sets why a computation could not continue, or clears it before the next attempt.
    pub(super) fn set_hindrance(&self, hindrance: Option<Refusal>) {
        let mut state = self.state();
        state.hindrance = hindrance;
        state.is_dirty |= hindrance.is_some();
        drop(state);
        self.changed.notify_all();
    }

    /// Changes the state of the run's turn; returns the earlier one.
    pub(super) fn turn(&self, change: impl FnOnce(Turn) -> Turn) -> Turn {
        let mut state = self.state();
        let was = state.turn;
        state.turn = change(was);
        was
    }

    /// Wakes all waiting threads: a slot was filled.
    pub(super) fn wake(&self) {
        // Under the lock, so that no thread that has just checked misses it.
        drop(self.state());
        self.changed.notify_all();
    }

    /// Waits until `is_out` returns true, something ends or blocks the run, or `limit` has passed;
    /// returns whether it is out. Nothing is out in an ended run.
    pub(super) fn wait(&self, limit: Duration, is_out: impl Fn() -> bool) -> bool {
        let waits = |state: &mut State| {
            state.is_ending || state.over.is_none() && state.hindrance.is_none() && !is_out()
        };
        let state = self.state().wait_timeout_while(&self.changed, limit, waits);
        // Checked together, so that the run cannot end after it was found out.
        state.over.is_none() && !state.is_ending && is_out()
    }

    /// The parties that have sent hellos, one bit each.
    pub(super) fn present(&self) -> u16 {
        self.filled(Kind::Hello)
    }

    /// The parties that must act before `slot` can be filled.
    pub(super) fn missing_for(&self, slot: Slot, other_agreement: [u8; 32]) -> WaitingFor {
        let all = u16::MAX >> (u16::BITS - u32::from(self.parties()));
        let parties = match slot.kind {
            Kind::Hello => all & !self.present(),
            kind if kind.is_written_by_party() => 1 << slot.party,
            Kind::TossOpening => 0b10 & !self.filled(Kind::TossShare),
            Kind::Relabelled => {
                (0b01 & !self.filled(Kind::Size)) | (0b10 & !self.filled(Kind::TossShare))
            }
            Kind::Places => 0b10 & !self.filled(Kind::Release),
            Kind::Answer | Kind::Opening if self.record.spec.variant == Variant::Fair => {
                all & !self.filled(Kind::OuterSecret)
            }
            _ => all & !self.filled(Kind::Size),
        };
        WaitingFor { parties, other_agreement }
    }

    fn filled(&self, kind: Kind) -> u16 {
        (0..self.parties())
            .filter(|party| self.store.is_filled(Slot::new(kind, *party)))
            .fold(0, |bits, party| bits | 1 << party)
    }

    fn state(&self) -> Guard<'_, State> {
        self.state.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Disk, Keeping, Store};
    use std::sync::Barrier;
    use std::time::SystemTime;
    use vesica_server_aided::kmrs14::{PartySpec, Spec};

    #[test]
    fn no_slots_are_lent_while_a_run_is_ending() {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = Store::open(dir.path(), Keeping::Files, Disk::default()).unwrap();
        let party =
            |number| PartySpec { identity: [number; 32], max_rows: 9, min_rows: 0, receives: true };
        let spec = Spec {
            variant: Variant::Fair,
            agreement: [7; 32],
            parties: vec![party(1), party(2)],
            copies: 4,
            dummies: 20,
        };
        let record = Record { spec, instance: [3; 16], created: SystemTime::now(), opener: 0 };
        let run = Run::new([5; 32], record, store.run(&[5; 32]), vec![0, 1], true);
        assert!(run.wait(Duration::ZERO, || true));
        let is_found = Barrier::new(2);
        let ended = Over::Refused(Refusal::Ended { party: 1 });
        std::thread::scope(|scope| {
            let ending = scope.spawn(|| {
                let ends = run.begin_end(|| {
                    is_found.wait();
                    std::thread::sleep(Duration::from_millis(100));
                    true
                });
                // The time that the end takes.
                std::thread::sleep(Duration::from_millis(100));
                run.end(ended);
                ends
            });
            is_found.wait();
            assert!(!run.wait(Duration::ZERO, || true));
            assert_eq!(run.over(), Some(ended), "it was waited for");
            assert!(ending.join().unwrap());
        });
        assert!(!run.begin_end(|| true), "it had ended");
        assert_eq!(run.over(), Some(ended));
    }
}
