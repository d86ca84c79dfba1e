use zeroize::Zeroize;

/// A Bloom filter: one bit per slot; wiped on drop.
pub struct Bloom {
    words: Vec<u64>,
    len: usize,
}

impl Bloom {
    /// The filter of the empty set, with `len` slots.
    pub fn new(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }

    /// Number of slots.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no slots.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Inserts the item with these indices.
    ///
    /// # Panics
    /// If an index is not below the number of slots, rounded up to whole words.
    #[inline]
    pub fn insert(&mut self, indices: &[u32]) {
        indices.iter().for_each(|i| self.words[*i as usize / 64] |= 1 << (i % 64));
    }

    /// Slot `i`.
    ///
    /// # Panics
    /// If `i` is out of range.
    #[inline]
    pub fn get(&self, i: usize) -> bool {
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// Whether all slots at these indices are ones: true for every inserted item, and for few
    /// others.
    #[inline]
    pub fn contains(&self, indices: &[u32]) -> bool {
        indices.iter().all(|i| self.get(*i as usize))
    }

    /// Number of ones.
    pub fn count_ones(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The slots, packed 64 to a word, the first in the lowest bit; bits beyond the last slot are
    /// zero.
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

impl Drop for Bloom {
    fn drop(&mut self) {
        self.words.zeroize();
    }
}
