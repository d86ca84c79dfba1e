//! Where the peer is, and how long to wait for it.

use crate::Proxy;
use std::time::Duration;

/// Which side connects. Independent of the parties' roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// Waits for the peer on this `host:port`; port 0 picks a free port, which
    /// [`LinkEvent::Listening`](crate::LinkEvent::Listening) reports.
    Listen(String),
    /// Connects to the peer at this `host:port`.
    Connect(String),
    /// Meets the peer in a store of objects, which has this name for people.
    /// [`establish`](crate::establish()) fails then with
    /// [`LinkError::BadAddress`](crate::LinkError::BadAddress).
    Store(String),
}

/// The peer's address, and how long to wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkOptions {
    /// Which side connects.
    pub endpoint: Endpoint,
    /// How long to wait for the peer.
    pub wait: Duration,
    /// A peer that sends nothing for this long is considered gone. Both sides send signs of life
    /// four times as often, also while they compute, so this may be short. The two sides' limits
    /// may differ.
    pub idle: Duration,
    /// How long the session may last, from its start; `None` for no limit.
    pub total: Option<Duration>,
    /// The proxy through which a side connects; one that listens has no use for it.
    pub proxy: Option<Proxy>,
}
