//! The outcome of a run, for any way of matching.

use crate::output::RunResult;
use vesica_agreement::choice::Choice;
use vesica_core::Role;
use vesica_records::KeyCounts;

/// The outcome of a run, its result checked.
pub(crate) struct Checked<Of> {
    pub(crate) output: RunResult,
    /// Of this party's rows.
    pub(crate) counts: KeyCounts,
    pub(crate) of: Of,
}

/// The announced sizes.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) here: u64,
    pub(crate) there: u64,
}

/// Facts of a finished run over its session.
pub(crate) struct OfSession {
    /// This side's role.
    pub(crate) role: Role,
    pub(crate) choice: Choice,
    pub(crate) sizes: Sizes,
    pub(crate) direction_changes: u64,
    /// Bytes that the session sent and received, including what the connection adds to the streams.
    pub(crate) wire_bytes: (u64, u64),
}

/// Facts of a finished run over its board.
pub(crate) struct OfBoard {
    /// Rows of this party with a key.
    pub(crate) keyed: u64,
    /// The scales of all parties.
    pub(crate) scales: Vec<u32>,
    /// Labels of each party's list.
    pub(crate) list_lens: Vec<u64>,
    /// Bytes sent to the helper and received from it, including TLS.
    pub(crate) wire_bytes: (u64, u64),
}
