//! Peeling. A slot that only one row selects can be set last, to the value that the row needs; so
//! the row and the slot are removed. This repeats until no row remains, or every slot is selected
//! at least twice.

use super::dense::{BATCH, Dense};
use vesica_core::Block;
use vesica_simd::sparse::{self, Row, slots_of};

/// Maximum number of keys and of sparse slots per cluster. Memory has this size, so that 16-bit
/// indices need no check.
pub(super) const MAX: usize = 1 << 16;

/// Memory of one encoding.
#[derive(Default)]
pub(crate) struct Buffers {
    /// The row of each key.
    rows: Vec<Row>,
    /// For each slot: the number of remaining rows in the upper 16 bits, and the XOR of their
    /// indices in the lower 16.
    selected_by: Vec<u32>,
    /// Slots that only one row selected at the time they were examined.
    ready: Vec<u16>,
    /// Rows in order of removal: positions as in [`Row`], with the slot that is set for the row
    /// first, and the key's index in the upper 16 bits.
    peeled: Vec<u64>,
    /// Number of removed rows.
    peeled_len: usize,
    /// The required sums of the sparse slots.
    targets: Vec<Block>,
}

const ONE_ROW: u32 = 1 << 16;

/// Distance of prefetching, in rows.
const AHEAD: usize = 6;

/// Peels the rows of `keys` among `sparse` slots, both at most [`MAX`];
/// [`unpeeled`](Buffers::unpeeled) returns the rest.
pub(super) fn peel(keys: &[Block], sparse: usize, buffers: &mut Buffers) {
    buffers.peeled_len = 0;
    if sparse == 0 {
        return;
    }
    let rows = whole(&mut buffers.rows);
    let selected_by = whole(&mut buffers.selected_by);
    sparse::rows(keys, sparse, &mut rows[..keys.len()]);
    selected_by[..sparse].fill(0);
    for (i, row) in rows[..keys.len()].iter().enumerate() {
        for slot in slots_of(*row) {
            selected_by[slot] = selected_by[slot].wrapping_add(ONE_ROW) ^ i as u32;
        }
    }
    buffers.peeled_len =
        take_out(rows, selected_by, sparse, whole(&mut buffers.ready), whole(&mut buffers.peeled));
}

/// Removes rows while a slot is selected by only one; returns their number.
fn take_out(
    rows: &[Row; MAX],
    selected_by: &mut [u32; MAX],
    sparse: usize,
    ready: &mut [u16; MAX],
    peeled: &mut [u64; MAX],
) -> usize {
    // A slot's count is one at the start or falls to one later, never both, so each slot is pushed
    // once.
    let mut end = 0;
    for (slot, word) in selected_by[..sparse].iter().enumerate() {
        ready[end % MAX] = slot as u16;
        end += usize::from(*word >> 16 == 1);
    }
    let mut next = 0;
    let mut peeled_len = 0;
    let mut ahead = 0;
    while next < end {
        // A prefetch; the slot may be irrelevant by then.
        let later = selected_by[usize::from(ready[(next + AHEAD) % MAX])];
        ahead ^= rows[later as usize % MAX];

        let slot = ready[next % MAX];
        next += 1;
        let word = selected_by[usize::from(slot)];
        if word >> 16 != 1 {
            continue;
        }
        let i = word as u16;
        let row = rows[usize::from(i)];
        for position in slots_of(row) {
            let left = selected_by[position].wrapping_sub(ONE_ROW) ^ u32::from(i);
            selected_by[position] = left;
            ready[end % MAX] = position as u16;
            end += usize::from(left >> 16 == 1);
        }
        peeled[peeled_len % MAX] = solved_first(row, slot) | u64::from(i) << 48;
        peeled_len += 1;
    }
    std::hint::black_box(ahead);
    peeled_len
}

/// The whole memory, allocated on first use.
fn whole<T: Copy + Default>(memory: &mut Vec<T>) -> &mut [T; MAX] {
    memory.resize(MAX, T::default());
    memory.first_chunk_mut().expect("a vector of this length")
}

/// `row`, with `slot`, one of its positions, moved to the front.
#[inline(always)]
fn solved_first(row: Row, slot: u16) -> Row {
    let [a, b, c] = slots_of(row);
    let slot = usize::from(slot);
    // The XOR of two of three known words yields the third.
    let second = if slot == a { b } else { a };
    let third = a ^ b ^ c ^ slot ^ second;
    (slot | second << 16 | third << 32) as u64
}

impl Buffers {
    fn peeled(&self) -> &[u64] {
        &self.peeled[..self.peeled_len]
    }

    /// The indices of the unpeeled keys, ascending.
    pub(super) fn unpeeled(&self, keys: usize) -> Vec<u32> {
        if self.peeled_len == keys {
            return Vec::new();
        }
        let mut done = vec![false; keys];
        for row in self.peeled() {
            done[(row >> 48) as usize] = true;
        }
        (0..keys as u32).filter(|i| !done[*i as usize]).collect()
    }

    /// The row of key `i`.
    pub(super) fn positions_of(&self, i: u32) -> [usize; 3] {
        slots_of(self.rows[i as usize])
    }
}

/// Sets the required sum of the sparse slots of each key.
pub(super) fn set_targets(
    keys: &[Block],
    values: &[Block],
    dense: &Dense<'_>,
    buffers: &mut Buffers,
) {
    let targets = &mut buffers.targets;
    targets.resize(keys.len(), Block::ZERO);
    for ((keys, values), targets) in
        keys.chunks(BATCH).zip(values.chunks(BATCH)).zip(targets.chunks_mut(BATCH))
    {
        targets.copy_from_slice(values);
        dense.add_to(targets, keys);
    }
}

/// Sets the slots of the peeled rows, in reverse order of removal.
pub(super) fn substitute_back(sparse: &mut [Block], buffers: &Buffers) {
    for row in buffers.peeled().iter().rev() {
        let [slot, second, third] = slots_of(*row);
        sparse[slot] = buffers.targets[(row >> 48) as usize] ^ sparse[second] ^ sparse[third];
    }
}

/// Whether the sparse slots of every key, derived from the key again, have the required sum.
pub(super) fn targets_are_met(keys: &[Block], sparse: &[Block], buffers: &Buffers) -> bool {
    let mut sums = [Block::ZERO; BATCH];
    keys.chunks(BATCH).zip(buffers.targets.chunks(BATCH)).all(|(keys, targets)| {
        let sums = &mut sums[..keys.len()];
        if !sparse.is_empty() {
            sparse::sums(keys, sparse, sums);
        }
        sums == targets
    })
}
