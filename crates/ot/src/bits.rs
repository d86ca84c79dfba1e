use std::fmt;
use vesica_core::Block;
use zeroize::Zeroize;

/// A list of secret bits, 128 to a block; wiped on drop, never printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Bits {
    blocks: Vec<Block>,
    len: usize,
}

impl Bits {
    /// The first `len` bits of `blocks`: bit i is bit i mod 128 of block i / 128.
    ///
    /// # Panics
    /// If `blocks` has fewer than `len` bits.
    pub fn new(mut blocks: Vec<Block>, len: usize) -> Self {
        assert!(len <= blocks.len() * 128, "enough blocks for the bits");
        blocks.truncate(len.div_ceil(128));
        if let Some(last) = blocks.last_mut()
            && !len.is_multiple_of(128)
        {
            *last = *last & Block::new((1 << (len % 128)) - 1);
        }
        Self { blocks, len }
    }

    /// Number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bit `i`.
    ///
    /// # Panics
    /// If `i` is out of range.
    #[inline]
    pub fn get(&self, i: usize) -> bool {
        assert!(i < self.len, "bit in range");
        self.blocks[i / 128].bit((i % 128) as u32)
    }

    /// Iterates over the bits.
    pub fn iter(&self) -> impl Iterator<Item = bool> {
        (0..self.len).map(|i| self.get(i))
    }

    /// The bits, 128 to a block; unused bits of the last block are zero.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Encoded length of `len` bits, in bytes.
    pub const fn bytes_len(len: usize) -> usize {
        len.div_ceil(8)
    }

    /// The bits, eight to a byte, the first in the lowest bit of the first byte.
    pub fn to_bytes(&self) -> Vec<u8> {
        Block::as_bytes(&self.blocks)[..Self::bytes_len(self.len)].to_vec()
    }

    /// The first `len` bits of `bytes`, the inverse of [`to_bytes`](Self::to_bytes); further bits
    /// are ignored.
    ///
    /// # Panics
    /// If the length of `bytes` is not [`bytes_len`](Self::bytes_len).
    pub fn from_bytes(bytes: &[u8], len: usize) -> Self {
        assert_eq!(bytes.len(), Self::bytes_len(len), "the encoded length of the bits");
        let mut blocks = vec![Block::ZERO; len.div_ceil(128)];
        Block::as_bytes_mut(&mut blocks)[..bytes.len()].copy_from_slice(bytes);
        Self::new(blocks, len)
    }

    /// The XOR of two lists of equal length.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn xor(&self, other: &Bits) -> Bits {
        assert_eq!(self.len, other.len, "lists of equal length");
        let sums = self.blocks.iter().zip(&other.blocks).map(|(a, b)| *a ^ *b);
        Bits { blocks: sums.collect(), len: self.len }
    }
}

impl FromIterator<bool> for Bits {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let mut blocks = Vec::new();
        let mut len = 0;
        for bit in bits {
            if len % 128 == 0 {
                blocks.push(Block::ZERO);
            }
            let last = blocks.last_mut().expect("a block was pushed for the first of 128 bits");
            *last ^= Block::new(u128::from(bit) << (len % 128));
            len += 1;
        }
        Self { blocks, len }
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bits({} bits)", self.len)
    }
}

impl Drop for Bits {
    fn drop(&mut self) {
        self.blocks.zeroize();
    }
}

/// The `width` bits of `blocks` that start at bit `start`, `width` ≤ 128.
#[inline]
pub(crate) fn bits_at(blocks: &[Block], start: usize, width: usize) -> u128 {
    let (block, shift) = (start / 128, start % 128);
    let low = blocks[block].get() >> shift;
    let crosses = shift + width > 128;
    let high = if crosses { blocks[block + 1].get() << (128 - shift) } else { 0 };
    (low | high) & (u128::MAX >> (128 - width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_survive_a_round_trip_to_bytes() {
        for len in [0, 1, 7, 8, 9, 127, 128, 129, 300] {
            let bits: Bits = (0..len).map(|i| i % 3 == 1 || i % 7 == 2).collect();
            assert_eq!(Bits::from_bytes(&bits.to_bytes(), len), bits);
            assert!(bits.iter().enumerate().all(|(i, bit)| bit == (i % 3 == 1 || i % 7 == 2)));
        }
    }

    #[test]
    fn bits_beyond_the_last_are_dropped() {
        let bits = Bits::new(vec![Block::mask(true); 3], 130);
        assert_eq!(bits.blocks(), [Block::mask(true), Block::new(3)]);
        assert_eq!(Bits::from_bytes(&[0xff; 2], 9).blocks(), [Block::new(0x1ff)]);
    }

    #[test]
    fn debug_shows_no_bit() {
        assert_eq!(format!("{:?}", Bits::from_bytes(&[5], 3)), "Bits(3 bits)");
    }

    #[test]
    fn bits_at_reads_across_blocks() {
        let bits: Bits = (0..1280).map(|i| i % 5 == 0 || i % 11 == 3).collect();
        for width in [1, 8, 16, 80, 96, 127, 128] {
            for start in 0..=1280 - width {
                let bit = |j| u128::from(bits.get(start + j)) << j;
                let expected = (0..width).fold(0, |value, j| value | bit(j));
                assert_eq!(bits_at(bits.blocks(), start, width), expected, "{width} at {start}");
            }
        }
    }
}
