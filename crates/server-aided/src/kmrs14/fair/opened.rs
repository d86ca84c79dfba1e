//! Figure 3, step 7 of a party and step 8 of the helper: the list F_K1(S_i) is opened and checked.

use super::inner::{inner_bits, inner_format, truncated};
use crate::kmrs14::board::Board;
use crate::kmrs14::helper::Steps;
use crate::kmrs14::label_keys::{Dummy, LabelKeys};
use crate::kmrs14::list::{self, send_segments};
use crate::kmrs14::party::{DIGEST_LEN, PartySteps};
use crate::kmrs14::slot::{Kind, Slot, answer_parts};
use crate::kmrs14::stored::{Stored, counts, storage};
use vesica_core::{Error, Item, Items, Refusal, Result};
use vesica_labels::{Bits, LabelKey, List, ListError, Segment, Sorted, Spool};

impl PartySteps<'_> {
    /// Step 7: sends F_K1(S_i), once for each item.
    pub(super) fn open_list(
        &self,
        board: &mut dyn Board,
        k_1: &LabelKey,
        s_i: &dyn Items,
    ) -> Result<()> {
        let (run, means) = (self.run, self.means);
        let format = inner_format(run.spec, &self.formats, self.own());
        let bits = inner_bits(&self.formats);
        let mut spool = Spool::new(format, 0, means.memory_bytes, means.scratch)
            .ok_or(Error::Bug("an inner label is too long"))?;
        let mut keyed = Vec::new();
        s_i.each(&mut |_, items: &[Item]| {
            keyed.clear();
            keyed.extend(items.iter().copied().filter(|item| item.integer() != 0));
            let mut result = Ok(());
            k_1.of_items(&keyed, |_, label| {
                if result.is_ok() {
                    result = spool.push(truncated(label, bits), 0);
                }
            });
            result
        })
        .map_err(list::storage)?;
        let sorted = spool.finish().map_err(list::storage)?;
        let place = Slot::new(Kind::Opened, run.party);
        send_segments(&sorted, place, board, self.boards, means, &|_, _| Ok(()))?;
        Ok(())
    }
}

/// How an opened list compares with the list that its party had sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// The lists agree, and the party's checks of the answer will pass.
    AsSent,
    /// The lists agree, but the party's checks would fail. A party that knows K_2 can search for an
    /// inner label whose outer label is a dummy of the other party: its list would be in order, and
    /// only the other party would abort.
    AtOdds,
    /// The lists differ.
    Other,
}

impl Steps<'_> {
    /// Step 8: makes the list of `party` again from what it opened, and compares. `None` when asked
    /// to stop, or if a part of the list was lost.
    pub(super) fn opened(
        &self,
        k_2: &[u8; DIGEST_LEN],
        party: u8,
    ) -> Result<Option<Opened>, Refusal> {
        let format = self.formats[usize::from(party)];
        let inner_format = inner_format(self.spec, &self.formats, usize::from(party));
        // The party can send K_2 only after its whole list, so anything missing now was lost.
        let Some(inner_counts) = counts(self.slots, Kind::Opened, party, inner_format)? else {
            return Ok(None);
        };
        if self.counts_of_list(party)?.is_none() {
            return Ok(None);
        }
        let stored = Stored { slots: self.slots, kind: Kind::Opened, party };
        let inner = match List::new(inner_format, &inner_counts, &stored) {
            Ok(inner) => inner,
            Err(ListError::Malformed) => return Ok(Some(Opened::Other)),
            Err(_) => return Err(Refusal::Storage),
        };
        // At most as many as the run has room for.
        let most = self.spec.most_labels(usize::from(party), format);
        if inner.len() > self.spec.items(most).max(1) {
            return Ok(Some(Opened::Other));
        }
        let mut spool = self.spool(format, 1)?;
        let f_k2 = LabelKeys::new(k_2, self.spec, party);
        let mut values = Vec::new();
        for index in 0..inner_format.segments() {
            if self.slots.stop() {
                return Ok(None);
            }
            match inner.segment(index, &mut values) {
                Ok(()) => {}
                Err(ListError::Malformed) => return Ok(Some(Opened::Other)),
                Err(_) => return Err(Refusal::Storage),
            }
            let first = inner.start(index);
            f_k2.of_inner_labels(&values, |label, at| spool.push(label, first + at as u64))
                .map_err(storage)?;
        }
        // The two numbers after the items mark dummies, as in a party's own list.
        let items = inner.len();
        f_k2.of_dummies(|label, kind| spool.push(label, items + u64::from(kind == Dummy::Own)))
            .map_err(storage)?;
        let sorted = spool.finish().map_err(storage)?;
        self.compared(&sorted, party, items)
    }

    /// Compares `sorted`, made of `items` inner labels, with the list that `party` had sent, and
    /// runs the party's checks (step 10) on the answer.
    fn compared(&self, sorted: &Sorted, party: u8, items: u64) -> Result<Option<Opened>, Refusal> {
        let size = self.size(party)?;
        let mut bytes = Vec::new();
        for part in 0..answer_parts(size) {
            bytes.extend(self.read(Slot::part(Kind::Kept, party, part))?);
        }
        let bits = Bits::from_bytes(bytes, size).ok_or(Refusal::Internal)?;
        let mut copies = vec![0_u8; items as usize];
        let (mut rank, mut found, mut in_order) = (0, false, true);
        for index in 0..sorted.format().segments() {
            if self.slots.stop() {
                return Ok(None);
            }
            // A party that knows K_2 can choose items whose labels fall into one segment, to
            // exhaust the helper's memory.
            if sorted.segment_len(index) > sorted.format().segment_capacity() {
                return Ok(Some(Opened::Other));
            }
            let segment = sorted.segment(index).map_err(storage)?;
            let sent = self.read(Slot::part(Kind::Labels, party, index))?;
            if !sorted.encode(&segment).is_ok_and(|bytes| bytes == sent) {
                return Ok(Some(Opened::Other));
            }
            for number in &segment.numbers {
                if number & Segment::FIRST != 0 {
                    found = bits.get(rank);
                    rank += 1;
                }
                let number = number & !Segment::FIRST;
                match copies.get_mut(number as usize) {
                    Some(copies) => *copies += u8::from(found),
                    None => in_order &= found == (number == items),
                }
            }
        }
        in_order &= copies.iter().all(|count| [0, self.spec.copies].contains(&u32::from(*count)));
        Ok(Some(if in_order { Opened::AsSent } else { Opened::AtOdds }))
    }
}
