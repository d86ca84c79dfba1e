//! Products of words of shares and bits that the receiver of the OTs knows.
//!
//! One OT per lane serves up to 128 wires. Its random choice r yields shares of r times a word of
//! the OT sender. The difference of the known bit and r is public.

use super::transfers::{PIECE, Piece, Transfers};
use std::collections::VecDeque;
use vesica_core::{Block, Result};
use vesica_net::Context;
use vesica_simd::transpose::transpose_128;
use zeroize::Zeroize;

/// Lanes per block, and the maximum number of wires that share the OTs of their lanes.
pub(super) const LANES: usize = 128;

/// Blocks of lanes per piece of OTs.
pub(super) const BLOCKS_PER_PIECE: usize = PIECE / LANES;

/// The OTs of 128 lanes, wire by wire: bit i of a block belongs to lane i.
pub(super) enum LaneBlock {
    /// At the sender: the pads for choice 0, and the XOR of both pads.
    Sender { pads: Vec<Block>, sums: Vec<Block> },
    /// At the receiver: the choices, and the chosen pads.
    Receiver { choices: Block, pads: Vec<Block> },
}

impl Drop for LaneBlock {
    fn drop(&mut self) {
        match self {
            LaneBlock::Sender { pads, sums } => {
                pads.zeroize();
                sums.zeroize();
            }
            LaneBlock::Receiver { pads, .. } => pads.zeroize(),
        }
    }
}

/// Makes blocks of lanes on demand.
#[derive(Default)]
pub(super) struct Source {
    piece: Option<Piece>,
    taken: usize,
    /// OTs that were made before the circuit.
    made: VecDeque<Piece>,
}

impl Source {
    /// The blocks of OTs that were made before the circuit, whole blocks of them.
    pub(super) fn made(made: VecDeque<Piece>) -> Self {
        Self { made, ..Self::default() }
    }

    /// The next 128 lanes.
    pub(super) fn take(
        &mut self,
        ctx: &mut Context,
        transfers: &mut Transfers,
    ) -> Result<LaneBlock> {
        let piece = match self.piece.take() {
            Some(piece) if self.taken < piece.len() / LANES => piece,
            _ => {
                self.taken = 0;
                self.made.pop_front().map_or_else(|| transfers.random(ctx), Ok)?
            }
        };
        let lanes = self.taken * LANES..(self.taken + 1) * LANES;
        self.taken += 1;
        let transposed = |rows: &[Block]| {
            let mut columns = vec![Block::ZERO; LANES];
            transpose_128(rows, &mut columns);
            columns
        };
        let block = match &piece {
            Piece::Sender { zeros, ones } => {
                let pads = transposed(&zeros[lanes.clone()]);
                let mut sums = transposed(&ones[lanes]);
                vesica_simd::xor::xor(&mut sums, &pads);
                LaneBlock::Sender { pads, sums }
            }
            Piece::Receiver { choices, messages } => {
                let word = |i: usize| u128::from(choices[lanes.start / u64::BITS as usize + i]);
                let choices = Block::new(word(0) | word(1) << 64);
                LaneBlock::Receiver { choices, pads: transposed(&messages[lanes]) }
            }
        };
        self.piece = Some(piece);
        Ok(block)
    }
}
