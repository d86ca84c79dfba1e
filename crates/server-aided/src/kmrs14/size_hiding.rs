//! # Figure 4: the helper does not learn how many items are common
//!
//! ```text
//!   P_1: S_1                                  helper                            P_2: S_2
//!
//!   1. D_0, D_1, D_2: t dummies each, outside the range of items
//!   2. nothing to check: the dummies come from the coin toss
//!   3. K_1, tossed by both parties
//!                                         4. com(r)        ── TossCommitment ─▶
//!                                                          ◀─ TossShare ───────    r_2
//!                                            r             ── TossOpening ────▶
//!                                            K_2 = H(r, r_2)                       K_2 = H(r, r_2)
//!   5. T_1 = π_1(F_K1(S_1^c
//!            + D_0 + D_1))  ── Labels ───▶
//!      |T_1|                ── Size ─────▶
//!                           ◀─ Relabelled ── 6. T'_1 = π_3(F_K2(T_1))
//!                                                                              7. T'_2 = π_2(F_K2(F_K1(S_2^c
//!                           ◀─ Relayed, sealed ────────────────────────────────            + D_0 + D_2)))
//!                           ◀─ Size ───────────────────────────────────────────    |T_2|
//!   8. I = T'_1 ∩ T'_2      ── Found, sealed ─────────────────────────────────▶    for each label of T'_2: in I?
//!                                                                              9. none: bits need no inverse
//!                                                                             10. aborts unless
//!                                                                                 (a) all of D_0, nothing of D_2 is in I
//!                                                                                 (b) of each x of S_2 all c copies
//!                                                                                     are in I, or none
//!                                                          ◀─ Release ──────  11.
//!                           ◀─ Places ───── 11. π_3, once released
//!  12. aborts unless (a) and
//!      (b) with D_1 and S_1
//!  13. outputs the x of S_1                                                   13. outputs the x of S_2
//!      whose copies are in I                                                      whose copies are in I
//! ```
//!
//! # The equality test `pet`
//!
//! Section 1.2: the same figure for sets of one item, so that the result is the size of I, which
//! the figure hides from the helper.
//!
//! ```text
//!   P_1: x                                 helper                            P_2: y
//!
//!   T_1 = π_1(F_K1(x^c + D_0 + D_1)) ──▶   T'_1 = π_3(F_K2(T_1))             T'_2 = π_2(F_K2(F_K1(y^c + D_0 + D_2)))
//!   I = T'_1 ∩ T'_2 is D_0, and all of x^c iff x = y
//! ```

mod lists;

use super::board::{Board, Wanted};
use super::helper::{HelperStore, Steps};
use super::label_keys::LabelKeys;
use super::list::OwnList;
use super::party::{DIGEST_LEN, Outcome, PartySteps, SEAL_LEN, bit_parts, bits, exact, of_list};
use super::side_by_side::{side_by_side, useful_threads};
use super::slot::{Kind, Slot};
use super::stored::{self, Stored, is_whole, storage};
use lists::{Fetched, relabelled};
use std::cell::Cell;
use std::io;
use vesica_core::hash::{Transcript, derive};
use vesica_core::{Error, Items, Misbehaviour, Refusal, Result, Secret};
use vesica_labels::{Bits, Label, LabelKey, List, Segment, Sorted, join};

/// Labels relabelled at once.
const PIECE: usize = 1 << 12;

const RELABELLED: &str = "label of a label";
const PARTY_TOSS_LABEL: &str = "vesica kmrs14 2026 toss share of the party v1";
const HELPER_TOSS_LABEL: &str = "vesica kmrs14 2026 toss share of the helper v1";
const TOSS_COMMITMENT_LABEL: &str = "vesica kmrs14 2026 toss commitment v1";
const TOSSED_LABEL: &str = "vesica kmrs14 2026 tossed key v1";
const PLACES_LABEL: &str = "vesica kmrs14 2026 places v1";

impl PartySteps<'_> {
    /// P_1.
    pub(super) fn size_hiding_p_1(&self, s_1: &dyn Items) -> Result<Outcome> {
        let mut board = self.boards.open()?;
        // 1. to 3.
        let f_k1 = LabelKeys::new(self.run.secret.expose(), self.run.spec, 0);
        // 5.
        let t_1 = self.sort(&f_k1, s_1)?;
        let t_1 = self.send(&mut *board, t_1)?;
        let len = t_1.len();
        let sizes = self.receive_sizes(&mut *board, len)?;
        // 6. and 7.
        let t_1_prime = self.fetch_relabelled(&mut *board, self.formats[0], len)?;
        let t_2_prime = self.fetch_relayed(&mut *board, self.formats[1], sizes[1])?;
        if [&t_1_prime, &t_2_prime].map(Fetched::len) != [len, sizes[1]] {
            return Err(Misbehaviour::InvalidValue.into());
        }
        // No party may learn both an answer over one T'_1 and an answer over another: their
        // difference would reveal whether a label is common.
        self.remember(Kind::Relabelled, &t_1_prime.digest, Misbehaviour::InvalidValue)?;
        // 8. P_2 receives bits over T'_2, whose length reveals nothing of I.
        let i = join::common(&[t_1_prime.list()?, t_2_prime.list()?], self.means.pool, &|| false)
            .map_err(|(_, error)| of_list(error))?;
        let [i_1, i_2] = i
            .and_then(|i| <[Bits; 2]>::try_from(i).ok())
            .ok_or(Error::Bug("two lists have two answers"))?;
        // The lists may be large, and the wait for the second party long.
        drop((t_1_prime, t_2_prime));
        self.send_found(&mut *board, &i_2)?;
        // 11. I over T_1.
        let i = self.receive_places(&mut *board, &i_1, len)?;
        // 12. and 13.
        Outcome::of(Some(t_1.common_rows(self.run.spec, &i)), sizes)
    }

    /// P_2.
    pub(super) fn size_hiding_p_2(&self, s_2: &dyn Items) -> Result<Outcome> {
        let mut board = self.boards.open()?;
        // 4.
        let f_k2 = self.toss(&mut *board)?;
        // 1. to 3.
        let f_k1 = LabelKeys::new(self.run.secret.expose(), self.run.spec, 1);
        // Labels of F_K1 are as long as those of T_1.
        let [t_1_format, t_2_format] = [self.formats[0], self.formats[1]];
        let t_2_prime = OwnList::make(
            s_2,
            t_2_format,
            self.means,
            |items, take| relabelled(&f_k2, t_1_format, take, |take| f_k1.of_items(items, take)),
            |take| relabelled(&f_k2, t_1_format, take, |take| f_k1.of_dummies(take)),
        )?;
        let t_2_prime = self.relay(&mut *board, t_2_prime)?;
        let len = t_2_prime.len();
        self.send_size(&mut *board, len)?;
        // 8.
        let i = self.receive_found(&mut *board, len)?;
        // Only in this figure do P_1 and the helper learn that a check fails: there is no release.
        let output = t_2_prime.common_rows(self.run.spec, &i)?;
        // 11.
        board.put(Slot::new(Kind::Release, 1), &[1])?;
        // 13.
        Outcome::of(Some(Ok(output)), self.receive_sizes(&mut *board, len)?)
    }
}

impl Steps<'_> {
    /// The helper; returns whether it wrote anything. Step 11 is [`is_released`].
    pub(super) fn size_hiding(&self) -> Result<bool, Refusal> {
        Ok(self.toss()? | self.relabel()?)
    }

    /// Step 4. The helper commits first.
    fn toss(&self) -> Result<bool, Refusal> {
        let [commitment, opening] =
            [Kind::TossCommitment, Kind::TossOpening].map(|kind| Slot::new(kind, 1));
        let r = self.toss_share()?;
        let mut wrote = false;
        if !self.slots.is_filled(commitment) {
            self.write(commitment, &toss_commitment(&r))?;
            wrote = true;
        }
        if self.slots.is_filled(Slot::new(Kind::TossShare, 1)) && !self.slots.is_filled(opening) {
            self.write(opening, &r)?;
            wrote = true;
        }
        Ok(wrote)
    }

    /// Step 6: T'_1 = π_3(F_K2(T_1)), where π_3 is the order of the new labels.
    fn relabel(&self) -> Result<bool, Refusal> {
        let format = self.formats[0];
        let there = [Slot::new(Kind::Size, 0), Slot::new(Kind::TossShare, 1)];
        if !there.iter().all(|slot| self.slots.is_filled(*slot)) || self.is_relabelled()? {
            return Ok(false);
        }
        let Some(counts) = self.counts_of_list(0)? else { return Ok(false) };
        let r_2 = self.read(Slot::new(Kind::TossShare, 1))?;
        let f_k2 = tossed_key(&self.toss_share()?, &r_2);
        let stored = Stored { slots: self.slots, kind: Kind::Labels, party: 0 };
        let t_1 =
            List::new(format, &counts, &stored).map_err(|_| Refusal::Malformed { party: 0 })?;
        let Some(t_1_prime) = self.relabelled_by(&f_k2, &t_1)? else { return Ok(false) };
        self.write_relabelled(&t_1_prime, t_1.len())?;
        Ok(true)
    }

    /// F_K2(T_1), on all threads, each label with its place in T_1. `None` when asked to stop.
    fn relabelled_by(&self, f_k2: &LabelKey, t_1: &List<'_>) -> Result<Option<Sorted>, Refusal> {
        let format = t_1.format();
        let threads = self.slots.pool().len();
        let threads = useful_threads(threads, t_1.len(), self.slots.memory_bytes());
        let first = self.spool(format, threads)?;
        // Whether there is a spool depends only on the format.
        let spools = |count| {
            let others = (1..count).flat_map(|_| self.spool(format, threads));
            [first].into_iter().chain(others).collect()
        };
        let (why, stops) = (Cell::new(None), Cell::new(false));
        let each = |take: &mut dyn FnMut((u64, Vec<Label>)) -> io::Result<()>| {
            let mut labels = Vec::new();
            for index in 0..format.segments() {
                if self.slots.stop() {
                    stops.set(true);
                    return Err(io::ErrorKind::Interrupted.into());
                }
                if let Err(error) = t_1.segment(index, &mut labels) {
                    why.set(Some(stored::of_list(error, 0)));
                    return Err(io::ErrorKind::InvalidData.into());
                }
                let first = t_1.start(index);
                for (piece, first) in labels.chunks(PIECE).zip((first..).step_by(PIECE)) {
                    take((first, piece.to_vec()))?;
                }
            }
            Ok(())
        };
        let sorted = side_by_side(threads, spools, &each, &|spool, (first, labels)| {
            let mut kept = Ok(());
            f_k2.of_values(labels, |at, label| {
                if kept.is_ok() {
                    kept = spool.push(label, first + at as u64);
                }
            });
            kept
        });
        match sorted {
            Err(_) if stops.get() => Ok(None),
            Err(error) => Err(why.take().unwrap_or_else(|| storage(error))),
            Ok(sorted) => {
                let all = sorted.into_iter().map(Some).reduce(|all, one| all?.and(one?));
                all.flatten().map(Some).ok_or(Refusal::Internal)
            }
        }
    }

    /// Writes T'_1 and, for step 11, π_3.
    fn write_relabelled(&self, t_1_prime: &Sorted, len: u64) -> Result<(), Refusal> {
        let format = t_1_prime.format();
        let part_bytes = (Slot::PLACES_PART_LEN * Slot::PLACE_LEN) as usize;
        let (mut places, mut part, mut total) = (Vec::with_capacity(part_bytes), 0, 0);
        for index in 0..format.segments() {
            let segment = t_1_prime.segment(index).map_err(storage)?;
            total += segment.labels.len() as u64;
            for number in &segment.numbers {
                let place = number & !Segment::FIRST;
                places.extend_from_slice(&place.to_le_bytes()[..Slot::PLACE_LEN as usize]);
                if places.len() == part_bytes {
                    self.write(Slot::part(Kind::Places, 0, part), &places)?;
                    places.clear();
                    part += 1;
                }
            }
            let bytes = t_1_prime.encode(&segment).map_err(storage)?;
            if index + 1 == format.segments() {
                self.write(Slot::part(Kind::Places, 0, part), &places)?;
            }
            self.write(Slot::part(Kind::Relabelled, 0, index), &bytes)?;
        }
        // Fewer if two labels became one: with probability below 2^-40 in lists of equal length,
        // and N_1 / N_2 times that if this list is the longer one. This does no harm; another run
        // has another key.
        if total == len { Ok(()) } else { Err(Refusal::Internal) }
    }

    /// Whether T'_1 and π_3 are written.
    pub(super) fn is_relabelled(&self) -> Result<bool, Refusal> {
        let places = (self.size(0)? / Slot::PLACES_PART_LEN) as u32 + 1;
        Ok(is_whole(self.slots, Kind::Relabelled, 0, self.formats[0].segments())
            && is_whole(self.slots, Kind::Places, 0, places))
    }

    /// r, equal at every call.
    fn toss_share(&self) -> Result<[u8; DIGEST_LEN], Refusal> {
        Ok(derive(HELPER_TOSS_LABEL, &[&self.secret()?]))
    }
}

/// Step 11 of the helper: P_1 may read π_3 once P_2 has released it.
pub(super) fn is_released(slots: &dyn HelperStore) -> bool {
    slots.is_filled(Slot::new(Kind::Release, 1))
}

impl PartySteps<'_> {
    /// Step 4 of P_2: K_2, tossed with the helper.
    fn toss(&self, board: &mut dyn Board) -> Result<LabelKey> {
        let commitment = board.get(Slot::new(Kind::TossCommitment, 1), DIGEST_LEN)?;
        let commitment = exact(commitment)?;
        // The helper is bound to its commitment before it sees r_2, even if this party comes back
        // later.
        self.remember(Kind::TossCommitment, &commitment, Misbehaviour::CommitmentBroken)?;
        let r_2 = derive(PARTY_TOSS_LABEL, &[self.run.own_secret.expose()]);
        board.put(Slot::new(Kind::TossShare, 1), &r_2)?;
        let r = board.get(Slot::new(Kind::TossOpening, 1), DIGEST_LEN)?;
        if commitment != toss_commitment(&r) {
            return Err(Misbehaviour::CommitmentBroken.into());
        }
        Ok(tossed_key(&r, &r_2))
    }

    /// Step 8 of P_1: sends, sealed, whether each label of T'_2 is in I.
    fn send_found(&self, board: &mut dyn Board, i_2: &Bits) -> Result<()> {
        let parts = i_2.as_bytes().chunks(Slot::ANSWER_PART_LEN as usize);
        for (part, body) in (0..).zip(parts) {
            let body = self.run.seal.seal(Kind::Found, part, body.to_vec())?;
            board.put(Slot::part(Kind::Found, 0, part), &body)?;
        }
        Ok(())
    }

    /// Step 8 of P_2, for a list of `len` labels.
    fn receive_found(&self, board: &mut dyn Board, len: u64) -> Result<Bits> {
        let wanted: Vec<_> = bit_parts(len)
            .map(|(part, len)| Wanted::new(Slot::part(Kind::Found, 0, part), len + SEAL_LEN))
            .collect();
        let mut bytes = Vec::with_capacity(len.div_ceil(8) as usize);
        board.get_each(&wanted, &mut |part, body| {
            bytes.extend(self.run.seal.open(Kind::Found, part as u32, body)?);
            Ok(())
        })?;
        bits(bytes, len)
    }

    /// Step 11 of P_1: receives π_3, the place in T_1 of each of the `len` labels of T'_1, and
    /// turns `i_1`, which is I over T'_1, into I over T_1.
    fn receive_places(&self, board: &mut dyn Board, i_1: &Bits, len: u64) -> Result<Bits> {
        let (mut i, mut named) = (Bits::new(len), Bits::new(len));
        let mut received = Transcript::new(PLACES_LABEL, &[]);
        let first_of = |part: usize| part as u64 * Slot::PLACES_PART_LEN;
        let wanted: Vec<_> = (0..=(len / Slot::PLACES_PART_LEN) as u32)
            .map(|part| {
                let count = (len - first_of(part as usize)).min(Slot::PLACES_PART_LEN);
                let slot = Slot::part(Kind::Places, 0, part);
                Wanted::new(slot, (count * Slot::PLACE_LEN) as usize)
            })
            .collect();
        board.get_each(&wanted, &mut |part, body| {
            if body.len() != wanted[part].max_len {
                return Err(Misbehaviour::InvalidValue.into());
            }
            received.update(&body);
            let places = body.as_chunks::<{ Slot::PLACE_LEN as usize }>().0;
            for (place, rank) in places.iter().zip(first_of(part)..) {
                let [a, b, c, d, e] = *place;
                let place = u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]);
                // Two equal places would lose a label. All places are checked, not just those of
                // common labels: otherwise the helper would learn whether labels are common.
                if place >= len || named.get(place) {
                    return Err(Misbehaviour::InvalidValue.into());
                }
                named.set(place);
                if i_1.get(rank) {
                    i.set(place);
                }
            }
            Ok(())
        })?;
        self.remember(Kind::Places, &received.finish(), Misbehaviour::InvalidValue)?;
        Ok(i)
    }
}

/// The helper's commitment to its share `r` of the coin toss with P_2.
fn toss_commitment(r: &[u8]) -> [u8; DIGEST_LEN] {
    derive(TOSS_COMMITMENT_LABEL, &[r])
}

/// F_K2 from labels to labels; K_2 comes from the shares `r` of the helper and `r_2` of P_2 in
/// their coin toss.
fn tossed_key(r: &[u8], r_2: &[u8]) -> LabelKey {
    let k_2 = Secret::new(derive(TOSSED_LABEL, &[r, r_2]));
    LabelKey::derive(k_2.expose(), RELABELLED, 0)
}
