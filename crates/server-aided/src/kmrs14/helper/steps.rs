//! What the steps of all figures use.

use super::store::{CommonFailure, HelperStore};
use crate::kmrs14::party::DIGEST_LEN;
use crate::kmrs14::slot::{Kind, Slot, answer_parts};
use crate::kmrs14::spec::Spec;
use crate::kmrs14::stored::{Stored, counts, is_whole, of_list, storage, sum};
use vesica_core::Refusal;
use vesica_labels::{Bits, Format, List, Spool};

/// The helper's steps, and what they use.
pub(in crate::kmrs14) struct Steps<'a> {
    pub(in crate::kmrs14) spec: &'a Spec,
    pub(in crate::kmrs14) slots: &'a dyn HelperStore,
    /// How each party's list is written.
    pub(in crate::kmrs14) formats: Vec<Format>,
}

impl Steps<'_> {
    pub(in crate::kmrs14) fn parties(&self) -> std::ops::Range<u8> {
        0..self.spec.parties.len() as u8
    }

    /// The parties that receive the answer.
    pub(in crate::kmrs14) fn receivers(&self) -> impl Iterator<Item = u8> {
        self.parties().filter(|party| self.spec.parties[usize::from(*party)].receives)
    }

    pub(in crate::kmrs14) fn filled_by_all(&self, kind: Kind) -> bool {
        is_by_all(self.spec, self.slots, kind)
    }

    /// Whether the answers of all receivers are written.
    pub(in crate::kmrs14) fn is_answered(&self) -> Result<bool, Refusal> {
        for party in self.receivers() {
            let parts = answer_parts(self.size(party)?);
            if !is_whole(self.slots, Kind::Answer, party, parts) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Number of labels of each segment of the list of `party`, which has sent its size. `None` if
    /// a part of the list has been lost since.
    pub(in crate::kmrs14) fn counts_of_list(&self, party: u8) -> Result<Option<Vec<u32>>, Refusal> {
        let format = self.formats[usize::from(party)];
        let Some(counts) = counts(self.slots, Kind::Labels, party, format)? else {
            return Ok(None);
        };
        if sum(&counts) == self.size(party)? {
            Ok(Some(counts))
        } else {
            Err(Refusal::Malformed { party })
        }
    }

    /// I = ∩ T_i, as a bit for each label of each T_i. `None` when asked to stop, or if a part of a
    /// list was lost.
    pub(in crate::kmrs14) fn intersect(&self) -> Result<Option<Vec<Bits>>, Refusal> {
        let stored: Vec<_> = self
            .parties()
            .map(|party| Stored { slots: self.slots, kind: Kind::Labels, party })
            .collect();
        let mut lists = Vec::new();
        for (stored, format) in stored.iter().zip(&self.formats) {
            let Some(counts) = self.counts_of_list(stored.party)? else { return Ok(None) };
            let list = List::new(*format, &counts, stored);
            lists.push(list.map_err(|error| of_list(error, stored.party))?);
        }
        self.slots.common(&lists).map_err(|failure| match failure {
            CommonFailure::Malformed { list } => Refusal::Malformed { party: list as u8 },
            CommonFailure::Storage => Refusal::Storage,
            CommonFailure::Backend => Refusal::Backend,
        })
    }

    /// Sorts labels in `format`, each with a number of at most 40 bits, on one of `threads`.
    pub(in crate::kmrs14) fn spool(
        &self,
        format: Format,
        threads: usize,
    ) -> Result<Spool<'_>, Refusal> {
        let number_bits = 128 - (format.label_bits() - format.segment_bits());
        // One of the threads has no spool.
        let memory_bytes = self.slots.memory_bytes() / threads.saturating_sub(1).max(1) as u64;
        Spool::new(format, number_bits.min(40), memory_bytes, self.slots.scratch())
            .ok_or(Refusal::Internal)
    }

    /// |T_i| of `party`.
    pub(in crate::kmrs14) fn size(&self, party: u8) -> Result<u64, Refusal> {
        let bytes = self.read(Slot::new(Kind::Size, party))?;
        bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)).ok_or(Refusal::Internal)
    }

    /// Writes an answer in parts, at least one.
    pub(in crate::kmrs14) fn write_parts(
        &self,
        kind: Kind,
        party: u8,
        bytes: &[u8],
    ) -> Result<(), Refusal> {
        let parts = bytes.chunks(Slot::ANSWER_PART_LEN as usize);
        let parts = parts.chain(bytes.is_empty().then_some(&[][..]));
        (0..)
            .zip(parts)
            .try_for_each(|(part, body)| self.write(Slot::part(kind, party, part), body))
    }

    pub(in crate::kmrs14) fn read(&self, slot: Slot) -> Result<Vec<u8>, Refusal> {
        self.slots.read(slot).map_err(storage)
    }

    pub(in crate::kmrs14) fn write(&self, slot: Slot, body: &[u8]) -> Result<(), Refusal> {
        self.slots.write(slot, body).map_err(storage)
    }

    pub(in crate::kmrs14) fn settle(&self) -> Result<(), Refusal> {
        self.slots.settle().map_err(storage)
    }

    pub(in crate::kmrs14) fn secret(&self) -> Result<[u8; DIGEST_LEN], Refusal> {
        self.slots.secret().map_err(storage)
    }
}

pub(in crate::kmrs14) fn is_by_all(spec: &Spec, slots: &dyn HelperStore, kind: Kind) -> bool {
    (0..spec.parties.len() as u8).all(|party| slots.is_filled(Slot::new(kind, party)))
}
