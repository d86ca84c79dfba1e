//! One party of a benchmark: a protocol on generated items, over a real session or through a real
//! helper.

mod helper;
mod two_parties;

pub use helper::WithHelper;
pub use two_parties::TwoParties;

use crate::Error;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use vesica_link::{CancelToken, Identity, LinkEvent, LinkOptions};
use vesica_report::Resources;

/// The job of one party of a benchmark.
pub struct BenchParty {
    /// The protocol and this party's part in it.
    pub part: BenchPart,
    /// CPU threads to use; with a helper, connections to it too.
    pub threads: NonZeroUsize,
    /// This party's identity.
    pub identity: Identity,
    /// The address of the other party, or of the helper, to which a party connects.
    pub link: LinkOptions,
}

/// A protocol and a party's part in it.
pub enum BenchPart {
    /// Between two parties.
    TwoParties(TwoParties),
    /// With a helper.
    WithHelper(WithHelper),
}

/// What one party used until its result: from the moment both were ready, or with a helper from
/// before it connects.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BenchFigures {
    /// Wall seconds, CPU seconds and peak resident memory of this process, its items included.
    #[serde(flatten)]
    pub used: Resources,
    /// Bytes sent by the catalogue's formula, with a helper the bytes of slots; an upper bound if
    /// the bytes depend on the result.
    pub formula_sent: u64,
    /// Bytes received by the catalogue's formula.
    pub formula_received: u64,
    /// Payload bytes sent; with a helper these include requests and the parties' meeting.
    pub payload_sent: u64,
    /// Payload bytes received.
    pub payload_received: u64,
    /// All bytes sent over TCP since the connection was made, TLS included.
    pub wire_sent: u64,
    /// All bytes received over TCP, TLS included.
    pub wire_received: u64,
    /// Times this party changed between sending and receiving, pipelined blocks included. With a
    /// helper, on its busiest connection from its opening to the result.
    pub direction_changes: u64,
    /// Peak size in bytes of the files of intermediate data.
    #[serde(default)]
    pub peak_scratch_bytes: u64,
    /// Whether the result is exactly the expected one.
    pub result_ok: bool,
    /// The parts of a protocol between two parties; none with a helper.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseFigures>,
}

/// What one part of a protocol used.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhaseFigures {
    /// Its label with its parents: `encoding`.
    pub name: String,
    /// Wall seconds, including waits for the peer. Parts that run in parallel overlap.
    pub wall_s: f64,
    /// Payload bytes sent, without the parts below it.
    pub bytes_sent: u64,
    /// Payload bytes received, without the parts below it.
    pub bytes_received: u64,
}

/// Runs one party. `on_event` is called with the address where it listens.
///
/// # Errors
/// Any [`Error`].
pub fn run_party(
    bench: BenchParty,
    on_event: &dyn Fn(LinkEvent),
    cancel: &CancelToken,
) -> Result<BenchFigures, Error> {
    let BenchParty { part, threads, identity, link } = bench;
    match part {
        BenchPart::TwoParties(part) => {
            two_parties::run(part, threads, &identity, &link, on_event, cancel)
        }
        BenchPart::WithHelper(part) => helper::run(part, threads, identity, link, cancel),
    }
}
