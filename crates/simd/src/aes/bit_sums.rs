//! Sums of the streams of many keys, weighted by the bits of the streams' numbers.

use super::Aes128;
use crate::Block;
use crate::backend::dispatch;

/// Sums of 2^k streams: `rows[b * len..][..len]`, b < k, is the sum of the streams whose number has
/// bit b, and `total`, of `len` blocks, is the sum of all streams.
///
/// Stream x is `len` blocks of [`Aes128::ctr`] from `first` on, under `keys[x]`. With one key
/// fewer, `keys` starts with number 1, and stream 0 is zero.
///
/// # Panics
/// Unless there are 2^k or 2^k − 1 keys for k = 1, 2, 4 or 8, and k · len blocks in `rows`.
pub fn ctr_bit_sums(keys: &[Aes128], first: u128, rows: &mut [Block], total: &mut [Block]) {
    let bits = (keys.len() + 1).ilog2() as usize;
    assert!(matches!(bits, 1 | 2 | 4 | 8), "k is 1, 2, 4 or 8");
    let skip = (1_usize << bits).wrapping_sub(keys.len());
    assert!(skip <= 1, "2^k keys, or one fewer");
    assert_eq!(rows.len(), bits * total.len(), "one row per bit");
    if total.is_empty() {
        return;
    }
    // The vector kernel counts in the low half only.
    if (first as u64).checked_add(total.len() as u64).is_none() {
        return portable::sum(keys, skip, first, rows, total);
    }
    dispatch!(sum(keys, skip, first, rows, total));
}

/// Stream by stream; only the cipher depends on the backend.
mod portable {
    use super::Aes128;
    use crate::Block;
    use crate::xor::xor;

    /// Blocks of a stream per step.
    const PIECE: usize = 32;

    pub(super) fn sum(
        keys: &[Aes128],
        skip: usize,
        first: u128,
        rows: &mut [Block],
        total: &mut [Block],
    ) {
        let len = total.len();
        rows.fill(Block::ZERO);
        total.fill(Block::ZERO);
        let mut stream = [Block::ZERO; PIECE];
        for start in (0..len).step_by(PIECE) {
            let end = len.min(start + PIECE);
            let stream = &mut stream[..end - start];
            for (x, key) in (skip..).zip(keys) {
                key.ctr(first.wrapping_add(start as u128), stream);
                xor(&mut total[start..end], stream);
                for (b, row) in rows.chunks_exact_mut(len).enumerate() {
                    if x >> b & 1 == 1 {
                        xor(&mut row[start..end], stream);
                    }
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::Aes128;
    use crate::Block;

    #[target_feature(enable = "avx2")]
    pub(super) fn sum(
        keys: &[Aes128],
        skip: usize,
        first: u128,
        rows: &mut [Block],
        total: &mut [Block],
    ) {
        super::portable::sum(keys, skip, first, rows, total);
    }
}

/// The streams never leave the registers.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::Aes128;
    use crate::Block;
    use crate::lanes::{LANES, load_1, store_4};
    use core::arch::x86_64::*;

    /// Vectors of each stream per step: enough to hide the latency of a round.
    const N: usize = 4;

    #[target_feature(enable = "avx512f,avx512bw,vaes")]
    pub(super) fn sum(
        keys: &[Aes128],
        skip: usize,
        first: u128,
        rows: &mut [Block],
        total: &mut [Block],
    ) {
        let piece = match rows.len() / total.len() {
            1 => piece::<1, 0>,
            2 => piece::<2, 0>,
            4 => piece::<4, 0>,
            _ => piece::<4, 4>,
        };
        for start in (0..total.len()).step_by(N * LANES) {
            piece(keys, skip, first, start, rows, total);
        }
    }

    /// All sums over the [`N`] vectors of each stream from block `start` on.
    ///
    /// The sums for the `LOW` low bits stay in registers. For the `HIGH` bits above them, streams
    /// with equal high bits are summed first.
    #[target_feature(enable = "avx512f,avx512bw,vaes")]
    fn piece<const LOW: usize, const HIGH: usize>(
        keys: &[Aes128],
        skip: usize,
        first: u128,
        start: usize,
        rows: &mut [Block],
        total: &mut [Block],
    ) {
        let zero = [_mm512_setzero_si512(); N];
        let first = first + start as u128;
        let (high_half, low_half) = ((first >> 64) as i64, first as i64);
        let mut counter = _mm512_set4_epi64(high_half, low_half, high_half, low_half);
        counter = _mm512_add_epi64(counter, _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0));
        let mut counters = zero;
        for each in &mut counters {
            *each = counter;
            counter = _mm512_add_epi64(counter, _mm512_set4_epi64(0, 4, 0, 4));
        }
        let mut low = [zero; LOW];
        let mut high = [zero; HIGH];
        let mut sums = zero;
        for group in 0..1_usize << HIGH {
            let mut group_sums = zero;
            let keys = &keys[(group << LOW).saturating_sub(skip)..];
            // Stream 0 may be missing.
            let missing = if group == 0 { skip } else { 0 };
            // Written out, because a loop would keep the sums in memory.
            macro_rules! streams {
                ($($x:literal)*) => {$(
                    if $x < 1 << LOW && $x >= missing {
                        let stream = encrypt(&keys[$x - missing], &counters);
                        add(&mut group_sums, &stream);
                        for (b, low) in low.iter_mut().enumerate() {
                            if $x >> b & 1 == 1 {
                                add(low, &stream);
                            }
                        }
                    }
                )*};
            }
            streams!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
            for (b, high) in high.iter_mut().enumerate() {
                if group >> b & 1 == 1 {
                    add(high, &group_sums);
                }
            }
            add(&mut sums, &group_sums);
        }
        let len = total.len();
        write(&sums, &mut total[start..]);
        for (b, sums) in low.iter().enumerate() {
            write(sums, &mut rows[b * len + start..(b + 1) * len]);
        }
        for (b, sums) in (LOW..).zip(&high) {
            write(sums, &mut rows[b * len + start..(b + 1) * len]);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,vaes")]
    fn encrypt(key: &Aes128, counters: &[__m512i; N]) -> [__m512i; N] {
        let mut x = *counters;
        let round_key = |i: usize| _mm512_broadcast_i32x4(load_1(&key.schedule[i]));
        let whitening = round_key(0);
        for x in &mut x {
            *x = _mm512_xor_si512(*x, whitening);
        }
        for i in 1..10 {
            let key = round_key(i);
            for x in &mut x {
                *x = _mm512_aesenc_epi128(*x, key);
            }
        }
        let last = round_key(10);
        for x in &mut x {
            *x = _mm512_aesenclast_epi128(*x, last);
        }
        x
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn add(sums: &mut [__m512i; N], xs: &[__m512i; N]) {
        for (sum, x) in sums.iter_mut().zip(xs) {
            *sum = _mm512_xor_si512(*sum, *x);
        }
    }

    /// Writes as many blocks of `sums` as `out` holds.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn write(sums: &[__m512i; N], out: &mut [Block]) {
        let (vectors, rest) = out.as_chunks_mut::<LANES>();
        if let Some((vectors, _)) = vectors.split_first_chunk_mut::<N>() {
            for (out, sum) in vectors.iter_mut().zip(sums) {
                store_4(*sum, out);
            }
            return;
        }
        for (out, sum) in vectors.iter_mut().zip(sums) {
            store_4(*sum, out);
        }
        let mut last = [Block::ZERO; LANES];
        store_4(sums[vectors.len()], &mut last);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}
