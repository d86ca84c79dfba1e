//! Products of bits that the chooser of transfers knows with words of shares.
//!
//! One transfer a lane serves up to 128 wires: its random choice r gives shares of r times a word of the
//! giver's, and the difference of the known bit to r is no secret.

use super::transfers::{PIECE, Piece, Transfers};
use vesica_core::{Block, Result};
use vesica_net::Context;
use vesica_simd::low_bits::low_bits;
use vesica_simd::transpose::transpose_128;
use zeroize::Zeroize;

/// Lanes of a block, and the most wires that share the transfers of their lanes.
pub(super) const LANES: usize = 128;

/// Blocks of lanes that a piece of transfers serves.
pub(super) const BLOCKS_PER_PIECE: usize = PIECE / LANES;

/// The transfers of 128 lanes, wire by wire: bit i of a block is lane i's.
pub(super) enum LaneBlock {
    /// Both messages: the pads, and their sums with the other message's.
    Given { pads: Vec<Block>, sums: Vec<Block> },
    /// The choices, and the pads they chose.
    Chosen { choices: Block, pads: Vec<Block> },
}

impl Drop for LaneBlock {
    fn drop(&mut self) {
        match self {
            LaneBlock::Given { pads, sums } => {
                pads.zeroize();
                sums.zeroize();
            }
            LaneBlock::Chosen { pads, .. } => pads.zeroize(),
        }
    }
}

/// Makes blocks of lanes as they are needed.
#[derive(Default)]
pub(super) struct Source {
    piece: Option<Piece>,
    taken: usize,
}

impl Source {
    /// The next 128 lanes.
    pub(super) fn take(
        &mut self,
        ctx: &mut Context,
        transfers: &mut Transfers,
    ) -> Result<LaneBlock> {
        let piece = match self.piece.take() {
            Some(piece) if self.taken < BLOCKS_PER_PIECE => piece,
            _ => {
                self.taken = 0;
                transfers.random(ctx)?
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
            Piece::Given { zeros, ones } => {
                let pads = transposed(&zeros[lanes.clone()]);
                let mut sums = transposed(&ones[lanes]);
                vesica_simd::xor::xor(&mut sums, &pads);
                LaneBlock::Given { pads, sums }
            }
            Piece::Chosen { choices, messages } => {
                let mut bits = [0; 2];
                low_bits(&choices[lanes.clone()], &mut bits);
                let choices = Block::new(u128::from(bits[0]) | u128::from(bits[1]) << 64);
                LaneBlock::Chosen { choices, pads: transposed(&messages[lanes]) }
            }
        };
        self.piece = Some(piece);
        Ok(block)
    }
}
