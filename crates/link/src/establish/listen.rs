//! Opening a port, and the one session that a run waits for there.

use super::lobby::{Arrival, Lobby};
use super::{Attempt, CANCEL_TICK, LinkEvent, WAITING_EVENT_EVERY, addresses_of, split_address};
use crate::sync::Deadline;
use crate::{LinkError, Session};
use nix::sys::socket::Backlog;
use std::io;
use std::net::{SocketAddr, TcpListener};
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
    let mut listeners = Vec::<TcpListener>::new();
    let mut last = LinkError::UnknownHost;
    // One free port for all addresses: a peer is given one number.
    let mut free_port = None;
    for mut address in addresses_of(host, port)? {
        address.set_port(free_port.unwrap_or(port));
        match open(address) {
            Ok(listener) => {
                free_port = listener.local_addr().ok().map(|address| address.port());
                listeners.push(listener);
            }
            // The free port of the first address may be taken on another one. That is no fault of the user's.
            Err(error) if port == 0 && !listeners.is_empty() => last = LinkError::listening(&error),
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
