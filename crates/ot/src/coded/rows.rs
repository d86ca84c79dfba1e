//! # OT extension with codewords row by row
//!
//! As in the figure of [`coded`](super), for a code whose codewords the caller computes: W ≤ 128·K
//! bits, K blocks per row. The corrections are sent row by row as well: u_i = row i of (T0 ⊕ T1) ⊕
//! C(c_i), and q_i = (row i of G(k_j^{s_j})) ⊕ (u_i ∧ s), with the same result. Only the receiver's
//! T0 needs an extra transposition.

use super::setup::SenderSeeds;
use super::stream::{self, ROWS_PER_BLOCK, Scratch, blocks, rows_of_columns};
use super::{ReceiverSetup, setup_bytes as setup_bytes_of_width};
use crate::Traffic;
use vesica_core::{Block, Result, SessionId};
use vesica_net::Context;
use vesica_simd::aes::{Aes128, ctr_bit_sums};

/// The length of codewords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width<const K: usize> {
    bytes: usize,
}

impl<const K: usize> Width<K> {
    /// W = 8·`bytes` bits.
    ///
    /// # Panics
    /// If W is 0, or does not fit into K blocks.
    pub fn from_bytes(bytes: usize) -> Self {
        assert!((1..=K * Block::LEN).contains(&bytes), "codewords of 1 to K blocks");
        Self { bytes }
    }

    /// W in bytes.
    pub const fn bytes(self) -> usize {
        self.bytes
    }

    /// W in bits.
    pub const fn bits(self) -> usize {
        8 * self.bytes
    }

    /// Payload bytes of a setup.
    pub fn setup_bytes(self) -> Traffic {
        setup_bytes_of_width(self.bits())
    }

    /// Payload bytes of an extension by `rows` rows: W bits per row.
    pub const fn extend_bytes(self, rows: usize) -> Traffic {
        Traffic { sender_to_receiver: 0, receiver_to_sender: (self.bytes * rows) as u64 }
    }
}

/// The party with one codeword for each row.
pub struct Receiver<const K: usize> {
    width: Width<K>,
    seeds: Vec<[Aes128; 2]>,
    next_block: u128,
}

impl<const K: usize> Receiver<K> {
    /// Finishes a setup: receives the sender's answer.
    ///
    /// # Errors
    /// Connection errors; [`Misbehaviour::InvalidPoint`](vesica_core::Misbehaviour::InvalidPoint).
    pub fn new(ctx: &mut Context, setup: ReceiverSetup, width: Width<K>) -> Result<Self> {
        Ok(Self { width, seeds: setup.receive(ctx, width.bits())?, next_block: 0 })
    }

    /// The number of the next extension's first row, counted over all extensions. Hashes must use
    /// this number plus the row's index in the extension.
    pub fn next_row(&self) -> u64 {
        self.next_block as u64 * ROWS_PER_BLOCK as u64
    }

    /// Extends by `count` rows. Sends the corrections, and passes t_i to `consume` in order, a few
    /// thousand at a time, with the index of the first of them in this extension.
    ///
    /// `codewords(first, out)` sets `out` to the codewords of the rows from `first` on; bits beyond
    /// W are ignored.
    ///
    /// # Errors
    /// Connection errors.
    pub fn extend(
        &mut self,
        ctx: &mut Context,
        count: usize,
        codewords: impl Fn(usize, &mut [[Block; K]]) + Sync,
        consume: impl FnMut(usize, &[[Block; K]]),
    ) -> Result<()> {
        let Receiver { width, ref seeds, ref mut next_block } = *self;
        let tile = |scratch: &mut Scratch<K>,
                    first_row,
                    first_block,
                    u: &mut [Block],
                    rows: &mut [[Block; K]]| {
            codewords(first_row, rows);
            receiver_tile(width, seeds, first_block, scratch, u, rows);
        };
        stream::receiver(ctx, next_block, |rows| rows * width.bytes, count, tile, consume)
    }
}

/// The party that can compute the receiver's row for any codeword.
pub struct Sender<const K: usize> {
    width: Width<K>,
    seeds: SenderSeeds,
    next_block: u128,
}

impl<const K: usize> Sender<K> {
    /// Runs the setup.
    ///
    /// # Errors
    /// Connection errors; [`Misbehaviour::InvalidPoint`](vesica_core::Misbehaviour::InvalidPoint).
    pub fn setup(ctx: &mut Context, session: &SessionId, width: Width<K>) -> Result<Self> {
        let seeds = SenderSeeds::setup(ctx, session, width.bits())?;
        Ok(Self { width, seeds, next_block: 0 })
    }

    /// As [`Receiver::next_row`].
    pub fn next_row(&self) -> u64 {
        self.next_block as u64 * ROWS_PER_BLOCK as u64
    }

    /// s: q_i ⊕ (C(c) ∧ s) is the receiver's row for the codeword C(c). Zero beyond W.
    pub fn s(&self) -> [Block; K] {
        self.seeds.mask()
    }

    /// Extends by `rows` rows, the number of the receiver's rows. Receives the corrections, and
    /// passes q_i to `consume` as [`Receiver::extend`] does t_i.
    ///
    /// # Errors
    /// Connection errors.
    pub fn extend(
        &mut self,
        ctx: &mut Context,
        rows: usize,
        consume: impl FnMut(usize, &[[Block; K]]),
    ) -> Result<()> {
        let s = self.s();
        let Sender { width, ref seeds, ref mut next_block } = *self;
        let tile = |scratch: &mut Scratch<K>, first_block, u: &[Block], rows: &mut [[Block; K]]| {
            sender_tile(width, seeds, &s, first_block, scratch, u, rows);
        };
        stream::sender(ctx, next_block, |rows| rows * width.bytes, rows, tile, consume)
    }
}

/// Space for the columns of one tile; those beyond W are zero.
fn room<const K: usize>(columns: &mut Vec<Block>, width: Width<K>, len: usize) {
    columns.resize(128 * K * len, Block::ZERO);
    columns[width.bits() * len..].fill(Block::ZERO);
}

/// The corrections `u`, row by row, and the rows of one tile; `rows` holds the codewords.
fn receiver_tile<const K: usize>(
    width: Width<K>,
    seeds: &[[Aes128; 2]],
    first_block: u128,
    scratch: &mut Scratch<K>,
    u: &mut [Block],
    rows: &mut [[Block; K]],
) {
    let len = blocks(rows.len());
    room(&mut scratch.columns, width, len);
    room(&mut scratch.more, width, len);
    let columns = scratch.columns.chunks_exact_mut(len).zip(scratch.more.chunks_exact_mut(len));
    for (seeds, (t0, sum)) in seeds.iter().zip(columns) {
        ctr_bit_sums(seeds, first_block, t0, sum);
    }
    scratch.words.resize(rows.len(), [Block::ZERO; K]);
    rows_of_columns(&scratch.more, &mut scratch.part, &mut scratch.words);
    // Each row is written whole; the next row overwrites the part beyond W.
    let u = Block::as_bytes_mut(u);
    for (i, (sum, codeword)) in scratch.words.iter_mut().zip(&*rows).enumerate() {
        sum.iter_mut().zip(codeword).for_each(|(sum, codeword)| *sum ^= *codeword);
        u[i * width.bytes..][..K * Block::LEN].copy_from_slice(Block::as_bytes(sum));
    }
    rows_of_columns(&scratch.columns, &mut scratch.part, rows);
}

/// The rows of one tile, from the corrections `u`.
fn sender_tile<const K: usize>(
    width: Width<K>,
    seeds: &SenderSeeds,
    s: &[Block; K],
    first_block: u128,
    scratch: &mut Scratch<K>,
    u: &[Block],
    rows: &mut [[Block; K]],
) {
    let len = blocks(rows.len());
    room(&mut scratch.columns, width, len);
    for (stream, column) in seeds.streams.iter().zip(scratch.columns.chunks_exact_mut(len)) {
        stream.ctr(first_block, column);
    }
    rows_of_columns(&scratch.columns, &mut scratch.part, rows);
    let u = Block::as_bytes(u);
    for (i, row) in rows.iter_mut().enumerate() {
        let mut correction = [Block::ZERO; K];
        let bytes = &u[i * width.bytes..][..K * Block::LEN];
        Block::as_bytes_mut(&mut correction).copy_from_slice(bytes);
        for (k, q) in row.iter_mut().enumerate() {
            *q ^= correction[k] & s[k];
        }
    }
}
