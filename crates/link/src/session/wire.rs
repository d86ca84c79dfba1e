//! The state of one TCP connection of a session.

use crate::authenticated::Authenticated;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;
use vesica_core::TransportError;

/// How often a blocked thread of the link checks the clocks.
pub(super) const TICK: Duration = Duration::from_millis(50);

pub(super) struct Wire {
    pub(super) socket: TcpStream,
    pub(super) tls: Mutex<rustls::Connection>,
    pub(super) address: SocketAddr,
    /// The error that ended it, in a session that can be mended.
    lost: OnceLock<TransportError>,
    /// The peer has ended TLS in order.
    closed: AtomicBool,
}

impl Wire {
    pub(super) fn new(authenticated: Authenticated) -> io::Result<Self> {
        let Authenticated { socket, address, mut tls, .. } = authenticated;
        socket.set_nonblocking(false)?;
        socket.set_read_timeout(Some(TICK))?;
        socket.set_write_timeout(Some(TICK))?;
        // The writer thread bounds what it passes at once.
        tls.set_buffer_limit(None);
        let (lost, closed) = (OnceLock::new(), AtomicBool::new(false));
        Ok(Self { socket, tls: Mutex::new(tls), address, lost, closed })
    }

    pub(super) fn shut(&self) {
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    /// The error that ended the connection; the first one counts.
    pub(super) fn lost(&self) -> Option<TransportError> {
        self.lost.get().copied()
    }

    pub(super) fn lose(&self, error: TransportError) {
        let _ = self.lost.set(error);
    }

    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }
}
