//! The connections that stand, and how they are ended.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use vesica_core::StopReason;
use vesica_link::Session;
use vesica_net::Streams;

/// How long connections may take to end once they are told to.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// All connections of a service.
#[derive(Default)]
pub(super) struct Visits {
    standing: Mutex<HashMap<u64, Visiting>>,
    changed: Condvar,
}

/// A connection that stands.
struct Visiting {
    session: Session,
    /// The number of its party.
    member: usize,
    is_busy: bool,
}

impl Visits {
    /// A connection stands from now on.
    pub(super) fn begins(&self, number: u64, member: usize, session: Session) {
        self.standing().insert(number, Visiting { session, member, is_busy: true });
    }

    /// Ends the connections of the parties of which `is_gone` says so, and waits until they have ended, but not for
    /// long.
    pub(super) fn end_of(&self, is_gone: impl Fn(usize) -> bool) {
        let started = Instant::now();
        let mut standing = self.standing();
        loop {
            let gone = standing.values().filter(|visiting| is_gone(visiting.member));
            let count = gone.map(|visiting| visiting.session.abort(StopReason::Cancelled)).count();
            if count == 0 || started.elapsed() >= LAST_WORDS {
                return;
            }
            standing = self.wait(standing);
        }
    }

    /// Whether a connection's party has asked something and has no reply yet.
    pub(super) fn is_busy(&self, number: u64, is_busy: bool) {
        if let Some(visiting) = self.standing().get_mut(&number) {
            visiting.is_busy = is_busy;
        }
    }

    /// A connection is gone.
    pub(super) fn ends(&self, number: u64) {
        self.standing().remove(&number);
        self.changed.notify_all();
    }

    /// Ends the connections, those at once whose party waits for no reply, and the others when they have it, at the
    /// latest after `grace`. Says whether all are gone.
    pub(super) fn end_all(&self, grace: Duration) -> bool {
        let started = Instant::now();
        let mut standing = self.standing();
        while !standing.is_empty() && started.elapsed() < grace {
            let idle = standing.values().filter(|visiting| !visiting.is_busy);
            idle.for_each(|visiting| visiting.session.abort(StopReason::Cancelled));
            standing = self.wait(standing);
        }
        let rest = Instant::now();
        while !standing.is_empty() && rest.elapsed() < LAST_WORDS {
            standing.values().for_each(|visiting| visiting.session.abort(StopReason::Cancelled));
            standing = self.wait(standing);
        }
        standing.is_empty()
    }

    fn wait<'a>(
        &'a self,
        standing: MutexGuard<'a, HashMap<u64, Visiting>>,
    ) -> MutexGuard<'a, HashMap<u64, Visiting>> {
        let tick = Duration::from_millis(20);
        self.changed.wait_timeout(standing, tick).unwrap_or_else(PoisonError::into_inner).0
    }

    fn standing(&self) -> MutexGuard<'_, HashMap<u64, Visiting>> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
