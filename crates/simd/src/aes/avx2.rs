//! AES-128 with AES-NI, eight blocks in flight.

use super::{Schedule, mode};
use crate::Block;
use crate::lanes::{load_1, store_1};
use core::arch::x86_64::*;

/// Blocks in flight: enough to hide the latency of a round.
const LANES: usize = 8;

/// Keys expanded together.
const KEYS: usize = 4;

/// Minimum number of blocks per key for which the key is expanded separately.
const MANY_PER_KEY: usize = 8;

/// The round key after `key`.
///
/// The last round of AES on a state of four equal columns is SubBytes on each of them, plus a key,
/// here the round constant.
#[inline]
#[target_feature(enable = "aes,avx2")]
fn next_key(key: __m128i, rcon: i32) -> __m128i {
    let rotated_last_word = _mm_shuffle_epi8(key, _mm_set1_epi32(0x0c0f_0e0d));
    let sum = _mm_aesenclast_si128(rotated_last_word, _mm_set1_epi32(rcon));
    let key = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
    let key = _mm_xor_si128(key, _mm_slli_si128::<8>(key));
    _mm_xor_si128(key, sum)
}

/// The round keys of `key`.
#[target_feature(enable = "aes,avx2")]
pub(super) fn expand(key: Block) -> Schedule {
    let mut schedule = [key; 11];
    let mut key = load_1(&key);
    for (round_key, rcon) in schedule[1..].iter_mut().zip(super::RCON) {
        key = next_key(key, rcon.into());
        store_1(key, round_key);
    }
    schedule
}

#[inline]
#[target_feature(enable = "aes,avx2")]
fn permute<const N: usize>(keys: &[__m128i; 11], x: &mut [__m128i; N]) {
    for x in &mut *x {
        *x = _mm_xor_si128(*x, keys[0]);
    }
    for key in &keys[1..10] {
        for x in &mut *x {
            *x = _mm_aesenc_si128(*x, *key);
        }
    }
    for x in &mut *x {
        *x = _mm_aesenclast_si128(*x, keys[10]);
    }
}

/// Applies the mode to `N` blocks; the counter of the first is `counter`.
#[inline]
#[target_feature(enable = "aes,avx2")]
fn batch<const MODE: u8, const N: usize>(
    keys: &[__m128i; 11],
    blocks: &mut [Block; N],
    counter: &mut __m128i,
) {
    let mut x = [_mm_setzero_si128(); N];
    let mut saved = x;
    if MODE != mode::CTR {
        for (x, block) in x.iter_mut().zip(&*blocks) {
            *x = load_1(block);
        }
    }
    if MODE == mode::CCR {
        for x in &mut x {
            let left = _mm_blend_epi32::<0b1100>(_mm_setzero_si128(), *x);
            *x = _mm_xor_si128(_mm_shuffle_epi32::<0b0100_1110>(*x), left);
        }
    }
    if MODE == mode::TCCR {
        permute(keys, &mut x);
    }
    if matches!(MODE, mode::MMO | mode::CCR | mode::TCCR) {
        saved = x;
    }
    if matches!(MODE, mode::TCCR | mode::CTR) {
        for x in &mut x {
            *x = _mm_xor_si128(*x, *counter);
            *counter = _mm_add_epi64(*counter, _mm_set_epi64x(0, 1));
        }
    }
    permute(keys, &mut x);
    for ((x, saved), block) in x.iter().zip(saved).zip(blocks) {
        store_1(_mm_xor_si128(*x, saved), block);
    }
}

/// Applies the mode to all blocks; `first + i` must not carry out of its low half.
#[target_feature(enable = "aes,avx2")]
pub(super) fn run<const MODE: u8>(schedule: &Schedule, blocks: &mut [Block], first: u128) {
    let mut keys = [_mm_setzero_si128(); 11];
    for (key, block) in keys.iter_mut().zip(schedule) {
        *key = load_1(block);
    }
    let mut counter = load_1(&Block::new(first));
    let (batches, rest) = blocks.as_chunks_mut::<LANES>();
    for blocks in batches {
        batch::<MODE, LANES>(&keys, blocks, &mut counter);
    }
    let (batches, rest) = rest.as_chunks_mut::<4>();
    for blocks in batches {
        batch::<MODE, 4>(&keys, blocks, &mut counter);
    }
    let (batches, rest) = rest.as_chunks_mut::<2>();
    for blocks in batches {
        batch::<MODE, 2>(&keys, blocks, &mut counter);
    }
    for block in rest.as_chunks_mut::<1>().0 {
        batch::<MODE, 1>(&keys, block, &mut counter);
    }
}

/// Encrypts the `N` blocks from `place` on of each key; expands the round keys on the fly.
#[inline]
#[target_feature(enable = "aes,avx2")]
fn rekeyed_batch<const N: usize>(
    keys: &[Block; KEYS],
    per_key: usize,
    place: usize,
    blocks: &mut [Block],
) {
    let mut round_keys = [_mm_setzero_si128(); KEYS];
    let mut x = [[_mm_setzero_si128(); N]; KEYS];
    for (lane, (key, x)) in round_keys.iter_mut().zip(&mut x).enumerate() {
        *key = load_1(&keys[lane]);
        for (i, x) in x.iter_mut().enumerate() {
            *x = _mm_xor_si128(load_1(&blocks[lane * per_key + place + i]), *key);
        }
    }
    let (last, rcons) = super::RCON.split_last().expect("ten rounds");
    for rcon in rcons {
        for (key, x) in round_keys.iter_mut().zip(&mut x) {
            *key = next_key(*key, (*rcon).into());
            for x in x {
                *x = _mm_aesenc_si128(*x, *key);
            }
        }
    }
    for (lane, (key, x)) in round_keys.into_iter().zip(x).enumerate() {
        let key = next_key(key, (*last).into());
        for (i, x) in x.into_iter().enumerate() {
            store_1(_mm_aesenclast_si128(x, key), &mut blocks[lane * per_key + place + i]);
        }
    }
}

/// See [`super::encrypt_rekeyed`]; `per_key` is not zero.
#[target_feature(enable = "aes,avx2")]
pub(super) fn encrypt_rekeyed(keys: &[Block], per_key: usize, blocks: &mut [Block]) {
    let batches = if per_key < MANY_PER_KEY { keys.as_chunks::<KEYS>().0 } else { &[] };
    let rest = &keys[KEYS * batches.len()..];
    let (blocks, blocks_of_rest) = blocks.split_at_mut(batches.len() * KEYS * per_key);
    for (keys, blocks) in batches.iter().zip(blocks.chunks_exact_mut(KEYS * per_key)) {
        let mut place = 0;
        while per_key - place >= 2 {
            rekeyed_batch::<2>(keys, per_key, place, blocks);
            place += 2;
        }
        if per_key - place == 1 {
            rekeyed_batch::<1>(keys, per_key, place, blocks);
        }
    }
    for (key, blocks) in rest.iter().zip(blocks_of_rest.chunks_exact_mut(per_key)) {
        run::<{ mode::ENCRYPT }>(&expand(*key), blocks, 0);
    }
}
