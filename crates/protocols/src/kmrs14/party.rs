//! A party's steps of Figures 1 to 4, straight as they stand there.
//!
//! Every step looks first whether the board has its outcome already, so that a party that was interrupted runs the
//! same program again, with the same secrets and the same rows, and goes on where it was.

mod size_hiding;

use super::board::{Board, Boards};
use super::helper::{Commitment, DIGEST_LEN, answer_parts};
use super::list::{Items, Matched, Means, OwnList, SentList, send_segments, storage};
use super::outer::{Inner, Outer, inner_bits, inner_format};
use super::rows::Variant;
use super::slot::{Kind, Slot};
use super::spec::Spec;
use vesica_core::hash::derive;
use vesica_core::{Error, Item, Misbehaviour, Refusal, Result, Secret};
use vesica_labels::{Bits, Format, ListError, Spool};

const SEEN_LABEL: &str = "vesica kmrs14 2026 commitments seen v2";

/// Bytes that sealing adds.
pub const SEAL_LEN: usize = 16;

/// What a party knows of a run once the parties have met and tossed their coins.
pub struct Run<'a> {
    /// What the helper was told.
    pub spec: &'a Spec,
    /// Which of its parties this is.
    pub party: u8,
    /// The scales that the parties announced in their signed words to each other.
    pub scales: &'a [u32],
    /// The secret that the parties tossed. Fresh in every run: labels of an earlier run would tell dummies from
    /// items.
    pub secret: &'a Secret<[u8; 32]>,
    /// Random bytes of this party's own, the same when it comes back to the same run.
    pub own_secret: &'a Secret<[u8; 32]>,
    /// Seals what goes through the helper to the other party.
    pub seal: &'a dyn Seal,
    /// What this party has seen of this run before.
    pub memory: &'a dyn Memory,
}

/// What a party remembers of a run, also when it is interrupted and comes back. A helper that shows it something else
/// then would hear its answer to both.
pub trait Memory: Sync {
    /// Whether `digest` is what was given first for what the helper shows in slots of `kind`. The first is kept, for as
    /// long as the run, before this returns.
    ///
    /// # Errors
    /// [`Error::Storage`].
    fn is_same(&self, kind: Kind, digest: &[u8; DIGEST_LEN]) -> Result<bool>;
}

/// Seals bytes from one party to the other under a key that the helper does not have.
pub trait Seal: Sync {
    /// Seals `body` for the other party; [`SEAL_LEN`] bytes longer. The same body gives the same bytes.
    ///
    /// # Errors
    /// [`Error::Bug`].
    fn seal(&self, kind: Kind, part: u32, body: Vec<u8>) -> Result<Vec<u8>>;

    /// Opens what the other party sealed.
    ///
    /// # Errors
    /// [`Misbehaviour::InvalidValue`] when it is not what the other party sealed.
    fn open(&self, kind: Kind, part: u32, body: Vec<u8>) -> Result<Vec<u8>>;
}

/// What a party learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The rows that match; `None` for a party that is not told, and for one whose answer was refused.
    pub matched: Option<Matched>,
    /// Why this party refuses its answer. Whether it does can depend on its own items and on what is common, so nobody
    /// may notice: the caller goes on as with a good one, says `done` to the helper, and ends in error alone.
    pub refused: Option<Misbehaviour>,
    /// The number of labels of each party's list, c·n + 2t.
    pub list_lens: Vec<u64>,
}

impl Outcome {
    /// What `checked` says of the answer, where one was asked for.
    fn of(checked: Option<Result<Matched>>, list_lens: Vec<u64>) -> Result<Self> {
        let (matched, refused) = match checked {
            None => (None, None),
            Some(Ok(matched)) => (Some(matched), None),
            Some(Err(Error::PeerMisbehaved(why))) => (None, Some(why)),
            Some(Err(error)) => return Err(error),
        };
        Ok(Self { matched, refused, list_lens })
    }

    /// The outcome, for who has said `done`.
    ///
    /// # Errors
    /// [`Error::PeerMisbehaved`] where the answer was refused.
    pub fn checked(self) -> Result<Self> {
        match self.refused {
            Some(why) => Err(why.into()),
            None => Ok(self),
        }
    }
}

/// Runs the party of `run` with its `items` to the end. The caller says `done` to the helper when it has kept the
/// outcome.
///
/// # Errors
/// Any [`Error`]; after [`Error::Transport`], and a refusal that [passes](vesica_core::Refusal::passes), it can be
/// called again.
pub fn run(
    run: &Run<'_>,
    items: &dyn Items,
    means: &Means<'_>,
    boards: &dyn Boards,
) -> Result<Outcome> {
    let formats = formats(run)?;
    let party = Party { run, formats, means, boards };
    match run.spec.variant {
        Variant::SemiHonest | Variant::Malicious => {
            party.submit_and_ask(&Outer::new(run.secret.expose(), run.spec, run.party), items)
        }
        Variant::Fair => party.fair(items),
        Variant::SizeHiding | Variant::Pet if run.party == 0 => party.size_hiding_first(items),
        Variant::SizeHiding | Variant::Pet => party.size_hiding_second(items),
    }
}

/// The same exchange with labels that are the items themselves: what an intersection by a helper costs that hides
/// nothing. For comparing; the helper sees all.
///
/// # Errors
/// As [`run`].
pub fn run_in_clear(
    run: &Run<'_>,
    items: &dyn Items,
    means: &Means<'_>,
    boards: &dyn Boards,
) -> Result<Outcome> {
    let party = Party { run, formats: formats(run)?, means, boards };
    party.submit_and_ask(&Outer::in_clear(run.spec, run.party), items)
}

fn formats(run: &Run<'_>) -> Result<Vec<Format>> {
    run.spec.formats(run.scales).ok_or(Misbehaviour::InvalidValue.into())
}

struct Party<'a> {
    run: &'a Run<'a>,
    formats: Vec<Format>,
    means: &'a Means<'a>,
    boards: &'a dyn Boards,
}

impl Party<'_> {
    /// Figures 1 and 2: sends T_i = π_i(F_K(S_i^c + D_0 + D_i)), asks for I, checks it.
    fn submit_and_ask(&self, outer: &Outer, items: &dyn Items) -> Result<Outcome> {
        let mut board = self.boards.open()?;
        let (list, len) = self.submit(&mut *board, outer, items)?;
        let matched = match self.run.spec.parties[self.own()].receives {
            true => {
                let bits = self.answer(&mut *board, len, |_| {})?;
                Some(list.matched(self.run.spec, &bits))
            }
            false => {
                board.sync()?;
                None
            }
        };
        Outcome::of(matched, self.list_lens(&mut *board, len)?)
    }

    /// Figure 3. What is sent is T_i = π_i(F_K2(F_K1(S_i)^c + D_0 + D_i)).
    fn fair(&self, items: &dyn Items) -> Result<Outcome> {
        let (spec, party) = (self.run.spec, self.run.party);
        let inner = Inner::new(self.run.secret.expose());
        let outer = Outer::new(inner.outer_secret.expose(), spec, party);
        let bits = inner_bits(&self.formats);
        let cut = |label| cut_to(label, bits);
        // Steps 4 to 6.
        let mut values = Vec::new();
        let list = OwnList::make(
            items,
            self.format(),
            self.means,
            |items, take| {
                values.clear();
                inner.key.of_items(items, |_, label| values.push(cut(label)));
                outer.of_values(&values, take)
            },
            |take| outer.of_dummies(take),
        )?;
        let mut board = self.boards.open()?;
        let (list, len) = self.send(&mut *board, list)?;
        let parties = spec.parties.len();
        let commitments = board.get(Slot::new(Kind::Commitment, party), parties * DIGEST_LEN)?;
        let commitment = commitments
            .as_chunks::<DIGEST_LEN>()
            .0
            .get(self.own())
            .filter(|_| commitments.len() == parties * DIGEST_LEN)
            .ok_or(Misbehaviour::InvalidValue)?;
        // Both have seen the same commitments before either opens anything: with K_2 and one list a helper could make
        // an answer for the other party that passes its checks, if it were not bound yet. And the same at each visit.
        let list_lens = self.list_lens(&mut *board, len)?;
        let lens: Vec<u8> = list_lens.iter().flat_map(|len| len.to_le_bytes()).collect();
        let seen = |party: u8| {
            derive(SEEN_LABEL, &[self.run.secret.expose(), &[party], &commitments, &lens])
        };
        self.remember(Kind::Commitment, &seen(party), Misbehaviour::CommitmentBroken)?;
        board.put(Slot::new(Kind::Seen, party), &seen(party))?;
        if board.get(Slot::new(Kind::Seen, 1 - party), DIGEST_LEN)? != seen(1 - party) {
            return Err(Misbehaviour::CommitmentBroken.into());
        }
        // Step 7. K_1 stays secret: the helper sees F_K1(S_i), which says no more than T_i did.
        self.open_list(&mut *board, &inner, items)?;
        board.put(Slot::new(Kind::OuterSecret, party), inner.outer_secret.expose())?;
        // Steps 9 to 11.
        let nonce = exact(board.get(Slot::new(Kind::Opening, party), DIGEST_LEN)?)?;
        let mut opened = Commitment::new(&nonce, party);
        let bits = self.answer(&mut *board, len, |body| opened.update(body))?;
        if opened.finish() != *commitment {
            return Err(Misbehaviour::CommitmentBroken.into());
        }
        Outcome::of(Some(list.matched(spec, &bits)), list_lens)
    }

    /// Figure 3, step 7: F_K1(S_i), once for each item.
    fn open_list(&self, board: &mut dyn Board, inner: &Inner, items: &dyn Items) -> Result<()> {
        let (run, means) = (self.run, self.means);
        let format = inner_format(run.spec, &self.formats, self.own());
        let bits = inner_bits(&self.formats);
        let mut spool = Spool::new(format, 0, means.memory_bytes, means.scratch)
            .ok_or(Error::Bug("an inner label is too long"))?;
        let mut keyed = Vec::new();
        items
            .each(&mut |_, items: &[Item]| {
                keyed.clear();
                keyed.extend(items.iter().copied().filter(|item| item.integer() != 0));
                let mut result = Ok(());
                inner.key.of_items(&keyed, |_, label| {
                    if result.is_ok() {
                        result = spool.push(cut_to(label, bits), 0);
                    }
                });
                result
            })
            .map_err(storage)?;
        let sorted = spool.finish().map_err(storage)?;
        let place = Slot::new(Kind::Opened, run.party);
        send_segments(&sorted, place, board, self.boards, means, &|_, _| Ok(()))?;
        Ok(())
    }

    /// An error, `otherwise`, when this party has been shown something else of `kind` before.
    fn remember(
        &self,
        kind: Kind,
        digest: &[u8; DIGEST_LEN],
        otherwise: Misbehaviour,
    ) -> Result<()> {
        if self.run.memory.is_same(kind, digest)? { Ok(()) } else { Err(otherwise.into()) }
    }

    /// Sorts and sends this party's list.
    fn submit(
        &self,
        board: &mut dyn Board,
        outer: &Outer,
        items: &dyn Items,
    ) -> Result<(SentList, u64)> {
        let list = OwnList::make(
            items,
            self.format(),
            self.means,
            |items, take| outer.of_items(items, take),
            |take| outer.of_dummies(take),
        )?;
        self.send(board, list)
    }

    fn send(&self, board: &mut dyn Board, list: OwnList) -> Result<(SentList, u64)> {
        let place = Slot::new(Kind::Labels, self.run.party);
        let (list, len) = list.send(place, board, self.boards, self.means)?;
        self.put_size(board, len)?;
        Ok((list, len))
    }

    /// Says that this party's list is complete.
    fn put_size(&self, board: &mut dyn Board, len: u64) -> Result<()> {
        let (spec, party) = (self.run.spec, self.run.party);
        if len < spec.list_len(spec.parties[self.own()].min_rows) {
            return Err(Refusal::TooFew { party }.into());
        }
        board.put(Slot::new(Kind::Size, party), &len.to_le_bytes())
    }

    /// The helper's answer to this party's list of `len` labels.
    fn answer(&self, board: &mut dyn Board, len: u64, mut look: impl FnMut(&[u8])) -> Result<Bits> {
        let mut bytes = Vec::with_capacity(len.div_ceil(8) as usize);
        for part in 0..answer_parts(len) {
            let rest = len.div_ceil(8) as usize - bytes.len();
            let expected = rest.min(Slot::ANSWER_PART_LEN as usize);
            let body = board.get(Slot::part(Kind::Answer, self.run.party, part), expected)?;
            look(&body);
            bytes.extend_from_slice(&body);
        }
        Bits::from_bytes(bytes, len).ok_or(Misbehaviour::InvalidValue.into())
    }

    /// The number of labels of each list, this party's own being `own_len`.
    fn list_lens(&self, board: &mut dyn Board, own_len: u64) -> Result<Vec<u64>> {
        let one = |party: usize| {
            if party == self.own() {
                return Ok(own_len);
            }
            let body = board.get(Slot::new(Kind::Size, party as u8), 8)?;
            let len = u64::from_le_bytes(exact(body)?);
            match self.run.spec.takes(party, self.formats[party], len) {
                true => Ok(len),
                false => Err(Misbehaviour::InvalidValue.into()),
            }
        };
        (0..self.run.spec.parties.len()).map(one).collect()
    }

    fn own(&self) -> usize {
        usize::from(self.run.party)
    }

    fn format(&self) -> Format {
        self.formats[self.own()]
    }
}

fn of_list(error: ListError) -> Error {
    match error {
        ListError::Io(kind) => Error::Storage(kind),
        _ => Misbehaviour::InvalidValue.into(),
    }
}

fn exact<const LEN: usize>(body: Vec<u8>) -> Result<[u8; LEN]> {
    body.try_into().map_err(|_| Misbehaviour::InvalidValue.into())
}

fn cut_to(label: u128, bits: u32) -> u128 {
    label & (u128::MAX << (128 - bits))
}
