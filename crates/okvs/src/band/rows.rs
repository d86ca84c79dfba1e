//! The rows, as bits at their slot's number modulo 512.

use super::parameters::WIDTH;
use vesica_core::Block;
use vesica_simd::aes::Aes128;

/// One bit for each slot of a band.
pub(super) type Row = [u64; WIDTH / 64];

/// The fixed key of the permutation that makes rows from keys.
const ROWS: Block = Block::from_le_bytes(*b"vesica band rows");

/// What makes rows from keys.
pub(super) struct Rows {
    permutation: Aes128,
    /// Ones at the slots there are, when they are fewer than a band is wide.
    mask: Row,
}

impl Rows {
    /// For clusters of `slots` slots.
    pub(super) fn new(slots: usize) -> Self {
        let mut mask = [u64::MAX; WIDTH / 64];
        for (i, word) in mask.iter_mut().enumerate() {
            match slots.saturating_sub(64 * i) {
                0 => *word = 0,
                left if left < 64 => *word = (1 << left) - 1,
                _ => {}
            }
        }
        Self { permutation: Aes128::new(ROWS), mask }
    }

    /// Sets `rows[i]` to the row of `keys[i]`; at most [`Rows::BATCH`] at a time.
    pub(super) fn of(&self, keys: &[Block], rows: &mut [Row]) {
        let mut blocks = [Block::ZERO; 4 * Rows::BATCH];
        let blocks = &mut blocks[..4 * keys.len()];
        for (blocks, key) in blocks.chunks_exact_mut(4).zip(keys) {
            for (j, block) in blocks.iter_mut().enumerate() {
                *block = *key ^ Block::new(j as u128);
            }
        }
        self.permutation.mmo(blocks);
        for (blocks, row) in blocks.chunks_exact(4).zip(rows) {
            for j in 0..4 {
                let bits = blocks[j].get();
                row[2 * j] = bits as u64 & self.mask[2 * j];
                row[2 * j + 1] = (bits >> 64) as u64 & self.mask[2 * j + 1];
            }
        }
    }

    pub(super) const BATCH: usize = 64;
}

/// The first slot from `from` on that `row` selects; the row's band ends within 512 slots.
#[inline(always)]
pub(super) fn leading(row: &Row, from: usize) -> Option<usize> {
    let first = from / 64;
    let word = row[first % 8] & (u64::MAX << (from % 64));
    if word != 0 {
        return Some(first * 64 + word.trailing_zeros() as usize);
    }
    // The last of these is the first word again, of which the upper bits are known to be zero.
    for i in first + 1..=first + 8 {
        let word = row[i % 8];
        if word != 0 {
            return Some(i * 64 + word.trailing_zeros() as usize);
        }
    }
    None
}

/// Whether `row` selects `slot` of its band.
#[inline(always)]
pub(super) fn selects(row: &Row, slot: usize) -> bool {
    row[slot / 64 % 8] >> (slot % 64) & 1 == 1
}
