//! What was asked of the protocol, and what possible answers are.

use crate::output::KeyRows;
use vesica_agreement::Agreement;
use vesica_core::{Item, Misbehaviour, Result, Role, SessionId};

/// The question of a run, and the side that asks it.
pub(crate) struct Asked<'a> {
    /// What was agreed.
    pub(crate) agreement: &'a Agreement,
    /// This side's position in the agreement.
    pub(crate) position: usize,
    /// Whether this side learns the answer.
    pub(crate) learns: bool,
    /// Items of this side's set as announced.
    pub(crate) here: u64,
    /// Items of the peer's set as announced.
    pub(crate) there: u64,
    /// Items that this side and the peer enter, self-check items and padding included.
    pub(crate) entered: [u64; 2],
    /// This side's role.
    pub(crate) role: Role,
    /// The session, which names a computation of shares.
    pub(crate) session: SessionId,
}

impl Asked<'_> {
    /// Upper bound on the peer's real keys. A peer that deviates can replace its own self-check
    /// items by keys.
    pub(super) fn most_theirs(&self) -> u64 {
        self.there.saturating_add(self.agreement.self_check.into())
    }

    /// How many of the items that the peer enters must be self-check items of its own; in
    /// partitions this includes its padding.
    pub(super) fn their_check_items(&self) -> u64 {
        self.entered[1].saturating_sub(self.there.saturating_add(self.agreement.self_check.into()))
    }

    /// Upper bound on the common keys. No peer can exceed it, so no peer can make this party fail
    /// by its choice of common keys.
    pub(crate) fn most(&self) -> u64 {
        self.here.min(self.most_theirs())
    }
}

/// Turns an answer about keys into one about this party's rows.
pub(crate) struct OwnRows {
    /// The items of all rows, if the result is rows.
    pub(crate) items: Vec<Item>,
    /// The rows of each key, if the result names keys.
    pub(crate) keys: Option<KeyRows>,
}

/// Refuses what is impossible.
///
/// # Errors
/// [`Misbehaviour::SelfCheckFailed`] unless it is `possible`.
pub(super) fn require(possible: bool) -> Result<()> {
    if possible { Ok(()) } else { Err(Misbehaviour::SelfCheckFailed.into()) }
}
