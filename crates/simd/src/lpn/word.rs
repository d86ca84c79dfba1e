//! The words that select rows of a table.

use crate::Block;

/// A pseudorandom word that selects a row of a table of `len` rows: `word · len >> BITS`.
pub trait Word: Copy + sealed::Sealed {
    /// Maximum number of rows that a word can select from.
    const MAX_ROWS: usize;

    /// The words of a slice of blocks, lowest bytes first.
    fn of_blocks(blocks: &[Block]) -> &[Self];
}

mod sealed {
    pub trait Sealed: Default {
        /// The row, below `len`.
        fn row(self, len: usize) -> Self;
        fn to_index(self) -> usize;
    }

    impl Sealed for u16 {
        #[inline(always)]
        fn row(self, len: usize) -> u16 {
            ((u32::from(self) * len as u32) >> 16) as u16
        }
        #[inline(always)]
        fn to_index(self) -> usize {
            usize::from(self)
        }
    }

    impl Sealed for u32 {
        #[inline(always)]
        fn row(self, len: usize) -> u32 {
            ((u64::from(self) * len as u64) >> 32) as u32
        }
        #[inline(always)]
        fn to_index(self) -> usize {
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

/// Rows per conversion of words to positions.
pub(super) const CHUNK: usize = 64;

/// Sets `rows` to the positions that the words select from a table of `len` rows.
#[inline(always)]
pub(super) fn select<const WEIGHT: usize, W: Word>(
    len: usize,
    words: &[W],
    rows: &mut [[W; WEIGHT]],
) {
    for (row, word) in rows.as_flattened_mut().iter_mut().zip(words) {
        *row = word.row(len);
    }
}
