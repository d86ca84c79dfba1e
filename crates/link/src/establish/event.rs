//! What happens on the way to a session.

use crate::{LinkError, PublicIdentity};
use std::net::SocketAddr;
use std::time::Duration;
use vesica_core::TransportError;

/// Events while a party waits for its peer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkEvent {
    /// The port is open. One event for each address of the host name.
    Listening {
        /// The address, with the real port if 0 was requested.
        address: SocketAddr,
    },
    /// Still waiting; about once a second.
    Waiting {
        /// Time left to wait.
        remaining: Duration,
        /// Why the last attempt to connect failed; always `None` for a listening side.
        last: Option<LinkError>,
    },
    /// A connection to the open port was rejected. After the first few, only the 32nd, 64th, 128th
    /// and so on are reported, so that a flood of connections does not flood the log; a
    /// [`Listener`](crate::Listener) reports the first few of each minute.
    Rejected {
        /// Where it came from.
        from: SocketAddr,
        /// Why.
        reason: LinkError,
        /// Rejections so far, this one included.
        count: u64,
    },
    /// The connection of a session that can be mended is lost; the session waits for another one.
    Lost {
        /// The error that ended the connection.
        error: TransportError,
        /// How long the session waits for another one.
        wait: Duration,
    },
    /// The session has another connection, and continues.
    Mended {
        /// The other end's address.
        address: SocketAddr,
    },
    /// The session is established.
    Connected {
        /// The address of the other end, or of the proxy.
        address: SocketAddr,
        /// Whether the address is that of a proxy.
        is_proxy: bool,
        /// The peer's identity.
        peer: PublicIdentity,
    },
}
