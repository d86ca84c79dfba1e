//! A party's way to a helper, that mends itself.

mod lane;
mod line;

pub use line::RemoteEvent;

use crate::wire::{Instance, NO_INSTANCE, Request};
use lane::Lane;
use line::{Line, Lines};
use std::fmt;
use std::sync::Arc;
use vesica_core::{Refusal, Result};
use vesica_link::{CancelToken, Endpoint, Identity, LinkError, LinkOptions, PublicIdentity};
use vesica_net::{Meter, Pool};
use vesica_protocols::kmrs14::{Board, Boards, Spec};

/// What a [`Remote`] is made of.
pub struct RemoteOptions {
    /// Who the party is.
    pub identity: Identity,
    /// Who the helper is.
    pub helper: PublicIdentity,
    /// Where it is: `host:port`.
    pub address: String,
    /// How long to wait for it each time that it cannot be reached, how long it may be silent, and how long one
    /// connection may last. The endpoint is not looked at.
    pub link: LinkOptions,
    /// The run, as all its parties describe it.
    pub spec: Spec,
    /// How many connections are of use at once, at least 1.
    pub lanes: usize,
    /// Of which instance of the run this party has kept something; `None` when of none. With it the helper refuses
    /// ([`Refusal::Expired`]) when it has forgotten that one, where it would begin another.
    pub instance: Option<Instance>,
    /// The threads of the party.
    pub pool: Pool,
    /// Counts the payload.
    pub meter: Meter,
    /// Ends all waiting.
    pub cancel: CancelToken,
    /// Hears what happens; called on any thread.
    pub on_event: Arc<dyn Fn(RemoteEvent) + Send + Sync>,
}

/// The board of one run at a helper, reached over connections of its own that are made when they are needed.
///
/// A connection that is lost is made again, with growing pauses, until the helper could not be reached for as long
/// as [`LinkOptions::wait`] says; so is one on which the helper says that it cannot go on for now. What was not
/// confirmed is put again. The payload counts with what the helper says while a party waits.
pub struct Remote {
    lines: Arc<Lines>,
    lanes: usize,
}

/// What a helper says of a run that a party only asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The parties that have said hello, by their numbers.
    pub present: Vec<u8>,
    /// The hash of the agreement under which another of the parties waits now in another run of the same parties.
    pub other_agreement: Option<[u8; 32]>,
}

impl Remote {
    /// A way to the helper; nothing is connected yet.
    pub fn new(options: RemoteOptions) -> Self {
        let lanes = options.lanes.max(1);
        Self { lines: Lines::new(options), lanes }
    }

    /// The instance of the run that this party takes part in, once it has been connected. To be kept with what is
    /// kept of the run, and given back in [`RemoteOptions::instance`].
    pub fn instance(&self) -> Option<Instance> {
        Some(self.lines.instance()).filter(|instance| *instance != NO_INSTANCE)
    }

    /// Asks the helper whether it would take this party into the run, and who is there, without taking part.
    ///
    /// # Errors
    /// As [`Board::put`].
    pub fn look(&self) -> Result<Seen> {
        self.lines.look()
    }

    /// Tells the helper that this party has all it needs. When all parties have said so, the helper forgets the
    /// run.
    ///
    /// # Errors
    /// As [`Board::put`].
    pub fn done(&self) -> Result<()> {
        let told = self.lane().and_then(|mut lane| lane.tell(Request::Done));
        match told {
            // The reply to an earlier try was lost, and the run with it.
            Err(vesica_core::Error::Refused(Refusal::Expired)) => Ok(()),
            other => other,
        }
    }

    /// Ends the run for all parties, which are told so.
    ///
    /// # Errors
    /// As [`Board::put`].
    pub fn end(&self) -> Result<()> {
        let own = self.lines.party();
        match self.lane().and_then(|mut lane| lane.tell(Request::End)) {
            Err(vesica_core::Error::Refused(Refusal::Ended { party })) if Some(party) == own => {
                Ok(())
            }
            other => other,
        }
    }

    /// Why the last connection could not be made: more than the errors of the board say.
    pub fn link_error(&self) -> Option<LinkError> {
        self.lines.link_error()
    }

    /// Bytes sent and received on all connections so far, TLS included.
    pub fn wire_bytes(&self) -> (u64, u64) {
        self.lines.wire_bytes()
    }

    fn lane(&self) -> Result<Lane> {
        let mut lane = Lane::new(Arc::clone(&self.lines));
        lane.connect()?;
        Ok(lane)
    }
}

impl Boards for Remote {
    fn lanes(&self) -> usize {
        self.lanes
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

/// How a line is left when its lane ends: for the next.
fn is_of_use(line: &Line) -> bool {
    !line.is_behind()
}
