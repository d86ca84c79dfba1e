//! Figure 4, the parties' steps: the helper does not learn what is common.

use super::{DIGEST_LEN, Party, SEAL_LEN, exact, of_list};
use crate::kmrs14::board::Board;
use crate::kmrs14::helper::{answer_parts, relayed_parts, toss_commitment, tossed_key};
use crate::kmrs14::list::{Items, OwnList, storage};
use crate::kmrs14::outer::{Outer, relabelling_key};
use crate::kmrs14::party::Outcome;
use crate::kmrs14::slot::{Kind, Slot};
use std::io;
use std::sync::Mutex;
use vesica_core::hash::{Transcript, derive};
use vesica_core::{Error, Misbehaviour, Result};
use vesica_labels::{
    Bits, Format, Label, LabelKey, List, ScratchFile, Segments, count_segment, join,
};

const FETCHED_LABEL: &str = "vesica kmrs14 2026 list of the helper's v1";
const PLACES_LABEL: &str = "vesica kmrs14 2026 places v1";
const TOSS_LABEL: &str = "vesica kmrs14 2026 toss share of the party v1";

impl Party<'_> {
    /// Figure 4, the party P_1.
    pub(super) fn size_hiding_first(&self, items: &dyn Items) -> Result<Outcome> {
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
        let bits = join::common(&[own.list()?, theirs.list()?], self.means.pool, &|| false)
            .map_err(|(_, error)| of_list(error))?;
        let [own_bits, their_bits] = bits
            .and_then(|bits| <[Bits; 2]>::try_from(bits).ok())
            .ok_or(Error::Bug("two lists have two answers"))?;
        // They may be large, and the wait for the second party long.
        drop((own, theirs));
        let parts = their_bits.as_bytes().chunks(Slot::ANSWER_PART_LEN as usize);
        for (part, body) in (0..).zip(parts) {
            board.put(
                Slot::part(Kind::Found, 0, part),
                &seal.seal(Kind::Found, part, body.to_vec())?,
            )?;
        }
        board.sync()?;
        // Step 11: π_3 says where in T_1 each label of T'_1 was.
        let (mut bits, mut named) = (Bits::new(len), Bits::new(len));
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
                // Two that are the same would lose a label. Of all places, not of those of common labels: the helper
                // would learn whether they are.
                if place >= len || named.get(place) {
                    return Err(Misbehaviour::InvalidValue.into());
                }
                named.set(place);
                if own_bits.get(rank) {
                    bits.set(place);
                }
            }
        }
        self.remember(Kind::Places, &told.finish(), Misbehaviour::InvalidValue)?;
        // Steps 12 and 13.
        Outcome::of(Some(list.matched(spec, &bits)), list_lens)
    }

    /// Figure 4, the party P_2.
    pub(super) fn size_hiding_second(&self, items: &dyn Items) -> Result<Outcome> {
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
        let list = list.sent();
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
        // Of a check that fails here P_1 and the helper learn, in this figure alone: there is no release.
        let matched = list.matched(spec, &bits)?;
        // Step 11: P_1 may know.
        board.put(Slot::new(Kind::Release, 1), &[1])?;
        board.sync()?;
        Outcome::of(Some(Ok(matched)), self.list_lens(&mut *board, len)?)
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
