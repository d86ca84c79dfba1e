//! Which run is computed next.

use super::run::{Run, Turn};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Runs that wait for a worker. Those of one party wait for each other, not those of another: the parties that
/// began them take turns, and none has all workers where there are several.
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    /// Most workers for the runs of one party.
    at_once: usize,
}

struct State {
    /// By the number of the party that began them.
    waiting: Vec<VecDeque<Arc<Run>>>,
    running: Vec<usize>,
    /// Whose turn it is.
    next: usize,
    is_closed: bool,
}

impl Queue {
    pub(super) fn new(parties: usize, workers: usize) -> Self {
        let waiting = vec![VecDeque::new(); parties];
        let state = State { waiting, running: vec![0; parties], next: 0, is_closed: false };
        let at_once = workers.saturating_sub(1).max(1);
        Self { state: Mutex::new(state), changed: Condvar::new(), at_once }
    }

    /// A worker is to look at `run`; at once, or again when one is at it.
    pub(super) fn push(&self, run: &Arc<Run>) {
        let was = run.turn(|turn| match turn {
            Turn::Idle | Turn::Queued => Turn::Queued,
            Turn::Running | Turn::RunningBehind => Turn::RunningBehind,
        });
        if was == Turn::Idle {
            self.state().waiting[run.opener()].push_back(Arc::clone(run));
            self.changed.notify_one();
        }
    }

    /// The next run, when there is one; `None` when there will be no more.
    pub(super) fn next(&self) -> Option<Arc<Run>> {
        let mut state = self.state();
        loop {
            if state.is_closed {
                return None;
            }
            let parties = state.waiting.len();
            let turns = (0..parties).map(|step| (state.next + step) % parties);
            let of = turns
                .into_iter()
                .find(|of| !state.waiting[*of].is_empty() && state.running[*of] < self.at_once);
            if let Some((of, run)) = of.and_then(|of| Some((of, state.waiting[of].pop_front()?))) {
                state.running[of] += 1;
                state.next = (of + 1) % parties;
                run.turn(|_| Turn::Running);
                return Some(run);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A worker is done with `run` for now.
    pub(super) fn put_back(&self, run: &Arc<Run>) {
        let was = run.turn(|_| Turn::Idle);
        self.state().running[run.opener()] -= 1;
        if was == Turn::RunningBehind {
            self.push(run);
        }
        self.changed.notify_all();
    }

    /// Sends all workers home.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
