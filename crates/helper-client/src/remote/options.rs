//! How a party reaches a helper, and what it reports.

use std::sync::Arc;
use std::time::Duration;
use vesica_core::Error;
use vesica_helper_wire::Instance;
use vesica_link::{CancelToken, Identity, LinkEvent, LinkOptions, PublicIdentity};
use vesica_net::{Meter, Pool};
use vesica_server_aided::kmrs14::Spec;

/// The options of a [`Remote`](crate::Remote).
pub struct RemoteOptions {
    /// The party's identity.
    pub identity: Identity,
    /// The helper's identity.
    pub helper: PublicIdentity,
    /// The helper's address: `host:port`.
    pub address: String,
    /// How long to wait each time the helper is unreachable; how long it may send nothing, neither
    /// a reply nor a sign that one is to come; and how long one connection may last. The endpoint
    /// is ignored.
    pub link: LinkOptions,
    /// The run, in the description that all its parties share.
    pub spec: Spec,
    /// Most connections to the helper to use at once, at least 1.
    pub lanes: usize,
    /// The instance of the run for which this party has stored data; `None` if there is none. If
    /// the helper has forgotten that instance, it refuses
    /// ([`Refusal::Expired`](vesica_core::Refusal::Expired)) instead of starting another.
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

/// Events while a party works with a helper.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteEvent {
    /// An event of connecting to the helper.
    Link(LinkEvent),
    /// A connection to the helper is open; these parties of the run have sent their hellos.
    Joined {
        /// By number.
        present: Vec<u8>,
    },
    /// The helper is available but has no reply yet: it waits for these parties or, if there are
    /// none, computes.
    Waiting {
        /// By number.
        parties: Vec<u8>,
    },
    /// Another of the parties is waiting at the same helper under another agreement.
    OtherAgreement {
        /// Its hash.
        agreement: [u8; 32],
    },
    /// A connection to the helper was lost, or the helper is temporarily unable to continue; the
    /// party tries again.
    Reconnecting {
        /// The reason.
        error: Error,
        /// Time until the next attempt.
        pause: Duration,
    },
    /// The helper replies again, and the run continues.
    Resumed,
    /// Bytes of slots sent to the helper and received from it so far, on all connections.
    Moved {
        /// Bytes sent to the helper so far.
        sent_bytes: u64,
        /// Bytes received from the helper so far.
        received_bytes: u64,
    },
}

/// The helper's answer to a party that only asks about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The parties that have sent their hellos, by number.
    pub present: Vec<u8>,
    /// The hash of the agreement of another run of the same parties, in which another party waits
    /// at the helper now.
    pub other_agreement: Option<[u8; 32]>,
}
