//! Rows on the wire: consecutive bits, without gaps.

use super::rows::{last_word_mask, words_of};

/// Bytes that `len` packed rows take.
pub(super) const fn bytes_len(len: usize, bits: u32) -> usize {
    (len * bits as usize).div_ceil(8)
}

/// Packs the rows of `words` into `bytes`, which is overwritten.
pub(super) fn pack(words: &[u64], bits: u32, bytes: &mut Vec<u8>) {
    let len = words.len() / words_of(bits);
    if bits.is_multiple_of(64) {
        // Not cleared first: most messages have the same length as the last one.
        bytes.resize(bytes_len(len, bits), 0);
        let (chunks, _) = bytes.as_chunks_mut::<8>();
        chunks.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
        return;
    }
    bytes.clear();
    bytes.reserve(bytes_len(len, bits) + 8);
    let (mut gathered, mut filled) = (0_u64, 0);
    let last = bits % 64;
    let mut push = |word: u64, bits: u32| {
        gathered |= word << filled;
        filled += bits;
        if filled >= 64 {
            bytes.extend_from_slice(&gathered.to_le_bytes());
            filled -= 64;
            // The bits that did not fit; a shift by 64 would have no effect.
            gathered = if filled == 0 { 0 } else { word >> (bits - filled) };
        }
    };
    for row in words.chunks_exact(words_of(bits)) {
        if let [full @ .., tail] = row {
            full.iter().for_each(|word| push(*word, 64));
            push(*tail, last);
        }
    }
    bytes.extend_from_slice(&gathered.to_le_bytes()[..filled.div_ceil(8) as usize]);
}

/// Unpacks rows into `words`; bits beyond the last row are ignored.
///
/// The length of `bytes` must be [`bytes_len`].
pub(super) fn unpack(bytes: &[u8], bits: u32, words: &mut [u64]) {
    let mut source = Source { bytes, gathered: 0, filled: 0 };
    if bits.is_multiple_of(64) {
        let (chunks, _) = bytes.as_chunks::<8>();
        words.iter_mut().zip(chunks).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
        return;
    }
    let (last, mask) = (bits % 64, last_word_mask(bits));
    for row in words.chunks_exact_mut(words_of(bits)) {
        if let [full @ .., tail] = row {
            full.iter_mut().for_each(|word| *word = source.take(64));
            *tail = source.take(last) & mask;
        }
    }
}

struct Source<'a> {
    bytes: &'a [u8],
    gathered: u64,
    filled: u32,
}

impl Source<'_> {
    /// The next `bits` bits; the bits above them are arbitrary.
    #[inline]
    fn take(&mut self, bits: u32) -> u64 {
        let low = self.gathered;
        if self.filled >= bits {
            self.filled -= bits;
            // The shift is below 64, because `filled` is always below 64.
            self.gathered = low >> bits;
            return low;
        }
        let next = match self.bytes.split_first_chunk::<8>() {
            Some((word, rest)) => {
                self.bytes = rest;
                u64::from_le_bytes(*word)
            }
            None => {
                let rest = std::mem::take(&mut self.bytes);
                rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
            }
        };
        let word = low | next << self.filled;
        let used = bits - self.filled;
        self.gathered = if used == 64 { 0 } else { next >> used };
        self.filled = 64 - used;
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oblivious::Rows;
    use vesica_core::Block;

    #[test]
    fn packed_rows_take_only_their_bits_and_unpack_unchanged() {
        for bits in [1, 7, 8, 61, 63, 64, 65, 100, 127, 128, 129, 200, 256] {
            for len in [0, 1, 2, 3, 63, 64, 65, 200] {
                let rows = Rows::from_seed(Block::new(bits.into()), len, bits);
                let mut bytes = vec![1; 3];
                pack(rows.words(), bits, &mut bytes);
                assert_eq!(bytes.len(), bytes_len(len, bits), "{len} rows of {bits} bits");
                let mut words = vec![u64::MAX; rows.words().len()];
                unpack(&bytes, bits, &mut words);
                assert_eq!(words, rows.words(), "{len} rows of {bits} bits");
            }
        }
    }

    #[test]
    fn bit_i_of_packed_rows_is_bit_i_of_the_rows() {
        let rows = Rows::from_seed(Block::new(9), 20, 71);
        let mut bytes = Vec::new();
        pack(rows.words(), 71, &mut bytes);
        for i in 0..20 * 71 {
            let (row, bit) = (i / 71, i % 71);
            let expected = rows.row(row)[bit / 64] >> (bit % 64) & 1;
            assert_eq!(u64::from(bytes[i / 8] >> (i % 8) & 1), expected, "bit {i}");
        }
    }
}
