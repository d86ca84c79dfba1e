//! The helper: which figure it runs, which slots parties may fill and read, and the steps that its
//! figures share.
//!
//! Nothing here waits. [`advance`] runs the steps of the figure whose slots are filled, and may be
//! called again at any time, also after a restart in the middle: what it writes depends only on the
//! slots and the run's secret.

mod left;
mod steps;
mod store;

use super::catalogue::Variant;
use super::party::{DIGEST_LEN, SEAL_LEN};
use super::slot::{Kind, Slot, found_parts, relayed_parts};
use super::spec::Spec;
use super::stored::{counts, is_whole, storage, sum};
use super::{fair, size_hiding};
use vesica_core::Refusal;
use vesica_labels::{Format, count_segment};

pub use left::{Left, left};
pub(super) use steps::{Steps, is_by_all};
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
