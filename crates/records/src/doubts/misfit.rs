//! Columns whose profile refuses many of their values, and the profile that would accept them.

use crate::key::KeyColumn;
use vesica_profiles::{Normalised, Profile};
use vesica_tables::Row;

/// More than this part of the values, in percent, is worth a warning.
const PERCENT: u64 = 3;

/// Refused cells of a column that other profiles are tried on.
const CELLS: usize = 64;

/// Longer cells are not kept: no profile that refuses them has a sibling for them.
const CELL_MAX_BYTES: usize = 256;

/// Rows, from the first on, whose dates may show the order of day and month.
const ORDER_ROWS: u64 = 1024;

/// A column whose profile refuses more than 3 % of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The column in the file.
    pub column: String,
    /// Its profile in the agreement.
    pub profile: Profile,
    /// How many rows have a value there that the profile refuses. Values that the agreement
    /// excludes do not count.
    pub refused: u64,
    /// How many rows have a value in every column of the key; under rules, in this column.
    pub values: u64,
    /// Profiles that would take at least half of the refused values, as far as the first 64 of them
    /// show. Several only for dates, where nothing shows whether day or month comes first.
    pub better: Vec<Profile>,
}

impl Misfit {
    /// The better profiles, joined by "or"; `None` if there is none.
    pub fn better_in_words(&self) -> Option<String> {
        let names: Vec<String> = self.better.iter().map(ToString::to_string).collect();
        (!names.is_empty()).then(|| names.join(" or "))
    }
}

/// The state of a pass for one column.
#[derive(Default)]
struct Sample {
    refused: u64,
    cells: Vec<Vec<u8>>,
    /// The profiles of the orders of day and month that its dates have shown.
    orders: Vec<Profile>,
}

/// Looks for misfits in a pass. It holds cells, and gives none.
pub(crate) struct Samples {
    samples: Vec<Sample>,
    scratch: Vec<u8>,
    /// Number of rows in which orders are still searched for.
    order_rows: u64,
}

impl Samples {
    pub(crate) fn new(columns: &[KeyColumn]) -> Self {
        let needs_order = columns.iter().any(|column| column.profile.needs_order());
        Self {
            samples: columns.iter().map(|_| Sample::default()).collect(),
            scratch: Vec::new(),
            order_rows: if needs_order { ORDER_ROWS } else { 0 },
        }
    }

    /// Looks at the next row.
    #[inline]
    pub(crate) fn look(&mut self, columns: &[KeyColumn], row: &impl Row) {
        if self.order_rows > 0 {
            self.order_rows -= 1;
            self.look_for_orders(columns, row);
        }
    }

    #[cold]
    fn look_for_orders(&mut self, columns: &[KeyColumn], row: &impl Row) {
        for (key, (column, sample)) in columns.iter().zip(&mut self.samples).enumerate() {
            if !column.profile.needs_order() {
                continue;
            }
            let order = Profile::of_order_in(row.cell(key, &mut self.scratch));
            if let Some(order) = order.filter(|order| !sample.orders.contains(order)) {
                sample.orders.push(order);
            }
        }
    }

    /// Takes a row whose profile has refused the value at position `key` of the key.
    pub(crate) fn take(&mut self, key: usize, row: &impl Row) {
        let sample = &mut self.samples[key];
        sample.refused += 1;
        if sample.cells.len() < CELLS {
            let cell = row.cell(key, &mut self.scratch);
            if cell.len() <= CELL_MAX_BYTES {
                sample.cells.push(cell.to_vec());
            }
        }
    }

    /// The misfits in `columns` after a pass with `filled` values in each.
    pub(crate) fn finish(self, columns: &[KeyColumn], filled: &[u64]) -> Vec<Misfit> {
        let columns = columns.iter().zip(self.samples).zip(filled);
        let many = columns.filter(|((_, sample), values)| {
            sample.refused.saturating_mul(100) > values.saturating_mul(PERCENT)
        });
        many.map(|((column, sample), values)| Misfit {
            column: column.column.clone(),
            profile: column.profile,
            refused: sample.refused,
            values: *values,
            better: sample.better(column.profile),
        })
        .collect()
    }
}

impl Sample {
    /// The profiles other than `profile` that accept the most of these cells, and at least half.
    fn better(&self, profile: Profile) -> Vec<Profile> {
        let siblings = self.best(&profile.siblings());
        let mut better =
            if siblings.is_empty() { self.best(profile.fallback().as_slice()) } else { siblings };
        if !profile.needs_order() {
            better.truncate(1);
        } else if let [order] = self.orders[..] {
            better.retain(|profile| *profile == order);
        }
        better
    }

    /// The members of `profiles` that accept the most cells, and at least half.
    fn best(&self, profiles: &[Profile]) -> Vec<Profile> {
        let taken: Vec<usize> = profiles.iter().map(|profile| self.taken(*profile)).collect();
        let most = taken.iter().copied().max().unwrap_or(0);
        if most == 0 || 2 * most < self.cells.len() {
            return Vec::new();
        }
        let best = profiles.iter().zip(taken).filter(|(_, taken)| *taken == most);
        best.map(|(profile, _)| *profile).collect()
    }

    /// How many cells `profile` accepts.
    fn taken(&self, profile: Profile) -> usize {
        let mut normal = Vec::new();
        let is_taken = |cell: &&Vec<u8>| {
            normal.clear();
            let takes = profile.normalise_cell(cell, &mut normal) == Ok(Normalised::Value);
            takes && profile.keeps(cell)
        };
        self.cells.iter().filter(is_taken).count()
    }
}
