//! The limit on waiting for other parties.

use crate::progress::Reporter;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use vesica_link::CancelToken;

/// How often a wait is checked.
const TICK: Duration = Duration::from_millis(200);

/// Ends a run that waits for other parties for too long.
pub(super) struct Patience {
    is_over: CancelToken,
    absent: Arc<Mutex<Option<Vec<String>>>>,
    thread: Option<JoinHandle<()>>,
}

impl Patience {
    /// Watches the run that `reporter` observes, and cancels `cancel` when it has waited for others
    /// for `limit`.
    pub(super) fn start(reporter: &Arc<Reporter>, limit: Duration, cancel: &CancelToken) -> Self {
        let (is_over, absent) = (CancelToken::new(), Arc::<Mutex<Option<Vec<String>>>>::default());
        let watch = {
            let (reporter, cancel) = (Arc::clone(reporter), cancel.clone());
            let (is_over, absent) = (is_over.clone(), Arc::clone(&absent));
            move || {
                while !is_over.wait(TICK) {
                    let Some((waited, parties)) = reporter.waits() else { continue };
                    if waited >= limit {
                        *absent.lock().unwrap_or_else(PoisonError::into_inner) = Some(parties);
                        return cancel.cancel();
                    }
                }
            }
        };
        // Without a thread the run waits with no limit.
        let thread = std::thread::Builder::new().name("vesica-patience".into()).spawn(watch).ok();
        Self { is_over, absent, thread }
    }

    /// Ends the watch. Returns the parties that did not connect in time, if the run was cancelled
    /// for them.
    pub(super) fn end(mut self) -> Option<Vec<String>> {
        self.is_over.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.absent.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
