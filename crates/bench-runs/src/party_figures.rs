//! The figures of one party of one run, which its process prints.

use serde::{Deserialize, Serialize};
use vesica_report::Resources;

/// What one party used until its result: from the moment both were ready, or with a helper from
/// before it connects.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PartyFigures {
    /// Wall seconds, CPU seconds and peak resident memory of this process, its items included.
    #[serde(flatten)]
    pub(crate) used: Resources,
    /// Bytes sent by the catalogue's formula, with a helper the bytes of slots; an upper bound if
    /// the bytes depend on the result.
    pub(crate) formula_sent: u64,
    /// Bytes received by the catalogue's formula.
    pub(crate) formula_received: u64,
    /// Payload bytes sent; with a helper these include requests and the parties' meeting.
    pub(crate) payload_sent: u64,
    /// Payload bytes received.
    pub(crate) payload_received: u64,
    /// All bytes sent over TCP since the connection was made, TLS included.
    pub(crate) wire_sent: u64,
    /// All bytes received over TCP, TLS included.
    pub(crate) wire_received: u64,
    /// Times this party changed between sending and receiving, pipelined blocks included. With a
    /// helper, on its busiest connection from its opening to the result.
    pub(crate) direction_changes: u64,
    /// Peak size in bytes of the files of intermediate data.
    #[serde(default)]
    pub(crate) peak_scratch_bytes: u64,
    /// Whether the result is exactly the expected one.
    pub(crate) result_ok: bool,
    /// The parts of a protocol between two parties; none with a helper.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) phases: Vec<PhaseFigures>,
}

/// What one part of a protocol used.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PhaseFigures {
    /// Its label with its parents: `encoding`.
    pub(crate) name: String,
    /// Wall seconds, including waits for the peer. Parts that run in parallel overlap.
    pub(crate) wall_s: f64,
    /// Payload bytes sent, without the parts below it.
    pub(crate) bytes_sent: u64,
    /// Payload bytes received, without the parts below it.
    pub(crate) bytes_received: u64,
}
