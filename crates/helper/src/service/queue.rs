//! Chooses the run that is computed next.

use super::run::{Run, Turn};
use crate::locks::{Guard, Lock, Rank};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar};

/// Runs that wait for a worker. Runs of one party wait for each other, not for runs of another: the
/// parties that started them take turns, and none occupies all workers if there are several.
pub(super) struct Queue {
    state: Lock<State>,
    changed: Condvar,
    /// Most workers for the runs of one party.
    at_once: usize,
}

struct State {
    /// By the number of the party that started them.
    waiting: BTreeMap<usize, VecDeque<Arc<Run>>>,
    running: BTreeMap<usize, usize>,
    /// Where the search for the next party with waiting runs starts: at this number.
    next: usize,
    is_closed: bool,
}

impl Queue {
    pub(super) fn new(workers: usize) -> Self {
        let (waiting, running) = (BTreeMap::new(), BTreeMap::new());
        let state = State { waiting, running, next: 0, is_closed: false };
        let at_once = workers.saturating_sub(1).max(1);
        Self { state: Lock::new(Rank::Queue, state), changed: Condvar::new(), at_once }
    }

    /// Queues `run` for a worker; at once, or again after the current one.
    pub(super) fn push(&self, run: &Arc<Run>) {
        let was = run.turn(|turn| match turn {
            Turn::Idle | Turn::Queued => Turn::Queued,
            Turn::Running | Turn::RunningBehind => Turn::RunningBehind,
        });
        if was == Turn::Idle {
            let mut state = self.state();
            state.waiting.entry(run.opener()).or_default().push_back(Arc::clone(run));
            drop(state);
            self.changed.notify_one();
        }
    }

    /// The next run; waits for one; `None` after the queue is closed.
    pub(super) fn next(&self) -> Option<Arc<Run>> {
        let mut state = self.state();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(run) = state.take(self.at_once) {
                run.turn(|_| Turn::Running);
                return Some(run);
            }
            state = state.wait(&self.changed);
        }
    }

    /// A worker has finished with `run` for now.
    pub(super) fn put_back(&self, run: &Arc<Run>) {
        let was = run.turn(|_| Turn::Idle);
        self.state().is_back(run.opener());
        if was == Turn::RunningBehind {
            self.push(run);
        }
        self.changed.notify_all();
    }

    /// The number of runs that wait for a worker, and that have one.
    pub(super) fn depth(&self) -> (usize, usize) {
        let state = self.state();
        let waiting = state.waiting.values().map(VecDeque::len).sum();
        (waiting, state.running.values().sum())
    }

    /// Ends all workers.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    fn state(&self) -> Guard<'_, State> {
        self.state.lock()
    }
}

impl State {
    /// The next run of the first party, from `next` on and around, that has waiting runs and fewer
    /// than `at_once` workers. A party without waiting runs has no entry.
    fn take(&mut self, at_once: usize) -> Option<Arc<Run>> {
        let running = |of: &usize| self.running.get(of).copied().unwrap_or(0);
        let after = self.waiting.range(self.next..).chain(self.waiting.range(..self.next));
        let of = after.map(|(of, _)| *of).find(|of| running(of) < at_once)?;
        let waiting = self.waiting.get_mut(&of)?;
        let run = waiting.pop_front();
        if waiting.is_empty() {
            self.waiting.remove(&of);
        }
        *self.running.entry(of).or_default() += 1;
        self.next = of + 1;
        run
    }

    fn is_back(&mut self, of: usize) {
        if let Some(running) = self.running.get_mut(&of) {
            *running -= 1;
            if *running == 0 {
                self.running.remove(&of);
            }
        }
    }
}
