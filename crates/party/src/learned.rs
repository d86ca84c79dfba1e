//! What a party learns in a run: facts, and their words.

use std::borrow::Cow;

/// Something that a party learns of the other party's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// How large the peer's set is.
    PeerSetLen,
    /// Which of its own items the peer has.
    CommonItems,
    /// The answer to the query; for an intersection, this is [`Fact::CommonItems`].
    Answer,
    /// How many items are common.
    Count,
    /// How many items are common, and the sum of their values.
    CountAndSum,
    /// How many items are common, and the sum of the products of both parties' values for them.
    CountAndInnerProduct,
    /// How many items are common, and which entries of a shared list belong to them.
    CountAndEntries,
    /// The items that only the peer has, [if](Condition::OwnResult) it gets a result.
    PeersOwnItems,
    /// The items that only the peer has, and so how many are common.
    PeersOwnItemsAndCount,
    /// An identifier for each of its items, and all those of the union, and so how many items are
    /// common.
    Ids,
    /// Whether the number of common items is inside the [bounds](Condition::Bounds).
    WithinBounds,
    /// Every item of the peer that it can guess.
    Guesses,
}

/// When a party learns a [`Fact`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// In every run.
    Always,
    /// In a run with bounds.
    Bounds,
    /// In a run that gives this party a result as well.
    OwnResult,
}

impl Condition {
    /// The words that precede those of a fact.
    const fn words(self) -> &'static str {
        match self {
            Condition::Always => "",
            Condition::Bounds => "with bounds, ",
            Condition::OwnResult => "with a result of its own, ",
        }
    }
}

impl Fact {
    /// For the sender of an intersection.
    pub const SIZE: &'static [Fact] = &[Fact::PeerSetLen];
    /// For the receiver of an intersection.
    pub const INTERSECTION: &'static [Fact] = &[Fact::CommonItems, Fact::PeerSetLen];
    /// For the sender, if bounds are enforced.
    pub const SIZE_AND_BOUNDS: &'static [Fact] = &[Fact::PeerSetLen, Fact::WithinBounds];
    /// For the receiver, whichever query is answered.
    pub const ANSWER: &'static [Fact] = &[Fact::Answer, Fact::PeerSetLen];

    /// When a party learns the fact.
    pub const fn condition(self) -> Condition {
        match self {
            Fact::WithinBounds => Condition::Bounds,
            Fact::PeersOwnItems => Condition::OwnResult,
            _ => Condition::Always,
        }
    }

    /// The fact in words, without its condition; the other party is called `peer`.
    pub fn words(self, peer: &str) -> Cow<'static, str> {
        match self {
            Fact::PeerSetLen => format!("the size of {peer}'s set").into(),
            Fact::CommonItems => format!("which of its own items {peer} has").into(),
            Fact::Answer => "the common items, or the answer to the query".into(),
            Fact::Count => "how many items are common".into(),
            Fact::CountAndSum => "how many items are common and the sum of their values".into(),
            Fact::CountAndInnerProduct => {
                "how many items are common and the sum of the products of \
                                           their values"
                    .into()
            }
            Fact::CountAndEntries => "how many items are common, and which entries of the shared \
                                      list are theirs"
                .into(),
            Fact::PeersOwnItems => format!("the items that only {peer} has").into(),
            Fact::PeersOwnItemsAndCount => {
                format!("the items that only {peer} has, and so how many are common").into()
            }
            Fact::Ids => "a random identifier of each of its items and those of the union, and so \
                          how many items are common"
                .into(),
            Fact::WithinBounds => "whether the number of common items is inside".into(),
            Fact::Guesses => format!("every item of {peer} it can guess").into(),
        }
    }

    /// `facts` in words, each with its condition; the other party is called `peer`.
    pub fn all_words(facts: &[Fact], peer: &str) -> String {
        let clauses =
            facts.iter().map(|fact| fact.condition().words().to_owned() + &fact.words(peer));
        clauses.collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_has_its_condition_and_the_name_of_the_peer() {
        let facts = [Fact::PeersOwnItems, Fact::PeerSetLen, Fact::WithinBounds];
        assert_eq!(
            Fact::all_words(&facts, "shop"),
            "with a result of its own, the items that only shop has; the size of shop's set; with \
             bounds, whether the number of common items is inside"
        );
    }
}
