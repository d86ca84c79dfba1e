//! Tiles of samples: where their words and coefficients are in the stream.

use super::word::Word;
use crate::Block;

/// The number of samples must be a multiple of this.
pub const TILE: usize = 128;

/// Rows per sample.
pub const SAMPLE_WEIGHT: usize = 10;

/// Rows that are multiplied by the sample's coefficient.
pub(super) const HALF: usize = SAMPLE_WEIGHT / 2;

/// Samples whose words are consecutive in the stream.
pub(super) const GROUP: usize = 16;

/// The factor of one half of a sample's rows.
#[derive(Clone, Copy)]
pub enum Coefficients<'a> {
    /// One.
    One,
    /// An element of a field of 2^16 elements: the sum of the entries that its low byte selects
    /// from the first table and its high byte from the second.
    Subfield(&'a [[Block; 256]; 2]),
    /// An element of GF(2^128).
    Field,
}

impl Coefficients<'_> {
    /// Blocks of the stream per tile, for coefficients.
    pub(super) const fn blocks(self) -> usize {
        match self {
            Coefficients::One => 0,
            Coefficients::Subfield(_) => TILE * 2 / Block::LEN,
            Coefficients::Field => TILE,
        }
    }
}

/// Blocks of the stream per tile of `samples`.
pub(super) const fn tile_blocks<W: Word>(coefficients: Coefficients<'_>) -> usize {
    TILE * SAMPLE_WEIGHT * size_of::<W>() / Block::LEN + coefficients.blocks()
}

/// The element of the subfield that a public word represents.
#[inline(always)]
pub(super) fn lookup(tables: &[[Block; 256]; 2], word: u16) -> Block {
    let [low, high] = word.to_le_bytes();
    tables[0][usize::from(low)] ^ tables[1][usize::from(high)]
}
