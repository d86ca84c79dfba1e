//! A party's access to a helper; reconnects by itself.

mod connection;
mod lane;

pub use connection::RemoteEvent;

use crate::wire::{Instance, NO_INSTANCE, Request};
use connection::{Connection, Connections};
use lane::Lane;
use std::fmt;
use std::sync::Arc;
use vesica_core::{Refusal, Result};
use vesica_link::{CancelToken, Endpoint, Identity, LinkError, LinkOptions, PublicIdentity};
use vesica_net::{Meter, Pool};
use vesica_server_aided::kmrs14::{Board, Boards, Spec};

/// Bytes for which one more connection is worth making.
const LANE_BYTES: u64 = 4 << 20;

/// The options of a [`Remote`].
pub struct RemoteOptions {
    /// The party's identity.
    pub identity: Identity,
    /// The helper's identity.
    pub helper: PublicIdentity,
    /// The helper's address: `host:port`.
    pub address: String,
    /// How long to wait each time the helper is unreachable; how long it may be silent, also as
    /// regards a reply and signs that one is to come; and how long one connection may last. The
    /// endpoint is ignored.
    pub link: LinkOptions,
    /// The run, in the description that all its parties share.
    pub spec: Spec,
    /// Most connections to use at once, at least 1.
    pub lanes: usize,
    /// The instance of the run of which this party has stored data; `None` if there is none. If the
    /// helper has forgotten that instance, it then refuses ([`Refusal::Expired`]) instead of
    /// starting another.
    pub instance: Option<Instance>,
    /// The party's threads.
    pub pool: Pool,
    /// Counts the payload.
    pub meter: Meter,
    /// Cancels all waiting.
    pub cancel: CancelToken,
    /// Receives events; called on any thread.
    pub on_event: Arc<dyn Fn(RemoteEvent) + Send + Sync>,
}

/// The board of one run at a helper, over its own connections, which are made on demand.
///
/// A lost connection is made again, with growing pauses, until the helper has been unreachable for
/// [`LinkOptions::wait`]. So is one on which the helper reports that it is temporarily unable to
/// continue. Unconfirmed puts are sent again. The payload includes the helper's messages while a
/// party waits.
pub struct Remote {
    connections: Arc<Connections>,
    lanes: usize,
    is_new: bool,
}

/// The helper's answer to a party that only asks about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The parties that have sent their hellos, by number.
    pub present: Vec<u8>,
    /// The hash of the agreement of another run of the same parties, in which another party waits
    /// now.
    pub other_agreement: Option<[u8; 32]>,
}

impl Remote {
    /// Access to the helper; connects later.
    pub fn new(options: RemoteOptions) -> Self {
        let lanes = options.lanes.max(1);
        // A party stores the instance before it puts anything.
        let is_new = options.instance.is_none();
        Self { connections: Connections::new(options), lanes, is_new }
    }

    /// The instance of the run in which this party takes part, once it has connected. Store it with
    /// the other data of the run, and pass it back in [`RemoteOptions::instance`].
    pub fn instance(&self) -> Option<Instance> {
        Some(self.connections.instance()).filter(|instance| *instance != NO_INSTANCE)
    }

    /// Asks whether the helper would accept this party into the run, and which parties are present,
    /// without taking part.
    ///
    /// # Errors
    /// As [`Board::put`].
    pub fn look(&self) -> Result<Seen> {
        self.connections.look()
    }

    /// Tells the helper that this party has everything it needs. When all parties have done so, the
    /// helper forgets the run.
    ///
    /// # Errors
    /// As [`Board::put`].
    pub fn done(&self) -> Result<()> {
        let result = self.lane().and_then(|mut lane| lane.command(Request::Done));
        match result {
            // The reply to an earlier attempt was lost, and the run with it.
            Err(vesica_core::Error::Refused(Refusal::Expired)) => Ok(()),
            other => other,
        }
    }

    /// Ends the run for all parties, which are notified.
    ///
    /// # Errors
    /// As [`Board::put`].
    pub fn end(&self) -> Result<()> {
        let own = self.connections.party();
        match self.lane().and_then(|mut lane| lane.command(Request::End)) {
            Err(vesica_core::Error::Refused(Refusal::Ended { party })) if Some(party) == own => {
                Ok(())
            }
            other => other,
        }
    }

    /// Why the last attempt to connect failed; more detailed than the errors of the board.
    pub fn link_error(&self) -> Option<LinkError> {
        self.connections.link_error()
    }

    /// Bytes sent and received on all connections so far, including TLS.
    pub fn wire_bytes(&self) -> (u64, u64) {
        self.connections.wire_bytes()
    }

    fn lane(&self) -> Result<Lane> {
        let mut lane = Lane::new(Arc::clone(&self.connections));
        lane.connect()?;
        Ok(lane)
    }
}

impl Boards for Remote {
    fn lanes(&self, bytes: u64) -> usize {
        // One more connection takes some round trips to make.
        usize::try_from(bytes / LANE_BYTES + 1).map_or(self.lanes, |useful| useful.min(self.lanes))
    }

    fn is_new(&self) -> bool {
        self.is_new
    }

    fn open(&self) -> Result<Box<dyn Board>> {
        Ok(Box::new(self.lane()?))
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("lanes", &self.lanes).finish_non_exhaustive()
    }
}

/// The link's options for a connection to `address`.
fn connecting(link: &LinkOptions, address: &str) -> LinkOptions {
    LinkOptions { endpoint: Endpoint::Connect(address.to_owned()), ..link.clone() }
}

/// Whether a connection can be reused when its lane ends.
fn is_reusable(connection: &Connection) -> bool {
    !connection.has_pending_replies()
}
