//! Protocols whose parties commit to their sets before they learn anything, for runs in partitions.
//!
//! ```text
//!  partition 0   commit ┐            compare ┐            answer
//!  partition 1   commit ├─ all are ─ compare ├─ all are ─ answer
//!  …             commit ┘            compare ┘            answer
//! ```
//!
//! Otherwise a party that deviates could choose its items in one partition by the result of
//! another. Between two steps a partition stores 16 bytes for each item, in the place of the item.

use crate::{Input, Output};
use std::ops::Range;
use std::sync::Arc;
use vesica_core::{Block, Learns, PsiParams, Result, Role, Secret};
use vesica_net::Context;

/// The steps of a protocol in which each party commits to its set before that party learns
/// anything.
///
/// One after the other, they are a whole run of one party. A run in partitions finishes each step
/// in all partitions before the next step starts in any: a party that has finished a step in a
/// partition knows that its peer's messages up to there have arrived.
///
/// The sender need not commit to its set in the first step: no result comes back to it before it
/// has sent its last tag.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Commits the receiver to its set: at the sender, the step ends when the receiver can no
    /// longer change its items. Nothing sent depends on the sender's set.
    pub commit: fn(Role, &PsiParams, Input, &mut Context) -> Result<Committed>,
    /// Commits the sender to its set, and tells the receiver what is common. The sender learns
    /// nothing.
    pub compare: fn(Role, &PsiParams, Committed, &mut Context) -> Result<Comparison>,
    /// With [`Learns::Both`](vesica_core::Learns::Both), proves to the sender which items are
    /// common, by both parties' [claims](Comparison::claims). Returns the positions, ascending, of
    /// those items. If only the receiver learns the result, the step sends nothing and returns
    /// [`Output::Nothing`].
    pub answer: fn(Role, &PsiParams, &[Block], &mut Context) -> Result<Output>,
}

impl Steps {
    /// Runs the steps one after the other.
    ///
    /// # Errors
    /// The errors of the steps.
    pub fn run(
        &self,
        role: Role,
        params: &PsiParams,
        input: Input,
        ctx: &mut Context,
    ) -> Result<Output> {
        let committed = (self.commit)(role, params, input, ctx)?;
        let Comparison { output, claims } = (self.compare)(role, params, committed, ctx)?;
        let answer = (self.answer)(role, params, &claims, ctx)?;
        Ok(if role == Role::Sender { answer } else { output })
    }

    /// The step in which the party in `role` first reveals something of its set; `None` if it never
    /// does.
    pub fn reveals(role: Role, params: &PsiParams) -> Option<Step> {
        match (role, params.learns()) {
            (Role::Sender, _) => Some(Step::Compare),
            (_, Learns::Both) => Some(Step::Answer),
            _ => None,
        }
    }
}

/// One of the [`Steps`], in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// [`Steps::commit`].
    Commit,
    /// [`Steps::compare`].
    Compare,
    /// [`Steps::answer`].
    Answer,
}

impl Step {
    /// The steps of a run whose result goes to `learns`.
    pub const fn all(learns: Learns) -> &'static [Step] {
        match learns {
            Learns::Receiver => &[Step::Commit, Step::Compare],
            Learns::Both => &[Step::Commit, Step::Compare, Step::Answer],
        }
    }
}

/// Bytes of [`Committed::coins`].
pub const COINS_LEN: usize = 48;

/// What a party keeps from committing to its set until the comparison.
pub struct Committed {
    /// For each position of the set, a value that represents its item in the comparison. Equal
    /// items of one party have equal masks, and a mask reveals nothing to the peer before the
    /// comparison.
    ///
    /// The comparison may get fewer masks than the set has items. The party then compares random
    /// ones in their place, which no party has.
    pub masks: Vec<Block>,
    /// The positions of the items that both parties know.
    pub shared: Range<usize>,
    /// The sender's payloads, in the order of the set, if the query has payloads.
    pub payloads: Option<Arc<Vec<u8>>>,
    /// The party's coins.
    pub coins: Secret<[u8; COINS_LEN]>,
}

/// What a party gets from the comparison.
pub struct Comparison {
    /// What the receiver learns; [`Output::Nothing`] at the sender.
    pub output: Output,
    /// With [`Learns::Both`](vesica_core::Learns::Both), what the [answer](Steps::answer) needs for
    /// each position: at the receiver, whether the item is common and the proof of that; at the
    /// sender, what would prove it. Distinct items have distinct claims, so their number reveals
    /// nothing. Empty if only one party learns the result.
    pub claims: Vec<Block>,
}
