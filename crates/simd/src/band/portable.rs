//! Tables of all sums of four slots.

use super::row::{Row, from_start};
use super::window::{WORDS, Window};
use crate::Block;

/// For each group of four slots of a word: their sixteen sums.
type Word = [[Block; 16]; 16];

pub(super) struct Tables {
    window: Window,
    words: [Word; WORDS],
}

impl Default for Tables {
    fn default() -> Self {
        Self { window: Window::default(), words: [[[Block::ZERO; 16]; 16]; WORDS] }
    }
}

impl Tables {
    /// Sums for bands whose starts differ by less than a window.
    pub(super) fn sums(
        &mut self,
        slots: &[Block],
        rows: &[Row],
        starts: &[u32],
        out: &mut [Block],
    ) {
        let first = starts.iter().min().map_or(0, |start| *start as usize / 64);
        let last = starts.iter().max().map_or(0, |start| *start as usize / 64);
        for word in self.window.slide_up(first..last + 9) {
            prepare(&mut self.words[word % WORDS], slots, word);
        }
        for ((row, start), out) in rows.iter().zip(starts).zip(out) {
            let start = *start as usize;
            let first = start / 64;
            *out = self.sum(first, row[first % 8] & from_start(start))
                ^ self.whole_words(row, first)
                ^ self.sum(first + 8, row[first % 8] & !from_start(start));
        }
    }

    /// For each row of `word`, whose band starts at the row's own slot: the sum of the slots in
    /// later words.
    pub(super) fn later_sums(
        &mut self,
        slots: &[Block],
        word: usize,
        rows: &[Row],
        out: &mut [Block],
    ) {
        for later in self.window.slide_down(word + 1..word + 9) {
            prepare(&mut self.words[later % WORDS], slots, later);
        }
        for ((i, row), out) in rows.iter().enumerate().zip(out) {
            *out = self.whole_words(row, word) ^ self.sum(word + 8, row[word % 8] & !from_start(i));
        }
    }

    /// The sum over the seven words between the first and the last word of a band.
    fn whole_words(&self, row: &Row, first: usize) -> Block {
        (first + 1..first + 8).fold(Block::ZERO, |sum, word| sum ^ self.sum(word, row[word % 8]))
    }

    #[inline]
    fn sum(&self, word: usize, bits: u64) -> Block {
        let mut sum = Block::ZERO;
        for (group, sums) in self.words[word % WORDS].iter().enumerate() {
            sum ^= sums[(bits >> (4 * group)) as usize & 15];
        }
        sum
    }
}

fn prepare(tables: &mut Word, slots: &[Block], word: usize) {
    for (group, sums) in tables.iter_mut().enumerate() {
        let first = 64 * word + 4 * group;
        let slot = |i: usize| slots.get(first + i).copied().unwrap_or_default();
        for i in 0..4 {
            let slot = slot(i);
            for j in 0..1 << i {
                sums[1 << i | j] = sums[j] ^ slot;
            }
        }
    }
}
