//! Everybody at an open port: lets the expected in, and nobody keeps them out.

use super::handshake::{Handshake, Introduced, Leaving};
use super::poll::{Interest, wait_ready};
use super::{CANCEL_TICK, Caller, HANDSHAKE_LIMIT, LinkEvent};
use crate::LinkError;
use crate::sync::Deadline;
use crate::tls::Tls;
use nix::sys::resource::{Resource, getrlimit};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::Duration;

/// Unfinished connections held at once; bounds memory and file descriptors.
const MAX_PENDING: usize = 128;
/// How many there may be however few descriptors a process has.
const MIN_PENDING: usize = 4;
/// Refused connections that may still take their alert, as a part of those held at once.
const LEAVING_PART: usize = 2;
/// Connections accepted before those already there get their turn.
const ACCEPTS_PER_TURN: usize = 64;
/// Refusals that are told one by one.
const TOLD_SINGLY: u64 = 16;

/// Somebody whose handshake is done.
pub(super) enum Arrival {
    /// One of the expected.
    Peer(Box<Introduced>),
    /// A holder of our own secret key, at this address.
    OwnKey(SocketAddr),
}

/// Everybody who has come to the port and is not yet let in or gone, oldest first.
pub(super) struct Lobby {
    listeners: Vec<TcpListener>,
    idle: Duration,
    max_pending: usize,
    pending: Vec<Handshake>,
    leaving: Vec<Leaving>,
    refusals: Refusals,
    last: Option<LinkError>,
}

impl Lobby {
    /// An empty lobby behind the open ports. Sessions end after `idle` without a sign of life; whom
    /// it turns away is told one by one again after each `crowd`.
    pub(super) fn new(listeners: Vec<TcpListener>, idle: Duration, crowd: Duration) -> Self {
        let (pending, leaving) = (Vec::new(), Vec::new());
        let (max_pending, refusals) = (max_pending(), Refusals::new(crowd));
        Self { listeners, idle, max_pending, pending, leaving, refusals, last: None }
    }

    /// The open ports.
    pub(super) fn listeners(&self) -> &[TcpListener] {
        &self.listeners
    }

    /// What tells most about why the true peer did not come.
    pub(super) fn most_telling(self) -> Option<LinkError> {
        self.last
    }

    /// Waits at most `timeout` for something to happen and deals with it. Gives the oldest whose
    /// handshake is done; all others stay for the next turn.
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
            .chain(self.leaving.iter().map(Leaving::interest))
            .collect();
        let ready = wait_ready(&sockets, timeout);
        drop(sockets);
        let (knocking, ready) = ready.split_at(self.listeners.len());
        let (ready, left) = ready.split_at(self.pending.len());

        let mut left = left.iter();
        self.leaving.retain_mut(|leaving| {
            let _ = left.next();
            !leaving.is_over()
        });
        // Those who are already here first: a true peer must not lose its place to a crowd.
        let arrival = self.advance(tls, ready, caller);
        if arrival.is_none() {
            self.accept(tls, knocking, caller);
        }
        arrival
    }

    fn advance(&mut self, tls: &Tls, ready: &[bool], caller: Caller<'_>) -> Option<Arrival> {
        let mut arrival = None;
        let mut stay = Vec::with_capacity(self.pending.len());
        let pending = std::mem::take(&mut self.pending);
        for (mut handshake, ready) in pending.into_iter().zip(ready) {
            // A side that has our greeting believes in a session, so that no more than one gets it
            // before it is handed out.
            if arrival.is_some() {
                stay.push(handshake);
                continue;
            }
            let result = if *ready { handshake.advance(tls) } else { Ok(false) };
            let address = handshake.address();
            match result {
                Ok(true) => match handshake.into_introduced() {
                    Ok(introduced) => arrival = Some(Arrival::Peer(Box::new(introduced))),
                    Err(error) => self.turn_away(address, error, caller),
                },
                Ok(false) if handshake.is_overdue() => {
                    self.turn_away(address, LinkError::Silent(HANDSHAKE_LIMIT), caller);
                }
                Ok(false) => stay.push(handshake),
                // Only the holder of our own secret key gets this far: no stranger's trick.
                Err(LinkError::OwnIdentity) => arrival = Some(Arrival::OwnKey(address)),
                Err(error) => self.refuse(handshake, error, caller),
            }
        }
        self.pending = stay;
        arrival
    }

    /// Turns somebody away who may still take our alert.
    fn refuse(&mut self, handshake: Handshake, reason: LinkError, caller: Caller<'_>) {
        self.turn_away(handshake.address(), reason, caller);
        if self.leaving.len() < self.max_pending / LEAVING_PART {
            self.leaving.push(handshake.into_leaving());
        }
    }

    fn accept(&mut self, tls: &Tls, knocking: &[bool], caller: Caller<'_>) {
        for index in 0..self.listeners.len() {
            if !knocking.get(index).copied().unwrap_or(false) {
                continue;
            }
            for _ in 0..ACCEPTS_PER_TURN {
                match self.listeners[index].accept() {
                    Ok((socket, address)) => self.admit(tls, socket, address, caller),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                    Err(_) => {
                        // Out of file descriptors or memory. Whoever is dropped makes room for the next in the
                        // queue, where the true peer may stand behind many who say nothing.
                        self.leaving.clear();
                        if !self.evict(caller) {
                            caller.cancel.wait(CANCEL_TICK);
                            break;
                        }
                    }
                }
            }
        }
    }

    fn admit(&mut self, tls: &Tls, socket: TcpStream, address: SocketAddr, caller: Caller<'_>) {
        if self.pending.len() >= self.max_pending {
            self.evict(caller);
        }
        let Ok(connection) = tls.listening() else { return };
        let Ok(mut handshake) = Handshake::new(socket, address, connection, self.idle) else {
            return;
        };
        // What it has said while it stood in the queue counts: those who say nothing make room first.
        match handshake.advance(tls) {
            Ok(_) => self.pending.push(handshake),
            Err(error) => self.refuse(handshake, error, caller),
        }
    }

    /// Drops the oldest who has said nothing, or else the oldest; says whether there was one.
    fn evict(&mut self, caller: Caller<'_>) -> bool {
        if self.pending.is_empty() {
            return false;
        }
        let index = self.pending.iter().position(Handshake::is_silent).unwrap_or(0);
        let evicted = self.pending.remove(index);
        self.turn_away(evicted.address(), LinkError::Crowded, caller);
        true
    }

    /// Counts somebody who was not let in, and tells about it unless it is one of a crowd.
    pub(super) fn turn_away(&mut self, from: SocketAddr, reason: LinkError, caller: Caller<'_>) {
        tracing::debug!(%from, %reason, "a connection was turned away");
        if self.last.as_ref().is_none_or(|last| last.weight() <= reason.weight()) {
            self.last = Some(reason.clone());
        }
        if self.refusals.add() {
            let count = self.refusals.count;
            (caller.on_event)(LinkEvent::TurnedAway { from, reason, count });
        }
    }
}

/// Unfinished connections that leave most of this process's descriptors to the rest of it.
fn max_pending() -> usize {
    let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(u64::MAX, |(soft, _)| soft);
    usize::try_from(limit / 4).unwrap_or(MAX_PENDING).clamp(MIN_PENDING, MAX_PENDING)
}

/// How many were turned away, and which of them are worth a line.
struct Refusals {
    crowd: Duration,
    crowd_ends: Deadline,
    in_crowd: u64,
    count: u64,
}

impl Refusals {
    fn new(crowd: Duration) -> Self {
        Self { crowd, crowd_ends: Deadline::after(crowd), in_crowd: 0, count: 0 }
    }

    /// Counts one more; says whether to tell about it.
    fn add(&mut self) -> bool {
        if self.crowd_ends.is_over() {
            (self.crowd_ends, self.in_crowd) = (Deadline::after(self.crowd), 0);
        }
        self.count += 1;
        self.in_crowd += 1;
        self.in_crowd <= TOLD_SINGLY || self.in_crowd.is_power_of_two()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_told_in_a_few_lines_and_the_next_one_again() {
        let mut refusals = Refusals::new(Duration::from_millis(300));
        let told = |refusals: &mut Refusals| (0..100).filter(|_| refusals.add()).count();
        assert_eq!(told(&mut refusals), 16 + 2);
        std::thread::sleep(Duration::from_millis(350));
        assert_eq!(told(&mut refusals), 16 + 2);
        assert_eq!(refusals.count, 200);
    }

    #[test]
    fn an_endless_crowd_never_begins_again() {
        let mut refusals = Refusals::new(Duration::MAX);
        assert_eq!((0..1000).filter(|_| refusals.add()).count(), 16 + 5);
    }
}
