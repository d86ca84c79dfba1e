//! The result of a handshake.

use crate::PublicIdentity;
use rustls::Connection;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A connection whose two ends have authenticated each other.
pub(crate) struct Authenticated {
    pub(crate) socket: TcpStream,
    pub(crate) address: SocketAddr,
    /// Whether the address is that of a proxy.
    pub(crate) is_proxy: bool,
    pub(crate) tls: Connection,
    pub(crate) initiator: bool,
    pub(crate) peer: PublicIdentity,
    /// The peer's idle limit.
    pub(crate) peer_idle: Duration,
    /// Whether both sides want the session to outlive the connection.
    pub(crate) mendable: bool,
    /// Bytes of the first stream that this side has sent already.
    pub(crate) early_bytes: usize,
    pub(crate) sent_bytes: u64,
    pub(crate) received_bytes: u64,
}
