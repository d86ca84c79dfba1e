//! The pending connections of an open port: accepts the expected peers, and no connection blocks
//! them.

use super::attempt::{CANCEL_TICK, Caller, HANDSHAKE_LIMIT, Intent};
use super::event::LinkEvent;
use super::handshake::{Closing, Handshake};
use super::poll::{Interest, wait_ready};
use crate::LinkError;
use crate::authenticated::Authenticated;
use crate::sync::Deadline;
use crate::tls::Tls;
use nix::sys::resource::{Resource, getrlimit};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::Duration;

/// Most pending connections; bounds memory and file descriptors.
const MAX_PENDING: usize = 128;
/// The least value of that limit, however few descriptors a process has.
const MIN_PENDING: usize = 4;
/// The limit of rejected connections that may still read their alert is this part of the limit of
/// pending ones.
const CLOSING_PART: usize = 2;
/// Connections accepted before the pending ones are advanced again.
const ACCEPTS_PER_TURN: usize = 64;
/// Rejections that are reported one by one.
const REPORTED_SINGLY: u64 = 16;

/// A finished handshake.
pub(super) enum Arrival {
    /// One of the expected peers.
    Peer(Box<Authenticated>),
    /// A holder of our own secret key, at this address.
    OwnKey(SocketAddr),
    /// One of the expected peers, which has started a new run. It is rejected already.
    NewRun,
}

/// All connections to the port that are neither accepted nor closed, oldest first.
pub(super) struct PendingConnections {
    listeners: Vec<TcpListener>,
    idle: Duration,
    intent: Intent,
    max_pending: usize,
    pending: Vec<Handshake>,
    closing: Vec<Closing>,
    rejections: Rejections,
    last: Option<LinkError>,
}

impl PendingConnections {
    /// No connections yet. Sessions end after `idle` without a sign of life; single rejections are
    /// reported again after each `crowd`.
    pub(super) fn new(
        listeners: Vec<TcpListener>,
        idle: Duration,
        crowd: Duration,
        intent: Intent,
    ) -> Self {
        let (pending, closing) = (Vec::new(), Vec::new());
        let (max_pending, rejections) = (max_pending(), Rejections::new(crowd));
        Self { listeners, idle, intent, max_pending, pending, closing, rejections, last: None }
    }

    /// From now on, only a peer that is in the session to mend is expected.
    pub(super) fn expect_again(&mut self, intent: Intent) {
        // Pending connections got another greeting.
        self.pending.clear();
        self.intent = intent;
    }

    /// The open ports.
    pub(super) fn listeners(&self) -> &[TcpListener] {
        &self.listeners
    }

    /// The failure that says most about why the expected peer did not connect.
    pub(super) fn most_informative(self) -> Option<LinkError> {
        self.last
    }

    /// Waits at most `timeout` for events and handles them. Returns the oldest finished handshake;
    /// all others stay for the next turn.
    pub(super) fn turn(
        &mut self,
        tls: &Tls,
        timeout: Duration,
        caller: Caller<'_>,
    ) -> Option<Arrival> {
        let listeners =
            self.listeners.iter().map(|listener| Interest { fd: listener.as_fd(), write: false });
        let sockets: Vec<_> = listeners
            .chain(self.pending.iter().map(Handshake::interest))
            .chain(self.closing.iter().map(Closing::interest))
            .collect();
        let ready = wait_ready(&sockets, timeout);
        drop(sockets);
        let (acceptable, ready) = ready.split_at(self.listeners.len());
        let (ready, left) = ready.split_at(self.pending.len());

        let mut left = left.iter();
        self.closing.retain_mut(|closing| {
            let _ = left.next();
            !closing.is_over()
        });
        // Pending connections first: the expected peer must not lose its place to a crowd.
        self.advance(tls, ready, caller).or_else(|| self.accept(tls, acceptable, caller))
    }

    fn advance(&mut self, tls: &Tls, ready: &[bool], caller: Caller<'_>) -> Option<Arrival> {
        let mut arrival = None;
        let pending = std::mem::take(&mut self.pending);
        for (mut handshake, ready) in pending.into_iter().zip(ready) {
            // A side that has our greeting considers the session established, so only one gets it
            // before it is returned.
            if arrival.is_some() {
                self.pending.push(handshake);
                continue;
            }
            let result = if *ready { handshake.advance(tls) } else { Ok(false) };
            arrival = self.settle(handshake, result, caller);
        }
        arrival
    }

    /// Keeps the connection if its handshake is unfinished. Otherwise returns who is at its other
    /// end, or rejects it.
    fn settle(
        &mut self,
        handshake: Handshake,
        result: Result<bool, LinkError>,
        caller: Caller<'_>,
    ) -> Option<Arrival> {
        let address = handshake.address();
        match result {
            Ok(true) => match handshake.into_authenticated() {
                Ok(authenticated) => return Some(Arrival::Peer(Box::new(authenticated))),
                Err(error) => self.reject(address, error, caller),
            },
            Ok(false) if handshake.is_overdue() => {
                self.reject(address, LinkError::Silent(HANDSHAKE_LIMIT), caller);
            }
            Ok(false) => self.pending.push(handshake),
            // Only a holder of our own secret key gets this far.
            Err(LinkError::OwnIdentity) => return Some(Arrival::OwnKey(address)),
            Err(error) => {
                let is_new = error == LinkError::NewRun;
                self.refuse(handshake, error, caller);
                return is_new.then_some(Arrival::NewRun);
            }
        }
        None
    }

    /// Rejects a connection and lets it read our alert.
    fn refuse(&mut self, handshake: Handshake, reason: LinkError, caller: Caller<'_>) {
        self.reject(handshake.address(), reason, caller);
        if self.closing.len() < self.max_pending / CLOSING_PART {
            self.closing.push(handshake.into_closing());
        }
    }

    fn accept(&mut self, tls: &Tls, acceptable: &[bool], caller: Caller<'_>) -> Option<Arrival> {
        for index in 0..self.listeners.len() {
            if !acceptable.get(index).copied().unwrap_or(false) {
                continue;
            }
            for _ in 0..ACCEPTS_PER_TURN {
                match self.listeners[index].accept() {
                    Ok((socket, address)) => {
                        if let Some(arrival) = self.admit(tls, socket, address, caller) {
                            return Some(arrival);
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                    Err(_) => {
                        // Out of file descriptors or memory. Dropping a connection makes room for
                        // the next in the queue, where the expected peer may wait behind many
                        // silent connections.
                        self.closing.clear();
                        if !self.evict(caller) {
                            caller.cancel.wait(CANCEL_TICK);
                            break;
                        }
                    }
                }
            }
        }
        None
    }

    fn admit(
        &mut self,
        tls: &Tls,
        socket: TcpStream,
        address: SocketAddr,
        caller: Caller<'_>,
    ) -> Option<Arrival> {
        if self.pending.len() >= self.max_pending {
            self.evict(caller);
        }
        let connection = tls.listening().ok()?;
        let intent = self.intent.clone();
        let mut handshake = Handshake::new(socket, address, connection, self.idle, intent).ok()?;
        // Bytes that arrived while it was in the queue count: silent connections are dropped first.
        // A fast peer on a busy machine can even complete its handshake here.
        let result = handshake.advance(tls);
        self.settle(handshake, result, caller)
    }

    /// Drops the oldest silent connection, or else the oldest; returns whether there was one.
    fn evict(&mut self, caller: Caller<'_>) -> bool {
        if self.pending.is_empty() {
            return false;
        }
        let index = self.pending.iter().position(Handshake::is_silent).unwrap_or(0);
        let evicted = self.pending.remove(index);
        self.reject(evicted.address(), LinkError::Crowded, caller);
        true
    }

    /// Counts a rejection, and reports it unless it is one of a crowd.
    pub(super) fn reject(&mut self, from: SocketAddr, reason: LinkError, caller: Caller<'_>) {
        tracing::debug!(%from, %reason, "a connection was rejected");
        if self.last.as_ref().is_none_or(|last| last.weight() <= reason.weight()) {
            self.last = Some(reason.clone());
        }
        if self.rejections.add() {
            let count = self.rejections.count;
            (caller.on_event)(LinkEvent::Rejected { from, reason, count });
        }
    }
}

/// A limit that leaves most of the process's descriptors to the rest of it.
fn max_pending() -> usize {
    let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(u64::MAX, |(soft, _)| soft);
    usize::try_from(limit / 4).unwrap_or(MAX_PENDING).clamp(MIN_PENDING, MAX_PENDING)
}

/// How many connections were rejected, and which rejections to report.
struct Rejections {
    crowd: Duration,
    crowd_ends: Deadline,
    in_crowd: u64,
    count: u64,
}

impl Rejections {
    fn new(crowd: Duration) -> Self {
        Self { crowd, crowd_ends: Deadline::after(crowd), in_crowd: 0, count: 0 }
    }

    /// Counts one more; returns whether to report it.
    fn add(&mut self) -> bool {
        if self.crowd_ends.is_over() {
            (self.crowd_ends, self.in_crowd) = (Deadline::after(self.crowd), 0);
        }
        self.count += 1;
        self.in_crowd += 1;
        self.in_crowd <= REPORTED_SINGLY || self.in_crowd.is_power_of_two()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_crowd_is_reported_in_a_few_lines() {
        let mut rejections = Rejections::new(Duration::from_millis(300));
        let reported = |rejections: &mut Rejections| (0..100).filter(|_| rejections.add()).count();
        assert_eq!(reported(&mut rejections), 16 + 2);
        std::thread::sleep(Duration::from_millis(350));
        assert_eq!(reported(&mut rejections), 16 + 2);
        assert_eq!(rejections.count, 200);
    }

    #[test]
    fn without_a_time_limit_there_is_one_crowd() {
        let mut rejections = Rejections::new(Duration::MAX);
        assert_eq!((0..1000).filter(|_| rejections.add()).count(), 16 + 5);
    }
}
