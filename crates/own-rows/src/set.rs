//! A set of rows of a party's own file, one bit for each row.

use std::fmt;

/// Rows of this party's file: one bit for each row, in the order of the file. Rows count from 0,
/// without the header.
#[derive(Clone, PartialEq, Eq)]
pub struct RowSet {
    words: Vec<u64>,
    len: u64,
    keys: u64,
}

impl RowSet {
    /// Of `len` rows, those whose bit is set in `words`, which has ⌈`len`/64⌉ words; they have
    /// `keys` different keys.
    pub fn new(words: Vec<u64>, len: u64, keys: u64) -> Self {
        debug_assert_eq!(words.len() as u64, len.div_ceil(64));
        Self { words, len, keys }
    }

    /// The rows with at least one set bit: row r has the bits r·`per_row` to (r+1)·`per_row` − 1 of
    /// `words`, which has a bit for each of `entries`.
    pub fn of_entries(words: Vec<u64>, entries: u64, per_row: u64, keys: u64) -> Self {
        if per_row <= 1 {
            return Self::new(words, entries, keys);
        }
        let len = entries / per_row;
        let bit = |entry: u64| words[(entry / 64) as usize] >> (entry % 64) & 1;
        let mut rows = vec![0; len.div_ceil(64) as usize];
        for row in 0..len {
            let first = row * per_row;
            let any = (first..first + per_row).fold(0, |any, entry| any | bit(entry));
            rows[(row / 64) as usize] |= any << (row % 64);
        }
        Self::new(rows, len, keys)
    }

    /// The bits: ⌈[`len`](Self::len)/64⌉ words. Row r has bit r mod 64, from the lowest, of word
    /// ⌊r/64⌋; bits beyond the last row are 0.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Number of rows in the file, in the set or not.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file has no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of different keys in the rows of the set; at most [`count`](Self::count).
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// Number of rows in the set.
    pub fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Whether `row` is in the set; `false` beyond the last row.
    pub fn contains(&self, row: u64) -> bool {
        let word = usize::try_from(row / 64).ok().and_then(|word| self.words.get(word));
        word.is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// The rows in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        (0..self.len).filter(|row| self.contains(*row))
    }
}

impl fmt::Debug for RowSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rows({} of {})", self.count(), self.len)
    }
}
