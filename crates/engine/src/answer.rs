//! From the output of a protocol to the [`RunResult`], checked and without self-check items.

mod asked;
mod check;
mod ids;
mod partner;
mod union;

pub(crate) use asked::{Asked, OwnRows};

use crate::output::RunResult;
use vesica_agreement::{Agreement, Question};
use vesica_core::{Item, Learns, Misbehaviour, Result, hash};
use vesica_expressions::Answer;
use vesica_net::Context;
use vesica_own_rows::self_check::CheckedSet;
use vesica_protocols::Output;

const TOLD_LABEL: &str = "vesica v1 answers compared";

/// The unchecked output of a protocol.
///
/// Whether the output is wrong may depend on this party's own items, and on the input that a
/// deviating peer chose. So nothing is checked before the last message to the peer: until then a
/// refused result causes the same messages, at the same times, as a good one. `docs/checks.md`
/// lists all checks.
pub(crate) struct Unchecked {
    output: Output,
    refused: Option<Misbehaviour>,
    /// Identifiers that the peer named as belonging to its own self-check items.
    their_check_items: Vec<[u8; Item::LEN]>,
    /// What was computed on shares, if this party receives it.
    answers: Option<Vec<Answer>>,
}

/// What the closing messages reveal of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Nothing.
    Nothing,
    /// The answer as a number, or the hash of an answer that is not a number.
    Number(u128),
    /// There is no answer: the count is outside the bounds.
    OutsideBounds,
}

impl Unchecked {
    pub(crate) fn new(output: Output) -> Self {
        let (output, refused) = output.split();
        Self { output, refused, their_check_items: Vec::new(), answers: None }
    }

    /// With what was computed on the shares of the output.
    pub(crate) fn with_answers(self, answers: Option<Vec<Answer>>) -> Self {
        Self { answers, ..self }
    }

    /// Exchanges with the peer what both parties need to remove self-check items.
    ///
    /// # Errors
    /// Errors of the channel.
    pub(crate) fn settled(
        mut self,
        ctx: &mut Context,
        set: &CheckedSet,
        asked: &Asked<'_>,
    ) -> Result<Self> {
        if let Output::Ids(ids) = &self.output {
            let theirs = asked.their_check_items();
            self.their_check_items = ids::exchange_check_items(ctx, ids, set, theirs)?;
        }
        Ok(self)
    }

    /// What the closing message reveals: if both sides have the answer, only what the peer itself
    /// has sent, or learns in any case.
    pub(crate) fn told(&self, set: &CheckedSet, agreement: &Agreement) -> Told {
        let number = match (agreement.learns(), &self.output) {
            (_, Output::OutsideBounds) => return Told::OutsideBounds,
            (Learns::Receiver, _) => return Told::Nothing,
            (_, Output::Positions(positions) | Output::Payloads { positions, .. }) => {
                set.count_own(positions).into()
            }
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
                let [shared, _] = set.check_items();
                let shared = ids.own.get(shared).unwrap_or_default();
                digest(&[shared.as_flattened(), ids.all.as_flattened()])
            }
            (_, Output::Shares(shares)) => shares.len as u128,
            _ => return Told::Nothing,
        };
        Told::Number(number)
    }

    /// The output of the job. Whether this refuses the result, and how long it takes, may depend on
    /// what the peer must not learn.
    ///
    /// # Errors
    /// [`Misbehaviour::SelfCheckFailed`] for an impossible result, [`Misbehaviour::InvalidValue`]
    /// for impossible texts and other values; [`vesica_core::Error::Bug`] for a result that was not
    /// asked for.
    pub(crate) fn answer(
        self,
        set: &CheckedSet,
        asked: &Asked<'_>,
        own: OwnRows,
    ) -> Result<RunResult> {
        match (self.refused, asked.agreement.question.computed()) {
            (Some(why), _) => Err(why.into()),
            (None, Some((_, computation))) => {
                check::computed(self.output, self.answers, computation, asked)
            }
            (None, None) => check::answer(self.output, &self.their_check_items, set, asked, own),
        }
    }
}

fn digest(parts: &[&[u8]]) -> u128 {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash::derive(TOLD_LABEL, parts)[..16]);
    u128::from_le_bytes(bytes)
}

/// The length in bytes of the texts that a run of `agreement` takes; `None` if it takes no texts.
pub(crate) fn text_limit(agreement: &Agreement) -> Option<usize> {
    match agreement.question {
        Question::Union { key_bytes } => Some(key_bytes as usize),
        // These texts stay here and may have any length.
        Question::PrivateId => Some(usize::MAX),
        _ => None,
    }
}
