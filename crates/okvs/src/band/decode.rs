//! Decoding, in order of the bands.

use super::order::{Order, index, start};
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
    order: &Order,
) {
    decode_each(layout, keys, slots, order, |i, value| out[i] = value);
}

/// Checks that the keys sorted last decode to `values`.
pub(super) fn verify(
    layout: &Layout,
    keys: &[Block],
    values: &[Block],
    slots: &[Block],
    order: &Order,
) -> Result<(), EncodeError> {
    let mut all = true;
    decode_each(layout, keys, slots, order, |i, value| all &= value == values[i]);
    if all { Ok(()) } else { Err(EncodeError::Unsolvable) }
}

#[inline(always)]
fn decode_each(
    layout: &Layout,
    keys: &[Block],
    slots: &[Block],
    order: &Order,
    mut each: impl FnMut(usize, Block),
) {
    let maker = Rows::new(layout.slots);
    let mut sums = Sums::new(slots);
    let mut starts = [0; Rows::BATCH];
    let mut batch = [Block::ZERO; Rows::BATCH];
    let mut rows = [Row::default(); Rows::BATCH];
    for entries in order.entries().chunks(Rows::BATCH) {
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
