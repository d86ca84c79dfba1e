//! The listening side: lets the one expected peer in, and nobody keeps it out.

use super::handshake::{Handshake, Leaving};
use super::poll::wait_ready;
use super::{Attempt, CANCEL_TICK, HANDSHAKE_LIMIT, LinkEvent, WAITING_EVENT_EVERY, split_address};
use crate::sync::Deadline;
use crate::{LinkError, Session};
use nix::sys::socket::Backlog;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// Unfinished connections held at once; bounds memory and file descriptors.
const MAX_PENDING: usize = 128;
/// Refused connections that may still take their alert.
const MAX_LEAVING: usize = 64;
/// Connections accepted before those already there get their turn.
const ACCEPTS_PER_TURN: usize = 64;
/// Refusals that are told one by one.
const TOLD_SINGLY: u64 = 16;

pub(super) fn listen(attempt: &Attempt<'_>, address: &str) -> Result<Session, LinkError> {
    let listeners = bind(address)?;
    for listener in &listeners {
        let address = listener.local_addr().map_err(|e| LinkError::ListenFailed(e.kind()))?;
        (attempt.on_event)(LinkEvent::Listening { address });
    }
    Lobby::new(attempt, listeners).wait()
}

/// Opens every address of the host's name, so that `localhost` is reached by either protocol.
fn bind(address: &str) -> Result<Vec<TcpListener>, LinkError> {
    let (host, port) = split_address(address)?;
    let addresses = (host, port).to_socket_addrs().map_err(|_| LinkError::UnknownHost)?;
    let mut listeners = Vec::new();
    let mut last = LinkError::UnknownHost;
    for address in addresses {
        match open(address) {
            Ok(listener) => listeners.push(listener),
            Err(error) => match LinkError::listening(&error) {
                error @ (LinkError::PortInUse | LinkError::PortForbidden) => return Err(error),
                // Such as the IPv6 half of a name on a machine without IPv6.
                error => last = error,
            },
        }
    }
    if listeners.is_empty() { Err(last) } else { Ok(listeners) }
}

fn open(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    // The library's own queue of 128 overflows in a rush, and whoever is dropped from it tries
    // again only after a second.
    nix::sys::socket::listen(&listener, Backlog::MAXCONN)?;
    Ok(listener)
}

/// Everybody who has come to the port and is not yet let in or gone, oldest first.
struct Lobby<'a, 'b> {
    attempt: &'a Attempt<'b>,
    listeners: Vec<TcpListener>,
    pending: Vec<Handshake>,
    leaving: Vec<Leaving>,
    turned_away: u64,
    last: Option<LinkError>,
}

impl<'a, 'b> Lobby<'a, 'b> {
    fn new(attempt: &'a Attempt<'b>, listeners: Vec<TcpListener>) -> Self {
        let (pending, leaving) = (Vec::new(), Vec::new());
        Self { attempt, listeners, pending, leaving, turned_away: 0, last: None }
    }

    fn wait(mut self) -> Result<Session, LinkError> {
        let deadline = Deadline::after(self.attempt.options.wait);
        let mut told_at = None::<Instant>;
        loop {
            self.attempt.check_cancel()?;
            if deadline.is_over() {
                let waited = self.attempt.options.wait;
                return Err(LinkError::NoPeer { waited, last: self.last.map(Box::new) });
            }
            if told_at.is_none_or(|at| at.elapsed() >= WAITING_EVENT_EVERY) {
                told_at = Some(Instant::now());
                let remaining = deadline.remaining();
                (self.attempt.on_event)(LinkEvent::Waiting { remaining, last: None });
            }
            if let Some(session) = self.turn(deadline.remaining().min(CANCEL_TICK))? {
                return Ok(session);
            }
        }
    }

    /// Waits for something to happen and deals with it.
    fn turn(&mut self, timeout: Duration) -> Result<Option<Session>, LinkError> {
        let listeners = self
            .listeners
            .iter()
            .map(|listener| super::poll::Interest { fd: listener.as_fd(), write: false });
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
        if let Some(session) = self.advance(ready)? {
            return Ok(Some(session));
        }
        self.accept(knocking);
        Ok(None)
    }

    fn advance(&mut self, ready: &[bool]) -> Result<Option<Session>, LinkError> {
        let mut stay = Vec::with_capacity(self.pending.len());
        let pending = std::mem::take(&mut self.pending);
        for (mut handshake, ready) in pending.into_iter().zip(ready) {
            let result = if *ready { handshake.advance(&self.attempt.tls) } else { Ok(false) };
            match result {
                Ok(true) => return self.attempt.start(handshake.into_introduced()?).map(Some),
                Ok(false) if handshake.is_overdue() => {
                    self.turn_away(handshake.address(), LinkError::Silent(HANDSHAKE_LIMIT));
                }
                Ok(false) => stay.push(handshake),
                // Only the holder of our own secret key gets this far: no stranger's trick.
                Err(LinkError::OwnIdentity) => return Err(LinkError::OwnIdentity),
                Err(error) => {
                    self.turn_away(handshake.address(), error);
                    if self.leaving.len() < MAX_LEAVING {
                        self.leaving.push(handshake.into_leaving());
                    }
                }
            }
        }
        self.pending = stay;
        Ok(None)
    }

    fn accept(&mut self, knocking: &[bool]) {
        for index in 0..self.listeners.len() {
            if !knocking.get(index).copied().unwrap_or(false) {
                continue;
            }
            for _ in 0..ACCEPTS_PER_TURN {
                match self.listeners[index].accept() {
                    Ok((socket, address)) => self.admit(socket, address),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                    Err(_) => {
                        // Out of file descriptors or memory: make room, and do not spin.
                        self.evict();
                        self.attempt.cancel.wait(CANCEL_TICK);
                        break;
                    }
                }
            }
        }
    }

    fn admit(&mut self, socket: TcpStream, address: SocketAddr) {
        if self.pending.len() >= MAX_PENDING {
            self.evict();
        }
        let Ok(tls) = self.attempt.tls.listening() else { return };
        if let Ok(handshake) = Handshake::new(socket, address, tls, self.attempt.options.idle) {
            self.pending.push(handshake);
        }
    }

    /// Drops the oldest who has said nothing, or else the oldest.
    fn evict(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let index = self.pending.iter().position(Handshake::is_silent).unwrap_or(0);
        let evicted = self.pending.remove(index);
        self.turn_away(evicted.address(), LinkError::Crowded);
    }

    fn turn_away(&mut self, from: SocketAddr, reason: LinkError) {
        tracing::debug!(%from, %reason, "a connection was turned away");
        self.turned_away += 1;
        let count = self.turned_away;
        if self.last.as_ref().is_none_or(|last| last.weight() <= reason.weight()) {
            self.last = Some(reason.clone());
        }
        if count <= TOLD_SINGLY || count.is_power_of_two() {
            (self.attempt.on_event)(LinkEvent::TurnedAway { from, reason, count });
        }
    }
}
