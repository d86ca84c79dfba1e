//! Expansion of both parties' leaves, one tile at a time.

use super::layout::{COLUMNS, FieldBits};
use vesica_core::{Block, Secret};
use vesica_simd::aes::{Aes128, ctr_bit_sums};
use vesica_simd::transpose::transpose_128;
use vesica_simd::xor::xor;
use zeroize::Zeroize;

/// Memory for the rows of one tile, reused for the next.
#[derive(Default)]
pub(super) struct Scratch {
    rows: Vec<Block>,
    total: Vec<Block>,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.rows.zeroize();
        self.total.zeroize();
    }
}

impl Scratch {
    /// Space for `len` blocks per row, with arbitrary contents.
    fn split(&mut self, len: usize) -> (&mut [Block], &mut [Block]) {
        self.rows.resize(COLUMNS * len, Block::ZERO);
        self.total.resize(len, Block::ZERO);
        (&mut self.rows, &mut self.total)
    }
}

/// The receiver's tile: choices u, corrections c and columns of v.
///
/// `leaves` holds the ciphers of all leaves; `first` is the tile's first block in their streams.
pub(super) fn receiver_tile(
    bits: FieldBits,
    leaves: &[Aes128],
    first: u128,
    scratch: &mut Scratch,
    u: &mut [Block],
    c: &mut [Block],
    columns: &mut [Block],
) {
    let len = u.len();
    let (rows, _) = scratch.split(len);
    let trees = leaves.chunks_exact(bits.sizes().leaves());
    let rows_of_trees = rows.chunks_exact_mut(bits.k() * len);
    for (j, (leaves, rows)) in trees.zip(rows_of_trees).enumerate() {
        if j == 0 {
            ctr_bit_sums(leaves, first, rows, u);
        } else {
            let c = &mut c[(j - 1) * len..][..len];
            ctr_bit_sums(leaves, first, rows, c);
            xor(c, u);
        }
    }
    transpose_128(rows, columns);
}

/// The sender's tile: columns of w, from the corrections.
///
/// `leaves` holds the ciphers of all places but the first of each tree; place y holds leaf y ⊕ Δ_j.
pub(super) fn sender_tile(
    bits: FieldBits,
    leaves: &[Aes128],
    delta: &Secret<Block>,
    first: u128,
    scratch: &mut Scratch,
    c: &[Block],
    columns: &mut [Block],
) {
    let len = columns.len() / COLUMNS;
    let (rows, total) = scratch.split(len);
    let trees = leaves.chunks_exact(bits.sizes().leaves() - 1);
    let rows_of_trees = rows.chunks_exact_mut(bits.k() * len);
    for (j, (leaves, rows)) in trees.zip(rows_of_trees).enumerate() {
        ctr_bit_sums(leaves, first, rows, total);
        if j > 0 {
            let c = &c[(j - 1) * len..][..len];
            for (b, row) in rows.chunks_exact_mut(len).enumerate() {
                let bit = Block::mask(delta.expose().bit((j * bits.k() + b) as u32));
                row.iter_mut().zip(c).for_each(|(row, c)| *row ^= *c & bit);
            }
        }
    }
    transpose_128(rows, columns);
}
