//! The 128-bit word of all symmetric primitives.

use std::fmt;
use std::ops::{BitAnd, BitXor, BitXorAssign};

/// 128 bits. As an element of GF(2^128), bit i is the coefficient of X^i.
///
/// Its `Debug` form hides the value, which may be secret.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Block(u128);

impl Block {
    /// All bits zero.
    pub const ZERO: Block = Block(0);

    /// The one of GF(2^128).
    pub const ONE: Block = Block(1);

    /// Length in bytes.
    pub const LEN: usize = 16;

    /// The block of these 128 bits.
    #[inline]
    pub const fn new(bits: u128) -> Self {
        Self(bits)
    }

    /// The 128 bits.
    #[inline]
    pub const fn get(self) -> u128 {
        self.0
    }

    /// The block of 16 bytes, least significant first.
    #[inline]
    pub const fn from_le_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_le_bytes(bytes))
    }

    /// The 16 bytes, least significant first.
    #[inline]
    pub const fn to_le_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// Bit `i`, 0 being the least significant; bits from 128 on are zero.
    #[inline]
    pub const fn bit(self, i: u32) -> bool {
        i < 128 && self.0 >> i & 1 == 1
    }

    /// All ones for `true`, zero for `false`, in constant time.
    #[inline]
    pub const fn mask(bit: bool) -> Self {
        Self((bit as u128).wrapping_neg())
    }

    /// `len` zero blocks; does not write to fresh pages of the operating system.
    pub fn zeros(len: usize) -> Vec<Block> {
        let mut words = std::mem::ManuallyDrop::new(vec![0_u128; len]);
        let (start, capacity) = (words.as_mut_ptr().cast(), words.capacity());
        // SAFETY: `Block` is a transparent u128, and nothing else drops the words.
        unsafe { Vec::from_raw_parts(start, len, capacity) }
    }

    /// The blocks as bytes: [`to_le_bytes`](Block::to_le_bytes) of each in order.
    #[inline]
    pub fn as_bytes(blocks: &[Block]) -> &[u8] {
        const { assert!(cfg!(target_endian = "little")) };
        // SAFETY: `Block` is a transparent u128, every byte of which is initialised.
        unsafe { std::slice::from_raw_parts(blocks.as_ptr().cast(), size_of_val(blocks)) }
    }

    /// The blocks as mutable bytes.
    #[inline]
    pub fn as_bytes_mut(blocks: &mut [Block]) -> &mut [u8] {
        const { assert!(cfg!(target_endian = "little")) };
        // SAFETY: as above, and every bit pattern is a valid u128.
        unsafe { std::slice::from_raw_parts_mut(blocks.as_mut_ptr().cast(), size_of_val(blocks)) }
    }
}

impl zeroize::DefaultIsZeroes for Block {}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Block(..)")
    }
}

impl BitXor for Block {
    type Output = Block;
    #[inline]
    fn bitxor(self, other: Block) -> Block {
        Block(self.0 ^ other.0)
    }
}

impl BitXorAssign for Block {
    #[inline]
    fn bitxor_assign(&mut self, other: Block) {
        self.0 ^= other.0;
    }
}

impl BitAnd for Block {
    type Output = Block;
    #[inline]
    fn bitand(self, other: Block) -> Block {
        Block(self.0 & other.0)
    }
}
