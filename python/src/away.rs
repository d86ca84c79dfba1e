//! Threads that have left Python for a while, and the end of Python.
//!
//! A thread that comes back while Python ends is stopped by it in the middle of our code, and the process aborts. So
//! the end of Python first waits for all that are away, and lets none wait again.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often the end of Python looks whether threads are away.
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

/// Python is about to end: no thread may wait outside it any more.
pub(crate) fn end() {
    ENDS.store(true, Ordering::Release);
}

/// Whether Python is about to end.
pub(crate) fn ends() -> bool {
    ENDS.load(Ordering::Acquire)
}

/// Waits until no thread is away, at most until then.
pub(crate) fn wait_for_all(until: Instant) {
    while AWAY.load(Ordering::Acquire) > 0 && Instant::now() < until {
        sleep(TICK);
    }
}
