//! Eight keys at a time.

use super::portable;
use super::row::{Row, slots_of};
use crate::Block;
use crate::lanes::load_4;
use core::arch::x86_64::*;

/// Number of rows that are made before they are used.
const BATCH: usize = 64;

#[target_feature(enable = "avx512f")]
pub(super) fn rows(keys: &[Block], slots: u32, rows: &mut [Row]) {
    let (vectors, keys) = keys.as_chunks::<8>();
    let (outs, rows) = rows.as_chunks_mut::<8>();
    for (keys, out) in vectors.iter().zip(outs) {
        rows_8(keys, slots, out);
    }
    portable::rows(keys, slots, rows);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn rows_8(keys: &[Block; 8], slots: u32, out: &mut [Row; 8]) {
    let (halves, _) = keys.as_chunks::<4>();
    let (front, back) = (load_4(&halves[0]), load_4(&halves[1]));
    let even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    let odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    let low = _mm512_permutex2var_epi64(front, even, back);
    let high = _mm512_permutex2var_epi64(front, odd, back);

    let slots = i64::from(slots);
    let one = _mm512_set1_epi64(1);
    // The product of the lower halves of the words, and the upper half of that.
    let scaled =
        |words, range| _mm512_srli_epi64::<32>(_mm512_mul_epu32(words, _mm512_set1_epi64(range)));
    let a = scaled(low, slots);
    let b = scaled(_mm512_srli_epi64::<32>(low), slots - 1);
    let b = _mm512_mask_add_epi64(b, _mm512_cmpge_epu64_mask(b, a), b, one);
    let c = scaled(high, slots - 2);
    let least = _mm512_min_epu64(a, b);
    let greatest = _mm512_max_epu64(a, b);
    let c = _mm512_mask_add_epi64(c, _mm512_cmpge_epu64_mask(c, least), c, one);
    let c = _mm512_mask_add_epi64(c, _mm512_cmpge_epu64_mask(c, greatest), c, one);
    let row = _mm512_or_si512(a, _mm512_slli_epi64::<16>(b));
    let row = _mm512_or_si512(row, _mm512_slli_epi64::<32>(c));
    // SAFETY: eight rows are 512 bits.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), row) }
}

#[target_feature(enable = "avx512f")]
pub(super) fn sums(keys: &[Block], slots: &[Block], out: &mut [Block]) {
    let mut batch = [0; BATCH];
    for (keys, out) in keys.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
        rows(keys, slots.len() as u32, &mut batch[..keys.len()]);
        for (row, out) in batch.iter().zip(out) {
            let [a, b, c] = slots_of(*row);
            debug_assert!(a.max(b).max(c) < slots.len());
            // SAFETY: `rows` gives numbers below that of the slots: the first is a 32-bit word
            // times that number, divided by 2^32; the others start from one and two less and are
            // raised by as much at most. A block is 128 bits.
            unsafe {
                let slot = |i: usize| _mm_loadu_si128(slots.as_ptr().add(i).cast());
                let sum = _mm_xor_si128(_mm_xor_si128(slot(a), slot(b)), slot(c));
                _mm_storeu_si128(std::ptr::from_mut(out).cast(), sum);
            }
        }
    }
}
