//! Values that one part of a protocol hands to another part that runs in parallel.

use crate::Streams;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A queue between two parts of one party. The transport counts a part that waits on it as waiting,
/// and so knows when all parts wait for the peer ([`Streams::parts`]).
struct Handover<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    room: usize,
    streams: Vec<Arc<dyn Streams>>,
}

struct State<T> {
    values: VecDeque<T>,
    giver: Side,
    taker: Side,
}

#[derive(Default)]
struct Side {
    waits: bool,
    is_gone: bool,
}

/// Both ends of a queue that holds up to `room` values.
pub(crate) fn handover<T>(room: usize, streams: Vec<Arc<dyn Streams>>) -> (Giver<T>, Taker<T>) {
    let state = State { values: VecDeque::new(), giver: Side::default(), taker: Side::default() };
    let state = Mutex::new(state);
    let queue = Arc::new(Handover { state, changed: Condvar::new(), room, streams });
    (Giver(Arc::clone(&queue)), Taker(queue))
}

impl<T> Handover<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn parts(&self, more: isize) {
        self.streams.iter().for_each(|streams| streams.parts(more));
    }

    /// Waits until the other side wakes the side that `side` picks.
    fn wait<'a>(
        &self,
        mut state: MutexGuard<'a, State<T>>,
        side: impl Fn(&mut State<T>) -> &mut Side,
    ) -> MutexGuard<'a, State<T>> {
        side(&mut state).waits = true;
        self.parts(-1);
        while side(&mut state).waits {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Wakes this side if it waits. The side counts as working from now on, not only when its
    /// thread runs: until then the waker may start to wait for the peer.
    fn wake(&self, side: &mut Side) {
        if std::mem::take(&mut side.waits) {
            self.parts(1);
            self.changed.notify_all();
        }
    }
}

/// The end that values go into.
pub struct Giver<T>(Arc<Handover<T>>);

impl<T> Giver<T> {
    /// Hands `value` over; waits while the queue is full. Returns false if the other end is gone.
    pub fn give(&self, value: T) -> bool {
        let mut state = self.0.lock();
        while state.values.len() >= self.0.room && !state.taker.is_gone {
            state = self.0.wait(state, |state| &mut state.giver);
        }
        if state.taker.is_gone {
            return false;
        }
        state.values.push_back(value);
        self.0.wake(&mut state.taker);
        true
    }
}

impl<T> Drop for Giver<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.giver.is_gone = true;
        self.0.wake(&mut state.taker);
    }
}

/// The end that values come from.
pub struct Taker<T>(Arc<Handover<T>>);

impl<T> Taker<T> {
    /// Waits for the next value. Returns `None` when the queue is empty and the other end is gone.
    pub fn take(&self) -> Option<T> {
        let mut state = self.0.lock();
        while state.values.is_empty() && !state.giver.is_gone {
            state = self.0.wait(state, |state| &mut state.taker);
        }
        let value = state.values.pop_front();
        self.0.wake(&mut state.giver);
        value
    }

    /// Takes up to `most` values that are in the queue now.
    pub fn take_ready(&self, most: usize) -> Vec<T> {
        let mut state = self.0.lock();
        let count = most.min(state.values.len());
        let values = state.values.drain(..count).collect();
        if count > 0 {
            self.0.wake(&mut state.giver);
        }
        values
    }
}

impl<T> Drop for Taker<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.taker.is_gone = true;
        self.0.wake(&mut state.giver);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{StreamId, StreamPair};
    use std::sync::atomic::{AtomicIsize, Ordering};
    use std::thread;
    use vesica_core::{StopReason, TransportError};

    /// Counts the parts that work.
    struct Count(AtomicIsize);

    impl Streams for Count {
        fn open(&self, _: StreamId) -> Result<StreamPair, TransportError> {
            Err(TransportError::Closed)
        }

        fn abort(&self, _: StopReason) {}

        fn parts(&self, more: isize) {
            self.0.fetch_add(more, Ordering::SeqCst);
        }
    }

    #[test]
    fn all_values_come_in_order_and_whoever_waits_does_not_count() {
        let count = Arc::new(Count(AtomicIsize::new(2)));
        let (giver, taker) = handover(3, vec![Arc::clone(&count) as Arc<dyn Streams>]);
        let works = |n| {
            while count.0.load(Ordering::SeqCst) != n {
                thread::yield_now();
            }
        };
        thread::scope(|scope| {
            let giving = scope.spawn(|| {
                let giver = giver;
                (0..1000).for_each(|n| assert!(giver.give(n)));
            });
            // The other part waits for room.
            works(1);
            assert_eq!(taker.take_ready(2), [0, 1]);
            (2..1000).for_each(|n| assert_eq!(taker.take(), Some(n)));
            giving.join().unwrap();
            assert_eq!(taker.take(), None);
            assert_eq!(count.0.load(Ordering::SeqCst), 2);
        });

        let (giver, taker) = handover::<u8>(1, vec![Arc::clone(&count) as Arc<dyn Streams>]);
        thread::scope(|scope| {
            let taking = scope.spawn(|| taker.take());
            works(1);
            drop(giver);
            assert_eq!(taking.join().unwrap(), None);
        });
        works(2);

        let (giver, taker) = handover(1, vec![Arc::clone(&count) as Arc<dyn Streams>]);
        assert!(giver.give(1));
        thread::scope(|scope| {
            let giving = scope.spawn(|| giver.give(2));
            works(1);
            drop(taker);
            assert!(!giving.join().unwrap());
        });
        works(2);
    }
}
