//! What both parties do with their leaves, one tile at a time.

use super::layout::{COLUMNS, FieldBits};
use vesica_core::Block;
use vesica_simd::aes::{Aes128, ctr_many};
use vesica_simd::transpose::transpose_128;
use vesica_simd::xor::xor;

/// Room for one tile, used again for the next.
pub(super) struct Scratch {
    rows: Vec<Block>,
    streams: Vec<Block>,
}

impl Scratch {
    pub(super) fn new() -> Self {
        Self { rows: Vec::new(), streams: Vec::new() }
    }

    /// Room for `len` blocks a row; the contents are arbitrary.
    fn split(&mut self, bits: FieldBits, len: usize) -> (&mut [Block], &mut [Block]) {
        self.rows.resize(COLUMNS * len, Block::ZERO);
        self.streams.resize(bits.shape().leaves() * len, Block::ZERO);
        (&mut self.rows, &mut self.streams)
    }
}

/// The receiver's tile: choices u, corrections c and columns of v.
///
/// `leaves` are the ciphers of all leaves; `first` is the tile's first block in their streams.
pub(super) fn receiver_tile(
    bits: FieldBits,
    leaves: &[Aes128],
    first: u128,
    scratch: &mut Scratch,
    (u, c, columns): (&mut [Block], &mut [Block], &mut [Block]),
) {
    let len = u.len();
    let (rows, streams) = scratch.split(bits, len);
    let trees = leaves.chunks_exact(bits.shape().leaves());
    let rows_of_trees = rows.chunks_exact_mut(bits.k() * len);
    for (j, (leaves, rows)) in trees.zip(rows_of_trees).enumerate() {
        ctr_many(leaves, first, streams, len);
        let sum = weigh(bits, streams, rows, len);
        match j {
            0 => u.copy_from_slice(sum),
            _ => {
                let c = &mut c[(j - 1) * len..][..len];
                c.copy_from_slice(sum);
                xor(c, u);
            }
        }
    }
    transpose_128(rows, columns);
}

/// The sender's tile: columns of w, from the corrections.
///
/// `leaves` are the ciphers of all places but the first of each tree, where place y holds leaf
/// y ⊕ Δ_j.
pub(super) fn sender_tile(
    bits: FieldBits,
    leaves: &[Aes128],
    delta: Block,
    first: u128,
    scratch: &mut Scratch,
    (c, columns): (&[Block], &mut [Block]),
) {
    let len = columns.len() / COLUMNS;
    let (rows, streams) = scratch.split(bits, len);
    let trees = leaves.chunks_exact(bits.shape().leaves() - 1);
    let rows_of_trees = rows.chunks_exact_mut(bits.k() * len);
    for (j, (leaves, rows)) in trees.zip(rows_of_trees).enumerate() {
        ctr_many(leaves, first, &mut streams[len..], len);
        weigh(bits, streams, rows, len);
        if j > 0 {
            let c = &c[(j - 1) * len..][..len];
            for (b, row) in rows.chunks_exact_mut(len).enumerate() {
                let bit = Block::mask(delta.bit((j * bits.k() + b) as u32));
                row.iter_mut().zip(c).for_each(|(row, c)| *row ^= *c & bit);
            }
        }
    }
    transpose_128(rows, columns);
}

/// Row b: the sum of the streams whose number has bit b. Gives the sum of all streams, and
/// overwrites them.
fn weigh<'a>(
    bits: FieldBits,
    streams: &'a mut [Block],
    rows: &mut [Block],
    len: usize,
) -> &'a [Block] {
    for b in (0..bits.k()).rev() {
        let (low, high) = streams[..(2 << b) * len].split_at_mut((1 << b) * len);
        let row = &mut rows[b * len..][..len];
        let (first, others) = high.split_at(len);
        row.copy_from_slice(first);
        others.chunks_exact(len).for_each(|stream| xor(row, stream));
        xor(low, high);
    }
    &streams[..len]
}
