//! A party's access to a helper; reconnects automatically.

mod connection;
mod lane;
mod options;

pub use options::{RemoteEvent, RemoteOptions, Seen};

use connection::Connections;
use lane::Lane;
use std::fmt;
use std::sync::Arc;
use vesica_core::{Refusal, Result};
use vesica_helper_wire::{Instance, NO_INSTANCE, Request};
use vesica_link::LinkError;
use vesica_server_aided::kmrs14::{Board, Boards};

/// How many bytes make one more connection to the helper worthwhile.
const LANE_BYTES: u64 = 4 << 20;

/// The board of one run at a helper, over its own connections, which are made on demand.
///
/// A lost connection is made again, with growing pauses, until the helper has been unreachable for
/// [`LinkOptions::wait`](vesica_link::LinkOptions::wait). So is a connection on which the helper
/// reports that it is temporarily unable to continue. Puts that the helper has not confirmed are
/// sent again. The payload includes the helper's messages while a party waits.
pub struct Remote {
    connections: Arc<Connections>,
    lanes: usize,
    is_new: bool,
}

impl Remote {
    /// Access to the helper; connects later.
    pub fn new(options: RemoteOptions) -> Self {
        let lanes = options.lanes.max(1);
        // A party that has put anything on the helper's board has stored the instance before.
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
            // The reply to an earlier attempt was lost, and the helper has forgotten the run since.
            Err(vesica_core::Error::Refused(Refusal::Expired)) => Ok(()),
            other => other,
        }
    }

    /// Ends the run for all parties, which the helper notifies.
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

    /// Why the last attempt to connect to the helper failed; more detailed than the errors of the
    /// board.
    pub fn link_error(&self) -> Option<LinkError> {
        self.connections.link_error()
    }

    /// Bytes sent to the helper and received from it on all connections so far, including TLS.
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
        // One more connection to the helper takes some round trips, so it must have enough to
        // carry.
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
