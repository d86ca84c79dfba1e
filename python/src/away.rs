//! Threads that have released the GIL, and the shutdown of Python.
//!
//! If a thread reacquires the GIL while Python shuts down, Python stops it in the middle of our
//! code, and the process aborts. So the shutdown first waits for all threads that have released the
//! GIL, and lets none release it to wait again.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often the shutdown checks whether threads are away.
const TICK: Duration = Duration::from_millis(2);

static AWAY: AtomicUsize = AtomicUsize::new(0);
static ENDS: AtomicBool = AtomicBool::new(false);

struct Back;

impl Drop for Back {
    fn drop(&mut self) {
        AWAY.fetch_sub(1, Ordering::Release);
    }
}

/// Does `work` without the GIL.
pub(crate) fn away<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    AWAY.fetch_add(1, Ordering::Relaxed);
    let _back = Back;
    py.detach(work)
}

/// Python is about to shut down: no thread may wait without the GIL any more.
pub(crate) fn end() {
    ENDS.store(true, Ordering::Release);
}

/// Whether Python is about to shut down.
pub(crate) fn ends() -> bool {
    ENDS.load(Ordering::Acquire)
}

/// Waits until no thread is away, at most until `until`.
pub(crate) fn wait_for_all(until: Instant) {
    while AWAY.load(Ordering::Acquire) > 0 && Instant::now() < until {
        sleep(TICK);
    }
}
