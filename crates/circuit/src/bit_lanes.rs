//! Lanes of plain bits, 64 to a word.

use crate::Lanes;
use vesica_core::Block;
use vesica_ot::Bits;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// One bit per lane: cleartext values, or one party's shares of them.
///
/// Bits beyond the last lane are zero. Wiped when dropped.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct BitLanes {
    words: Vec<u64>,
    len: usize,
}

impl Drop for BitLanes {
    fn drop(&mut self) {
        // `Vec`'s own zeroize would wipe the spare capacity again, byte by byte.
        self.words.as_mut_slice().zeroize();
    }
}

impl ZeroizeOnDrop for BitLanes {}

impl BitLanes {
    /// `bit` in each of `len` lanes.
    pub fn constant(bit: bool, len: usize) -> Self {
        let words = vec![if bit { u64::MAX } else { 0 }; len.div_ceil(WORD)];
        Self { words, len }.trimmed()
    }

    /// Lanes from packed words: 64 lanes per word, the first in the lowest bit.
    ///
    /// # Panics
    /// If `words` has fewer than `len` bits.
    pub fn from_words(mut words: Vec<u64>, len: usize) -> Self {
        assert!(words.len() >= len.div_ceil(WORD), "enough words for the lanes");
        words.truncate(len.div_ceil(WORD));
        Self { words, len }.trimmed()
    }

    /// The lanes, packed 64 to a word.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Lane `i`.
    ///
    /// # Panics
    /// If `i` is out of range.
    pub fn get(&self, i: usize) -> bool {
        assert!(i < self.len, "lane in range");
        self.words[i / WORD] >> (i % WORD) & 1 == 1
    }

    /// Iterates over the lanes.
    pub fn iter(&self) -> impl Iterator<Item = bool> {
        (0..self.len).map(|i| self.get(i))
    }

    /// a ⊕ b.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn xor(&self, other: &Self) -> Self {
        self.with(other, |a, b| a ^ b)
    }

    /// a ∧ b.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn and(&self, other: &Self) -> Self {
        self.with(other, |a, b| a & b)
    }

    /// ¬a.
    pub fn not(&self) -> Self {
        let words = self.words.iter().map(|word| !word).collect();
        Self { words, len: self.len }.trimmed()
    }

    fn with(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        assert_eq!(self.len, other.len, "the same number of lanes");
        let words = self.words.iter().zip(&other.words).map(|(a, b)| f(*a, *b)).collect();
        Self { words, len: self.len }
    }

    /// Clears the bits beyond the last lane.
    fn trimmed(mut self) -> Self {
        if let Some(last) = self.words.last_mut()
            && !self.len.is_multiple_of(WORD)
        {
            *last &= (1 << (self.len % WORD)) - 1;
        }
        self
    }
}

impl std::fmt::Debug for BitLanes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BitLanes({} lanes)", self.len)
    }
}

impl FromIterator<bool> for BitLanes {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let bits = bits.into_iter();
        // Reserve the full length: a list that grows leaves copies behind.
        let room = bits.size_hint().0.div_ceil(WORD);
        let mut lanes = Self { words: Vec::with_capacity(room), len: 0 };
        for bit in bits {
            if lanes.len.is_multiple_of(WORD) {
                lanes.words.push(0);
            }
            if let Some(last) = lanes.words.last_mut() {
                *last |= u64::from(bit) << (lanes.len % WORD);
            }
            lanes.len += 1;
        }
        lanes
    }
}

impl From<&Bits> for BitLanes {
    fn from(bits: &Bits) -> Self {
        let halves = bits.blocks().iter().flat_map(|block| {
            let bits = block.get();
            [bits as u64, (bits >> WORD) as u64]
        });
        Self::from_words(halves.collect(), bits.len())
    }
}

impl From<&BitLanes> for Bits {
    fn from(lanes: &BitLanes) -> Self {
        let blocks = lanes.words.chunks(2).map(|pair| {
            let high = pair.get(1).copied().unwrap_or(0);
            Block::new(u128::from(pair[0]) | u128::from(high) << WORD)
        });
        Bits::new(blocks.collect(), lanes.len)
    }
}

impl Lanes for BitLanes {
    fn len(&self) -> usize {
        self.len
    }

    fn slice(&self, first: usize, len: usize) -> Self {
        assert!(first + len <= self.len, "lanes in range");
        let mut words = vec![0; len.div_ceil(WORD)];
        copy(&mut words, 0, &self.words, first, len);
        Self { words, len }
    }

    fn put(&mut self, first: usize, lanes: &Self) {
        assert!(first + lanes.len <= self.len, "lanes in range");
        copy(&mut self.words, first, &lanes.words, 0, lanes.len);
    }

    fn concat(parts: &[Self]) -> Self {
        let len = parts.iter().map(|part| part.len).sum();
        let mut all = Self::constant(false, len);
        let mut first = 0;
        for part in parts {
            all.put(first, part);
            first += part.len;
        }
        all
    }

    fn gather(&self, places: &[u32]) -> Self {
        places.iter().map(|place| self.get(*place as usize)).collect()
    }

    fn scatter(&mut self, places: &[u32], lanes: &Self) {
        assert_eq!(places.len(), lanes.len, "a place for each lane");
        for (i, place) in places.iter().enumerate() {
            let place = *place as usize;
            assert!(place < self.len, "lane in range");
            let bit = lanes.words[i / WORD] >> (i % WORD) & 1;
            let word = &mut self.words[place / WORD];
            *word = *word & !(1 << (place % WORD)) | bit << (place % WORD);
        }
    }

    fn halves(&self, stride: usize) -> [Self; 2] {
        assert!(stride.is_power_of_two(), "a power of two");
        let pairs = paired(self.len, stride);
        let mut halves = [(); 2].map(|()| Self::constant(false, pairs));
        if stride < WORD {
            for (i, word) in self.words.iter().enumerate() {
                for (half, word) in halves.iter_mut().zip([*word, word >> stride]) {
                    if let Some(out) = half.words.get_mut(i / 2) {
                        *out |= compress(word, stride) << (WORD / 2 * (i % 2));
                    }
                }
            }
            return halves.map(Self::trimmed);
        }
        for (to, from, len) in blocks(self.len, stride) {
            copy(&mut halves[0].words, to, &self.words, from, len);
            copy(&mut halves[1].words, to, &self.words, from + stride, len);
        }
        halves
    }

    fn put_halves(&mut self, stride: usize, halves: [&Self; 2]) {
        assert!(stride.is_power_of_two(), "a power of two");
        let pairs = paired(self.len, stride);
        assert!(
            halves.iter().all(|half| half.len == pairs),
            "halves of the length that `halves` returned"
        );
        if stride < WORD {
            let all = Self::constant(true, pairs);
            for (i, word) in self.words.iter_mut().enumerate() {
                let part = |half: &Self| {
                    let word = half.words.get(i / 2).copied().unwrap_or(0);
                    expand(word >> (WORD / 2 * (i % 2)), stride)
                };
                let (mask, [lo, hi]) = (part(&all), halves.map(part));
                *word = *word & !(mask | mask << stride) | lo | hi << stride;
            }
            return;
        }
        for (to, from, len) in blocks(self.len, stride) {
            copy(&mut self.words, from, &halves[0].words, to, len);
            copy(&mut self.words, from + stride, &halves[1].words, to, len);
        }
    }
}

/// Number of lanes, of `len`, that have a partner `stride` lanes later in their block of
/// 2·`stride`.
pub(crate) fn paired(len: usize, stride: usize) -> usize {
    let rest = len % (2 * stride);
    len / (2 * stride) * stride + rest.saturating_sub(stride)
}

/// For each block of 2·`stride` lanes: the index of its first pair in the list of pairs, its first
/// lane, and its number of pairs.
pub(crate) fn blocks(len: usize, stride: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..len.div_ceil(2 * stride)).map(move |block| {
        let first = block * 2 * stride;
        (block * stride, first, paired((len - first).min(2 * stride), stride))
    })
}

/// Packs the `stride` lowest bits of every 2·`stride` into the low half.
fn compress(word: u64, stride: usize) -> u64 {
    let mut word = word & pattern(stride);
    let mut len = stride;
    while len < WORD / 2 {
        word = (word | word >> len) & pattern(2 * len);
        len *= 2;
    }
    word
}

/// The inverse of [`compress`] for the low half of a word.
fn expand(word: u64, stride: usize) -> u64 {
    let mut word = word & u64::from(u32::MAX);
    let mut len = WORD / 2;
    while len > stride {
        len /= 2;
        word = (word | word << len) & pattern(len);
    }
    word
}

/// `len` ones, then `len` zeros, and so on, from the lowest bit.
fn pattern(len: usize) -> u64 {
    u64::MAX / ((1 << len) + 1)
}

/// Copies `len` bits.
fn copy(to: &mut [u64], to_first: usize, from: &[u64], from_first: usize, len: usize) {
    let mut done = 0;
    while done < len {
        let (word, bit) = ((to_first + done) / WORD, (to_first + done) % WORD);
        let n = (WORD - bit).min(len - done);
        let mask = if n == WORD { u64::MAX } else { (1 << n) - 1 };
        let bits = word_at(from, from_first + done) & mask;
        to[word] = to[word] & !(mask << bit) | bits << bit;
        done += n;
    }
}

/// The 64 bits that start at bit `first`; zeros beyond the end.
fn word_at(words: &[u64], first: usize) -> u64 {
    let (word, bit) = (first / WORD, first % WORD);
    let low = words[word] >> bit;
    match (bit, words.get(word + 1)) {
        (0, _) | (_, None) => low,
        (_, Some(next)) => low | next << (WORD - bit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(len: usize) -> BitLanes {
        (0..len).map(|i| (i * i + i / 3) % 5 < 2).collect()
    }

    #[test]
    fn slices_hold_the_named_lanes() {
        let all = lanes(300);
        for (first, len) in [(0, 300), (0, 64), (64, 64), (1, 0), (63, 130), (299, 1), (77, 200)] {
            let expected: BitLanes = all.iter().skip(first).take(len).collect();
            assert_eq!(all.slice(first, len), expected);
            let mut put = all.not();
            put.put(first, &expected);
            let wanted: BitLanes =
                (0..300).map(|i| all.get(i) ^ !(first..first + len).contains(&i)).collect();
            assert_eq!(put, wanted);
        }
        assert_eq!(BitLanes::concat(&[all.slice(0, 77), all.slice(77, 223)]), all);
    }

    #[test]
    fn halves_split_lanes_by_the_stride_bit_of_their_index() {
        for len in [0, 1, 2, 3, 5, 31, 32, 63, 64, 65, 100, 127, 128, 129, 200, 300, 513] {
            let all = lanes(len);
            for stride in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
                let pairs: Vec<usize> =
                    (0..len).filter(|i| i & stride == 0 && i + stride < len).collect();
                let lo: BitLanes = pairs.iter().map(|i| all.get(*i)).collect();
                let hi: BitLanes = pairs.iter().map(|i| all.get(i + stride)).collect();
                assert_eq!(all.halves(stride), [lo.clone(), hi.clone()], "{len} by {stride}");
                let mut swapped = all.clone();
                swapped.put_halves(stride, [&hi, &lo]);
                let mut expected: Vec<bool> = all.iter().collect();
                pairs.iter().for_each(|i| expected.swap(*i, i + stride));
                assert_eq!(swapped, expected.into_iter().collect(), "{len} by {stride}");
            }
        }
    }

    #[test]
    fn scattering_undoes_gathering() {
        let all = lanes(200);
        let places: Vec<u32> = (0..200).map(|i| i * 77 % 200).collect();
        let gathered = all.gather(&places);
        assert_ne!(gathered, all);
        let mut back = BitLanes::constant(false, 200);
        back.scatter(&places, &gathered);
        assert_eq!(back, all);
    }

    #[test]
    fn bits_and_lanes_convert_into_each_other() {
        for len in [0, 1, 64, 127, 128, 129, 300] {
            let all = lanes(len);
            let bits = Bits::from(&all);
            assert!(bits.iter().eq(all.iter()));
            assert_eq!(BitLanes::from(&bits), all);
        }
    }
}
