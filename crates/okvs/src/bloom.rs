//! # Bloom filters and garbled Bloom filters
//!
//! B. H. Bloom, "Space/time trade-offs in hash coding with allowable errors", CACM 1970; C. Dong,
//! L. Chen, Z. Wen, "When private set intersection meets big data", ACM CCS 2013, §4.1.
//!
//! An item has k indices. In a [`Bloom`] filter the slots at the indices of all items are ones. In
//! a [`GarbledBloom`] filter a slot holds a string, and the strings at an item's indices sum to the
//! item's value; everything else is random.
//!
//! **The set of indices, not the list.** If two of the k hash functions agree, the index counts
//! once: a slot that is added twice cancels out of the sum. [`Indices`] returns each index once.
//!
//! **Blocks.** A large filter consists of 2^b blocks of equal length. The leading b bits of an
//! item's hash select one block, which holds all indices of the item. A block fits into the cache,
//! and all threads build blocks in parallel. The load of a block varies, and with it the rate of
//! false positives; `parameters/gbf` computes the mean exactly.

mod filter;
mod garbled;
mod indices;

pub use filter::Bloom;
pub use garbled::{GarbledBloom, NoFreeSlot, Share, sum};
pub use indices::{BloomHash, Indices};

/// The public parameters of a filter, which both parties compute from the sizes alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BloomShape {
    hashes: usize,
    block_bits: u32,
    block_len: usize,
}

impl BloomShape {
    /// Maximum number of hash functions.
    pub const MAX_HASHES: usize = 256;

    /// `hashes` hash functions and at least `slots` slots, in the smallest power of two of blocks
    /// of at most `max_block_len` slots.
    ///
    /// # Panics
    /// If the number of hash functions is not from 1 to [`MAX_HASHES`](Self::MAX_HASHES), if there
    /// are no slots, or if `max_block_len` is not from 1 to 2^32.
    pub fn new(hashes: usize, slots: u64, max_block_len: u64) -> Self {
        assert!((1..=Self::MAX_HASHES).contains(&hashes), "1 to 256 hash functions");
        assert!(slots > 0 && (1..=1 << 32).contains(&max_block_len), "blocks of 1 to 2^32 slots");
        let block_bits = slots.div_ceil(max_block_len).next_power_of_two().ilog2();
        let block_len = slots.div_ceil(1 << block_bits) as usize;
        Self { hashes, block_bits, block_len }
    }

    /// k, the number of hash functions.
    pub fn hashes(&self) -> usize {
        self.hashes
    }

    /// b: the leading bits of an item's hash that select its block.
    pub fn block_bits(&self) -> u32 {
        self.block_bits
    }

    /// Number of blocks, 2^b.
    pub fn blocks(&self) -> usize {
        1 << self.block_bits
    }

    /// Slots per block.
    pub fn block_len(&self) -> usize {
        self.block_len
    }

    /// m, the number of slots.
    pub fn len(&self) -> usize {
        self.block_len << self.block_bits
    }

    /// Always false: there is at least one slot.
    pub fn is_empty(&self) -> bool {
        false
    }
}
