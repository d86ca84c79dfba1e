//! Sparse linear maps with public pseudo-random positions: the codes of LPN.
//!
//! Every output is the sum of a few rows of a table. A row is one block, or two that are used
//! together (a value and its key), which then share one cache line and one load. The positions
//! are public; the rows are secret, and nothing but the positions decides what is read.

use crate::{Backend, Block};

/// A pseudo-random word that selects a row of a table of `len` rows: `word · len >> BITS`.
pub trait Word: Copy + sealed::Sealed {
    /// Largest number of rows that a word can select from.
    const MAX_ROWS: usize;

    /// The words of a slice of blocks, lowest bytes first.
    fn of_blocks(blocks: &[Block]) -> &[Self];
}

mod sealed {
    pub trait Sealed: Default {
        /// The row among `len`; below `len`.
        fn row(self, len: usize) -> Self;
        fn as_usize(self) -> usize;
    }

    impl Sealed for u16 {
        #[inline(always)]
        fn row(self, len: usize) -> u16 {
            ((u32::from(self) * len as u32) >> 16) as u16
        }
        #[inline(always)]
        fn as_usize(self) -> usize {
            usize::from(self)
        }
    }

    impl Sealed for u32 {
        #[inline(always)]
        fn row(self, len: usize) -> u32 {
            ((u64::from(self) * len as u64) >> 32) as u32
        }
        #[inline(always)]
        fn as_usize(self) -> usize {
            self as usize
        }
    }
}

impl Word for u16 {
    const MAX_ROWS: usize = 1 << 16;

    fn of_blocks(blocks: &[Block]) -> &[u16] {
        const { assert!(cfg!(target_endian = "little")) };
        // SAFETY: a block is 16 initialised bytes, aligned to more than a u16.
        unsafe { std::slice::from_raw_parts(blocks.as_ptr().cast(), blocks.len() * 8) }
    }
}

impl Word for u32 {
    const MAX_ROWS: usize = 1 << 32;

    fn of_blocks(blocks: &[Block]) -> &[u32] {
        const { assert!(cfg!(target_endian = "little")) };
        // SAFETY: a block is 16 initialised bytes, aligned to more than a u32.
        unsafe { std::slice::from_raw_parts(blocks.as_ptr().cast(), blocks.len() * 4) }
    }
}

/// Rows summed between two conversions of words to positions.
const CHUNK: usize = 64;

/// Most rows summed into one output.
pub const MAX_WEIGHT: usize = 32;

/// Adds to output i the sum of the rows selected by `words[i·weight..][..weight]`:
/// `out[c][i] += Σ_w table[row(words[i·weight + w])][c]`.
///
/// The position that a word selects is `word · table.len() >> BITS`. It is uniform where the
/// length of the table is a power of two, and within 2^−32·len of it otherwise.
///
/// # Panics
/// If there are not exactly `weight` words for each output, the columns have different lengths,
/// `weight` is above [`MAX_WEIGHT`], or the table is empty or longer than
/// [`Word::MAX_ROWS`], or its length is no power of two and the words are of 16 bits.
pub fn accumulate<const C: usize, W: Word>(
    table: &[[Block; C]],
    weight: usize,
    words: &[W],
    mut out: [&mut [Block]; C],
) {
    const { assert!(C == 1 || C == 2) };
    let len = out[0].len();
    assert!(out.iter().all(|column| column.len() == len), "columns of different lengths");
    assert!(weight <= MAX_WEIGHT && words.len() == len * weight, "wrong number of words");
    assert!(!table.is_empty() && table.len() <= W::MAX_ROWS, "a table of that length");
    assert!(table.len().is_power_of_two() || W::MAX_ROWS > 1 << 16, "a word too short");
    match weight {
        5 => dispatch::<C, 5, W>(table, words, &mut out),
        10 => dispatch::<C, 10, W>(table, words, &mut out),
        21 => dispatch::<C, 21, W>(table, words, &mut out),
        _ => {
            for (i, words) in words.chunks_exact(weight.max(1)).take(len).enumerate() {
                for word in words {
                    let row = &table[word.row(table.len()).as_usize()];
                    for (column, value) in out.iter_mut().zip(row) {
                        column[i] ^= *value;
                    }
                }
            }
        }
    }
}

/// The sum of all blocks.
pub fn sum(blocks: &[Block]) -> Block {
    match Backend::active() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the backend is only active where the processor has its instructions.
        Backend::Avx512 => unsafe { x86::sum_avx512(blocks) },
        _ => {
            // Four sums side by side, which vector registers hold.
            let (chunks, rest) = blocks.as_chunks::<4>();
            let mut sums = [Block::ZERO; 4];
            for chunk in chunks {
                sums.iter_mut().zip(chunk).for_each(|(sum, block)| *sum ^= *block);
            }
            sums.iter().chain(rest).fold(Block::ZERO, |sum, block| sum ^ *block)
        }
    }
}

/// The block at `index`, or zero beyond the last, by reading every block.
pub fn at(blocks: &[Block], index: usize) -> Block {
    let mut found = Block::ZERO;
    for (i, block) in blocks.iter().enumerate() {
        found ^= *block & equal_mask(i, index);
    }
    found
}

/// All ones for equal numbers; a comparison might become a branch.
#[inline(always)]
fn equal_mask(a: usize, b: usize) -> Block {
    let equal = std::hint::black_box(((a ^ b) as u128).wrapping_sub(1) >> 127);
    Block::new(equal.wrapping_neg())
}

/// Adds `value` to the block at `index`, of which only whether it is below the length shows in the
/// time taken and the memory touched: every block is written.
pub fn add_at(blocks: &mut [Block], index: usize, value: Block) {
    match Backend::active() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the backend is only active where the processor has its instructions.
        Backend::Avx512 => unsafe { x86::add_at_avx512(blocks, index, value) },
        _ => {
            for (i, block) in blocks.iter_mut().enumerate() {
                *block ^= value & equal_mask(i, index);
            }
        }
    }
}

fn dispatch<const C: usize, const WEIGHT: usize, W: Word>(
    table: &[[Block; C]],
    words: &[W],
    out: &mut [&mut [Block]; C],
) {
    match Backend::active() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the backend is only active where the processor has its instructions.
        Backend::Avx512 => unsafe { x86::avx512::<C, WEIGHT, W>(table, words, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Backend::Avx2 => unsafe { x86::avx2::<C, WEIGHT, W>(table, words, out) },
        _ => portable::<C, WEIGHT, W>(table, words, out),
    }
}

/// Sets `rows` to the positions that the words select from a table of `len` rows, all below `len`.
#[inline(always)]
fn select<const WEIGHT: usize, W: Word>(len: usize, words: &[W], rows: &mut [[W; WEIGHT]]) {
    for (row, word) in rows.as_flattened_mut().iter_mut().zip(words) {
        *row = word.row(len);
    }
}

fn portable<const C: usize, const WEIGHT: usize, W: Word>(
    table: &[[Block; C]],
    words: &[W],
    out: &mut [&mut [Block]; C],
) {
    let mut rows = [[W::default(); WEIGHT]; CHUNK];
    for (chunk, words) in words.chunks(CHUNK * WEIGHT).enumerate() {
        let rows = &mut rows[..words.len() / WEIGHT];
        select(table.len(), words, rows);
        for (i, rows) in rows.iter().enumerate() {
            let mut sum = [Block::ZERO; C];
            for row in rows {
                for (sum, value) in sum.iter_mut().zip(&table[row.as_usize()]) {
                    *sum ^= *value;
                }
            }
            for (column, sum) in out.iter_mut().zip(sum) {
                column[chunk * CHUNK + i] ^= sum;
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Block, CHUNK, Word, select};
    use std::arch::x86_64::*;

    /// A function of its own for each instruction set: closures and inlined functions would lose
    /// the instructions.
    macro_rules! sums {
        ($name:ident, $features:literal) => {
            /// # Safety
            /// The processor has these features; each column of `out` has a block for every
            /// `WEIGHT` words.
            #[target_feature(enable = $features)]
            pub(super) unsafe fn $name<const C: usize, const WEIGHT: usize, W: Word>(
                table: &[[Block; C]],
                words: &[W],
                out: &mut [&mut [Block]; C],
            ) {
                let start: *const [Block; C] = table.as_ptr();
                let mut rows = [[W::default(); WEIGHT]; CHUNK];
                for (chunk, words) in words.chunks(CHUNK * WEIGHT).enumerate() {
                    let rows = &mut rows[..words.len() / WEIGHT];
                    select(table.len(), words, rows);
                    for (i, rows) in rows.iter().enumerate() {
                        let i = chunk * CHUNK + i;
                        // SAFETY: positions are below the table's length, i is below the
                        // columns'.
                        unsafe {
                            if C == 1 {
                                let target = out[0].as_mut_ptr().add(i).cast::<__m128i>();
                                let mut sum = _mm_loadu_si128(target);
                                for row in rows {
                                    let value = start.add(row.as_usize()).cast();
                                    sum = _mm_xor_si128(sum, _mm_loadu_si128(value));
                                }
                                _mm_storeu_si128(target, sum);
                            } else {
                                let first = out[0].as_mut_ptr().add(i).cast::<__m128i>();
                                let second = out[C - 1].as_mut_ptr().add(i).cast::<__m128i>();
                                let mut sum = _mm256_loadu2_m128i(second, first);
                                for row in rows {
                                    let value = start.add(row.as_usize()).cast();
                                    sum = _mm256_xor_si256(sum, _mm256_loadu_si256(value));
                                }
                                _mm256_storeu2_m128i(second, first, sum);
                            }
                        }
                    }
                }
            }
        };
    }

    sums!(avx2, "avx2");
    sums!(avx512, "avx2,avx512f,avx512bw,avx512vl");

    /// # Safety
    /// The processor has AVX-512 F.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn sum_avx512(blocks: &[Block]) -> Block {
        let (chunks, rest) = blocks.as_chunks::<16>();
        let mut sums = [_mm512_setzero_si512(); 4];
        for chunk in chunks {
            for (i, sum) in sums.iter_mut().enumerate() {
                // SAFETY: a chunk holds four vectors.
                let value = unsafe { _mm512_loadu_si512(chunk.as_ptr().add(4 * i).cast()) };
                *sum = _mm512_xor_si512(*sum, value);
            }
        }
        let mut lanes = [Block::ZERO; 4];
        let sums = _mm512_xor_si512(
            _mm512_xor_si512(sums[0], sums[1]),
            _mm512_xor_si512(sums[2], sums[3]),
        );
        // SAFETY: four blocks are one vector.
        unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), sums) };
        lanes.iter().chain(rest).fold(Block::ZERO, |sum, block| sum ^ *block)
    }

    /// # Safety
    /// The processor has AVX-512 F.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn add_at_avx512(blocks: &mut [Block], index: usize, value: Block) {
        let [low, high] = [value.get() as u64 as i64, (value.get() >> 64) as u64 as i64];
        let value = _mm512_set_epi64(high, low, high, low, high, low, high, low);
        let wanted = _mm512_set1_epi64(index as i64);
        let mut indices = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0);
        let four = _mm512_set1_epi64(4);
        for chunk in blocks.chunks_mut(4) {
            let lanes = ((1u16 << (2 * chunk.len())) - 1) as u8;
            let equal = _mm512_cmpeq_epi64_mask(indices, wanted);
            // SAFETY: the mask covers the blocks of the chunk.
            unsafe {
                let place = chunk.as_mut_ptr().cast();
                let old = _mm512_maskz_loadu_epi64(lanes, place);
                let new = _mm512_mask_xor_epi64(old, equal, old, value);
                _mm512_mask_storeu_epi64(place, lanes, new);
            }
            indices = _mm512_add_epi64(indices, four);
        }
    }
}
