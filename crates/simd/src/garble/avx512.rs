//! Garbled gates with VAES, four gates to a vector.
//!
//! The round keys of four gates are computed in a vector, used at once, and never stored.

use super::keys::Keys;
use super::known_bits::KnownBits;
use crate::Block;
use crate::aes::RCON;
use crate::aes::avx512::{next_key, sigma};
use crate::lanes::{LANES, load_1, load_4, store_4};
use core::arch::x86_64::*;

/// Vectors of gates in flight: they hide the latency of the key schedule, and their state just fits
/// into the registers.
const VECTORS: usize = 4;

/// Gates in flight.
const BATCH: usize = VECTORS * LANES;

type Batch = [[Block; LANES]; VECTORS];

/// The batch of blocks that starts at index `at`.
#[inline]
fn batch(blocks: &[Block], at: usize) -> &Batch {
    blocks[at..at + BATCH].as_chunks().0.first_chunk().expect("a batch")
}

/// Like [`batch`], mutable.
#[inline]
fn batch_mut(blocks: &mut [Block], at: usize) -> &mut Batch {
    blocks[at..at + BATCH].as_chunks_mut().0.first_chunk_mut().expect("a batch")
}

/// The blocks from index `at` on, fewer than a batch, padded with zeros.
#[inline]
fn padded(blocks: &[Block], at: usize) -> Batch {
    let mut padded = Batch::default();
    let blocks = &blocks[at..];
    padded.as_flattened_mut()[..blocks.len()].copy_from_slice(blocks);
    padded
}

/// Writes the blocks from index `at` on, fewer than a batch.
#[inline]
fn put(padded: &Batch, blocks: &mut [Block], at: usize) {
    let blocks = &mut blocks[at..];
    blocks.copy_from_slice(&padded.as_flattened()[..blocks.len()]);
}

/// ω² of each lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn sigma_2(x: __m512i) -> __m512i {
    let turned = _mm512_shuffle_epi32::<0b0100_1110>(x);
    _mm512_mask_xor_epi64(turned, 0b0101_0101, turned, x)
}

/// The colours of four labels, with one bit per half of a lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn colours(labels: __m512i) -> __mmask8 {
    let low = _mm512_shuffle_epi32::<0b0100_0100>(labels);
    _mm512_test_epi64_mask(low, _mm512_set1_epi64(1))
}

/// `x`, XORed with `y` in the lanes of the mask.
#[inline]
#[target_feature(enable = "avx512f")]
fn xor_where(x: __m512i, mask: __mmask8, y: __m512i) -> __m512i {
    _mm512_mask_xor_epi64(x, mask, x, y)
}

/// The XOR of three vectors.
#[inline]
#[target_feature(enable = "avx512f")]
fn xor_3(x: __m512i, y: __m512i, z: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0x96>(x, y, z)
}

/// Encrypts the `M` vectors x of each vector of gates with AES under these gates' keys.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn encrypt<const M: usize>(keys: Keys, x: &mut [[__m512i; M]; VECTORS]) {
    let start = _mm512_broadcast_i32x4(load_1(&keys.hash.start));
    let first = _mm512_maskz_set1_epi64(0b0101_0101, keys.first as i64);
    let mut counter = _mm512_add_epi64(first, _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0));
    let mut keys = [start; VECTORS];
    for (key, x) in keys.iter_mut().zip(&mut *x) {
        *key = _mm512_xor_si512(start, counter);
        counter = _mm512_add_epi64(counter, _mm512_set4_epi64(0, 4, 0, 4));
        x.iter_mut().for_each(|x| *x = _mm512_xor_si512(*x, *key));
    }
    let (last, rcons) = RCON.split_last().expect("ten rounds");
    for rcon in rcons {
        for (key, x) in keys.iter_mut().zip(&mut *x) {
            *key = next_key(*key, (*rcon).into());
            x.iter_mut().for_each(|x| *x = _mm512_aesenc_epi128(*x, *key));
        }
    }
    for (key, x) in keys.into_iter().zip(x) {
        let key = next_key(key, (*last).into());
        x.iter_mut().for_each(|x| *x = _mm512_aesenclast_epi128(*x, key));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn garble_and_batch(
    keys: Keys,
    delta: __m512i,
    [a, b]: [&Batch; 2],
    out: &mut Batch,
    [generator, evaluator]: [&mut Batch; 2],
) {
    let (delta_1, delta_2) = (sigma(delta), sigma_2(delta));
    let mut x = [[delta; 4]; VECTORS];
    for i in 0..VECTORS {
        let (a, b) = (sigma(load_4(&a[i])), sigma_2(load_4(&b[i])));
        x[i] = [a, _mm512_xor_si512(a, delta_1), b, _mm512_xor_si512(b, delta_2)];
    }
    encrypt(keys, &mut x);
    for i in 0..VECTORS {
        let (a, b) = (load_4(&a[i]), load_4(&b[i]));
        let [a0, a1, b0, b1] = x[i];
        // The feed-forward values of a wire's two labels sum to a constant.
        let of_generator = xor_where(xor_3(a0, a1, delta_1), colours(b), delta);
        let of_evaluator = xor_3(b0, b1, delta_2);
        store_4(of_generator, &mut generator[i]);
        store_4(_mm512_xor_si512(of_evaluator, a), &mut evaluator[i]);
        let sum = _mm512_xor_si512(xor_3(a0, b0, sigma(a)), sigma_2(b));
        let sum = xor_where(sum, colours(a), of_generator);
        store_4(xor_where(sum, colours(b), of_evaluator), &mut out[i]);
    }
}

#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(super) fn garble_and(
    keys: Keys,
    delta: Block,
    [a, b]: [&[Block]; 2],
    out: &mut [Block],
    [generator, evaluator]: [&mut [Block]; 2],
) {
    let delta = _mm512_broadcast_i32x4(load_1(&delta));
    let whole = a.len() - a.len() % BATCH;
    for at in (0..whole).step_by(BATCH) {
        let table = [batch_mut(generator, at), batch_mut(evaluator, at)];
        let (inputs, out) = ([batch(a, at), batch(b, at)], batch_mut(out, at));
        garble_and_batch(keys.from(at), delta, inputs, out, table);
    }
    if whole < a.len() {
        let inputs = [&padded(a, whole), &padded(b, whole)];
        let [mut result, mut of_generator, mut of_evaluator] = [Batch::default(); 3];
        let table = [&mut of_generator, &mut of_evaluator];
        garble_and_batch(keys.from(whole), delta, inputs, &mut result, table);
        put(&result, out, whole);
        put(&of_generator, generator, whole);
        put(&of_evaluator, evaluator, whole);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn evaluate_and_batch(
    keys: Keys,
    [a, b]: [&Batch; 2],
    [generator, evaluator]: [&Batch; 2],
    out: &mut Batch,
) {
    let mut x = [[_mm512_setzero_si512(); 2]; VECTORS];
    for i in 0..VECTORS {
        x[i] = [sigma(load_4(&a[i])), sigma_2(load_4(&b[i]))];
    }
    encrypt(keys, &mut x);
    for i in 0..VECTORS {
        let (a, b) = (load_4(&a[i]), load_4(&b[i]));
        let sum = _mm512_xor_si512(xor_3(x[i][0], x[i][1], sigma(a)), sigma_2(b));
        let sum = xor_where(sum, colours(a), load_4(&generator[i]));
        let of_evaluator = _mm512_xor_si512(load_4(&evaluator[i]), a);
        store_4(xor_where(sum, colours(b), of_evaluator), &mut out[i]);
    }
}

#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(super) fn evaluate_and(
    keys: Keys,
    [a, b]: [&[Block]; 2],
    [generator, evaluator]: [&[Block]; 2],
    out: &mut [Block],
) {
    let whole = a.len() - a.len() % BATCH;
    for at in (0..whole).step_by(BATCH) {
        let table = [batch(generator, at), batch(evaluator, at)];
        let (inputs, out) = ([batch(a, at), batch(b, at)], batch_mut(out, at));
        evaluate_and_batch(keys.from(at), inputs, table, out);
    }
    if whole < a.len() {
        let inputs = [&padded(a, whole), &padded(b, whole)];
        let table = [&padded(generator, whole), &padded(evaluator, whole)];
        let mut result = Batch::default();
        evaluate_and_batch(keys.from(whole), inputs, table, &mut result);
        put(&result, out, whole);
    }
}

/// The known bits of four gates from index `i` on, one bit per half of a lane; zeros beyond the
/// last block.
#[inline]
#[target_feature(enable = "avx512f,bmi2")]
fn known_4(known: KnownBits<'_>, i: usize) -> __mmask8 {
    let (block, shift) = ((known.first + i) / 128, (known.first + i) % 128);
    let block_at = |block| known.blocks.get(block).map_or(0, |block: &Block| block.get());
    let mut bits = (block_at(block) >> shift) as u32;
    if shift > 128 - LANES {
        bits |= (block_at(block + 1) << (128 - shift)) as u32;
    }
    (_pdep_u32(bits, 0b0101_0101) * 3) as __mmask8
}

/// `first` is the index of the batch's first known bit.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes,bmi2")]
fn garble_known_batch(
    keys: Keys,
    delta: __m512i,
    known: KnownBits<'_>,
    first: usize,
    a: &Batch,
    out: &mut Batch,
    table: &mut Batch,
) {
    let delta_1 = sigma(delta);
    let mut x = [[delta; 2]; VECTORS];
    for i in 0..VECTORS {
        let a = sigma(load_4(&a[i]));
        x[i] = [a, _mm512_xor_si512(a, delta_1)];
    }
    encrypt(keys, &mut x);
    for i in 0..VECTORS {
        let (a, [a0, a1]) = (load_4(&a[i]), x[i]);
        let bits = known_4(known, first + i * LANES);
        let ciphertext = xor_where(xor_3(a0, a1, delta_1), bits, delta);
        store_4(ciphertext, &mut table[i]);
        let sum = _mm512_xor_si512(a0, sigma(a));
        store_4(xor_where(sum, colours(a), ciphertext), &mut out[i]);
    }
}

#[target_feature(enable = "avx512f,avx512bw,vaes,bmi2")]
pub(super) fn garble_known(
    keys: Keys,
    delta: Block,
    known: KnownBits<'_>,
    a: &[Block],
    out: &mut [Block],
    table: &mut [Block],
) {
    let delta = _mm512_broadcast_i32x4(load_1(&delta));
    let whole = a.len() - a.len() % BATCH;
    for at in (0..whole).step_by(BATCH) {
        let (out, table) = (batch_mut(out, at), batch_mut(table, at));
        garble_known_batch(keys.from(at), delta, known, at, batch(a, at), out, table);
    }
    if whole < a.len() {
        let [mut result, mut ciphertexts] = [Batch::default(); 2];
        let (keys, a) = (keys.from(whole), padded(a, whole));
        garble_known_batch(keys, delta, known, whole, &a, &mut result, &mut ciphertexts);
        put(&result, out, whole);
        put(&ciphertexts, table, whole);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn evaluate_known_batch(keys: Keys, a: &Batch, table: &Batch, out: &mut Batch) {
    let mut x = [[_mm512_setzero_si512()]; VECTORS];
    for i in 0..VECTORS {
        x[i] = [sigma(load_4(&a[i]))];
    }
    encrypt(keys, &mut x);
    for i in 0..VECTORS {
        let a = load_4(&a[i]);
        let sum = _mm512_xor_si512(x[i][0], sigma(a));
        store_4(xor_where(sum, colours(a), load_4(&table[i])), &mut out[i]);
    }
}

#[target_feature(enable = "avx512f,avx512bw,vaes")]
pub(super) fn evaluate_known(keys: Keys, a: &[Block], table: &[Block], out: &mut [Block]) {
    let whole = a.len() - a.len() % BATCH;
    for at in (0..whole).step_by(BATCH) {
        evaluate_known_batch(keys.from(at), batch(a, at), batch(table, at), batch_mut(out, at));
    }
    if whole < a.len() {
        let mut result = Batch::default();
        let (a, table) = (padded(a, whole), padded(table, whole));
        evaluate_known_batch(keys.from(whole), &a, &table, &mut result);
        put(&result, out, whole);
    }
}
