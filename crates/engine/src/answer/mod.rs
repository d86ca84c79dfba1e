//! What a run answered, checked and without self-check items.

mod check;
mod ids;
mod union;

pub(crate) use check::Asked;

use crate::agreement::{Agreement, Question};
use crate::self_check::CheckedSet;
use vesica_core::{Item, Learns, Misbehaviour, Result, hash};
use vesica_net::Context;
use vesica_protocols::{Output, Shares};
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

/// What a protocol gave, of which nothing has been checked.
///
/// What can be wrong with it may depend on this party's own items, and on what a peer that deviates made of its own.
/// So nothing is checked before the last word to the peer has been said: what is said until then is the same for a
/// result that is refused, and takes the same time. `docs/checks.md` goes through all checks.
pub(crate) struct Unchecked {
    said: Output,
    refused: Option<Misbehaviour>,
    /// Identifiers of the peer's own self-check items, as it said.
    their_canaries: Vec<[u8; Item::LEN]>,
}

/// What of an answer the closing messages tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Nothing.
    Nothing,
    /// The answer as a number, or the hash of one that is none.
    Number(u128),
    /// That there is none.
    OutsideBounds,
}

impl Unchecked {
    pub(crate) fn new(output: Output) -> Self {
        let (said, refused) = output.split();
        Self { said, refused, their_canaries: Vec::new() }
    }

    /// The same once the sides have told each other what they need to take off self-check items.
    ///
    /// # Errors
    /// Those of the channel.
    pub(crate) fn settled(mut self, ctx: &mut Context, set: &CheckedSet) -> Result<Self> {
        if let Output::Ids(ids) = &self.said {
            self.their_canaries = ids::exchange_canaries(ctx, ids, set)?;
        }
        Ok(self)
    }

    /// What both sides say of it, where both have it. What is told is what the peer has said itself, or what it learns
    /// in any case.
    pub(crate) fn told(&self, set: &CheckedSet, agreement: &Agreement) -> Told {
        let number = match (agreement.learns(), &self.said) {
            (_, Output::OutsideBounds) => return Told::OutsideBounds,
            (Learns::Receiver, _) => return Told::Nothing,
            (_, Output::Positions(positions)) => set.count_own(positions).into(),
            (_, Output::Cardinality(count)) => {
                count.saturating_sub(agreement.self_check.into()).into()
            }
            (_, Output::AtLeast(yes)) => (*yes).into(),
            (_, Output::Sum(sum)) => digest(&[&[0xff; 8], &sum.to_le_bytes()]),
            (_, Output::CountedSums { count, sums }) => {
                let sums: Vec<u8> = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
                digest(&[&count.to_le_bytes(), &sums])
            }
            (_, Output::OnlyTheirs(texts)) => {
                let len = agreement.text_len().unwrap_or(1);
                (set.len() + texts.len() / len) as u128
            }
            (_, Output::Ids(ids)) => {
                let [shared, _] = set.canaries();
                let shared = ids.own.get(shared).unwrap_or_default();
                digest(&[shared.as_flattened(), ids.all.as_flattened()])
            }
            (_, Output::Shares(shares)) => shares.len as u128,
            _ => return Told::Nothing,
        };
        Told::Number(number)
    }

    /// The answer without self-check items; `None` when this side has none. Whether it is refused, and how long it
    /// takes, may depend on what the peer must not learn.
    ///
    /// # Errors
    /// [`Misbehaviour::SelfCheckFailed`] for a result that cannot be, [`Misbehaviour::InvalidValue`] for texts and
    /// other values that cannot; [`vesica_core::Error::Bug`] for a result that was not asked for.
    pub(crate) fn answer(self, set: &CheckedSet, asked: &Asked<'_>) -> Result<Option<Answer>> {
        match self.refused {
            Some(why) => Err(why.into()),
            None => check::answer(self.said, &self.their_canaries, set, asked),
        }
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
