//! What a run answered, checked and without self-check items.

mod check;
mod ids;
mod union;

pub(crate) use check::{Asked, check};

use crate::agreement::{Agreement, Question};
use crate::self_check::CheckedSet;
use vesica_core::{Item, Learns, hash};
use vesica_net::Context;
use vesica_protocols::{Ids, Shares};
use vesica_records::KeyTexts;

const TOLD_LABEL: &str = "vesica v1 answers compared";

/// What a side learned.
pub(crate) enum Answer {
    /// Which of its own keys are common.
    Items(Vec<Item>),
    /// How many keys are common.
    Count(u64),
    /// Whether they are as many as the agreement asks for.
    AtLeast(bool),
    /// What their values add up to, column by column, and how many they are where that is learned too.
    Sums {
        /// How many.
        count: Option<u64>,
        /// The sums.
        sums: Vec<i128>,
    },
    /// The keys of the union.
    Union(Union),
    /// Identifiers of the keys of the union.
    Ids(NamedIds),
    /// Shares.
    Shares(Shares),
    /// Only that the number of common keys is outside the bounds.
    OutsideBounds,
}

/// The keys that either party has.
pub(crate) struct Union {
    /// Their texts, in an order that says nothing of who has them, and the position among one's own keys; none where
    /// only the other party has it.
    pub(crate) keys: Vec<(Vec<u8>, Option<u32>)>,
    /// How many only the other party has.
    pub(crate) new: u64,
}

/// The identifiers of the keys that either party has.
pub(crate) struct NamedIds {
    /// All of them, ascending.
    pub(crate) all: Vec<[u8; Item::LEN]>,
    /// Of each, the position of its key among one's own, where it is one of these.
    pub(crate) own: Vec<Option<u32>>,
    /// The texts of one's own keys.
    pub(crate) keys: KeyTexts,
}

/// A protocol's output that has passed the self-check.
pub(crate) struct Checked(Output);

/// What there is before self-check items are taken off for good.
enum Output {
    Nothing,
    Positions(Vec<usize>),
    Count(u64),
    AtLeast(bool),
    Sums {
        count: Option<u64>,
        sums: Vec<i128>,
    },
    /// The texts of a union that this side alone receives, as they came.
    UnreadTexts(Vec<u8>),
    OnlyTheirs(KeyTexts),
    Ids(Ids),
    Shares(Shares),
    OutsideBounds,
}

/// What of an answer the closing messages compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Nothing: not both sides have an answer.
    Nothing,
    /// The answer as a number, or the hash of one that is none.
    Number(u128),
    /// That there is none.
    OutsideBounds,
}

impl Checked {
    /// Takes off self-check items that the sides must tell each other of.
    ///
    /// # Errors
    /// Those of the channel; [`vesica_core::Misbehaviour::SelfCheckFailed`] when the peer names items that cannot
    /// be its.
    pub(crate) fn settled(
        self,
        ctx: &mut Context,
        set: &CheckedSet,
    ) -> vesica_core::Result<Checked> {
        match self.0 {
            Output::Ids(ids) => Ok(Checked(Output::Ids(ids::without_canaries(ctx, ids, set)?))),
            output => Ok(Checked(output)),
        }
    }

    /// What the sides compare of it.
    pub(crate) fn told(&self, set: &CheckedSet, learns: Learns) -> Told {
        match (learns, &self.0) {
            (_, Output::OutsideBounds) => Told::OutsideBounds,
            (Learns::Receiver, _) => Told::Nothing,
            (_, Output::Positions(positions)) => Told::Number(set.count_own(positions).into()),
            (_, Output::Count(count)) => Told::Number((*count).into()),
            (_, Output::AtLeast(yes)) => Told::Number((*yes).into()),
            (_, Output::Sums { count, sums }) => {
                let count = count.map_or([0xff; 8], u64::to_le_bytes);
                let sums: Vec<u8> = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
                Told::Number(digest(&[&count, &sums]))
            }
            (_, Output::OnlyTheirs(keys)) => {
                Told::Number(set.own_len() as u128 + keys.len() as u128)
            }
            (_, Output::Ids(ids)) => {
                let [shared, _] = set.canaries();
                Told::Number(digest(&[ids.own[shared].as_flattened(), ids.all.as_flattened()]))
            }
            (_, Output::Shares(shares)) => Told::Number(shares.len as u128),
            // Both learn, so they have been read.
            (_, Output::Nothing | Output::UnreadTexts(_)) => Told::Nothing,
        }
    }

    /// The answer; `None` when this side has none. How long it takes may depend on what the peer must not learn.
    ///
    /// # Errors
    /// Those of [`texts::keys_of`](crate::texts::keys_of); [`vesica_core::Misbehaviour::SelfCheckFailed`] when keys
    /// that only the peer has are more than can be, are ours, or there twice.
    pub(crate) fn answer(
        self,
        set: &CheckedSet,
        asked: &Asked<'_>,
    ) -> vesica_core::Result<Option<Answer>> {
        Ok(Some(match self.0 {
            Output::Nothing => return Ok(None),
            Output::Positions(positions) => Answer::Items(set.own_items(&positions)),
            Output::Count(count) => Answer::Count(count),
            Output::AtLeast(yes) => Answer::AtLeast(yes),
            Output::Sums { count, sums } => Answer::Sums { count, sums },
            Output::UnreadTexts(texts) => {
                Answer::Union(union::joined(set, &check::only_theirs(&texts, asked)?)?)
            }
            Output::OnlyTheirs(theirs) => Answer::Union(union::joined(set, &theirs)?),
            Output::Ids(ids) => Answer::Ids(ids::named(ids, set)),
            Output::Shares(shares) => Answer::Shares(shares),
            Output::OutsideBounds => Answer::OutsideBounds,
        }))
    }
}

fn digest(parts: &[&[u8]]) -> u128 {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash::derive(TOLD_LABEL, parts)[..16]);
    u128::from_le_bytes(bytes)
}

/// The texts of keys that a run of `agreement` takes, in bytes; `None` when it takes none.
pub(crate) fn text_limit(agreement: &Agreement) -> Option<usize> {
    match agreement.question {
        Question::Union { key_bytes } => Some(key_bytes as usize),
        // They stay here and may be of any length.
        Question::PrivateId => Some(usize::MAX),
        _ => None,
    }
}
