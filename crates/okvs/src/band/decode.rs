//! Decoding, in order of the bands.

use super::Buffers;
use super::order::{index, start};
use super::parameters::Layout;
use super::rows::Rows;
use crate::EncodeError;
use vesica_core::Block;
use vesica_simd::band::{Row, Sums};

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

/// Checks that the keys sorted last decode to `values`.
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

#[inline(always)]
fn decode_each(
    layout: &Layout,
    keys: &[Block],
    slots: &[Block],
    buffers: &Buffers,
    mut each: impl FnMut(usize, Block),
) {
    let maker = Rows::new(layout.slots);
    let mut sums = Sums::new(slots);
    let mut starts = [0; Rows::BATCH];
    let mut batch = [Block::ZERO; Rows::BATCH];
    let mut rows = [Row::default(); Rows::BATCH];
    for entries in buffers.order.entries().chunks(Rows::BATCH) {
        let len = entries.len();
        for ((entry, key), place) in entries.iter().zip(&mut batch).zip(&mut starts) {
            *key = keys[index(*entry)];
            *place = start(*entry);
        }
        maker.make(&batch[..len], &mut rows);
        sums.compute(&rows[..len], &starts[..len], &mut batch[..len]);
        for (entry, value) in entries.iter().zip(&batch) {
            each(index(*entry), *value);
        }
    }
}
