//! What a run answered, checked and without self-check items.

use crate::agreement::{Agreement, Question};
use crate::self_check::CheckedSet;
use vesica_core::{Error, Item, Learns, Misbehaviour, Result};
use vesica_protocols::Output;

/// What a side learned.
pub(crate) enum Answer {
    /// Which of its own keys are common.
    Items(Vec<Item>),
    /// How many keys are common.
    Count(u64),
    /// Whether they are as many as the agreement asks for.
    AtLeast(bool),
    /// What their values add up to.
    Sum(u128),
    /// Only that the number of common keys is outside the bounds.
    OutsideBounds,
}

/// A protocol's output that has passed the self-check.
pub(crate) struct Checked(Output);

/// What of an answer the closing messages compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Nothing: not both sides have an answer.
    Nothing,
    /// The answer as a number.
    Number(u128),
    /// That there is none.
    OutsideBounds,
}

/// Checks the `output` of a run in which the smaller set has at most `most` keys.
///
/// # Errors
/// [`Misbehaviour::SelfCheckFailed`] for a result that cannot be; [`Error::Bug`] for one that was
/// not asked for.
pub(crate) fn check(
    output: Output,
    set: &CheckedSet,
    agreement: &Agreement,
    learns: bool,
    most: u64,
) -> Result<Checked> {
    let bounds = agreement.bounds;
    let require = |possible: bool| match possible {
        true => Ok(()),
        false => Err(Error::PeerMisbehaved(Misbehaviour::SelfCheckFailed)),
    };
    let possible = |count: u64| require(count <= most && bounds.contain(count));
    let output = match (&agreement.question, output) {
        (_, Output::OutsideBounds) => {
            require(!bounds.contain(0) || !bounds.contain(most))?;
            Output::OutsideBounds
        }
        (_, Output::Nothing) if !learns => Output::Nothing,
        _ if !learns => return Err(Error::Bug("a party learned what was not for it")),
        (Question::Intersection, Output::Positions(positions)) => {
            possible(set.check(&positions)?)?;
            Output::Positions(positions)
        }
        (Question::Cardinality, Output::Cardinality(count)) => {
            let count = count.checked_sub(agreement.self_check.into());
            let count = count.ok_or(Misbehaviour::SelfCheckFailed)?;
            possible(count)?;
            Output::Cardinality(count)
        }
        // One bit says nothing of canaries, unless the sets are too small for a yes.
        (Question::Threshold { min }, Output::AtLeast(yes)) => {
            require(!yes || *min <= most)?;
            Output::AtLeast(yes)
        }
        (Question::Sum(terms), Output::Sum(sum)) => {
            let sum = agreement.checked_values().of_keys(sum);
            let sum = sum.ok_or(Misbehaviour::SelfCheckFailed)?;
            require(sum <= u128::from(most) * ((1 << terms.bits) - 1))?;
            require(set.total().is_none_or(|total| sum <= total))?;
            Output::Sum(sum)
        }
        _ => return Err(Error::Bug("a party learned something else than was asked")),
    };
    Ok(Checked(output))
}

impl Checked {
    /// What the sides compare of it.
    pub(crate) fn told(&self, set: &CheckedSet, learns: Learns) -> Told {
        match (learns, &self.0) {
            (_, Output::OutsideBounds) => Told::OutsideBounds,
            (Learns::Receiver, _) => Told::Nothing,
            (_, Output::Positions(positions)) => Told::Number(set.count_own(positions).into()),
            (_, Output::Cardinality(count)) => Told::Number((*count).into()),
            (_, Output::AtLeast(yes)) => Told::Number((*yes).into()),
            (_, Output::Sum(sum)) => Told::Number(*sum),
            _ => Told::Nothing,
        }
    }

    /// The answer; `None` when this side has none.
    pub(crate) fn answer(self, set: &CheckedSet) -> Option<Answer> {
        match self.0 {
            Output::Positions(positions) => Some(Answer::Items(set.own_items(&positions))),
            Output::Cardinality(count) => Some(Answer::Count(count)),
            Output::AtLeast(yes) => Some(Answer::AtLeast(yes)),
            Output::Sum(sum) => Some(Answer::Sum(sum)),
            Output::OutsideBounds => Some(Answer::OutsideBounds),
            _ => None,
        }
    }
}
