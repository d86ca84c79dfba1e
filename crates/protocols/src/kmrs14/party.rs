//! A party's steps of Figures 1 to 4, straight as they stand there.
//!
//! Every step looks first whether the board has its outcome already, so that a party that was interrupted runs the
//! same program again, with the same secrets and the same rows, and goes on where it was.

use super::board::{Board, Boards};
use super::helper::{
    Commitment, DIGEST_LEN, answer_parts, relayed_parts, toss_commitment, tossed_key,
};
use super::list::{Items, Matched, Means, OwnList, send_segments, storage};
use super::outer::{Inner, Outer, inner_bits, inner_format, relabelling_key};
use super::rows::Variant;
use super::slot::{Kind, Slot};
use super::spec::Spec;
use std::io;
use std::sync::Mutex;
use vesica_core::hash::{Transcript, derive};
use vesica_core::{Error, Item, Misbehaviour, Refusal, Result, Secret};
use vesica_labels::{
    Bits, Format, Label, LabelKey, List, ListError, ScratchFile, Segments, Spool, count_segment,
    join,
};

const SEEN_LABEL: &str = "vesica kmrs14 2026 commitments seen v2";
const FETCHED_LABEL: &str = "vesica kmrs14 2026 list of the helper's v1";
const PLACES_LABEL: &str = "vesica kmrs14 2026 places v1";
const TOSS_LABEL: &str = "vesica kmrs14 2026 toss share of the party v1";

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
    /// The rows that match; `None` for a party that is not told.
    pub matched: Option<Matched>,
    /// The number of labels of each party's list, c·n + 2t.
    pub list_lens: Vec<u64>,
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
                Some(list.matched(self.run.spec, &bits)?)
            }
            false => {
                board.sync()?;
                None
            }
        };
        Ok(Outcome { matched, list_lens: self.list_lens(&mut *board, len)? })
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
        let len = self.send(&mut *board, &list)?;
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
        Ok(Outcome { matched: Some(list.matched(spec, &bits)?), list_lens })
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

    /// Figure 4, the party P_1.
    fn size_hiding_first(&self, items: &dyn Items) -> Result<Outcome> {
        let (spec, seal) = (self.run.spec, self.run.seal);
        // Step 5.
        let mut board = self.boards.open()?;
        let outer = Outer::new(self.run.secret.expose(), spec, 0);
        let (list, len) = self.submit(&mut *board, &outer, items)?;
        let list_lens = self.list_lens(&mut *board, len)?;
        // Steps 6 and 7: T'_1 from the helper, T'_2 from P_2.
        let [own_format, their_format] = [self.formats[0], self.formats[1]];
        let own = self.fetch(&mut *board, Kind::Relabelled, 0, own_format)?;
        let theirs = self.fetch_relayed(&mut *board, their_format, list_lens[1])?;
        if [&own, &theirs].map(Fetched::len) != [len, list_lens[1]] {
            return Err(Misbehaviour::InvalidValue.into());
        }
        // What is told of one T'_1 must not be told of another: their difference would say whether a label is common.
        self.remember(Kind::Relabelled, &own.digest, Misbehaviour::InvalidValue)?;
        // Step 8: I = T'_1 ∩ T'_2, told to P_2 as bits over its list, whose length says nothing of I.
        let lists = [own.list()?, theirs.list()?];
        let bits = join::common(&lists, self.means.pool, &|| false)
            .map_err(|(_, error)| of_list(error))?;
        let [own_bits, their_bits] = bits
            .and_then(|bits| <[Bits; 2]>::try_from(bits).ok())
            .ok_or(Error::Bug("two lists have two answers"))?;
        let parts = their_bits.as_bytes().chunks(Slot::ANSWER_PART_LEN as usize);
        for (part, body) in (0..).zip(parts) {
            board.put(
                Slot::part(Kind::Found, 0, part),
                &seal.seal(Kind::Found, part, body.to_vec())?,
            )?;
        }
        board.sync()?;
        // Step 11: π_3 says where in T_1 each label of T'_1 was.
        let mut bits = Bits::new(len);
        let mut told = Transcript::new(PLACES_LABEL, &[]);
        for part in 0..=(len / Slot::PLACES_PART_LEN) as u32 {
            let first = u64::from(part) * Slot::PLACES_PART_LEN;
            let count = (len - first).min(Slot::PLACES_PART_LEN);
            let bytes = (count * Slot::PLACE_LEN) as usize;
            let body = board.get(Slot::part(Kind::Places, 0, part), bytes)?;
            if body.len() != bytes {
                return Err(Misbehaviour::InvalidValue.into());
            }
            told.update(&body);
            for (place, rank) in
                body.as_chunks::<{ Slot::PLACE_LEN as usize }>().0.iter().zip(first..)
            {
                let [a, b, c, d, e] = *place;
                let place = u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]);
                if place >= len {
                    return Err(Misbehaviour::InvalidValue.into());
                }
                if own_bits.get(rank) {
                    bits.set(place);
                }
            }
        }
        self.remember(Kind::Places, &told.finish(), Misbehaviour::InvalidValue)?;
        // Two places that are the same would lose a label.
        if bits.count_ones() != own_bits.count_ones() {
            return Err(Misbehaviour::InvalidValue.into());
        }
        // Steps 12 and 13.
        Ok(Outcome { matched: Some(list.matched(spec, &bits)?), list_lens })
    }

    /// Figure 4, the party P_2.
    fn size_hiding_second(&self, items: &dyn Items) -> Result<Outcome> {
        let (spec, seal) = (self.run.spec, self.run.seal);
        let mut board = self.boards.open()?;
        // Step 4: K_2, tossed with the helper.
        let relabel = self.toss(&mut *board)?;
        // Step 7.
        let outer = Outer::new(self.run.secret.expose(), spec, 1);
        let [first_format, own_format] = [self.formats[0], self.formats[1]];
        let list = OwnList::make(
            items,
            own_format,
            self.means,
            |items, take| {
                relabelled(&relabel, first_format, take, |take| outer.of_items(items, take))
            },
            |take| relabelled(&relabel, first_format, take, |take| outer.of_dummies(take)),
        )?;
        let len = self.relay(&mut *board, &list)?;
        self.put_size(&mut *board, len)?;
        // Steps 8 to 10.
        let mut bytes = Vec::new();
        for part in 0..answer_parts(len) {
            let rest = len.div_ceil(8) as usize - bytes.len();
            let expected = rest.min(Slot::ANSWER_PART_LEN as usize) + SEAL_LEN;
            let body = board.get(Slot::part(Kind::Found, 0, part), expected)?;
            bytes.extend(seal.open(Kind::Found, part, body)?);
        }
        let bits = Bits::from_bytes(bytes, len).ok_or(Misbehaviour::InvalidValue)?;
        let matched = list.matched(spec, &bits)?;
        // Step 11: P_1 may know.
        board.put(Slot::new(Kind::Release, 1), &[1])?;
        board.sync()?;
        Ok(Outcome { matched: Some(matched), list_lens: self.list_lens(&mut *board, len)? })
    }

    fn toss(&self, board: &mut dyn Board) -> Result<LabelKey> {
        let commitment = board.get(Slot::new(Kind::TossCommitment, 1), DIGEST_LEN)?;
        let commitment = exact(commitment)?;
        // Bound to it before it sees the share, also when this party comes back.
        self.remember(Kind::TossCommitment, &commitment, Misbehaviour::CommitmentBroken)?;
        let share = derive(TOSS_LABEL, &[self.run.own_secret.expose()]);
        board.put(Slot::new(Kind::TossShare, 1), &share)?;
        let theirs = board.get(Slot::new(Kind::TossOpening, 1), DIGEST_LEN)?;
        if commitment != toss_commitment(&theirs) {
            return Err(Misbehaviour::CommitmentBroken.into());
        }
        Ok(relabelling_key(tossed_key(&theirs, &share).expose()))
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
    ) -> Result<(OwnList, u64)> {
        let list = OwnList::make(
            items,
            self.format(),
            self.means,
            |items, take| outer.of_items(items, take),
            |take| outer.of_dummies(take),
        )?;
        let len = self.send(board, &list)?;
        Ok((list, len))
    }

    fn send(&self, board: &mut dyn Board, list: &OwnList) -> Result<u64> {
        let party = self.run.party;
        let place = Slot::new(Kind::Labels, party);
        let len = list.send(place, board, self.boards, self.means)?;
        self.put_size(board, len)?;
        Ok(len)
    }

    /// Says that this party's list is complete.
    fn put_size(&self, board: &mut dyn Board, len: u64) -> Result<()> {
        let (spec, party) = (self.run.spec, self.run.party);
        if len < spec.list_len(spec.parties[self.own()].min_rows) {
            return Err(Refusal::TooFew { party }.into());
        }
        board.put(Slot::new(Kind::Size, party), &len.to_le_bytes())
    }

    /// Figure 4, step 7: sends T'_2 through the helper, sealed, in parts of one length.
    fn relay(&self, board: &mut dyn Board, list: &OwnList) -> Result<u64> {
        let most = relayed_parts(self.format(), self.format().list_capacity());
        let filled = board.filled(Kind::Relayed, most)?;
        let (mut part, mut total) = (0_u32, 0);
        let mut waiting: Vec<u8> = Vec::new();
        let part_len = Slot::RELAYED_PART_LEN as usize;
        let mut put = |waiting: &[u8]| -> Result<()> {
            if !filled.get(part as usize).copied().unwrap_or(false) {
                let body = self.run.seal.seal(Kind::Relayed, part, waiting.to_vec())?;
                board.put(Slot::part(Kind::Relayed, 1, part), &body)?;
            }
            part += 1;
            Ok(())
        };
        for index in 0..self.format().segments() {
            let (bytes, labels) = list.encoded(index)?;
            total += labels;
            waiting.extend_from_slice(&bytes);
            let whole = waiting.len() / part_len * part_len;
            waiting[..whole].chunks(part_len).try_for_each(&mut put)?;
            waiting.drain(..whole);
        }
        if !waiting.is_empty() {
            put(&waiting)?;
        }
        Ok(total)
    }

    /// Gets T'_2 into intermediate storage: `len` labels.
    fn fetch_relayed(&self, board: &mut dyn Board, format: Format, len: u64) -> Result<Fetched> {
        let mut file = self.means.scratch.create().map_err(storage)?;
        let total = format.list_bytes(len);
        for part in 0..relayed_parts(format, len) {
            let rest = total - u64::from(part) * Slot::RELAYED_PART_LEN;
            let expected = rest.min(Slot::RELAYED_PART_LEN) as usize;
            let body = board.get(Slot::part(Kind::Relayed, 1, part), expected + SEAL_LEN)?;
            let body = self.run.seal.open(Kind::Relayed, part, body)?;
            if body.len() != expected {
                return Err(Misbehaviour::InvalidValue.into());
            }
            file.append(&body).map_err(storage)?;
        }
        let (mut places, mut counts, mut offset) = (Vec::new(), Vec::new(), 0);
        for _ in 0..format.segments() {
            let mut head = [0; 4];
            if offset + 4 > total {
                return Err(Misbehaviour::InvalidValue.into());
            }
            file.read_exact_at(offset, &mut head).map_err(storage)?;
            let count = u32::from_le_bytes(head);
            let bytes = format.segment_bytes(u64::from(count));
            if u64::from(count) > format.segment_capacity() || offset + bytes > total {
                return Err(Misbehaviour::InvalidValue.into());
            }
            places.push((offset, bytes as usize));
            counts.push(count);
            offset += bytes;
        }
        // It was sealed by the other party, who seals one.
        Ok(Fetched { format, file: Mutex::new(file), places, counts, digest: [0; DIGEST_LEN] })
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

    /// Gets a whole list into intermediate storage.
    fn fetch(
        &self,
        board: &mut dyn Board,
        kind: Kind,
        party: u8,
        format: Format,
    ) -> Result<Fetched> {
        let mut file = self.means.scratch.create().map_err(storage)?;
        let mut digest = Transcript::new(FETCHED_LABEL, &[]);
        let (mut places, mut counts) = (Vec::new(), Vec::new());
        let most = format.segment_bytes(format.segment_capacity()) as usize;
        for index in 0..format.segments() {
            let body = board.get(Slot::part(kind, party, index), most.min(Slot::MAX_LEN))?;
            counts.push(count_segment(format, &body).map_err(of_list)?);
            places.push((file.len(), body.len()));
            digest.update(&body);
            file.append(&body).map_err(storage)?;
        }
        let digest = digest.finish();
        Ok(Fetched { format, file: Mutex::new(file), places, counts, digest })
    }

    fn own(&self) -> usize {
        usize::from(self.run.party)
    }

    fn format(&self) -> Format {
        self.formats[self.own()]
    }
}

/// A list of somebody else's.
struct Fetched {
    format: Format,
    file: Mutex<Box<dyn ScratchFile>>,
    places: Vec<(u64, usize)>,
    counts: Vec<u32>,
    /// Of its bytes.
    digest: [u8; DIGEST_LEN],
}

impl Fetched {
    fn len(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(*count)).sum()
    }

    fn list(&self) -> Result<List<'_>> {
        List::new(self.format, &self.counts, self).map_err(of_list)
    }
}

impl Segments for Fetched {
    fn read(&self, index: u32) -> io::Result<Vec<u8>> {
        let (offset, len) = self.places[index as usize];
        let mut out = vec![0; len];
        self.file
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .read_exact_at(offset, &mut out)?;
        Ok(out)
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

/// Calls `take` with the labels under `key` of the labels that `produce` gives, cut as in `format`.
fn relabelled<T: Copy>(
    key: &LabelKey,
    format: Format,
    take: &mut dyn FnMut(Label, T) -> io::Result<()>,
    produce: impl FnOnce(&mut dyn FnMut(Label, T) -> io::Result<()>) -> io::Result<()>,
) -> io::Result<()> {
    let (mut labels, mut of) = (Vec::new(), Vec::new());
    produce(&mut |label, what| {
        labels.push(format.truncated(label));
        of.push(what);
        Ok(())
    })?;
    let mut result = Ok(());
    key.of_values(&labels, |at, label| {
        if result.is_ok() {
            result = take(label, of[at]);
        }
    });
    result
}
