//! # Bloom filters and garbled Bloom filters
//!
//! B. H. Bloom, "Space/time trade-offs in hash coding with allowable errors", CACM 1970; C. Dong, L.
//! Chen, Z. Wen, "When private set intersection meets big data", ACM CCS 2013, §4.1.
//!
//! An item has k indices. In a [`Bloom`] filter the slots of a set's items are ones. In a
//! [`GarbledBloom`] filter a slot holds a string, and the strings of an item's slots sum to a value
//! that was put in for it; all that is not needed for this is random.
//!
//! **The set of indices, not the list.** Where two of the k hash functions agree, the index counts
//! once: a slot that is added twice vanishes from the sum. [`Indices`] gives each index once.
//!
//! **Blocks.** A large filter is cut into 2^b blocks of equally many slots, and all indices of an item
//! lie in one of them, which the leading b bits of the item's hash choose. A block fits in the
//! cache, and blocks are built side by side on all threads. The load of a block varies, and with it
//! the rate of false positives; `parameters/gbf` computes the mean exactly.

mod filter;
mod garbled;
mod indices;

pub use filter::Bloom;
pub use garbled::{GarbledBloom, NoFreeSlot, Share, sum};
pub use indices::{BloomHash, Indices};

/// The public shape of a filter: both parties compute it from the sizes alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BloomShape {
    hashes: usize,
    block_bits: u32,
    block_len: usize,
}

impl BloomShape {
    /// Most hash functions.
    pub const MAX_HASHES: usize = 256;

    /// `hashes` hash functions to at least `slots` slots, in as few blocks, a power of two, as their
    /// greatest length of `max_block_len` allows.
    ///
    /// # Panics
    /// If there are no hash functions or more than [`MAX_HASHES`](Self::MAX_HASHES), or no slots, or
    /// `max_block_len` is 0 or above 2^32.
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

    /// b: leading bits of an item's hash that choose its block.
    pub fn block_bits(&self) -> u32 {
        self.block_bits
    }

    /// Number of blocks, 2^b.
    pub fn blocks(&self) -> usize {
        1 << self.block_bits
    }

    /// Slots of a block.
    pub fn block_len(&self) -> usize {
        self.block_len
    }

    /// m, all slots.
    pub fn len(&self) -> usize {
        self.block_len << self.block_bits
    }

    /// Never true: there is at least one slot.
    pub fn is_empty(&self) -> bool {
        false
    }
}
