//! The places in a buffer where an unquoted cell can end.

/// A bit for each byte of a buffer, set for the delimiter, LF and CR.
#[derive(Default)]
pub struct Marks {
    /// Byte b has bit b mod 64 of word ⌊b/64⌋.
    words: Vec<u64>,
}

impl Marks {
    /// The marks of `data`.
    pub fn of(data: &[u8], delimiter: u8) -> Self {
        let mut marks = Self::default();
        marks.set(data, delimiter);
        marks
    }

    /// Makes these the marks of `data`.
    pub fn set(&mut self, data: &[u8], delimiter: u8) {
        self.words.clear();
        let (blocks, rest) = data.as_chunks();
        self.words.extend(blocks.iter().map(|block| word(block, delimiter)));
        let mut last = [0; 64];
        last[..rest.len()].copy_from_slice(rest);
        // The delimiter may be any byte but 0.
        self.words.push(word(&last, delimiter));
    }

    /// The marked bytes at or after `from`, ascending.
    #[inline]
    pub fn from(&self, from: usize) -> MarksFrom<'_> {
        let word = from / 64;
        let bits = self.words.get(word).map_or(0, |bits| bits & u64::MAX << (from % 64));
        MarksFrom { words: &self.words, word, bits }
    }
}

/// The result of [`Marks::from`].
pub struct MarksFrom<'a> {
    words: &'a [u64],
    /// Position of the word of `bits`, which are left of it.
    word: usize,
    bits: u64,
}

impl Iterator for MarksFrom<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.bits == 0 {
            self.word += 1;
            self.bits = *self.words.get(self.word)?;
        }
        let at = self.word * 64 + self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        Some(at)
    }
}

/// The marks of a block. All bytes take the same steps, so that the compiler makes vectors of them.
#[inline]
fn word(block: &[u8; 64], delimiter: u8) -> u64 {
    let mut ends = [0; 64];
    for i in 0..64 {
        ends[i] = u8::from((block[i] == delimiter) | (block[i] == b'\n') | (block[i] == b'\r'));
    }
    let (parts, _) = ends.as_chunks();
    let mut word = 0;
    for (part, place) in parts.iter().zip((0..).step_by(8)) {
        // Moves bit 0 of each byte i to bit 56 + i; no other product gets there.
        let gathered = u64::from_le_bytes(*part).wrapping_mul(0x0102_0408_1020_4080);
        word |= (gathered >> 56) << place;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_is_marked_and_nothing_else() {
        for len in [0, 1, 63, 64, 65, 200] {
            for delimiter in [b',', b'\t', 0xff, 1] {
                // Every byte value at other places for other lengths.
                let data: Vec<u8> = (0..len).map(|i| (i * 7 + len) as u8).collect();
                let marks = Marks::of(&data, delimiter);
                for from in 0..=len + 130 {
                    let is_end = |byte: &u8| [delimiter, b'\n', b'\r'].contains(byte);
                    let expected = (from..len).filter(|at| is_end(&data[*at]));
                    assert!(marks.from(from).eq(expected), "{from} of {len}");
                }
            }
        }
    }
}
