//! # Figure 3: both parties learn the answer, or neither does
//!
//! ```text
//!   P_i: S_i, for i = 1, 2                                         helper
//!
//!   1. D_0, D_1, D_2: t dummies each, outside the range of labels
//!   2. nothing to check: the dummies come from the coin toss
//!   3. K_1, K_2, tossed by both parties
//!   4. T_i = π_i(F'_K2(F_K1(S_i)^c)
//!            + F_K2(D_0 + D_i))           ── Labels ──────▶
//!      |T_i|                              ── Size ────────▶
//!                                                                  5. I = T_1 ∩ T_2
//!                                         ◀── Commitment ──        6. com(I_1), com(I_2), where I_i says
//!                                                                     for each label of T_i: is it in I?
//!      aborts unless the other party      ◀── Seen ──▶
//!      has seen the same
//!   7. F_K1(S_i)                          ── Opened ──────▶
//!      K_2 and the dummies                ── OuterSecret ─▶
//!                                                                  8. aborts unless T_1 and T_2 are of what was
//!                                                                     opened, and both parties' checks will pass
//!                                         ◀── Opening ─────        9. opens com(I_i), to both
//!                                         ◀── Answer ──────           I_i
//!      aborts unless com(I_i) is of that
//!  10. aborts unless
//!      (a) all of D_0 and nothing of D_i is in I
//!      (b) of each x of S_i all c copies are in I, or none
//!  11. outputs the x of S_i whose copies are in I
//! ```
//!
//! F'(v) is F(v) ⊕ v. The module doc of `kmrs14` says why, and why the parties compare what they
//! have seen.

mod inner;
mod opened;

use super::board::{Board, Wanted};
use super::helper::{HelperStore, Steps, is_by_all};
use super::label_keys::LabelKeys;
use super::list::OwnList;
use super::party::{DIGEST_LEN, Outcome, PartySteps, bits, exact, get_all};
use super::slot::{Kind, Slot};
use super::spec::Spec;
pub(super) use inner::inner_format;
use inner::{inner_bits, truncated};
use opened::Opened;
use vesica_core::hash::{Transcript, derive};
use vesica_core::{Items, Misbehaviour, Refusal, Result, Secret};
use vesica_labels::{Bits, LabelKey};

const OUTER_LABEL: &str = "vesica kmrs14 2026 outer secret v1";
const INNER: &str = "inner label";
const SEEN_LABEL: &str = "vesica kmrs14 2026 commitments seen v2";
const NONCE_LABEL: &str = "vesica kmrs14 2026 commitment nonce v1";
const COMMITMENT_LABEL: &str = "vesica kmrs14 2026 commitment v1";

impl PartySteps<'_> {
    /// P_i.
    pub(super) fn fair(&self, s_i: &dyn Items) -> Result<Outcome> {
        let (spec, party) = (self.run.spec, self.run.party);
        // 1. to 3.
        let Keys { k_1, k_2 } = &Keys::new(self.run.secret.expose());
        // 4.
        let f_k2 = LabelKeys::new(k_2.expose(), spec, party);
        let t_i = self.sort_of_inner_labels(k_1, &f_k2, s_i)?;
        let mut board = self.boards.open()?;
        let t_i = self.send(&mut *board, t_i)?;
        let len = t_i.len();
        // 6.
        let (commitments, sizes) = self.receive_commitments(&mut *board, len)?;
        self.compare_seen(&mut *board, &commitments, &sizes)?;
        // 7. K_1 stays secret: the helper sees F_K1(S_i), which reveals no more than T_i did.
        self.open_list(&mut *board, k_1, s_i)?;
        board.put(Slot::new(Kind::OuterSecret, party), k_2.expose())?;
        // 9.
        let (nonce, i) = self.receive_opening(&mut *board, len)?;
        let mut com = Commitment::new(&nonce, party);
        com.update(i.as_bytes());
        if com.finish() != commitments[self.own()] {
            return Err(Misbehaviour::CommitmentBroken.into());
        }
        // 10. and 11.
        Outcome::of(Some(t_i.common_rows(spec, &i)), sizes)
    }
}

impl Steps<'_> {
    /// The helper; returns whether it wrote anything.
    pub(super) fn fair(&self) -> Result<bool, Refusal> {
        Ok(self.commit()? | self.open()?)
    }

    /// Steps 5 and 6.
    fn commit(&self) -> Result<bool, Refusal> {
        if !self.filled_by_all(Kind::Size) || self.filled_by_all(Kind::Commitment) {
            return Ok(false);
        }
        // 5.
        let Some(i) = self.intersect()? else { return Ok(false) };
        // There is one bit for each label of a party's own list, no matter what is common, so the
        // paper's padding is not needed.
        let mut commitments = Vec::new();
        for party in self.parties() {
            let i_i = i[usize::from(party)].as_bytes();
            self.write_parts(Kind::Kept, party, i_i)?;
            let mut com = Commitment::new(&self.nonce(party)?, party);
            com.update(i_i);
            commitments.extend_from_slice(&com.finish());
        }
        // The answers must survive a power failure before the commitments can be read.
        self.settle()?;
        self.parties()
            .try_for_each(|party| self.write(Slot::new(Kind::Commitment, party), &commitments))?;
        Ok(true)
    }

    /// Steps 8 and 9.
    fn open(&self) -> Result<bool, Refusal> {
        // Both lists passed once. If a part of them has been lost since, the parties still get
        // their answers.
        if is_opened(self.spec, self.slots) {
            return self.open_commitments();
        }
        let there = [Kind::Size, Kind::Commitment, Kind::OuterSecret];
        if !there.iter().all(|kind| self.filled_by_all(*kind)) {
            return Ok(false);
        }
        // 8.
        let [first, second] = [0, 1].map(|party| self.read(Slot::new(Kind::OuterSecret, party)));
        let k_2 = first?;
        if k_2 != second? {
            return Err(Refusal::OpenedDifferently);
        }
        let k_2: [u8; DIGEST_LEN] = k_2.try_into().map_err(|_| Refusal::Internal)?;
        let mut found = Vec::new();
        for party in self.parties() {
            let Some(opened) = self.opened(&k_2, party)? else { return Ok(false) };
            found.push(opened);
        }
        let first = |what| found.iter().zip(self.parties()).find(|(opened, _)| **opened == what);
        if let Some((_, party)) = first(Opened::Other) {
            return Err(Refusal::OpenedOther { party });
        }
        // The lists do not show which party deviated: an equal label in both lists can come from
        // either.
        if first(Opened::AtOdds).is_some() {
            return Err(Refusal::AtOdds);
        }
        // 9.
        self.open_commitments()
    }

    /// Step 9: sends both parties their answers and the openings of the commitments, unless it has
    /// sent them already.
    fn open_commitments(&self) -> Result<bool, Refusal> {
        let mut wrote = false;
        for party in self.parties() {
            for part in 0.. {
                let [kept, answer] =
                    [Kind::Kept, Kind::Answer].map(|kind| Slot::part(kind, party, part));
                if self.slots.is_filled(answer) {
                    continue;
                }
                if !self.slots.is_filled(kept) {
                    break;
                }
                self.write(answer, &self.read(kept)?)?;
                wrote = true;
            }
        }
        // After the first opening both must get an answer.
        self.settle()?;
        for party in self.parties() {
            let opening = Slot::new(Kind::Opening, party);
            if !self.slots.is_filled(opening) {
                self.write(opening, &self.nonce(party)?)?;
                wrote = true;
            }
        }
        Ok(wrote)
    }

    fn nonce(&self, party: u8) -> Result<[u8; DIGEST_LEN], Refusal> {
        Ok(derive(NONCE_LABEL, &[&self.secret()?, &[party]]))
    }
}

/// Whether the helper has found both lists in order (step 8), so that a party may have its answer.
pub(super) fn is_opened(spec: &Spec, slots: &dyn HelperStore) -> bool {
    (0..spec.parties.len() as u8).any(|party| slots.is_filled(Slot::new(Kind::Opening, party)))
}

/// Whether parties may read their answers: the helper shows no answer before both parties can read
/// theirs (step 9).
pub(super) fn is_out(spec: &Spec, slots: &dyn HelperStore) -> bool {
    is_by_all(spec, slots, Kind::Opening)
}

/// Whether a party may still end the run for both. It may not once both have opened their lists
/// (step 7), because each must then learn what the other learns; nor later, if the opened lists are
/// lost and the answers are there.
pub(super) fn may_be_ended(spec: &Spec, slots: &dyn HelperStore) -> bool {
    !is_by_all(spec, slots, Kind::OuterSecret) && !is_opened(spec, slots)
}

impl PartySteps<'_> {
    /// π_i(F'_K2(F_K1(S_i)^c) + F_K2(D_0 + D_i)), where π_i is the order of the labels.
    fn sort_of_inner_labels(
        &self,
        k_1: &LabelKey,
        f_k2: &LabelKeys,
        s_i: &dyn Items,
    ) -> Result<OwnList> {
        let bits = inner_bits(&self.formats);
        OwnList::make(
            s_i,
            self.format(),
            self.means,
            |items, take| {
                let mut values = Vec::with_capacity(items.len());
                k_1.of_items(items, |_, label| values.push(truncated(label, bits)));
                f_k2.of_inner_labels(&values, take)
            },
            |take| f_k2.of_dummies(take),
        )
    }

    /// The commitments to both parties' answers, and the sizes of both lists; that of this party is
    /// `own_len`.
    fn receive_commitments(
        &self,
        board: &mut dyn Board,
        own_len: u64,
    ) -> Result<(Vec<[u8; DIGEST_LEN]>, Vec<u64>)> {
        let len = self.run.spec.parties.len() * DIGEST_LEN;
        let commitments = Wanted::new(Slot::new(Kind::Commitment, self.run.party), len);
        let mut bodies = get_all(board, &[vec![commitments], self.size_slots()].concat())?;
        let body = bodies.remove(0);
        if body.len() != len {
            return Err(Misbehaviour::InvalidValue.into());
        }
        Ok((body.as_chunks().0.to_vec(), self.sizes(bodies, own_len)?))
    }

    /// What opens the commitment to this party's answer, and the answer for each of the `len`
    /// labels of its list.
    fn receive_opening(&self, board: &mut dyn Board, len: u64) -> Result<([u8; DIGEST_LEN], Bits)> {
        let opening = Wanted::new(Slot::new(Kind::Opening, self.run.party), DIGEST_LEN);
        let wanted = [vec![opening], self.answer_slots(len)].concat();
        let (mut nonce, mut bytes) = (Vec::new(), Vec::with_capacity(len.div_ceil(8) as usize));
        board.get_each(&wanted, &mut |number, body| {
            match number {
                0 => nonce = body,
                _ => bytes.extend_from_slice(&body),
            }
            Ok(())
        })?;
        Ok((exact(nonce)?, bits(bytes, len)?))
    }

    /// Fails unless the other party has seen the same commitments and sizes, and this party the
    /// same at each visit. This party opens nothing before that: with K_2 and one list, a helper
    /// that is not bound yet could make an answer for the other party that passes its checks.
    fn compare_seen(
        &self,
        board: &mut dyn Board,
        commitments: &[[u8; DIGEST_LEN]],
        sizes: &[u64],
    ) -> Result<()> {
        let party = self.run.party;
        let sizes: Vec<u8> = sizes.iter().flat_map(|len| len.to_le_bytes()).collect();
        let seen = |party: u8| {
            let secret = self.run.secret.expose();
            derive(SEEN_LABEL, &[secret, &[party], commitments.as_flattened(), &sizes])
        };
        self.remember(Kind::Commitment, &seen(party), Misbehaviour::CommitmentBroken)?;
        board.put(Slot::new(Kind::Seen, party), &seen(party))?;
        if board.get(Slot::new(Kind::Seen, 1 - party), DIGEST_LEN)? != seen(1 - party) {
            return Err(Misbehaviour::CommitmentBroken.into());
        }
        Ok(())
    }
}

/// The results of the parties' coin toss for Figure 3.
struct Keys {
    /// The key of the inner labels. The parties never open it.
    k_1: LabelKey,
    /// The secret from which K_2 and the dummies are derived. The parties open it.
    k_2: Secret<[u8; DIGEST_LEN]>,
}

impl Keys {
    fn new(secret: &[u8; 32]) -> Self {
        let k_2 = Secret::new(derive(OUTER_LABEL, &[secret]));
        Self { k_1: LabelKey::derive(secret, INNER, 0), k_2 }
    }
}

/// A commitment to an answer: BLAKE3 over a random nonce, the party and the bits.
struct Commitment(Transcript);

impl Commitment {
    fn new(nonce: &[u8; DIGEST_LEN], party: u8) -> Self {
        Self(Transcript::new(COMMITMENT_LABEL, &[nonce, &[party]]))
    }

    fn update(&mut self, bits: &[u8]) {
        self.0.update(bits);
    }

    fn finish(self) -> [u8; DIGEST_LEN] {
        self.0.finish()
    }
}
