//! Memory for slots on their way in and out: all connections share so much, and no party has all of it.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use vesica_protocols::kmrs14::Slot;

/// Slots of up to so many bytes do not wait.
const SMALL_LEN: u64 = 64 << 10;

/// How often who waits looks whether there is still a reason to.
const POLL: Duration = Duration::from_millis(100);

#[derive(Default)]
struct Taken {
    all: u64,
    by_party: HashMap<usize, u64>,
}

/// Memory that connections share.
pub(super) struct Memory {
    bytes: u64,
    taken: Mutex<Taken>,
    changed: Condvar,
}

/// Some of it, until it is dropped.
pub(super) struct Lease<'a> {
    memory: &'a Memory,
    party: usize,
    bytes: u64,
}

impl Memory {
    /// What connections have of `memory_bytes` for everything: a quarter, and as much as the longest slot takes in any
    /// case.
    pub(super) fn part_of(memory_bytes: u64) -> u64 {
        (memory_bytes / 4).max(2 * Slot::MAX_LEN as u64)
    }

    pub(super) fn new(bytes: u64) -> Self {
        Self { bytes, taken: Mutex::default(), changed: Condvar::new() }
    }

    /// Takes `bytes` for `party`, when there are so many; `None` when `give_up` says so first.
    ///
    /// A party may have as much as is left for others, so that one that never lets go keeps half, two of them a third
    /// each, and whoever comes finds some.
    pub(super) fn take(
        &self,
        party: usize,
        bytes: u64,
        give_up: impl Fn() -> bool,
    ) -> Option<Lease<'_>> {
        let bytes = if bytes <= SMALL_LEN { 0 } else { bytes };
        let mut taken = self.taken();
        while bytes > 0 && !self.fits(&taken, party, bytes) {
            if give_up() {
                return None;
            }
            let waited = self.changed.wait_timeout(taken, POLL);
            taken = waited.unwrap_or_else(PoisonError::into_inner).0;
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

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn nobody_has_all_of_it_and_what_is_given_back_is_there_again() {
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
    fn who_waits_goes_on_when_there_is_some() {
        let memory = Memory::new(40 << 20);
        let all = memory.take(1, 40 << 20, || true).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| memory.take(2, 30 << 20, || false).is_some());
            drop(all);
            assert!(waiting.join().unwrap());
        });
    }
}
