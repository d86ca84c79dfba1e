//! The open connections, and how they are closed.

use crate::locks::{Guard, Lock, Rank};
use std::collections::HashMap;
use std::sync::Condvar;
use std::time::{Duration, Instant};
use vesica_core::StopReason;
use vesica_link::Session;
use vesica_net::Streams;

/// Time limit for connections to close.
const CLOSE_LIMIT: Duration = Duration::from_secs(3);

/// All connections of a service.
pub(super) struct Connections {
    open: Lock<HashMap<u64, OpenConnection>>,
    changed: Condvar,
}

impl Default for Connections {
    fn default() -> Self {
        Self { open: Lock::new(Rank::Connections, HashMap::new()), changed: Condvar::new() }
    }
}

/// An open connection.
struct OpenConnection {
    session: Session,
    /// The number of its party.
    member: usize,
    is_busy: bool,
}

impl Connections {
    /// Adds a connection.
    pub(super) fn add(&self, number: u64, member: usize, session: Session) {
        self.open().insert(number, OpenConnection { session, member, is_busy: true });
    }

    /// Closes the connections of the parties for which `is_gone` returns true, and waits for a
    /// limited time until they have ended.
    pub(super) fn close_those(&self, is_gone: impl Fn(usize) -> bool) {
        let started = Instant::now();
        let mut open = self.open();
        loop {
            let gone = open.values().filter(|connection| is_gone(connection.member));
            let count =
                gone.map(|connection| connection.session.abort(StopReason::Cancelled)).count();
            if count == 0 || started.elapsed() >= CLOSE_LIMIT {
                return;
            }
            open = self.wait(open);
        }
    }

    /// Sets whether a connection's party waits for a reply.
    pub(super) fn set_busy(&self, number: u64, is_busy: bool) {
        if let Some(connection) = self.open().get_mut(&number) {
            connection.is_busy = is_busy;
        }
    }

    /// Removes a connection.
    pub(super) fn remove(&self, number: u64) {
        self.open().remove(&number);
        self.changed.notify_all();
    }

    /// Closes the connections: at once if the party waits for no reply, the others after their
    /// reply, at the latest after `grace`. Returns whether all are gone.
    pub(super) fn close_all(&self, grace: Duration) -> bool {
        let started = Instant::now();
        let mut open = self.open();
        while !open.is_empty() && started.elapsed() < grace {
            let idle = open.values().filter(|connection| !connection.is_busy);
            idle.for_each(|connection| connection.session.abort(StopReason::Cancelled));
            open = self.wait(open);
        }
        let rest = Instant::now();
        while !open.is_empty() && rest.elapsed() < CLOSE_LIMIT {
            open.values().for_each(|connection| connection.session.abort(StopReason::Cancelled));
            open = self.wait(open);
        }
        open.is_empty()
    }

    fn wait<'a>(
        &'a self,
        open: Guard<'a, HashMap<u64, OpenConnection>>,
    ) -> Guard<'a, HashMap<u64, OpenConnection>> {
        let tick = Duration::from_millis(20);
        open.wait_timeout(&self.changed, tick)
    }

    fn open(&self) -> Guard<'_, HashMap<u64, OpenConnection>> {
        self.open.lock()
    }
}
