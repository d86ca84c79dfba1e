//! The bits of gates with an input that the garbler knows.

use crate::Block;

/// Bits that the garbler knows, 128 to a block, least significant first.
#[derive(Clone, Copy)]
pub struct KnownBits<'a> {
    /// The bits.
    pub blocks: &'a [Block],
    /// The index of the first bit to use.
    pub first: usize,
}

impl KnownBits<'_> {
    /// Bit `i`, counted from `first`.
    #[inline]
    pub(super) fn get(&self, i: usize) -> bool {
        let i = self.first + i;
        self.blocks[i / 128].bit((i % 128) as u32)
    }
}
