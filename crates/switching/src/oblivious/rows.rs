//! Rows of bits.

use std::fmt;
use vesica_core::Block;
use vesica_simd::aes::Aes128;
use zeroize::Zeroize;

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// Rows of the same number of bits, 64 to a word; each row starts at a new word. Secret, wiped when
/// dropped, never printed.
///
/// The unused bits of a row's last word are zero.
#[derive(Clone, PartialEq, Eq)]
pub struct Rows {
    words: Vec<u64>,
    len: usize,
    bits: u32,
}

impl Rows {
    /// `len` rows of `bits` zeros.
    pub fn zeros(len: usize, bits: u32) -> Self {
        Self { words: vec![0; len * words_of(bits)], len, bits }
    }

    /// `len` rows of `bits` bits from words; the first bit is the lowest of the first word. Bits
    /// beyond a row's length are dropped.
    ///
    /// # Panics
    /// If there are not `bits.div_ceil(64)` words per row.
    pub fn from_words(len: usize, bits: u32, words: Vec<u64>) -> Self {
        assert_eq!(Some(words.len()), len.checked_mul(words_of(bits)), "the words of each row");
        let mut rows = Self { words, len, bits };
        rows.trim();
        rows
    }

    /// One row per number: its lowest `bits` bits, `bits` ≤ 64.
    ///
    /// # Panics
    /// If `bits` is 0 or above 64.
    pub fn from_numbers(numbers: &[u64], bits: u32) -> Self {
        assert!((1..=64).contains(&bits), "a row of one word");
        Self::from_words(numbers.len(), bits, numbers.to_vec())
    }

    /// One row per block: its lowest `bits` bits, `bits` ≤ 128.
    ///
    /// # Panics
    /// If `bits` is 0 or above 128.
    pub fn from_blocks(blocks: &[Block], bits: u32) -> Self {
        assert!((1..=128).contains(&bits), "a row of at most two words");
        let words = blocks.iter().flat_map(|block| {
            let halves = [block.get() as u64, (block.get() >> WORD) as u64];
            halves.into_iter().take(words_of(bits))
        });
        Self::from_words(blocks.len(), bits, words.collect())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bits of each row.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Words of each row.
    pub fn words_per_row(&self) -> usize {
        words_of(self.bits)
    }

    /// The words of row `i`.
    ///
    /// # Panics
    /// If `i` is out of range.
    pub fn row(&self, i: usize) -> &[u64] {
        let words = self.words_per_row();
        &self.words[i * words..][..words]
    }

    /// The words of row `i`, mutable. Bits beyond the row's length must stay zero.
    ///
    /// # Panics
    /// If `i` is out of range.
    pub fn row_mut(&mut self, i: usize) -> &mut [u64] {
        let words = self.words_per_row();
        &mut self.words[i * words..][..words]
    }

    /// The words of all rows, one row after the other.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Row `i` as a number.
    ///
    /// # Panics
    /// If `i` is out of range, or rows are longer than 64 bits.
    pub fn number(&self, i: usize) -> u64 {
        assert!(self.bits <= 64, "a row is one word");
        self.row(i).first().copied().unwrap_or(0)
    }

    /// Row `i` as a block.
    ///
    /// # Panics
    /// If `i` is out of range, or rows are longer than 128 bits.
    pub fn block(&self, i: usize) -> Block {
        assert!(self.bits <= 128, "a row is at most two words");
        let words = self.row(i).iter().rev();
        Block::new(words.fold(0, |block, word| block << WORD | u128::from(*word)))
    }

    /// XORs `other` into the rows.
    ///
    /// # Panics
    /// If the sizes differ.
    pub fn xor_with(&mut self, other: &Rows) {
        assert!(
            self.len == other.len && self.bits == other.bits,
            "rows of the same number and length"
        );
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word ^= other);
    }

    /// The rows at `places`, in that order.
    ///
    /// # Panics
    /// If a place is out of range.
    pub fn select(&self, places: &[u32]) -> Self {
        let mut words = Vec::with_capacity(places.len() * self.words_per_row());
        for place in places {
            words.extend_from_slice(self.row(*place as usize));
        }
        Self { words, len: places.len(), bits: self.bits }
    }

    /// Pseudorandom rows from a seed.
    pub(super) fn from_seed(seed: Block, len: usize, bits: u32) -> Self {
        let mut rows = Self::zeros(len, bits);
        let cipher = Aes128::new(seed);
        let mut stream = [Block::ZERO; 256];
        let mut first = 0;
        for words in rows.words.chunks_mut(2 * stream.len()) {
            cipher.ctr(first, &mut stream);
            first += stream.len() as u128;
            for (pair, block) in words.chunks_mut(2).zip(&stream) {
                pair[0] = block.get() as u64;
                if let Some(high) = pair.get_mut(1) {
                    *high = (block.get() >> WORD) as u64;
                }
            }
        }
        stream.zeroize();
        rows.trim();
        rows
    }

    /// The words of all rows, mutable.
    pub(super) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Drops the rows from `len` on.
    pub(super) fn truncate(&mut self, len: usize) {
        let kept = len.min(self.len) * self.words_per_row();
        // Truncation alone would leave the dropped rows in memory.
        self.words[kept..].zeroize();
        self.words.truncate(kept);
        self.len = len.min(self.len);
    }

    /// Clears the bits beyond each row's length.
    fn trim(&mut self) {
        let mask = last_word_mask(self.bits);
        if mask == u64::MAX {
            return;
        }
        let words = self.words_per_row();
        self.words.iter_mut().skip(words - 1).step_by(words).for_each(|last| *last &= mask);
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.words.zeroize();
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rows({} of {} bits)", self.len, self.bits)
    }
}

/// Words per row.
pub(super) const fn words_of(bits: u32) -> usize {
    bits.div_ceil(u64::BITS) as usize
}

/// The used bits of a row's last word.
pub(super) const fn last_word_mask(bits: u32) -> u64 {
    match bits % u64::BITS {
        0 => u64::MAX,
        rest => (1 << rest) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_return_the_values_they_were_made_of() {
        let numbers = Rows::from_numbers(&[5, u64::MAX, 7], 61);
        assert_eq!((numbers.len(), numbers.bits(), numbers.words_per_row()), (3, 61, 1));
        assert_eq!(numbers.number(1), u64::MAX >> 3);
        let blocks = Rows::from_blocks(&[Block::new(u128::MAX), Block::new(1 << 70)], 71);
        assert_eq!(blocks.block(0), Block::new(u128::MAX >> 57));
        assert_eq!(blocks.block(1), Block::new(1 << 70));
        assert_eq!(blocks.row(1), [0, 64]);
        let long = Rows::from_words(1, 130, vec![1, 2, u64::MAX]);
        assert_eq!(long.words(), [1, 2, 3]);
    }

    #[test]
    fn rows_are_selected_and_added() {
        let rows = Rows::from_numbers(&[5, 6, 7], 8);
        let mut selected = rows.select(&[2, 0, 2]);
        assert_eq!(selected, Rows::from_numbers(&[7, 5, 7], 8));
        selected.xor_with(&rows);
        assert_eq!(selected, Rows::from_numbers(&[2, 3, 0], 8));
    }

    #[test]
    fn rows_of_a_seed_are_one_stream_of_words() {
        let seed = Block::new(77);
        let long = Rows::from_seed(seed, 1000, 64);
        assert_eq!(Rows::from_seed(seed, 500, 128).words(), long.words());
        assert_eq!(Rows::from_seed(seed, 999, 64).words(), &long.words()[..999]);
        let mut distinct = long.words().to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 1000);
        assert!(Rows::from_seed(seed, 100, 61).words().iter().all(|word| word >> 61 == 0));
    }

    #[test]
    fn debug_shows_no_bit() {
        assert_eq!(format!("{:?}", Rows::from_numbers(&[5], 8)), "Rows(1 of 8 bits)");
    }
}
