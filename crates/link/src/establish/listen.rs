//! Opening a port, and the one session that a run waits for there.

use super::lobby::{Arrival, Lobby};
use super::{Attempt, CANCEL_TICK, LinkEvent, WAITING_EVENT_EVERY, split_address};
use crate::sync::Deadline;
use crate::{LinkError, Session};
use nix::sys::socket::Backlog;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Waits on `address` for the one session of a run; the port is closed when it stands.
pub(super) fn listen(attempt: &Attempt<'_>, address: &str) -> Result<Session, LinkError> {
    let listeners = bind(address)?;
    for listener in &listeners {
        let address = listener.local_addr().map_err(|e| LinkError::ListenFailed(e.kind()))?;
        (attempt.caller.on_event)(LinkEvent::Listening { address });
    }
    // Strangers are told as of one crowd, however long the wait is.
    let mut lobby = Lobby::new(listeners, attempt.options.idle, Duration::MAX);
    let deadline = Deadline::after(attempt.options.wait);
    let mut told_at = None::<Instant>;
    loop {
        attempt.caller.check_cancel()?;
        if deadline.is_over() {
            let (waited, last) = (attempt.options.wait, lobby.most_telling());
            return Err(LinkError::NoPeer { waited, last: last.map(Box::new) });
        }
        if told_at.is_none_or(|at| at.elapsed() >= WAITING_EVENT_EVERY) {
            told_at = Some(Instant::now());
            let remaining = deadline.remaining();
            (attempt.caller.on_event)(LinkEvent::Waiting { remaining, last: None });
        }
        let timeout = deadline.remaining().min(CANCEL_TICK);
        match lobby.turn(&attempt.tls, timeout, attempt.caller) {
            Some(Arrival::Peer(introduced)) => return attempt.start(*introduced),
            Some(Arrival::OwnKey(_)) => return Err(LinkError::OwnIdentity),
            None => {}
        }
    }
}

/// Opens every address of the host's name, so that `localhost` is reached by either protocol.
pub(super) fn bind(address: &str) -> Result<Vec<TcpListener>, LinkError> {
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
