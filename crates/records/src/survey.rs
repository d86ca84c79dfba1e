//! The findings of a pass over a whole file, in addition to its counts.

use crate::faults::Faults;
use crate::key::KeyColumn;
use crate::shapes::{ColumnShapes, Shaper};

/// The faults of a file and the shapes of its key columns, found in the same pass as its keys.
///
/// It is filled by [`crate::survey_keys`] or [`crate::survey_items`], and holds what was found so
/// far if the pass ends early. It does not show itself (`Debug`): it holds the cell that was looked
/// at last.
pub struct Survey {
    columns: Vec<KeyColumn>,
    faults: Faults,
    shaper: Shaper,
}

impl Survey {
    /// For a pass over the key in `columns`, with the shapes of the first `rows` rows, at least
    /// one.
    pub fn new(columns: Vec<KeyColumn>, rows: u64) -> Self {
        let shaper = Shaper::new(&columns, rows);
        Self { columns, faults: Faults::default(), shaper }
    }

    /// The faults found so far.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// The faults, and the shapes of each column of the key, in the key's order.
    pub fn finish(self) -> (Faults, Vec<ColumnShapes>) {
        (self.faults, self.shaper.finish(&self.columns))
    }

    /// What a pass reads, and where it counts.
    pub(crate) fn parts(&mut self) -> (&[KeyColumn], Found<'_>) {
        let Self { columns, faults, shaper } = self;
        (columns, Found { faults, shaper })
    }
}

/// The counters of a pass.
pub(crate) struct Found<'a> {
    pub(crate) faults: &'a mut Faults,
    pub(crate) shaper: &'a mut Shaper,
}
