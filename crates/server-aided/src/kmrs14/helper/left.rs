//! What the helper can still use of a run if a damaged disk or a power failure lost some of its
//! slots.

use super::{HelperStore, Steps, formats};
use crate::kmrs14::catalogue::Variant;
use crate::kmrs14::fair::{inner_format, is_opened};
use crate::kmrs14::slot::{Kind, Slot, answer_parts, relayed_parts};
use crate::kmrs14::spec::Spec;
use crate::kmrs14::stored::{counts, is_whole};
use vesica_core::Refusal;

/// What can still be used of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Kinds of slots that are useless now, each with its party. All slots of such a kind of that
    /// party must be emptied and filled again.
    pub useless: Vec<(Kind, u8)>,
    /// Whether the helper's secret is still needed.
    pub needs_secret: bool,
}

/// Finds what is left of a run after some of its slots may have been lost.
///
/// An existing answer stays, even if its inputs were lost: a party may have read its own, and then
/// the other must get its answer too. If a part of a list is lost and still needed, the size that
/// marks the list as complete is emptied. If an answer is lost, so is its commitment; the helper
/// then makes the same commitment again.
///
/// # Errors
/// [`Refusal::Storage`].
pub fn left(spec: &Spec, slots: &dyn HelperStore) -> Result<Left, Refusal> {
    let Some(formats) = formats(spec, slots)? else {
        return Ok(Left { useless: Vec::new(), needs_secret: true });
    };
    let steps = Steps { spec, slots, formats };
    match spec.variant {
        Variant::SemiHonest | Variant::Malicious => steps.left_of_answers(),
        Variant::Fair => steps.left_of_fair(),
        Variant::SizeHiding | Variant::Pet => steps.left_of_size_hiding(),
    }
}

impl Steps<'_> {
    /// Figures 1 and 2.
    fn left_of_answers(&self) -> Result<Left, Refusal> {
        let is_answered = self.filled_by_all(Kind::Size) && self.is_answered()?;
        let mut left = Left::default();
        if !is_answered {
            self.lost_lists(&mut left)?;
        }
        Ok(left)
    }

    /// Figure 3.
    fn left_of_fair(&self) -> Result<Left, Refusal> {
        let needs_secret = !self.filled_by_all(Kind::Opening);
        let mut left = Left { useless: Vec::new(), needs_secret };
        let is_opened = is_opened(self.spec, self.slots);
        if is_opened && self.can_answer()? {
            return Ok(left);
        }
        let of_both = |kind| self.parties().map(move |party| (kind, party));
        if is_opened {
            // Only if more than one file was damaged. The helper makes all of it again, if it can.
            left.needs_secret = true;
            for kind in [Kind::Opening, Kind::Answer, Kind::Commitment, Kind::Kept] {
                left.useless.extend(of_both(kind));
            }
        }
        let incomplete = self.lost_lists(&mut left)?;
        for party in self.parties() {
            let format = inner_format(self.spec, &self.formats, usize::from(party));
            let opened = counts(self.slots, Kind::Opened, party, format)?;
            if opened.is_none() || incomplete.contains(&party) {
                left.useless.push((Kind::OuterSecret, party));
            }
        }
        if !is_opened && (!incomplete.is_empty() || !self.is_kept()?) {
            for kind in [Kind::Commitment, Kind::Kept, Kind::Answer] {
                left.useless.extend(of_both(kind));
            }
        }
        Ok(left)
    }

    /// Figure 4.
    fn left_of_size_hiding(&self) -> Result<Left, Refusal> {
        let is_there = |kind, party| self.slots.is_filled(Slot::new(kind, party));
        let is_relabelled = is_there(Kind::Size, 0) && self.is_relabelled()?;
        let needs_secret = !is_relabelled || !is_there(Kind::TossOpening, 1);
        let mut left = Left { useless: Vec::new(), needs_secret };
        let list = counts(self.slots, Kind::Labels, 0, self.formats[0])?;
        if !is_relabelled && list.is_none() {
            left.useless.push((Kind::Size, 0));
        }
        if is_there(Kind::Size, 1) {
            let size = self.size(1)?;
            let is_found = is_whole(self.slots, Kind::Found, 0, answer_parts(size));
            let parts = relayed_parts(self.formats[1], size);
            if !is_found && !is_whole(self.slots, Kind::Relayed, 1, parts) {
                left.useless.push((Kind::Size, 1));
            }
        }
        Ok(left)
    }

    /// Parties whose lists are incomplete. Their sizes are emptied too, so that they send them
    /// again once their lists are complete.
    fn lost_lists(&self, left: &mut Left) -> Result<Vec<u8>, Refusal> {
        let mut incomplete = Vec::new();
        for party in self.parties() {
            let format = self.formats[usize::from(party)];
            if counts(self.slots, Kind::Labels, party, format)?.is_none() {
                incomplete.push(party);
                left.useless.push((Kind::Size, party));
            }
        }
        Ok(incomplete)
    }

    /// Whether each party's answer is there, or the stored one that it is copied from.
    fn can_answer(&self) -> Result<bool, Refusal> {
        if !self.filled_by_all(Kind::Size) {
            // Without the sizes the number of parts is unknown. The first part shows that there are
            // some.
            let is_some = |party| {
                [Kind::Answer, Kind::Kept].iter().any(|kind| is_whole(self.slots, *kind, party, 1))
            };
            return Ok(self.parties().all(is_some));
        }
        self.has_all(&[Kind::Answer, Kind::Kept])
    }

    /// Whether all answers that the helper committed to are stored.
    fn is_kept(&self) -> Result<bool, Refusal> {
        Ok(self.filled_by_all(Kind::Size) && self.has_all(&[Kind::Kept])?)
    }

    /// Whether, for each part of each answer, a slot of one of `kinds` is filled.
    fn has_all(&self, kinds: &[Kind]) -> Result<bool, Refusal> {
        for party in self.parties() {
            let is_there = |part| {
                kinds.iter().any(|kind| self.slots.is_filled(Slot::part(*kind, party, part)))
            };
            if !(0..answer_parts(self.size(party)?)).all(is_there) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
