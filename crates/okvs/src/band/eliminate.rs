//! Elimination in the order of the bands, and its reverse.

use super::parameters::Layout;
use super::rows::{Row, Rows, leading, selects};
use crate::EncodeError;
use vesica_core::Block;
use vesica_simd::band;

/// Memory of one encoding or decoding.
#[derive(Default)]
pub(crate) struct Buffers {
    /// Start of the band and index of each key, sorted.
    order: Vec<(u32, u32)>,
    /// For each slot the row that it is solved with, zero if there is none.
    pivots: Vec<Row>,
    /// What the slots of each of those rows add up to.
    sums: Vec<Block>,
}

/// Sorts the keys by the start of their bands.
pub(super) fn sort(layout: &Layout, keys: &[Block], buffers: &mut Buffers) {
    buffers.order.clear();
    buffers.order.extend((0..).zip(keys).map(|(i, key)| (layout.place(*key).1, i)));
    buffers.order.sort_unstable();
}

/// Brings the rows to echelon form.
pub(super) fn eliminate(
    layout: &Layout,
    keys: &[Block],
    values: &[Block],
    buffers: &mut Buffers,
) -> Result<(), EncodeError> {
    let Buffers { order, pivots, sums } = buffers;
    pivots.clear();
    pivots.resize(layout.slots, Row::default());
    sums.clear();
    sums.resize(layout.slots, Block::ZERO);
    let maker = Rows::new(layout.slots);
    let mut batch = [Block::ZERO; Rows::BATCH];
    let mut rows = [Row::default(); Rows::BATCH];
    for order in order.chunks(Rows::BATCH) {
        for (key, (_, i)) in batch.iter_mut().zip(order) {
            *key = keys[*i as usize];
        }
        maker.of(&batch[..order.len()], &mut rows);
        for ((start, i), row) in order.iter().zip(&mut rows) {
            let mut sum = values[*i as usize];
            let mut from = *start as usize;
            loop {
                let Some(slot) = leading(row, from) else { return Err(failure(keys)) };
                if !selects(&pivots[slot], slot) {
                    pivots[slot] = *row;
                    sums[slot] = sum;
                    break;
                }
                row.iter_mut().zip(&pivots[slot]).for_each(|(a, b)| *a ^= b);
                sum ^= sums[slot];
                from = slot + 1;
            }
        }
    }
    Ok(())
}

/// Why elimination failed. Rare, so that it may take its time.
fn failure(keys: &[Block]) -> EncodeError {
    let mut keys = keys.to_vec();
    keys.sort_unstable();
    let duplicate = keys.windows(2).any(|pair| pair[0] == pair[1]);
    if duplicate { EncodeError::DuplicateKey } else { EncodeError::Unsolvable }
}

/// Sets each slot that has a row, the last one first.
pub(super) fn substitute_back(slots: &mut [Block], buffers: &Buffers) {
    for (slot, (row, sum)) in buffers.pivots.iter().zip(&buffers.sums).enumerate().rev() {
        if selects(row, slot) {
            slots[slot] = Block::ZERO;
            slots[slot] = *sum ^ band::dot(row, slots, slot);
        }
    }
}

/// Decodes the keys that were sorted last.
pub(super) fn decode(
    layout: &Layout,
    keys: &[Block],
    slots: &[Block],
    out: &mut [Block],
    buffers: &Buffers,
) {
    decode_each(layout, keys, slots, buffers, |i, value| out[i] = value);
}

/// Whether the keys that were sorted last decode to `values`.
pub(super) fn verify(
    layout: &Layout,
    keys: &[Block],
    values: &[Block],
    slots: &[Block],
    buffers: &Buffers,
) -> Result<(), EncodeError> {
    let mut all = true;
    decode_each(layout, keys, slots, buffers, |i, value| all &= value == values[i]);
    if all { Ok(()) } else { Err(EncodeError::Unsolvable) }
}

fn decode_each(
    layout: &Layout,
    keys: &[Block],
    slots: &[Block],
    buffers: &Buffers,
    mut each: impl FnMut(usize, Block),
) {
    let maker = Rows::new(layout.slots);
    let mut batch = [Block::ZERO; Rows::BATCH];
    let mut rows = [Row::default(); Rows::BATCH];
    for order in buffers.order.chunks(Rows::BATCH) {
        for (key, (_, i)) in batch.iter_mut().zip(order) {
            *key = keys[*i as usize];
        }
        maker.of(&batch[..order.len()], &mut rows);
        for ((start, i), row) in order.iter().zip(&rows) {
            each(*i as usize, band::dot(row, slots, *start as usize));
        }
    }
}
