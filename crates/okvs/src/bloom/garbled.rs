use std::ops::{BitXor, BitXorAssign};
use vesica_core::Block;
use vesica_simd::aes::Aes128;
use zeroize::Zeroize;

/// The word type of a garbled filter: narrower words take less memory and cache.
pub trait Share:
    Copy + Default + Eq + BitXor<Output = Self> + BitXorAssign + Zeroize + Send + Sync
{
    /// Length in bytes.
    const LEN: usize;

    /// The low bits of `block`.
    fn low(block: Block) -> Self;

    /// Fills `shares` with the stream of `prg`, from block `first` on.
    fn fill(prg: &Aes128, first: u128, shares: &mut [Self]);

    /// Writes the low bytes; `bytes` determines how many.
    ///
    /// # Panics
    /// If `bytes` is longer than [`LEN`](Self::LEN).
    fn write(self, bytes: &mut [u8]);

    /// Reads the output of [`write`](Self::write); the remaining bytes are zero.
    ///
    /// # Panics
    /// If `bytes` is longer than [`LEN`](Self::LEN).
    fn read(bytes: &[u8]) -> Self;
}

/// Blocks of a stream per step.
const STREAM_BLOCKS: usize = 256;

macro_rules! share {
    ($word:ty, $len:literal) => {
        impl Share for $word {
            const LEN: usize = $len;

            #[inline]
            fn low(block: Block) -> Self {
                block.get() as $word
            }

            fn fill(prg: &Aes128, first: u128, shares: &mut [Self]) {
                let mut stream = [Block::ZERO; STREAM_BLOCKS];
                let mut next = first;
                for shares in shares.chunks_mut(STREAM_BLOCKS * Block::LEN / $len) {
                    prg.ctr(next, &mut stream);
                    next += STREAM_BLOCKS as u128;
                    let (words, _) = Block::as_bytes(&stream).as_chunks();
                    for (share, word) in shares.iter_mut().zip(words) {
                        *share = <$word>::from_le_bytes(*word);
                    }
                }
                stream.zeroize();
            }

            #[inline]
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes()[..bytes.len()]);
            }

            #[inline]
            fn read(bytes: &[u8]) -> Self {
                let mut word = [0; $len];
                word[..bytes.len()].copy_from_slice(bytes);
                <$word>::from_le_bytes(word)
            }
        }
    };
}

share!(u64, 8);
share!(u128, 16);

/// All slots of an item belong to earlier items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an item found no free slot in the garbled Bloom filter")]
pub struct NoFreeSlot;

/// One block of a garbled Bloom filter; wiped on drop.
///
/// Insertion fails if the item is a false positive of the Bloom filter of the earlier items.
pub struct GarbledBloom<S: Share> {
    shares: Vec<S>,
    taken: Vec<u64>,
}

impl<S: Share> GarbledBloom<S> {
    /// The filter of the empty set, with `len` slots: the stream of the secret `prg` from block
    /// `first` on, of which it uses at most `len` blocks.
    pub fn new(len: usize, prg: &Aes128, first: u128) -> Self {
        let mut shares = vec![S::default(); len];
        S::fill(prg, first, &mut shares);
        Self { shares, taken: vec![0; len.div_ceil(64)] }
    }

    /// Inserts `value` for the item with these indices, which must be distinct.
    ///
    /// # Errors
    /// [`NoFreeSlot`]; the filter is then useless.
    ///
    /// # Panics
    /// If an index is not below the number of slots.
    #[inline]
    pub fn insert(&mut self, indices: &[u32], value: S) -> Result<(), NoFreeSlot> {
        let mut free = None;
        let mut rest = value;
        for i in indices {
            let (word, bit) = (&mut self.taken[*i as usize / 64], 1 << (i % 64));
            if *word & bit == 0 {
                free = Some(*i);
            }
            *word |= bit;
            rest ^= self.shares[*i as usize];
        }
        // A free slot is still random, so it can take any difference.
        self.shares[free.ok_or(NoFreeSlot)? as usize] ^= rest;
        Ok(())
    }

    /// The strings of all slots.
    pub fn shares(&self) -> &[S] {
        &self.shares
    }
}

/// The sum of the strings at these distinct indices: the value of an inserted item; random for
/// other items.
///
/// # Panics
/// If an index is out of range.
#[inline]
pub fn sum<S: Share>(shares: &[S], indices: &[u32]) -> S {
    indices.iter().fold(S::default(), |sum, i| sum ^ shares[*i as usize])
}

impl<S: Share> Drop for GarbledBloom<S> {
    fn drop(&mut self) {
        self.shares.zeroize();
        self.taken.zeroize();
    }
}
