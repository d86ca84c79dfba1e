//! Peeling: a slot that one row alone selects can be set last, to whatever that row needs; so both
//! are taken out, until nothing is left or every slot is selected twice.

use super::dense;
use super::rows::{Row, positions, row};
use vesica_core::Block;

/// Memory of one encoding.
#[derive(Default)]
pub(crate) struct Buffers {
    /// The row of each key.
    rows: Vec<Row>,
    /// For each slot the number of rows left in the upper 16 bits and the exclusive or of their
    /// indices in the lower ones.
    selected_by: Vec<u32>,
    /// Slots that were selected by one row when they were looked at.
    ready: Vec<u16>,
    /// Rows in the order in which they were taken out: positions as in [`Row`] with the slot that
    /// is set for the row first, and the key's index in the upper 16 bits.
    peeled: Vec<u64>,
    /// What the sparse slots have to add up to.
    targets: Vec<Block>,
}

const ONE_ROW: u32 = 1 << 16;

/// The most keys of a cluster: their indices have 16 bits.
pub(super) const MAX_KEYS: usize = 1 << 16;

/// Peels the rows of `keys` among `sparse` slots; what is left is in
/// [`unpeeled`](Buffers::unpeeled).
pub(super) fn peel(keys: &[Block], sparse: usize, buffers: &mut Buffers) {
    let Buffers { rows, selected_by, ready, peeled, .. } = buffers;
    rows.clear();
    peeled.clear();
    selected_by.clear();
    if sparse == 0 {
        return;
    }
    rows.extend(keys.iter().map(|key| row(*key, sparse as u32)));
    selected_by.resize(sparse, 0);
    for (i, row) in rows.iter().enumerate() {
        for slot in positions(*row) {
            selected_by[slot] = selected_by[slot].wrapping_add(ONE_ROW) ^ i as u32;
        }
    }
    ready.clear();
    // A slot's count is one from the start or falls to one, but not both: it is pushed once. One
    // more entry is written to and not kept.
    ready.resize(sparse + 1, 0);
    let mut end = 0;
    for (slot, word) in selected_by.iter().enumerate() {
        ready[end] = slot as u16;
        end += usize::from(*word >> 16 == 1);
    }
    let mut next = 0;
    while next < end {
        let slot = ready[next];
        next += 1;
        let word = selected_by[usize::from(slot)];
        if word >> 16 != 1 {
            continue;
        }
        let i = word & 0xffff;
        let row = rows[i as usize];
        for position in positions(row) {
            let left = selected_by[position].wrapping_sub(ONE_ROW) ^ i;
            selected_by[position] = left;
            ready[end] = position as u16;
            end += usize::from(left >> 16 == 1);
        }
        peeled.push(solved_first(row, slot) | u64::from(i) << 48);
    }
}

/// `row` with `slot`, one of its positions, moved to the front.
#[inline(always)]
fn solved_first(row: Row, slot: u16) -> Row {
    let [a, b, c] = positions(row);
    let slot = usize::from(slot);
    // The exclusive or of two of three known words gives the others.
    let second = if slot == a { b } else { a };
    let third = a ^ b ^ c ^ slot ^ second;
    (slot | second << 16 | third << 32) as u64
}

impl Buffers {
    /// The indices of the keys that were not peeled, ascending.
    pub(super) fn unpeeled(&self, keys: usize) -> Vec<u32> {
        if self.peeled.len() == keys {
            return Vec::new();
        }
        let mut done = vec![false; keys];
        for row in &self.peeled {
            done[(row >> 48) as usize] = true;
        }
        (0..keys as u32).filter(|i| !done[*i as usize]).collect()
    }

    /// The row of key `i`.
    pub(super) fn positions_of(&self, i: u32) -> [usize; 3] {
        positions(self.rows[i as usize])
    }
}

/// Sets the slots of the peeled rows, the last one taken out first.
pub(super) fn substitute_back(
    keys: &[Block],
    values: &[Block],
    sparse: &mut [Block],
    dense: &[Block],
    buffers: &mut Buffers,
) {
    let Buffers { peeled, targets, .. } = buffers;
    targets.clear();
    targets.extend_from_slice(values);
    dense::add_to(targets, keys, dense);
    for row in peeled.iter().rev() {
        let [slot, second, third] = positions(*row);
        sparse[slot] = targets[(row >> 48) as usize] ^ sparse[second] ^ sparse[third];
    }
}
