//! Why two parties could not connect.

use crate::PublicIdentity;
use std::io;
use std::time::Duration;
use vesica_addresses::ProxyFault;

/// Why there is no session. The variant says who must act; none carries free text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The address is not `host:port`.
    #[error("the address is not of the form host:port")]
    BadAddress,
    /// The host's name has no address.
    #[error("the host's name has no address")]
    UnknownHost,
    /// Another program listens on the port.
    #[error("the port is in use by another program")]
    PortInUse,
    /// The operating system does not allow listening on the port; ports below 1024 are reserved.
    #[error("the operating system does not allow listening on this port")]
    PortForbidden,
    /// The address to listen on does not belong to this machine.
    #[error("the address to listen on is not one of this machine")]
    NotOurAddress,
    /// Listening failed for another reason.
    #[error("listening failed ({0})")]
    ListenFailed(io::ErrorKind),
    /// The connection could not be made.
    #[error("the connection could not be made ({0})")]
    ConnectFailed(io::ErrorKind),
    /// The proxy did not make the connection.
    #[error("the proxy {0}")]
    Proxy(#[from] ProxyFault),
    /// The list of accepted peers is empty.
    #[error("no peer's identity was given")]
    NoPeerGiven,
    /// The waiting time has passed. `last` is the most informative failure during it: `None` if no
    /// peer connected, [`LinkError::ConnectFailed`] if no process listened.
    #[error(
        "no peer after {waited:?}{}",
        last.as_ref().map_or(String::new(), |error| format!(": {error}"))
    )]
    NoPeer {
        /// How long this side waited.
        waited: Duration,
        /// The most informative failure during the wait.
        last: Option<Box<LinkError>>,
    },
    /// The other side proved or claimed an identity that is not expected.
    #[error("the other side is {presented}, which is not the expected identity")]
    WrongIdentity {
        /// The other side's identity.
        presented: PublicIdentity,
    },
    /// The other side holds our own secret key: both sides chose the same party.
    #[error("the other side uses our own identity: both sides chose the same party")]
    OwnIdentity,
    /// The other side does not expect our identity.
    #[error("the other side does not accept our identity")]
    RefusedByPeer,
    /// The other side speaks another version of the session protocol.
    #[error("the other side speaks another version of Vesica's session protocol")]
    OtherVersion,
    /// The other side is another program: no TLS 1.3, or TLS with other settings than ours.
    #[error("the other side does not speak Vesica's session protocol")]
    OtherProtocol,
    /// The other side accepted the connection and then sent too little for too long.
    #[error("the other side did not answer within {0:?}")]
    Silent(Duration),
    /// The other side closed the connection before the session was established.
    #[error("the other side closed the connection before the session was established")]
    Disconnected,
    /// The connection was dropped because too many were pending.
    #[error("the connection was dropped in favour of others")]
    Crowded,
    /// The [`CancelToken`](crate::CancelToken) ended the wait.
    #[error("the wait was cancelled")]
    Cancelled,
    /// The other side is still in an earlier run, whose connection was lost, and waits for this
    /// side's process of that run.
    #[error("the other side is still in an earlier run")]
    EarlierRun,
    /// The other side has started a new run; this side waits for its process of an earlier one.
    #[error("the other side was started again")]
    NewRun,
    /// This machine has no thread, memory or descriptor for the session.
    #[error("the machine has no resources for a session ({0})")]
    NoResources(io::ErrorKind),
}

impl LinkError {
    /// Maps an error from listening.
    pub(crate) fn listening(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::AddrInUse => LinkError::PortInUse,
            io::ErrorKind::PermissionDenied => LinkError::PortForbidden,
            io::ErrorKind::AddrNotAvailable => LinkError::NotOurAddress,
            kind => LinkError::ListenFailed(kind),
        }
    }

    /// Whether one byte that the line damaged in the clear part of a handshake can be the cause.
    /// Changes to the encrypted part, which holds the identities, are always detected.
    pub(crate) fn may_be_damage(&self) -> bool {
        matches!(self, LinkError::OtherVersion | LinkError::OtherProtocol)
    }

    /// Whether a connecting side should stop retrying: the same peer would answer the same.
    pub(crate) fn is_final(&self) -> bool {
        match self {
            LinkError::Proxy(fault) => fault.is_final(),
            LinkError::UnknownHost
            | LinkError::ConnectFailed(_)
            | LinkError::Silent(_)
            | LinkError::Disconnected
            | LinkError::Crowded => false,
            _ => true,
        }
    }

    /// How specific the failure is about why the expected peer did not connect; higher is more
    /// specific.
    pub(crate) fn weight(&self) -> u8 {
        match self {
            LinkError::EarlierRun => 6,
            LinkError::WrongIdentity { .. } | LinkError::RefusedByPeer => 5,
            LinkError::OtherVersion => 4,
            LinkError::OtherProtocol => 3,
            LinkError::Silent(_) => 2,
            LinkError::Disconnected => 1,
            _ => 0,
        }
    }
}
