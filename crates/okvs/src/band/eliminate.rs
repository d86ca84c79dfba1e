//! Elimination in order of the bands, and back substitution.

use super::order::{Order, index, start};
use super::parameters::Layout;
use super::rows::Rows;
use crate::EncodeError;
use crate::encoding::Fill;
use vesica_core::Block;
use vesica_simd::band::{self, Row};

/// The rows in echelon form.
#[derive(Default)]
pub(super) struct System {
    /// For each solved slot, a row whose first bit is at that slot.
    rows: Vec<Row>,
    /// One bit per slot: whether it is solved. The rows of the other slots are unused.
    solved: Vec<u64>,
}

impl System {
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        size_of::<Row>() * self.rows.capacity() + 8 * self.solved.capacity()
    }
}

/// Brings the rows to echelon form, and sets each solved slot to the required sum of the slots of
/// its row.
pub(super) fn eliminate(
    layout: &Layout,
    keys: &[Block],
    values: &[Block],
    slots: &mut [Block],
    order: &Order,
    system: &mut System,
) -> Result<(), EncodeError> {
    let more = layout.slots.saturating_sub(system.rows.len());
    system.rows.reserve_exact(more);
    system.rows.resize(layout.slots, Row::default());
    system.solved.clear();
    system.solved.resize(layout.slots.div_ceil(64), 0);
    let maker = Rows::new(layout.slots);
    let mut batch = [Block::ZERO; Rows::BATCH];
    let mut rows = [Row::default(); Rows::BATCH];
    let mut sums = [Block::ZERO; Rows::BATCH];
    for entries in order.entries().chunks(Rows::BATCH) {
        // In batches, so that the processor overlaps independent work.
        for ((entry, key), sum) in entries.iter().zip(&mut batch).zip(&mut sums) {
            *key = keys[index(*entry)];
            *sum = values[index(*entry)];
        }
        maker.make(&batch[..entries.len()], &mut rows);
        for ((entry, row), sum) in entries.iter().zip(&mut rows).zip(sums) {
            let from = start(*entry) as usize;
            insert(system, slots, row, sum, from).ok_or_else(|| failure(keys))?;
        }
    }
    Ok(())
}

/// Reduces `row`, whose band starts at slot `from`, by the existing rows until no existing row has
/// the same first bit. `None` if the row vanishes.
#[inline(always)]
fn insert(
    system: &mut System,
    slots: &mut [Block],
    row: &mut Row,
    mut sum: Block,
    from: usize,
) -> Option<()> {
    let mut word = from / 64;
    // The row's bits in `word`, without those that belong to the word one band width later.
    let mut bits = row[word % 8] & (u64::MAX << (from % 64));
    loop {
        if bits == 0 {
            // In the last word tried, which is the first one again, only the end of the band can
            // remain.
            word = (word + 1..=word + 8).find(|word| row[word % 8] != 0)?;
            bits = row[word % 8];
        }
        let bit = bits.trailing_zeros();
        let slot = 64 * word + bit as usize;
        let pivot = &mut system.rows[slot];
        if system.solved[word] >> bit & 1 == 0 {
            *pivot = *row;
            system.solved[word] |= 1 << bit;
            slots[slot] = sum;
            return Some(());
        }
        bits = (bits ^ pivot[word % 8]) & (u64::MAX << bit);
        row.iter_mut().zip(pivot).for_each(|(a, b)| *a ^= *b);
        sum ^= slots[slot];
    }
}

/// Why elimination failed. Rare, so it need not be fast.
#[cold]
fn failure(keys: &[Block]) -> EncodeError {
    let mut keys = keys.to_vec();
    keys.sort_unstable();
    let duplicate = keys.windows(2).any(|pair| pair[0] == pair[1]);
    if duplicate { EncodeError::DuplicateKey } else { EncodeError::Unsolvable }
}

/// Fills the unsolved slots, and solves for the others.
pub(super) fn substitute_back(slots: &mut [Block], system: &System, fill: Fill<'_>) {
    let System { rows, solved } = system;
    fill.slots(slots, |slot| solved[slot / 64] >> (slot % 64) & 1 == 0);
    band::substitute_back(rows, solved, slots);
}
