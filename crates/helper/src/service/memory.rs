//! Memory for slots being received and sent: all connections share a limit, and no party can have
//! all of it.

use crate::locks::{self, Guard, Lock, Rank};
use std::collections::HashMap;
use std::sync::Condvar;
use std::time::Duration;
use vesica_server_aided::kmrs14::Slot;

/// Slots of up to this length do not wait.
const SMALL_LEN: u64 = 64 << 10;

/// How often a waiting thread checks whether to stop waiting.
const POLL: Duration = Duration::from_millis(100);

#[derive(Default)]
struct Taken {
    all: u64,
    by_party: HashMap<usize, u64>,
}

/// Memory shared by connections.
pub(super) struct Memory {
    bytes: u64,
    taken: Lock<Taken>,
    changed: Condvar,
}

/// A part of the memory; returned when dropped.
pub(super) struct Lease<'a> {
    memory: &'a Memory,
    party: usize,
    bytes: u64,
}

impl Memory {
    /// The connections' part of `memory_bytes`: a quarter, and at least the size of the longest
    /// slot.
    pub(super) fn part_of(memory_bytes: u64) -> u64 {
        (memory_bytes / 4).max(2 * Slot::MAX_LEN as u64)
    }

    pub(super) fn new(bytes: u64) -> Self {
        Self { bytes, taken: Lock::new(Rank::Leaf, Taken::default()), changed: Condvar::new() }
    }

    /// Takes `bytes` for `party` when they are free; `None` if `give_up` returns true first.
    ///
    /// A party may have as much as remains for others, so one that never releases memory holds
    /// half, two of them a third each, and a new one always finds some.
    pub(super) fn take(
        &self,
        party: usize,
        bytes: u64,
        mut give_up: impl FnMut() -> bool,
    ) -> Option<Lease<'_>> {
        let bytes = if bytes <= SMALL_LEN { 0 } else { bytes };
        locks::waits();
        let mut taken = self.taken();
        while bytes > 0 && !self.fits(&taken, party, bytes) {
            // Without the lock: it may send something.
            drop(taken);
            if give_up() {
                return None;
            }
            taken = self.taken();
            if !self.fits(&taken, party, bytes) {
                taken = taken.wait_timeout(&self.changed, POLL);
            }
        }
        taken.all += bytes;
        *taken.by_party.entry(party).or_default() += bytes;
        Some(Lease { memory: self, party, bytes })
    }

    fn fits(&self, taken: &Taken, party: usize, bytes: u64) -> bool {
        let free = self.bytes.saturating_sub(taken.all);
        let own = taken.by_party.get(&party).copied().unwrap_or(0);
        bytes <= free && (own == 0 || own + bytes <= free)
    }

    fn taken(&self) -> Guard<'_, Taken> {
        self.taken.lock()
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut taken = self.memory.taken();
        taken.all -= self.bytes;
        if let Some(own) = taken.by_party.get_mut(&self.party) {
            *own -= self.bytes;
            if *own == 0 {
                taken.by_party.remove(&self.party);
            }
        }
        drop(taken);
        self.memory.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_party_gets_all_and_returned_memory_is_free_again() {
        let memory = Memory::new(100 << 20);
        let now = || true;
        let take = |party, mb: u64| memory.take(party, mb << 20, now);
        let mut first: Vec<_> = (0..).map_while(|_| take(1, 10)).collect();
        assert_eq!(first.len(), 5, "half of it");
        let second: Vec<_> = (0..).map_while(|_| take(2, 10)).collect();
        assert_eq!(second.len(), 3);
        let third = take(3, 10);
        assert!(third.is_some(), "who has none finds some");
        assert!(take(4, 20).is_none() && take(4, 10).is_some());
        // Small ones never wait.
        let small: Vec<_> = (0..5000).map(|_| memory.take(1, 64 << 10, now).unwrap()).collect();
        drop((small, first.pop(), second, third));
        assert!(take(5, 60).is_some());
        drop(first);
        assert_eq!(memory.taken().all, 0);
        assert!(memory.taken().by_party.is_empty());
    }

    #[test]
    fn a_waiting_party_continues_when_memory_is_free() {
        let memory = Memory::new(40 << 20);
        let all = memory.take(1, 40 << 20, || true).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| memory.take(2, 30 << 20, || false).is_some());
            drop(all);
            assert!(waiting.join().unwrap());
        });
    }
}
