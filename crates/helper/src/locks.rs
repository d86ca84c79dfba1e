//! The locks of the helper, in one order that debug builds check.
//!
//! * A thread takes a lock only while it holds locks of lower [`Rank`] alone, so no two threads can
//!   wait for each other's lock.
//! * It waits for another thread or for a party only while it holds none ([`waits`]): what it waits
//!   for may need any of them.
//! * It uses the disk only while it holds none from [`Rank::Runs`] on ([`uses_disk`]): all parties
//!   need those, and the disk may be slow.
//!
//! A violation panics in debug builds even where no two threads meet at that moment, and a service
//! on whose threads that happened panics when it ends. Release builds check nothing.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

/// The places of locks in the order in which a thread takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Of one run: its files are being checked.
    Checking,
    /// Of one run: a hello arrives.
    Admitting,
    /// Of a few runs: the files of how they ended.
    Ended,
    /// Of one run: slots are being synced.
    Syncing,
    /// Of one run: names in its directory change.
    Files,
    /// The table of all runs.
    Runs,
    /// The runs that wait for a worker.
    Queue,
    /// Of one run: its state.
    Run,
    /// The space reserved for all runs.
    Ledger,
    /// Of one run: its space.
    Holding,
    /// Of one run: what is in its slots.
    Slots,
    /// The open connections.
    Connections,
    /// The parties.
    Members,
    /// Taken last, and one at a time.
    Leaf,
}

/// Data under a lock. A panic of a holder does not spread: the data is consistent between
/// statements.
pub(crate) struct Lock<T> {
    rank: Rank,
    mutex: Mutex<T>,
}

/// The data of a [`Lock`], which is free again when this is dropped.
pub(crate) struct Guard<'a, T> {
    data: MutexGuard<'a, T>,
    held: Held,
}

impl<T> Lock<T> {
    pub(crate) fn new(rank: Rank, data: T) -> Self {
        Self { rank, mutex: Mutex::new(data) }
    }

    pub(crate) fn lock(&self) -> Guard<'_, T> {
        let held = Held::new(self.rank);
        Guard { data: self.mutex.lock().unwrap_or_else(PoisonError::into_inner), held }
    }

    /// `None` if another thread has it.
    pub(crate) fn try_lock(&self) -> Option<Guard<'_, T>> {
        let held = Held::new(self.rank);
        match self.mutex.try_lock() {
            Ok(data) => Some(Guard { data, held }),
            Err(TryLockError::Poisoned(error)) => Some(Guard { data: error.into_inner(), held }),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl<T> Guard<'_, T> {
    /// Waits for a notification.
    pub(crate) fn wait(self, condvar: &Condvar) -> Self {
        let Self { data, held } = self;
        held.waits();
        Self { data: condvar.wait(data).unwrap_or_else(PoisonError::into_inner), held }
    }

    /// Waits for a notification, at most `limit`.
    pub(crate) fn wait_timeout(self, condvar: &Condvar, limit: Duration) -> Self {
        self.wait_timeout_while(condvar, limit, {
            let mut is_first = true;
            move |_| std::mem::take(&mut is_first)
        })
    }

    /// Waits as long as `condition` returns true.
    pub(crate) fn wait_while(
        self,
        condvar: &Condvar,
        condition: impl FnMut(&mut T) -> bool,
    ) -> Self {
        let Self { data, held } = self;
        held.waits();
        let waited = condvar.wait_while(data, condition);
        Self { data: waited.unwrap_or_else(PoisonError::into_inner), held }
    }

    /// Waits as long as `condition` returns true, at most `limit`.
    pub(crate) fn wait_timeout_while(
        self,
        condvar: &Condvar,
        limit: Duration,
        condition: impl FnMut(&mut T) -> bool,
    ) -> Self {
        let Self { data, held } = self;
        held.waits();
        let waited = condvar.wait_timeout_while(data, limit, condition);
        Self { data: waited.unwrap_or_else(PoisonError::into_inner).0, held }
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.data
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.data
    }
}

/// This thread may wait here for another, or for a party.
pub(crate) fn waits() {
    order::check(|held| held.is_empty(), "waits");
}

/// This thread may use the disk here.
pub(crate) fn uses_disk() {
    order::check(|held| held.iter().all(|rank| *rank < Rank::Runs), "uses the disk");
}

/// Panics if a thread of a service has violated the order.
pub(crate) fn assert_kept() {
    order::assert_kept();
}

/// Notes that this thread holds a lock, until it is dropped.
struct Held(Rank);

impl Held {
    fn new(rank: Rank) -> Self {
        order::check(|held| held.iter().all(|other| *other < rank), rank);
        order::push(rank);
        Self(rank)
    }

    fn waits(&self) {
        order::check(|held| held == [self.0], "waits");
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        order::remove(self.0);
    }
}

#[cfg(debug_assertions)]
mod order {
    use super::Rank;
    use std::cell::RefCell;
    use std::fmt::Debug;
    use std::sync::atomic::{AtomicBool, Ordering};

    thread_local! {
        static HELD: RefCell<Vec<Rank>> = const { RefCell::new(Vec::new()) };
    }

    /// On a thread of a service, which catches panics.
    static IS_VIOLATED: AtomicBool = AtomicBool::new(false);

    pub(super) fn push(rank: Rank) {
        HELD.with_borrow_mut(|held| held.push(rank));
    }

    pub(super) fn remove(rank: Rank) {
        HELD.with_borrow_mut(|held| {
            if let Some(place) = held.iter().rposition(|other| *other == rank) {
                held.remove(place);
            }
        });
    }

    pub(super) fn check(is_right: impl FnOnce(&[Rank]) -> bool, what: impl Debug) {
        if HELD.with_borrow(|held| is_right(held)) || std::thread::panicking() {
            return;
        }
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        IS_VIOLATED.fetch_or(name.starts_with("vesica-"), Ordering::Relaxed);
        panic!("{what:?} while it holds {:?}", HELD.with_borrow(Vec::clone));
    }

    pub(super) fn assert_kept() {
        let is_kept = !IS_VIOLATED.load(Ordering::Relaxed) || std::thread::panicking();
        assert!(is_kept, "a thread of a service violated the order of the locks");
    }
}

#[cfg(not(debug_assertions))]
mod order {
    use super::Rank;

    pub(super) fn push(_: Rank) {}

    pub(super) fn remove(_: Rank) {}

    pub(super) fn check<W>(_: impl FnOnce(&[Rank]) -> bool, _: W) {}

    pub(super) fn assert_kept() {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn panics(step: impl FnOnce()) -> bool {
        catch_unwind(AssertUnwindSafe(step)).is_err()
    }

    #[test]
    fn locks_out_of_order_and_waits_under_a_lock_panic() {
        let (runs, run) = (Lock::new(Rank::Runs, ()), Lock::new(Rank::Run, 0));
        let (other_run, files) = (Lock::new(Rank::Run, 0), Lock::new(Rank::Files, ()));
        let (changed, moment) = (Condvar::new(), Duration::from_millis(1));
        {
            let _files = files.lock();
            uses_disk();
            let _runs = runs.lock();
            *run.lock() += 1;
            *other_run.lock() += 1;
            assert!(panics(uses_disk));
            assert!(panics(waits));
            assert!(panics(|| drop(run.lock().wait_timeout(&changed, moment))));
        }
        let state = run.lock();
        assert!(panics(|| drop(runs.lock())));
        assert!(panics(|| drop(other_run.lock())), "of the same rank");
        assert!(panics(|| drop(files.try_lock())));
        drop(state.wait_timeout(&changed, moment));
        // Nothing is locked any more, in any order of the ends.
        let (first, second) = (runs.lock(), run.lock());
        drop(first);
        drop(second);
        waits();
        assert_eq!(*run.lock(), 1);
        assert_eq!(*other_run.lock(), 1);
    }
}
