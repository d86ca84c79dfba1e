//! The unpeeled rows: elimination over GF(2), then the dense slots.

use super::dense;
use super::peel::Buffers;
use crate::EncodeError;
use vesica_core::Block;

/// Maximum number of rows for elimination. More remain with a probability that counts as failure,
/// except in clusters of at most this many keys.
const MAX_ROWS: usize = 2048;

/// An equation: the XOR of the slots and the dense part of `key` equals `value`.
struct Equation {
    slots: Vec<u64>,
    key: Block,
    value: Block,
}

impl Equation {
    fn leading(&self) -> Option<usize> {
        let word = self.slots.iter().position(|word| *word != 0)?;
        Some(word * 64 + self.slots[word].trailing_zeros() as usize)
    }

    fn add(&mut self, other: &Equation) {
        self.slots.iter_mut().zip(&other.slots).for_each(|(a, b)| *a ^= b);
        self.key ^= other.key;
        self.value ^= other.value;
    }
}

/// Sets the slots that unpeeled rows select, and the dense slots, so that those rows hold.
pub(super) fn solve(
    keys: &[Block],
    values: &[Block],
    sparse: &mut [Block],
    dense: &mut [Block],
    buffers: &Buffers,
) -> Result<(), EncodeError> {
    let left = buffers.unpeeled(keys.len());
    if left.is_empty() {
        return Ok(());
    }
    let failure = || {
        let mut keys: Vec<_> = left.iter().map(|i| keys[*i as usize]).collect();
        keys.sort_unstable();
        let duplicate = keys.windows(2).any(|pair| pair[0] == pair[1]);
        if duplicate { EncodeError::DuplicateKey } else { EncodeError::Unsolvable }
    };
    if left.len() > MAX_ROWS {
        return Err(failure());
    }

    let row = |i: &u32| if sparse.is_empty() { None } else { Some(buffers.positions_of(*i)) };
    let mut columns: Vec<usize> = left.iter().filter_map(row).flatten().collect();
    columns.sort_unstable();
    columns.dedup();
    let words = columns.len().div_ceil(64);

    let mut pivots: Vec<Option<Equation>> = columns.iter().map(|_| None).collect();
    let mut dependent = Vec::new();
    for i in &left {
        let mut slots = vec![0; words];
        for column in row(i).into_iter().flatten() {
            let column = columns.partition_point(|c| *c < column);
            slots[column / 64] |= 1 << (column % 64);
        }
        let mut equation = Equation { slots, key: keys[*i as usize], value: values[*i as usize] };
        loop {
            let Some(leading) = equation.leading() else {
                dependent.push((equation.key, equation.value));
                break;
            };
            match &pivots[leading] {
                Some(pivot) => equation.add(pivot),
                None => {
                    pivots[leading] = Some(equation);
                    break;
                }
            }
        }
    }
    dense::solve(&dependent, dense).ok_or_else(failure)?;

    for (column, pivot) in pivots.iter().enumerate().rev() {
        let Some(pivot) = pivot else { continue };
        let mut sum = pivot.value ^ dense::part(pivot.key, dense);
        for (word, bits) in pivot.slots.iter().enumerate() {
            let mut bits = *bits;
            while bits != 0 {
                let other = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if other != column {
                    sum ^= sparse[columns[other]];
                }
            }
        }
        sparse[columns[column]] = sum;
    }
    Ok(())
}
