//! AES-128 with VAES, four blocks to a vector and eight vectors in flight.

use super::{Schedule, mode};
use crate::Block;
use crate::lanes::{LANES, load_1, load_4, store_4};
use core::arch::x86_64::*;

pub(super) use super::avx2::expand;

/// Vectors in flight: enough to hide the latency of a round.
const VECTORS: usize = 8;

/// Keys expanded together.
const KEYS: usize = 16;

/// Minimum number of blocks per key for which the key is expanded separately.
const MANY_PER_KEY: usize = 32;

/// The round keys in every lane.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn round_keys(schedule: &Schedule) -> [__m512i; 11] {
    let mut keys = [_mm512_setzero_si512(); 11];
    for (key, block) in keys.iter_mut().zip(schedule) {
        *key = _mm512_broadcast_i32x4(load_1(block));
    }
    keys
}

/// π of each lane, for the permutation with these [`round_keys`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(crate) fn permute<const N: usize>(keys: &[__m512i; 11], x: &mut [__m512i; N]) {
    for x in &mut *x {
        *x = _mm512_xor_si512(*x, keys[0]);
    }
    for key in &keys[1..10] {
        for x in &mut *x {
            *x = _mm512_aesenc_epi128(*x, *key);
        }
    }
    for x in &mut *x {
        *x = _mm512_aesenclast_epi128(*x, keys[10]);
    }
}

/// σ of each lane.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn sigma(x: __m512i) -> __m512i {
    let turned = _mm512_shuffle_epi32::<0b0100_1110>(x);
    _mm512_mask_xor_epi64(turned, 0b1010_1010, turned, x)
}

/// Applies the mode to `N` vectors of blocks; `counter` holds the counters of the first vector.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn batch<const MODE: u8, const N: usize>(
    keys: &[__m512i; 11],
    blocks: &mut [[Block; LANES]; N],
    counter: &mut __m512i,
) {
    let mut x = [_mm512_setzero_si512(); N];
    let mut saved = x;
    if MODE != mode::CTR {
        for (x, blocks) in x.iter_mut().zip(&*blocks) {
            *x = load_4(blocks);
        }
    }
    if MODE == mode::CCR {
        x.iter_mut().for_each(|x| *x = sigma(*x));
    }
    if MODE == mode::TCCR {
        permute(keys, &mut x);
    }
    if matches!(MODE, mode::MMO | mode::CCR | mode::TCCR) {
        saved = x;
    }
    if matches!(MODE, mode::TCCR | mode::CTR) {
        for x in &mut x {
            *x = _mm512_xor_si512(*x, *counter);
            *counter = _mm512_add_epi64(*counter, _mm512_set4_epi64(0, 4, 0, 4));
        }
    }
    permute(keys, &mut x);
    for ((x, saved), blocks) in x.iter().zip(saved).zip(blocks) {
        store_4(_mm512_xor_si512(*x, saved), blocks);
    }
}

/// Applies the mode to all blocks; `first + i` must not carry out of its low half.
#[target_feature(enable = "avx512f,avx512bw,vaes,aes,avx2")]
pub(super) fn run<const MODE: u8>(schedule: &Schedule, blocks: &mut [Block], first: u128) {
    let (vectors, rest) = blocks.as_chunks_mut::<LANES>();
    let first_of_rest = first.wrapping_add((LANES * vectors.len()) as u128);
    if !vectors.is_empty() {
        let keys = round_keys(schedule);
        let counters = std::array::from_fn(|i| Block::new(first.wrapping_add(i as u128)));
        let mut counter = load_4(&counters);
        let (batches, vectors) = vectors.as_chunks_mut::<VECTORS>();
        for blocks in batches {
            batch::<MODE, VECTORS>(&keys, blocks, &mut counter);
        }
        let (batches, vectors) = vectors.as_chunks_mut::<4>();
        for blocks in batches {
            batch::<MODE, 4>(&keys, blocks, &mut counter);
        }
        let (batches, vectors) = vectors.as_chunks_mut::<2>();
        for blocks in batches {
            batch::<MODE, 2>(&keys, blocks, &mut counter);
        }
        for blocks in vectors.as_chunks_mut::<1>().0 {
            batch::<MODE, 1>(&keys, blocks, &mut counter);
        }
    }
    if !rest.is_empty() {
        super::avx2::run::<MODE>(schedule, rest, first_of_rest);
    }
}

/// Like the kernel for single blocks, in each lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(crate) fn next_key(key: __m512i, rcon: i32) -> __m512i {
    let rotated_last_word = _mm512_shuffle_epi8(key, _mm512_set1_epi32(0x0c0f_0e0d));
    let sum = _mm512_aesenclast_epi128(rotated_last_word, _mm512_set1_epi32(rcon));
    let key = _mm512_xor_si512(key, _mm512_bslli_epi128::<4>(key));
    // Three operands in one instruction: 0x96 is their XOR.
    _mm512_ternarylogic_epi64::<0x96>(key, _mm512_bslli_epi128::<8>(key), sum)
}

/// The blocks at `at`, `at + step`, … as a vector.
///
/// # Safety
/// All four must lie within the allocation.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn gather(at: *const Block, step: usize) -> __m512i {
    // SAFETY: as the caller promises.
    let lane = |i: usize| unsafe { _mm_loadu_si128(at.add(i * step).cast()) };
    let v = _mm512_castsi128_si512(lane(0));
    let v = _mm512_inserti32x4::<1>(v, lane(1));
    let v = _mm512_inserti32x4::<2>(v, lane(2));
    _mm512_inserti32x4::<3>(v, lane(3))
}

/// The inverse of [`gather`].
///
/// # Safety
/// All four must lie within the allocation.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn scatter(v: __m512i, at: *mut Block, step: usize) {
    // SAFETY: as the caller promises.
    unsafe {
        _mm_storeu_si128(at.cast(), _mm512_castsi512_si128(v));
        _mm_storeu_si128(at.add(step).cast(), _mm512_extracti32x4_epi32::<1>(v));
        _mm_storeu_si128(at.add(2 * step).cast(), _mm512_extracti32x4_epi32::<2>(v));
        _mm_storeu_si128(at.add(3 * step).cast(), _mm512_extracti32x4_epi32::<3>(v));
    }
}

/// Encrypts the `N` blocks from `place` on of each of sixteen keys.
///
/// Each call expands the round keys again, which is cheaper than to store and load them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn rekeyed_batch<const N: usize>(
    keys: &[Block; KEYS],
    per_key: usize,
    place: usize,
    blocks: &mut [Block],
) {
    assert!(place + N <= per_key && blocks.len() == KEYS * per_key, "all blocks of all keys");
    let first = blocks.as_mut_ptr();
    let mut round_keys = [_mm512_setzero_si512(); KEYS / LANES];
    let mut x = [[_mm512_setzero_si512(); N]; KEYS / LANES];
    for (v, (key, x)) in round_keys.iter_mut().zip(&mut x).enumerate() {
        *key = load_4(&keys.as_chunks().0[v]);
        for (i, x) in x.iter_mut().enumerate() {
            // SAFETY: block `place + i` of the keys `LANES * v` to `LANES * v + 3`, which are there
            // as just asserted.
            let plain = unsafe { gather(first.add(LANES * v * per_key + place + i), per_key) };
            *x = _mm512_xor_si512(plain, *key);
        }
    }
    let (last, rcons) = super::RCON.split_last().expect("ten rounds");
    for rcon in rcons {
        for (key, x) in round_keys.iter_mut().zip(&mut x) {
            *key = next_key(*key, (*rcon).into());
            for x in x {
                *x = _mm512_aesenc_epi128(*x, *key);
            }
        }
    }
    for (v, (key, x)) in round_keys.into_iter().zip(x).enumerate() {
        let key = next_key(key, (*last).into());
        for (i, x) in x.into_iter().enumerate() {
            let x = _mm512_aesenclast_epi128(x, key);
            // SAFETY: as above.
            unsafe { scatter(x, first.add(LANES * v * per_key + place + i), per_key) };
        }
    }
}

/// See [`super::encrypt_rekeyed`]; `per_key` is not zero.
#[target_feature(enable = "avx512f,avx512bw,vaes,aes,avx2")]
pub(super) fn encrypt_rekeyed(keys: &[Block], per_key: usize, blocks: &mut [Block]) {
    if per_key >= MANY_PER_KEY {
        for (key, blocks) in keys.iter().zip(blocks.chunks_exact_mut(per_key)) {
            run::<{ mode::ENCRYPT }>(&expand(*key), blocks, 0);
        }
        return;
    }
    let (batches, rest) = keys.as_chunks::<KEYS>();
    let (blocks, blocks_of_rest) = blocks.split_at_mut(batches.len() * KEYS * per_key);
    for (keys, blocks) in batches.iter().zip(blocks.chunks_exact_mut(KEYS * per_key)) {
        let mut place = 0;
        while per_key - place >= 4 {
            rekeyed_batch::<4>(keys, per_key, place, blocks);
            place += 4;
        }
        if per_key - place >= 2 {
            rekeyed_batch::<2>(keys, per_key, place, blocks);
            place += 2;
        }
        if per_key - place == 1 {
            rekeyed_batch::<1>(keys, per_key, place, blocks);
        }
    }
    super::avx2::encrypt_rekeyed(rest, per_key, blocks_of_rest);
}
