//! Sparse linear maps with public pseudo-random positions: the codes of LPN.
//!
//! Every output is the sum of a few rows of a table. A row is one block, or two that are used
//! together (a value and its key), which then share one cache line and one load. The positions
//! are public; the rows are secret, and nothing but the positions decides what is read.

use crate::{Backend, Block};
use std::alloc::Layout;
use std::ops::Deref;
use std::ptr::NonNull;
use zeroize::Zeroize;

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

/// A table of rows of one or two blocks, laid out for reads at random positions: no row lies across two
/// cache lines, and a large table asks for large pages. Wiped on drop.
pub struct Table<const C: usize> {
    rows: NonNull<[Block; C]>,
    len: usize,
}

// SAFETY: the table owns its rows, which are plain values.
unsafe impl<const C: usize> Send for Table<C> {}
// SAFETY: as above.
unsafe impl<const C: usize> Sync for Table<C> {}

impl<const C: usize> Table<C> {
    /// The table whose row i has the blocks `columns[c][i]`.
    ///
    /// # Panics
    /// If the columns have different lengths.
    pub fn new(columns: [&[Block]; C]) -> Self {
        const { assert!(C == 1 || C == 2) };
        let len = columns[0].len();
        assert!(columns.iter().all(|column| column.len() == len), "columns of different lengths");
        let Some(layout) = Self::layout(len) else {
            return Self { rows: NonNull::dangling(), len };
        };
        // SAFETY: the layout has a size above zero.
        let memory = unsafe { std::alloc::alloc(layout) };
        let Some(rows) = NonNull::<[Block; C]>::new(memory.cast()) else {
            std::alloc::handle_alloc_error(layout)
        };
        advise_large_pages(memory, layout.size());
        for i in 0..len {
            // SAFETY: i is below the number of rows allocated.
            unsafe { rows.add(i).write(std::array::from_fn(|c| columns[c][i])) };
        }
        Self { rows, len }
    }

    /// None for a table without rows.
    fn layout(len: usize) -> Option<Layout> {
        let size = size_of::<[Block; C]>() * len;
        let align = if size >= LARGE_PAGE / 2 { LARGE_PAGE } else { CACHE_LINE };
        let layout = Layout::from_size_align(size, align).expect("the columns have that size");
        (size > 0).then_some(layout)
    }

    fn rows_mut(&mut self) -> &mut [[Block; C]] {
        // SAFETY: that many rows were allocated and initialised, or there are none.
        unsafe { std::slice::from_raw_parts_mut(self.rows.as_ptr(), self.len) }
    }
}

impl<const C: usize> Default for Table<C> {
    /// No rows.
    fn default() -> Self {
        Self { rows: NonNull::dangling(), len: 0 }
    }
}

impl<const C: usize> Deref for Table<C> {
    type Target = [[Block; C]];

    fn deref(&self) -> &[[Block; C]] {
        // SAFETY: that many rows were allocated and initialised, or there are none.
        unsafe { std::slice::from_raw_parts(self.rows.as_ptr(), self.len) }
    }
}

impl<const C: usize> Drop for Table<C> {
    fn drop(&mut self) {
        if let Some(layout) = Self::layout(self.len) {
            self.rows_mut().as_flattened_mut().zeroize();
            // SAFETY: allocated with this layout.
            unsafe { std::alloc::dealloc(self.rows.as_ptr().cast(), layout) };
        }
    }
}

const CACHE_LINE: usize = 64;

const LARGE_PAGE: usize = 2 << 20;

/// Asks for large pages where the memory covers one: fewer address translations miss their cache.
#[cfg(target_os = "linux")]
fn advise_large_pages(memory: *mut u8, len: usize) {
    unsafe extern "C" {
        fn madvise(address: *mut u8, len: usize, advice: i32) -> i32;
    }
    const MADV_HUGEPAGE: i32 = 14;
    if len >= LARGE_PAGE / 2 {
        // SAFETY: the memory is this table's. The advice changes no contents, and its refusal
        // does not matter.
        let _ = unsafe { madvise(memory, len, MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_large_pages(_: *mut u8, _: usize) {}

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
}
