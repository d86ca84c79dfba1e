//! One run that is open.

use super::room::Holding;
use crate::store::{Record, RunId, RunStore};
use crate::wire::WaitingFor;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use vesica_core::Refusal;
use vesica_protocols::kmrs14::{Kind, Slot, Variant};

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// All parties have what they need.
    Finished,
    /// With a refusal for all.
    Refused(Refusal),
}

impl Over {
    /// What a party is told that asks for more.
    pub(super) fn refusal(self) -> Refusal {
        match self {
            Over::Finished => Refusal::Expired,
            Over::Refused(refusal) => refusal,
        }
    }
}

/// Where a run stands between those who fill slots and those who compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Turn {
    /// Nothing new.
    #[default]
    Idle,
    /// Waits for a worker.
    Queued,
    /// A worker has it.
    Running,
    /// A worker has it, and something is new since.
    RunningBehind,
}

#[derive(Default)]
struct State {
    over: Option<Over>,
    /// It is about to be over, and nothing of it is told until it is.
    is_ending: bool,
    /// Why the last computation did not get on; it is tried again when a party asks.
    hindrance: Option<Refusal>,
    /// Slots were filled that nobody has looked at.
    is_dirty: bool,
    is_checked: bool,
    turn: Turn,
    joined: u16,
    visits: usize,
    /// When it was first seen that nobody may end it any more.
    bound_since: Option<Instant>,
    /// Since when nobody is there and nothing was left.
    empty_since: Option<Instant>,
}

/// A run, and those who wait for something of it.
pub(super) struct Run {
    pub(super) id: RunId,
    pub(super) record: Record,
    pub(super) store: RunStore,
    /// The number of each party in the service's list.
    pub(super) members: Vec<usize>,
    state: Mutex<State>,
    changed: Condvar,
    /// Held while the files of a process before this one are looked at.
    pub(super) checking: Mutex<()>,
    /// Held while a hello comes: the last of them decides whether there is room.
    pub(super) admitting: Mutex<()>,
    holding: Mutex<Holding>,
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
            state: Mutex::new(state),
            changed: Condvar::new(),
            checking: Mutex::new(()),
            admitting: Mutex::new(()),
            holding: Mutex::new(holding),
        }
    }

    /// What it has of the disk.
    pub(super) fn holding(&self) -> MutexGuard<'_, Holding> {
        self.holding.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the party that began it in the service's list.
    pub(super) fn opener(&self) -> usize {
        self.members[usize::from(self.record.opener)]
    }

    pub(super) fn parties(&self) -> u8 {
        self.members.len() as u8
    }

    /// How it came to its end. Waits where it is about to.
    pub(super) fn over(&self) -> Option<Over> {
        let state = self.state();
        let ended = self.changed.wait_while(state, |state| state.is_ending);
        ended.unwrap_or_else(PoisonError::into_inner).over
    }

    /// Whether it is about to be over.
    pub(super) fn is_ending(&self) -> bool {
        self.state().is_ending
    }

    /// Begins its end where `may` says so; false when it may not, or somebody else was before. Nothing of it is told
    /// until [`end`](Self::end), and over [`over`](Self::over) all wait for that.
    pub(super) fn begin_end(&self, may: impl FnOnce() -> bool) -> bool {
        let mut state = self.state();
        let begins = state.over.is_none() && !state.is_ending && may();
        state.is_ending |= begins;
        begins
    }

    /// As [`begin_end`](Self::begin_end), where nobody is there and nothing was left since before `than`.
    pub(super) fn begin_to_forget(&self, than: Instant) -> bool {
        let mut state = self.state();
        let is_old = state.empty_since.is_some_and(|since| since <= than);
        let begins = state.over.is_none() && !state.is_ending && is_old;
        state.is_ending |= begins;
        begins
    }

    /// It is over.
    pub(super) fn end(&self, over: Over) {
        let mut state = self.state();
        state.over = Some(over);
        state.is_ending = false;
        drop(state);
        self.changed.notify_all();
    }

    /// Since when it is known that nobody may end it any more: from now on, where `is_bound` says so first now.
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

    /// The parties that have come so far, a bit each.
    pub(super) fn joined(&self) -> u16 {
        self.state().joined
    }

    /// A party comes, on one more connection.
    pub(super) fn enter(&self, party: u8) {
        let mut state = self.state();
        state.joined |= 1 << party;
        state.visits += 1;
        state.empty_since = None;
    }

    /// A connection is gone.
    pub(super) fn leave(&self) {
        let mut state = self.state();
        state.visits -= 1;
        if state.visits == 0 && state.over.is_none() && self.store.is_empty() {
            state.empty_since = Some(Instant::now());
        }
    }

    pub(super) fn has_visits(&self) -> bool {
        self.state().visits > 0
    }

    /// Slots were filled, or the last computation is to be tried again.
    pub(super) fn set_dirty(&self) {
        self.state().is_dirty = true;
    }

    /// Whether there is something to look at; nothing until the next.
    pub(super) fn take_dirty(&self) -> bool {
        std::mem::take(&mut self.state().is_dirty)
    }

    /// What hinders it.
    pub(super) fn hindrance(&self) -> Option<Refusal> {
        self.state().hindrance
    }

    /// A computation was hindered, or is about to be tried (again).
    pub(super) fn set_hindrance(&self, hindrance: Option<Refusal>) {
        let mut state = self.state();
        state.hindrance = hindrance;
        state.is_dirty |= hindrance.is_some();
        drop(state);
        self.changed.notify_all();
    }

    /// Changes whose turn it is; gives what it was.
    pub(super) fn turn(&self, change: impl FnOnce(Turn) -> Turn) -> Turn {
        let mut state = self.state();
        let was = state.turn;
        state.turn = change(was);
        was
    }

    /// Wakes all who wait: a slot was filled.
    pub(super) fn wake(&self) {
        // Under the lock, so that nobody who has just looked misses it.
        drop(self.state());
        self.changed.notify_all();
    }

    /// Waits until `is_out` says so, something ends or hinders the run, or `limit` is over; says whether it is out,
    /// which nothing is of a run that is over.
    pub(super) fn wait(&self, limit: Duration, is_out: impl Fn() -> bool) -> bool {
        let state = self.state();
        let waits = |state: &mut State| {
            state.is_ending || state.over.is_none() && state.hindrance.is_none() && !is_out()
        };
        let waited = self.changed.wait_timeout_while(state, limit, waits);
        // Looked at together, so that nobody ends it after it was found out.
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.over.is_none() && !state.is_ending && is_out()
    }

    /// Who has said hello, a bit each.
    pub(super) fn present(&self) -> u16 {
        self.filled(Kind::Hello)
    }

    /// Who has something to do before `slot` can be filled.
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

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Disk, Keeping, Store};
    use std::sync::Barrier;
    use std::time::SystemTime;
    use vesica_protocols::kmrs14::{PartySpec, Spec};

    #[test]
    fn nothing_is_out_of_a_run_once_it_was_found_that_it_may_be_ended() {
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
                // What it takes to be over for good.
                std::thread::sleep(Duration::from_millis(100));
                run.end(ended);
                ends
            });
            is_found.wait();
            assert!(!run.wait(Duration::ZERO, || true));
            assert_eq!(run.over(), Some(ended), "it was waited for");
            assert!(ending.join().unwrap());
        });
        assert!(!run.begin_end(|| true), "it was over");
        assert_eq!(run.over(), Some(ended));
    }
}
