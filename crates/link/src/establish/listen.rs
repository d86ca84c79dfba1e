//! Opens a port for the one session of a run.

use super::attempt::{Attempt, CANCEL_TICK, WAITING_EVENT_EVERY};
use super::event::LinkEvent;
use super::pending::{Arrival, PendingConnections};
use crate::LinkError;
use crate::address::addresses_of;
use crate::authenticated::Authenticated;
use crate::sync::Deadline;
use nix::sys::socket::Backlog;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};
use vesica_addresses::split_address;

/// Waits on `address` for the one session of a run. Returns the open port too; dropping it closes
/// the port.
pub(super) fn listen(
    attempt: &Attempt<'_>,
    address: &str,
) -> Result<(Authenticated, PendingConnections), LinkError> {
    let listeners = bind_soon(address)?;
    for listener in &listeners {
        let address = listener.local_addr().map_err(|e| LinkError::ListenFailed(e.kind()))?;
        (attempt.caller.on_event)(LinkEvent::Listening { address });
    }
    // Rejected connections count as one burst, however long the wait is.
    let (idle, intent) = (attempt.options.idle, attempt.intent.clone());
    let mut pending = PendingConnections::new(listeners, idle, Duration::MAX, intent);
    let deadline = Deadline::after(attempt.options.wait);
    let mut reported_at = None::<Instant>;
    loop {
        attempt.caller.check_cancel()?;
        if deadline.is_over() {
            let (waited, last) = (attempt.options.wait, pending.most_informative());
            return Err(LinkError::NoPeer { waited, last: last.map(Box::new) });
        }
        if reported_at.is_none_or(|at| at.elapsed() >= WAITING_EVENT_EVERY) {
            reported_at = Some(Instant::now());
            let remaining = deadline.remaining();
            (attempt.caller.on_event)(LinkEvent::Waiting { remaining, last: None });
        }
        let timeout = deadline.remaining().min(CANCEL_TICK);
        match pending.turn(&attempt.tls, timeout, attempt.caller) {
            Some(Arrival::Peer(authenticated)) => return Ok((*authenticated, pending)),
            Some(Arrival::OwnKey(_)) => return Err(LinkError::OwnIdentity),
            Some(Arrival::NewRun) | None => {}
        }
    }
}

/// Like [`bind`]. The port may still belong to a run of this process that has just ended: its
/// thread closes it soon.
fn bind_soon(address: &str) -> Result<Vec<TcpListener>, LinkError> {
    let until = Deadline::after(3 * CANCEL_TICK);
    loop {
        match bind(address) {
            Err(LinkError::PortInUse) if !until.is_over() => std::thread::sleep(CANCEL_TICK / 10),
            bound => return bound,
        }
    }
}

/// Opens every address of the host name, so that `localhost` is reachable over IPv4 and IPv6.
pub(super) fn bind(address: &str) -> Result<Vec<TcpListener>, LinkError> {
    let (host, port) = split_address(address).ok_or(LinkError::BadAddress)?;
    let mut listeners = Vec::<TcpListener>::new();
    let mut last = LinkError::UnknownHost;
    // One free port for all addresses: the peer gets one number.
    let mut free_port = None;
    for mut address in addresses_of(host, port)? {
        address.set_port(free_port.unwrap_or(port));
        match open(address) {
            Ok(listener) => {
                free_port = listener.local_addr().ok().map(|address| address.port());
                listeners.push(listener);
            }
            // A port that is free on the first address may be taken on another. That is not the
            // user's fault.
            Err(error) if port == 0 && !listeners.is_empty() => last = LinkError::listening(&error),
            Err(error) => match LinkError::listening(&error) {
                error @ (LinkError::PortInUse | LinkError::PortForbidden) => return Err(error),
                // For example the IPv6 address of a name on a machine without IPv6.
                error => last = error,
            },
        }
    }
    if listeners.is_empty() { Err(last) } else { Ok(listeners) }
}

fn open(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    // The library's own queue of 128 overflows in a rush, and a connection dropped from it is tried
    // again only after a second.
    nix::sys::socket::listen(&listener, Backlog::MAXCONN)?;
    Ok(listener)
}
