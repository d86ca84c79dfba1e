//! Parties' lists of labels as the helper's slots hold them.

use super::helper::HelperStore;
use super::slot::{Kind, Slot};
use std::io;
use vesica_core::Refusal;
use vesica_labels::{Format, ListError, Segments};

/// A list in the slots of `kind` of `party`.
pub(super) struct Stored<'a> {
    pub(super) slots: &'a dyn HelperStore,
    pub(super) kind: Kind,
    pub(super) party: u8,
}

impl Segments for Stored<'_> {
    fn read(&self, index: u32) -> io::Result<Vec<u8>> {
        self.slots.read(Slot::part(self.kind, self.party, index))
    }
}

/// Whether the first `parts` parts of `kind` of `party` are filled.
pub(super) fn is_whole(slots: &dyn HelperStore, kind: Kind, party: u8, parts: u32) -> bool {
    (0..parts).all(|part| slots.is_filled(Slot::part(kind, party, part)))
}

/// Number of labels of each segment of a list; `None` if a segment is missing.
pub(super) fn counts(
    slots: &dyn HelperStore,
    kind: Kind,
    party: u8,
    format: Format,
) -> Result<Option<Vec<u32>>, Refusal> {
    if !is_whole(slots, kind, party, format.segments()) {
        return Ok(None);
    }
    let one = |index| {
        let head = slots.head(Slot::part(kind, party, index), 4).map_err(storage)?;
        head.first_chunk().map(|count| u32::from_le_bytes(*count)).ok_or(Refusal::Storage)
    };
    (0..format.segments()).map(one).collect::<Result<_, _>>().map(Some)
}

pub(super) fn sum(counts: &[u32]) -> u64 {
    counts.iter().map(|count| u64::from(*count)).sum()
}

/// The refusal of a list of `party` that cannot be read.
pub(super) fn of_list(error: ListError, party: u8) -> Refusal {
    match error {
        ListError::Malformed => Refusal::Malformed { party },
        _ => Refusal::Storage,
    }
}

/// The refusal where the slots fail.
pub(super) fn storage(_: io::Error) -> Refusal {
    Refusal::Storage
}
