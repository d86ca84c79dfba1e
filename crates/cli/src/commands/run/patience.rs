//! How long other parties are waited for.

use crate::progress::Teller;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use vesica_link::CancelToken;

/// How often a wait is looked at.
const TICK: Duration = Duration::from_millis(200);

/// Ends a run when the other parties let it wait for too long.
pub(super) struct Patience {
    is_over: CancelToken,
    absent: Arc<Mutex<Option<Vec<String>>>>,
    thread: Option<JoinHandle<()>>,
}

impl Patience {
    /// Watches over a run that `teller` hears of, and throws `cancel` when others are waited for longer than `limit`.
    pub(super) fn start(teller: &Arc<Teller>, limit: Duration, cancel: &CancelToken) -> Self {
        let (is_over, absent) = (CancelToken::new(), Arc::<Mutex<Option<Vec<String>>>>::default());
        let watch = {
            let (teller, cancel) = (Arc::clone(teller), cancel.clone());
            let (is_over, absent) = (is_over.clone(), Arc::clone(&absent));
            move || {
                while !is_over.wait(TICK) {
                    let Some((waited, parties)) = teller.waits() else { continue };
                    if waited >= limit {
                        *absent.lock().unwrap_or_else(PoisonError::into_inner) = Some(parties);
                        return cancel.cancel();
                    }
                }
            }
        };
        // Without a thread the run waits without a limit.
        let thread = std::thread::Builder::new().name("vesica-patience".into()).spawn(watch).ok();
        Self { is_over, absent, thread }
    }

    /// Ends the watch; says for whom the run was given up, if it was.
    pub(super) fn end(mut self) -> Option<Vec<String>> {
        self.is_over.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.absent.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
