use super::BloomShape;
use vesica_core::Block;
use vesica_simd::aes::Aes128;

/// Bits that remember indices, to find the few repeated ones.
const SEEN_BITS: usize = 1 << 13;

/// The hash functions of a filter, within a block.
///
/// Index j of an item is one of the two 64-bit words of Σ_r π(q_r) ⊕ q_r, q_r = row_r ⊕ (r ‖
/// ⌊j/2⌋), scaled to the length of a block. π is AES-128 under a public key, and the rows are
/// blocks of a hash of the item. Use two rows if someone who can hash 2^64 items chooses them: with
/// one row of 128 bits, they could find two items that share all indices.
pub struct BloomHash {
    pi: Aes128,
    hashes: usize,
    len: u64,
}

impl BloomHash {
    /// The hash functions for `shape` under the public `key`.
    pub fn new(shape: &BloomShape, key: Block) -> Self {
        Self { pi: Aes128::new(key), hashes: shape.hashes(), len: shape.block_len() as u64 }
    }
}

/// Computes the indices of one item at a time, in memory of its own.
pub struct Indices<'a> {
    hash: &'a BloomHash,
    words: Vec<Block>,
    part: Vec<Block>,
    seen: Vec<u64>,
    indices: Vec<u32>,
}

impl<'a> Indices<'a> {
    /// For items of a filter with these hash functions.
    pub fn new(hash: &'a BloomHash) -> Self {
        let blocks = hash.hashes.div_ceil(2) + 1;
        Self {
            hash,
            words: vec![Block::ZERO; blocks],
            part: vec![Block::ZERO; blocks],
            seen: vec![0; SEEN_BITS / 64],
            indices: Vec::with_capacity(hash.hashes),
        }
    }

    /// The set h*(x) of the distinct indices of the item with these rows, and a block that depends
    /// on the item but not on its indices.
    ///
    /// Takes longer if indices coincide, which depends on the item.
    pub fn compute(&mut self, rows: &[Block]) -> (&[u32], Block) {
        self.words.fill(Block::ZERO);
        for (r, row) in rows.iter().enumerate() {
            let input = |j: usize| *row ^ Block::new((r as u128) << 64 | j as u128);
            self.part.iter_mut().enumerate().for_each(|(j, block)| *block = input(j));
            self.hash.pi.mmo(&mut self.part);
            self.words.iter_mut().zip(&self.part).for_each(|(word, part)| *word ^= *part);
        }
        let (tag, words) = self.words.split_last().expect("one block more than the indices need");
        self.indices.clear();
        let halves =
            words.iter().flat_map(|block| [block.get() as u64, (block.get() >> 64) as u64]);
        for word in halves.take(self.hash.hashes) {
            let index = ((u128::from(word) * u128::from(self.hash.len)) >> 64) as u32;
            let (place, bit) = (index as usize % SEEN_BITS / 64, 1 << (index % 64));
            if self.seen[place] & bit != 0 && self.indices.contains(&index) {
                continue;
            }
            self.seen[place] |= bit;
            self.indices.push(index);
        }
        self.indices.iter().for_each(|index| self.seen[*index as usize % SEEN_BITS / 64] = 0);
        (&self.indices, *tag)
    }
}
