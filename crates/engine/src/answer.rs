//! From what a protocol gave to the [`Output`], checked and without self-check items.

mod check;
mod ids;
mod union;

pub(crate) use check::Asked;

use crate::agreement::{Agreement, Question};
use crate::output::{KeyRows, Output};
use crate::self_check::CheckedSet;
use vesica_core::{Item, Learns, Misbehaviour, Result, hash};
use vesica_net::Context;
use vesica_protocols::Output as RawOutput;

const TOLD_LABEL: &str = "vesica v1 answers compared";

/// What turns an answer about keys into one about rows of the own file.
pub(crate) struct OwnRows {
    /// The items of all rows, where the result is rows.
    pub(crate) items: Vec<Item>,
    /// The rows of each key, where the result names keys.
    pub(crate) keys: Option<KeyRows>,
}

/// What a protocol gave, of which nothing has been checked.
///
/// What can be wrong with it may depend on this party's own items, and on what a peer that deviates made of its own.
/// So nothing is checked before the last word to the peer has been said: what is said until then is the same for a
/// result that is refused, and takes the same time. `docs/checks.md` goes through all checks.
pub(crate) struct Unchecked {
    said: RawOutput,
    refused: Option<Misbehaviour>,
    /// Identifiers of the peer's own self-check items, as it said.
    their_check_items: Vec<[u8; Item::LEN]>,
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
    pub(crate) fn new(output: RawOutput) -> Self {
        let (said, refused) = output.split();
        Self { said, refused, their_check_items: Vec::new() }
    }

    /// The same once the sides have told each other what they need to take off self-check items.
    ///
    /// # Errors
    /// Those of the channel.
    pub(crate) fn settled(mut self, ctx: &mut Context, set: &CheckedSet) -> Result<Self> {
        if let RawOutput::Ids(ids) = &self.said {
            self.their_check_items = ids::exchange_check_items(ctx, ids, set)?;
        }
        Ok(self)
    }

    /// What the closing message reveals: if both sides have the answer, only what the peer itself has sent, or learns
    /// in any case.
    pub(crate) fn told(&self, set: &CheckedSet, agreement: &Agreement) -> Told {
        let number = match (agreement.learns(), &self.said) {
            (_, RawOutput::OutsideBounds) => return Told::OutsideBounds,
            (Learns::Receiver, _) => return Told::Nothing,
            (_, RawOutput::Positions(positions)) => set.count_own(positions).into(),
            (_, RawOutput::Cardinality(count)) => {
                count.saturating_sub(agreement.self_check.into()).into()
            }
            (_, RawOutput::AtLeast(yes)) => (*yes).into(),
            (_, RawOutput::Sum(sum)) => digest(&[&[0xff; 8], &sum.to_le_bytes()]),
            (_, RawOutput::CountedSums { count, sums }) => {
                let sums: Vec<u8> = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
                digest(&[&count.to_le_bytes(), &sums])
            }
            (_, RawOutput::OnlyTheirs(texts)) => {
                let len = agreement.text_len().unwrap_or(1);
                (set.len() + texts.len() / len) as u128
            }
            (_, RawOutput::Ids(ids)) => {
                let [shared, _] = set.check_items();
                let shared = ids.own.get(shared).unwrap_or_default();
                digest(&[shared.as_flattened(), ids.all.as_flattened()])
            }
            (_, RawOutput::Shares(shares)) => shares.len as u128,
            _ => return Told::Nothing,
        };
        Told::Number(number)
    }

    /// The output of the job. Whether it is refused, and how long it
    /// takes, may depend on what the peer must not learn.
    ///
    /// # Errors
    /// [`Misbehaviour::SelfCheckFailed`] for a result that cannot be, [`Misbehaviour::InvalidValue`] for texts and
    /// other values that cannot; [`vesica_core::Error::Bug`] for a result that was not asked for.
    pub(crate) fn answer(
        self,
        set: &CheckedSet,
        asked: &Asked<'_>,
        own: OwnRows,
    ) -> Result<Output> {
        match self.refused {
            Some(why) => Err(why.into()),
            None => check::answer(self.said, &self.their_check_items, set, asked, own),
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
