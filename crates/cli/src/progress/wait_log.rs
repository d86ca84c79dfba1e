//! How often a wait is logged.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often an ongoing wait for the same reason is logged.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// Limits how often an ongoing wait is logged.
#[derive(Default)]
pub(crate) struct WaitLog {
    last: Mutex<Option<(Instant, Option<String>)>>,
}

impl WaitLog {
    /// Whether a wait for the reason `why` should be logged: the first time, when the reason
    /// changes, and every minute.
    pub(crate) fn is_due(&self, why: Option<&str>) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = last
            .as_ref()
            .is_some_and(|(at, known)| at.elapsed() < LOG_EVERY && known.as_deref() == why);
        if !is_known {
            *last = Some((Instant::now(), why.map(str::to_owned)));
        }
        !is_known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_logged_at_first_and_when_its_reason_changes() {
        let waits = WaitLog::default();
        let due =
            [None, None, Some("a"), Some("a"), Some("b"), None, None].map(|why| waits.is_due(why));
        assert_eq!(due, [true, false, true, false, true, true, false]);
    }
}
