//! Protocols whose parties fix their sets before they learn anything, for runs in partitions.
//!
//! ```text
//!  partition 0   commit ┐            compare ┐            answer
//!  partition 1   commit ├─ all are ─ compare ├─ all are ─ answer
//!  …             commit ┘            compare ┘            answer
//! ```
//!
//! A party that deviates could otherwise choose its items in one partition by the result of another. Between two steps
//! a partition keeps 16 bytes for each item, in the place of the item.

use crate::{Input, Output};
use std::ops::Range;
use vesica_core::{Block, Learns, PsiParams, Result, Role, Secret};
use vesica_net::Context;

/// The steps of a protocol in which each party's set is fixed before that party learns anything.
///
/// Run one after the other they are a whole run of one party. A run in partitions makes each step in all partitions
/// before the next step in any: a party that has made a step in a partition knows that its peer's messages up to there
/// have arrived.
///
/// The sender need not commit to its set in the first step: nothing comes back to it before its last tag.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Fixes the receiver's set: at the sender it ends when the receiver cannot change its items any more. Nothing that
    /// depends on the sender's set is sent.
    pub commit: fn(Role, &PsiParams, Input, &mut Context) -> Result<Committed>,
    /// Fixes the sender's set, and gives the receiver what is common. The sender receives nothing.
    pub compare: fn(Role, &PsiParams, Committed, &mut Context) -> Result<Comparison>,
    /// With [`Learns::Both`](vesica_core::Learns::Both), proves to the sender which items are common, by both parties'
    /// [claims](Comparison::claims). Returns the positions, ascending, of those that are. Where the receiver alone learns the
    /// result, it sends nothing and returns [`Output::Nothing`].
    pub answer: fn(Role, &PsiParams, &[Block], &mut Context) -> Result<Output>,
}

impl Steps {
    /// The steps, one after the other.
    ///
    /// # Errors
    /// Those of the steps.
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

    /// The step with which the party in `role` begins to reveal something of its set; `None` if it never does.
    pub fn reveals(role: Role, params: &PsiParams) -> Option<Step> {
        match (role, params.learns()) {
            (Role::Sender, _) => Some(Step::Compare),
            (_, Learns::Both) => Some(Step::Answer),
            _ => None,
        }
    }
}

/// A step of [`Steps`], in their order.
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
    /// The steps of a run with these learners.
    pub const fn all(learns: Learns) -> &'static [Step] {
        match learns {
            Learns::Receiver => &[Step::Commit, Step::Compare],
            Learns::Both => &[Step::Commit, Step::Compare, Step::Answer],
        }
    }
}

/// Bytes of [`Committed::coins`].
pub const COINS_LEN: usize = 48;

/// What a party keeps between fixing its set and the comparison.
pub struct Committed {
    /// For each position of the set a value that stands for its item in the comparison. Equal items of one party have
    /// equal masks, and a mask says nothing to the peer before the comparison.
    ///
    /// The comparison may get fewer than the set has items. The party then compares random ones in their place, which
    /// nobody has.
    pub masks: Vec<Block>,
    /// The positions of the items that both parties know.
    pub shared: Range<usize>,
    /// The party's coins.
    pub coins: Secret<[u8; COINS_LEN]>,
}

/// What the comparison gives a party.
pub struct Comparison {
    /// What the receiver learns; [`Output::Nothing`] at the sender.
    pub output: Output,
    /// With [`Learns::Both`](vesica_core::Learns::Both), for each position what the [answer](Steps::answer) needs of it:
    /// at the receiver whether the item is common and what proves it, at the sender what would prove it. Distinct items have
    /// distinct claims, so their number says nothing. Empty where one party alone learns the result.
    pub claims: Vec<Block>,
}
