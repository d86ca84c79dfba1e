//! The helper: which figure it runs, which slots parties may fill and read, and the steps that its
//! figures share.
//!
//! Nothing here waits. [`advance`] runs the steps of the figure whose slots are filled, and may be
//! called again at any time, also after a restart in the middle: what it writes depends only on the
//! slots and the run's secret.

mod left;
mod store;

use super::catalogue::Variant;
use super::party::{DIGEST_LEN, SEAL_LEN};
use super::slot::{Kind, Slot, answer_parts, found_parts, relayed_parts};
use super::spec::Spec;
use super::stored::{Stored, counts, is_whole, of_list, sum};
use super::{fair, size_hiding};
use std::io;
use vesica_core::Refusal;
use vesica_labels::{Bits, Format, List, Spool, count_segment};

pub use left::{Left, left};
pub use store::{CommonFailure, HelperStore};

/// Computes and writes all that is possible now. Returns whether it wrote anything.
///
/// # Errors
/// [`Refusal::Malformed`], [`Refusal::OpenedOther`], [`Refusal::OpenedDifferently`] and
/// [`Refusal::AtOdds`], which end the run; [`Refusal::Storage`] and [`Refusal::Backend`], after
/// which it can be tried again.
pub fn advance(spec: &Spec, slots: &dyn HelperStore) -> Result<bool, Refusal> {
    let Some(formats) = formats(spec, slots)? else { return Ok(false) };
    let steps = Steps { spec, slots, formats };
    match spec.variant {
        Variant::SemiHonest => steps.semi_honest(),
        Variant::Malicious => steps.malicious(),
        Variant::Fair => steps.fair(),
        Variant::SizeHiding | Variant::Pet => steps.size_hiding(),
    }
}

/// Whether a filled slot may be read yet. In the fair protocol no party reads an answer before both
/// can read theirs. In the size-hiding one (Figure 4, step 11) the first party receives π_3 once
/// the second has released it.
pub fn is_out(spec: &Spec, slots: &dyn HelperStore, slot: Slot) -> bool {
    slots.is_filled(slot)
        && match slot.kind {
            Kind::Answer | Kind::Opening if spec.variant == Variant::Fair => {
                fair::is_out(spec, slots)
            }
            Kind::Places => size_hiding::is_released(slots),
            _ => true,
        }
}

/// Whether a party may still end the run for all. In the fair protocol it may not once both have
/// opened their lists, because each must then learn what the other learns; nor later, if the opened
/// lists are lost and the answers are there.
pub fn may_be_ended(spec: &Spec, slots: &dyn HelperStore) -> bool {
    spec.variant != Variant::Fair || fair::may_be_ended(spec, slots)
}

/// Whether `body` may be put into `slot`, as far as the helper can check now.
/// [`Slot::may_be_put_by`] has already checked the writer and the kind.
///
/// # Errors
/// [`Refusal::Malformed`] if it may not, [`Refusal::TooFew`], [`Refusal::Storage`].
pub fn check_put(
    spec: &Spec,
    slots: &dyn HelperStore,
    slot: Slot,
    body: &[u8],
) -> Result<(), Refusal> {
    use Kind::*;
    let party = usize::from(slot.party);
    let formats = formats(spec, slots)?;
    // Until all parties have announced their scales, the room that the run needs is unknown. So
    // only hellos are accepted.
    if formats.is_none() && slot.kind != Hello {
        // If all had announced them, a hello has been damaged since, and its party will put it
        // again.
        let was_complete = slots.is_filled(Slot::new(Share, slot.party));
        return Err(if was_complete {
            Refusal::Storage
        } else {
            Refusal::Malformed { party: slot.party }
        });
    }
    let format = formats.as_ref().map(|formats| formats[party]);
    let is_segment = |format: Option<Format>| {
        format.is_some_and(|format| {
            slot.part < format.segments() && count_segment(format, body).is_ok()
        })
    };
    let is_one = |len: usize| slot.part == 0 && body.len() == len;
    let is_sound = match slot.kind {
        Hello => {
            let scale = body.first().map_or(u32::MAX, |scale| u32::from(*scale));
            slot.part == 0
                && body.len() <= Slot::HELLO_MAX_LEN
                && scale <= spec.largest_scale(party)
        }
        Share => slot.part == 0 && body.len() <= Slot::SHARE_MAX_LEN,
        // The list was complete, so an empty segment was lost.
        Labels => is_segment(format),
        Size => {
            let size = body.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
            let (Some(format), Some(size), true) = (format, size, is_one(8)) else {
                return Err(Refusal::Malformed { party: slot.party });
            };
            if size < spec.list_len(spec.parties[party].min_rows) {
                return Err(Refusal::TooFew { party: slot.party });
            }
            spec.takes(party, format, size) && is_complete(spec, slots, slot.party, format, size)?
        }
        Opened => {
            is_segment(formats.map(|formats| fair::inner_format(spec, &formats, party)))
                && slots.is_filled(Slot::new(Commitment, slot.party))
        }
        Seen => is_one(DIGEST_LEN) && slots.is_filled(Slot::new(Commitment, slot.party)),
        // The whole list must be there first. Then a segment that is missing later was lost through
        // no party's fault.
        OuterSecret => {
            is_one(DIGEST_LEN)
                && slots.is_filled(Slot::new(Commitment, slot.party))
                && formats.is_some_and(|formats| {
                    let format = fair::inner_format(spec, &formats, party);
                    is_whole(slots, Opened, slot.party, format.segments())
                })
        }
        TossShare => is_one(DIGEST_LEN),
        Relayed => {
            body.len() <= Slot::RELAYED_PART_LEN as usize + SEAL_LEN
                && format
                    .is_some_and(|format| slot.part < relayed_parts(format, format.list_capacity()))
        }
        Found => {
            body.len() <= Slot::ANSWER_PART_LEN as usize + SEAL_LEN
                && formats.is_some_and(|formats| slot.part < found_parts(&formats))
        }
        Release => is_one(1) && body == [1],
        Answer | Commitment | Opening | TossCommitment | TossOpening | Relabelled | Places
        | Kept => false,
    };
    if is_sound { Ok(()) } else { Err(Refusal::Malformed { party: slot.party }) }
}

/// Whether the list of `party` is there and has `size` labels.
fn is_complete(
    spec: &Spec,
    slots: &dyn HelperStore,
    party: u8,
    format: Format,
    size: u64,
) -> Result<bool, Refusal> {
    // The helper does not have the second list of the size-hiding protocol.
    if spec.variant.hides_size() && party == 1 {
        return Ok(true);
    }
    let counts = counts(slots, Kind::Labels, party, format)?;
    Ok(counts.is_some_and(|counts| sum(&counts) == size))
}

/// How each party's list is written, once all parties announced their scales.
fn formats(spec: &Spec, slots: &dyn HelperStore) -> Result<Option<Vec<Format>>, Refusal> {
    let mut scales = Vec::new();
    for party in 0..spec.parties.len() as u8 {
        let slot = Slot::new(Kind::Hello, party);
        if !slots.is_filled(slot) {
            return Ok(None);
        }
        let head = slots.head(slot, 1).map_err(storage)?;
        scales.push(head.first().map_or(0, |scale| u32::from(*scale)));
    }
    Ok(spec.formats(&scales))
}

/// The helper's steps, and what they use.
pub(super) struct Steps<'a> {
    pub(super) spec: &'a Spec,
    pub(super) slots: &'a dyn HelperStore,
    /// How each party's list is written.
    pub(super) formats: Vec<Format>,
}

impl Steps<'_> {
    pub(super) fn parties(&self) -> std::ops::Range<u8> {
        0..self.spec.parties.len() as u8
    }

    /// The parties that receive the answer.
    pub(super) fn receivers(&self) -> impl Iterator<Item = u8> {
        self.parties().filter(|party| self.spec.parties[usize::from(*party)].receives)
    }

    pub(super) fn filled_by_all(&self, kind: Kind) -> bool {
        is_by_all(self.spec, self.slots, kind)
    }

    /// Whether the answers of all receivers are written.
    pub(super) fn is_answered(&self) -> Result<bool, Refusal> {
        for party in self.receivers() {
            let parts = answer_parts(self.size(party)?);
            if !is_whole(self.slots, Kind::Answer, party, parts) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// I = ∩ T_i, as a bit for each label of each T_i. `None` when asked to stop, or if a part of a
    /// list was lost.
    pub(super) fn intersect(&self) -> Result<Option<Vec<Bits>>, Refusal> {
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
    pub(super) fn spool(&self, format: Format, threads: usize) -> Result<Spool<'_>, Refusal> {
        let number_bits = 128 - (format.label_bits() - format.segment_bits());
        // One of the threads has no spool.
        let memory_bytes = self.slots.memory_bytes() / threads.saturating_sub(1).max(1) as u64;
        Spool::new(format, number_bits.min(40), memory_bytes, self.slots.scratch())
            .ok_or(Refusal::Internal)
    }

    /// |T_i| of `party`.
    pub(super) fn size(&self, party: u8) -> Result<u64, Refusal> {
        let bytes = self.read(Slot::new(Kind::Size, party))?;
        bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)).ok_or(Refusal::Internal)
    }

    /// Writes an answer in parts, at least one.
    pub(super) fn write_parts(&self, kind: Kind, party: u8, bytes: &[u8]) -> Result<(), Refusal> {
        let parts = bytes.chunks(Slot::ANSWER_PART_LEN as usize);
        let parts = parts.chain(bytes.is_empty().then_some(&[][..]));
        (0..)
            .zip(parts)
            .try_for_each(|(part, body)| self.write(Slot::part(kind, party, part), body))
    }

    pub(super) fn read(&self, slot: Slot) -> Result<Vec<u8>, Refusal> {
        self.slots.read(slot).map_err(storage)
    }

    pub(super) fn write(&self, slot: Slot, body: &[u8]) -> Result<(), Refusal> {
        self.slots.write(slot, body).map_err(storage)
    }

    pub(super) fn settle(&self) -> Result<(), Refusal> {
        self.slots.settle().map_err(storage)
    }

    pub(super) fn secret(&self) -> Result<[u8; DIGEST_LEN], Refusal> {
        self.slots.secret().map_err(storage)
    }
}

pub(super) fn is_by_all(spec: &Spec, slots: &dyn HelperStore, kind: Kind) -> bool {
    (0..spec.parties.len() as u8).all(|party| slots.is_filled(Slot::new(kind, party)))
}

pub(super) fn storage(_: io::Error) -> Refusal {
    Refusal::Storage
}
