//! Sums of rows with vectors of one row.

use super::word::{CHUNK, Word, select};
use crate::Block;
use std::arch::x86_64::*;

/// A separate function for each instruction set: closures and inlined functions would lose the
/// target features.
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
                                let value = start.add(row.to_index()).cast();
                                sum = _mm_xor_si128(sum, _mm_loadu_si128(value));
                            }
                            _mm_storeu_si128(target, sum);
                        } else {
                            let first = out[0].as_mut_ptr().add(i).cast::<__m128i>();
                            let second = out[C - 1].as_mut_ptr().add(i).cast::<__m128i>();
                            let mut sum = _mm256_loadu2_m128i(second, first);
                            for row in rows {
                                let value = start.add(row.to_index()).cast();
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
