//! The columns of the other party that come with the rows of a result.

use vesica_records::payloads::{CellType, cells};
use vesica_tables::{AddedCell, AddedType};

/// The columns of the other party for the common keys, in memory as they were sent.
#[derive(Clone, PartialEq, Eq)]
pub struct PartnerColumns {
    /// What they are called in a result.
    names: Vec<String>,
    types: Vec<CellType>,
    /// The payload of each common key, all of the same length.
    payloads: Vec<u8>,
    /// For each row in the set, ascending, its key.
    keys: Vec<u32>,
}

impl PartnerColumns {
    /// The columns `names` of these `types`; `payloads` has that of each common key.
    pub fn new(names: Vec<String>, types: Vec<CellType>, payloads: Vec<u8>) -> Self {
        Self { names, types, payloads, keys: Vec::new() }
    }

    /// For rows with these `keys`.
    pub(crate) fn of_rows(self, keys: Vec<u32>) -> Self {
        Self { keys, ..self }
    }

    /// What the columns are called in a result.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What the columns hold.
    pub fn types(&self) -> impl Iterator<Item = AddedType> {
        self.types.iter().map(|of| of.in_result())
    }

    /// The cell in a column of the row that is number `place` in the set.
    pub(crate) fn cell(&self, place: usize, column: usize) -> AddedCell {
        let len = vesica_records::payloads::payload_len(&self.types);
        let payload = &self.payloads[self.keys[place] as usize * len..][..len];
        // The payloads are of this form, or they had been refused.
        let cells = cells(&self.types, payload);
        cells.and_then(|mut cells| cells.get_mut(column).map(std::mem::take)).unwrap_or_default()
    }
}
