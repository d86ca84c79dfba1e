//! Runs several partitions at a time, each in a fork of the run's context.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use vesica_agreement::split;
use vesica_core::{Error, Result, StopReason};
use vesica_net::{Connection, Context, OpenedStreams};

/// Calls `work` for each of `count` partitions, in ascending order and at most `at_once` at a time,
/// with the partition's number, a fork of `ctx`, and the streams that the fork opens. Each fork is
/// connected to the peer's fork for the same partition, however many the peer runs at once.
///
/// Partition i starts when all partitions up to i − [`PARTITIONS_AHEAD`](split::PARTITIONS_AHEAD)
/// have finished: in a step in which only this side sends, the peer has at most that many unread
/// partitions.
///
/// # Errors
/// The first error of `work`, which stops the session.
pub(crate) fn in_flight(
    ctx: &mut Context,
    session: &dyn Connection,
    count: u64,
    at_once: NonZeroUsize,
    work: impl Fn(u64, &mut Context, &OpenedStreams) -> Result<()> + Sync,
) -> Result<()> {
    let (failed, next) = (Mutex::new(None), Mutex::new((0, ctx)));
    let window = Window::default();
    let failure = || failed.lock().unwrap_or_else(PoisonError::into_inner);
    let fork = || -> Result<Option<(u64, Context, OpenedStreams)>> {
        let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
        let (index, ctx) = &mut *next;
        let may_begin = *index < count && window.wait_for(*index, &|| failure().is_some());
        if !may_begin || failure().is_some() {
            return Ok(None);
        }
        let (mut fork, opened) = ctx.fork_detached()?;
        fork.without_progress();
        *index += 1;
        Ok(Some((*index - 1, fork, opened)))
    };
    let fail = |error: Error| {
        let mut first = failure();
        if first.is_none() {
            // Aborting the session ends the other threads, which may be waiting for the peer. The
            // caller gets the error and tells the peer the reason.
            session.abort(error.stop_reason());
            *first = Some(error);
        }
        drop(first);
        window.wake();
    };
    let run = || {
        loop {
            match fork() {
                Ok(Some((index, mut ctx, opened))) => {
                    if let Err(error) = work(index, &mut ctx, &opened) {
                        // Report the error before `ctx`, the fork, is dropped: the peer would
                        // notice that the fork ends, and stop this side for another reason.
                        return fail(error);
                    }
                    drop(ctx);
                    window.done(index);
                }
                Ok(None) => return,
                Err(error) => return fail(error),
            }
        }
    };
    let most = count.min(split::PARTITIONS_AHEAD);
    let threads = at_once.get().min(usize::try_from(most).unwrap_or(usize::MAX));
    // While the threads below work on partitions, this one waits.
    session.parts(threads as isize - 1);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let _guard = StopOnPanic(session, &window);
                run();
                session.parts(-1);
            });
        }
    });
    session.parts(1);
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Stops the session if the thread that holds it panics, so that the other threads, which may be
/// waiting for the peer, end too.
struct StopOnPanic<'a>(&'a dyn Connection, &'a Window);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(StopReason::Internal);
            self.1.close();
        }
    }
}

/// Which partitions have finished, so that none starts too far ahead of the others.
#[derive(Default)]
struct Window {
    done: Mutex<Done>,
    changed: Condvar,
}

#[derive(Default)]
struct Done {
    /// All partitions below this number have finished.
    first: u64,
    later: BTreeSet<u64>,
    /// No further partition may start.
    closed: bool,
}

impl Window {
    fn lock(&self) -> MutexGuard<'_, Done> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until partition `index` may start; returns whether it may.
    fn wait_for(&self, index: u64, has_failed: &dyn Fn() -> bool) -> bool {
        let mut done = self.lock();
        while index >= done.first + split::PARTITIONS_AHEAD && !done.closed && !has_failed() {
            done = self.changed.wait(done).unwrap_or_else(PoisonError::into_inner);
        }
        !done.closed
    }

    fn done(&self, index: u64) {
        let mut done = self.lock();
        done.later.insert(index);
        while let Some(first) = done.later.first().copied().filter(|first| *first == done.first) {
            done.later.remove(&first);
            done.first += 1;
        }
        drop(done);
        self.changed.notify_all();
    }

    /// Wakes the waiting threads, after a failure.
    fn wake(&self) {
        drop(self.lock());
        self.changed.notify_all();
    }

    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}
