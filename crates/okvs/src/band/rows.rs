//! The rows, with bits at their slot number modulo 512.

use vesica_core::Block;
use vesica_simd::aes::Aes128;
use vesica_simd::band::{Row, WIDTH};

/// The fixed key of the permutation that turns keys into rows.
const ROWS: Block = Block::from_le_bytes(*b"vesica band rows");

/// Turns keys into rows.
pub(super) struct Rows {
    permutation: Aes128,
    /// Ones at the existing slots, if there are fewer than a band is wide.
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

    /// Sets `rows[i]` to the row of `keys[i]`, for at most [`Rows::BATCH`] keys.
    pub(super) fn make(&self, keys: &[Block], rows: &mut [Row]) {
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
