//! Blocks in vector registers.

use crate::Block;
use core::arch::x86_64::*;

/// Blocks in a vector of 512 bits.
pub(crate) const LANES: usize = 4;

#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn load_1(block: &Block) -> __m128i {
    // SAFETY: a block is 128 bits.
    unsafe { _mm_loadu_si128(std::ptr::from_ref(block).cast()) }
}

#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn store_1(v: __m128i, block: &mut Block) {
    // SAFETY: a block is 128 bits.
    unsafe { _mm_storeu_si128(std::ptr::from_mut(block).cast(), v) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load_4(blocks: &[Block; LANES]) -> __m512i {
    // SAFETY: four blocks are 512 bits.
    unsafe { _mm512_loadu_si512(blocks.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store_4(v: __m512i, blocks: &mut [Block; LANES]) {
    // SAFETY: four blocks are 512 bits.
    unsafe { _mm512_storeu_si512(blocks.as_mut_ptr().cast(), v) }
}
