//! Figure 3, step 8: whether a list is what its party opened.

use super::{DIGEST_LEN, Kind, Slot, Steps, Stored, answer_parts, counts, outer, storage};
use vesica_core::Refusal;
use vesica_labels::{Bits, List, ListError, Segment, Sorted};

/// What a list that was opened is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// What was sent, and its party will find the answer in order.
    AsSent,
    /// What was sent; but its party would find a fault in the answer.
    AtOdds,
    /// Something else.
    Other,
}

impl Steps<'_> {
    /// Makes the list of `party` again from what it opened, and compares; `None` when asked to stop, or when some of it was lost.
    pub(super) fn opened(
        &self,
        secret: &[u8; DIGEST_LEN],
        party: u8,
    ) -> Result<Option<Opened>, Refusal> {
        let format = self.formats[usize::from(party)];
        let inner_format = outer::inner_format(self.spec, &self.formats, usize::from(party));
        // It was whole when it was opened, and so was the list: what is not there now was lost.
        let Some(inner_counts) = counts(self.desk, Kind::Opened, party, inner_format)? else {
            return Ok(None);
        };
        if self.counts_of_list(party)?.is_none() {
            return Ok(None);
        }
        let stored = Stored { desk: self.desk, kind: Kind::Opened, party };
        let inner = match List::new(inner_format, &inner_counts, &stored) {
            Ok(inner) => inner,
            Err(ListError::Malformed) => return Ok(Some(Opened::Other)),
            Err(_) => return Err(Refusal::Storage),
        };
        // No more than the run has room for.
        let most = self.spec.most_labels(usize::from(party), format);
        if inner.len() > self.spec.items(most).max(1) {
            return Ok(Some(Opened::Other));
        }
        let mut spool = self.spool(format)?;
        let keys = outer::Outer::new(secret, self.spec, party);
        let mut values = Vec::new();
        for index in 0..inner_format.segments() {
            if self.desk.stop() {
                return Ok(None);
            }
            match inner.segment(index, &mut values) {
                Ok(()) => {}
                Err(ListError::Malformed) => return Ok(Some(Opened::Other)),
                Err(_) => return Err(Refusal::Storage),
            }
            let first = inner.start(index);
            keys.of_values(&values, |label, at| spool.push(label, first + at as u64))
                .map_err(storage)?;
        }
        // The two numbers after the items mark dummies, as in a party's own list.
        let items = inner.len();
        keys.of_dummies(|label, kind| {
            spool.push(label, items + u64::from(kind == outer::Dummy::Own))
        })
        .map_err(storage)?;
        let sorted = spool.finish().map_err(storage)?;
        self.compared(&sorted, party, items)
    }

    /// Figure 3, step 9: tells both parties their answers, as far as they are not told.
    pub(super) fn tell(&self) -> Result<bool, Refusal> {
        let mut wrote = false;
        for party in self.parties() {
            let mut part = 0;
            loop {
                let [kept, answer] =
                    [Kind::Kept, Kind::Answer].map(|kind| Slot::part(kind, party, part));
                let is_told = self.desk.is_filled(answer);
                if !is_told && !self.desk.is_filled(kept) {
                    break;
                }
                if !is_told {
                    let body = self.read(kept)?;
                    self.write(answer, &body)?;
                    wrote = true;
                }
                part += 1;
            }
        }
        // With the first opening it is settled that both have an answer.
        self.settle()?;
        for party in self.parties() {
            let opening = Slot::new(Kind::Opening, party);
            if !self.desk.is_filled(opening) {
                self.write(opening, &self.nonce(party)?)?;
                wrote = true;
            }
        }
        Ok(wrote)
    }

    /// Whether `sorted` is what `party` had sent, and its answer one that will pass its checks.
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
            if self.desk.stop() {
                return Ok(None);
            }
            // Whoever knows K_2 can choose items whose labels fall together, for the helper to have no memory left.
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
