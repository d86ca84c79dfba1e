//! Ending a wait from another thread.

use crate::sync::{Deadline, lock, wait_timeout};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

type Hook = Box<dyn FnOnce() + Send>;

/// A cancellation flag that all clones share: one thread sets it, all see it.
///
/// [`establish`](crate::establish) watches it while it waits. Once a session is established,
/// register its end with [`on_cancel`](Self::on_cancel).
#[derive(Clone, Default)]
pub struct CancelToken {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    thrown: AtomicBool,
    hooks: Mutex<Vec<Hook>>,
    changed: Condvar,
}

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the flag, wakes waiting threads and runs the registered hooks on this thread.
    ///
    /// Do not call it from a signal handler: it takes a lock.
    pub fn cancel(&self) {
        let hooks = {
            let mut hooks = lock(&self.inner.hooks);
            self.inner.thrown.store(true, Ordering::Release);
            self.inner.changed.notify_all();
            std::mem::take(&mut *hooks)
        };
        for hook in hooks {
            hook();
        }
    }

    /// Whether the token is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.inner.thrown.load(Ordering::Acquire)
    }

    /// Runs `hook` once on cancellation, or at once if the token is already cancelled.
    pub fn on_cancel(&self, hook: impl FnOnce() + Send + 'static) {
        {
            let mut hooks = lock(&self.inner.hooks);
            if !self.is_cancelled() {
                hooks.push(Box::new(hook));
                return;
            }
        }
        hook();
    }

    /// Sleeps for `time` or until cancellation; returns whether the token is cancelled.
    pub fn wait(&self, time: Duration) -> bool {
        let deadline = Deadline::after(time);
        let mut hooks = lock(&self.inner.hooks);
        while !self.is_cancelled() && !deadline.is_over() {
            hooks = wait_timeout(&self.inner.changed, hooks, deadline.remaining());
        }
        drop(hooks);
        self.is_cancelled()
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken").field("cancelled", &self.is_cancelled()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_waiting_thread_wakes_on_cancellation() {
        let token = CancelToken::new();
        let other = token.clone();
        let waiter = std::thread::spawn(move || {
            let started = Instant::now();
            (other.wait(Duration::from_secs(60)), started.elapsed())
        });
        token.cancel();
        let (cancelled, waited) = waiter.join().unwrap();
        assert!(cancelled && waited < Duration::from_secs(10));
    }

    #[test]
    fn hooks_run_once_even_if_registered_late() {
        let token = CancelToken::new();
        let count = Arc::new(Mutex::new(0));
        let add = |n: i32| {
            let count = Arc::clone(&count);
            move || *count.lock().unwrap() += n
        };
        token.on_cancel(add(1));
        token.cancel();
        token.cancel();
        token.on_cancel(add(10));
        assert_eq!(*count.lock().unwrap(), 11);
    }

    #[test]
    fn a_wait_without_cancellation_lasts_its_time() {
        assert!(!CancelToken::new().wait(Duration::from_millis(5)));
    }
}
