//! The AVX-512 IFMA backend: eight elements at a time, one in each 64-bit lane.
//!
//! | module | contents |
//! |---|---|
//! | `field` | arithmetic modulo 2^255 - 19, with the bounds of its limbs |
//! | `edwards` | the curve's addition, doubling, and multiples by a secret scalar |
//! | `encoding` | the decoding, one-way map and encoding of RFC 9496 |
//! | `constants` | constants of the curve |
//!
//! Every function below this module needs AVX-512 F, IFMA, VL and DQ; the functions that
//! `ristretto` calls check for them. Lanes never mix, so an invalid or exceptional element affects
//! no other element.

mod constants;
mod edwards;
mod encoding;
mod field;
#[cfg(test)]
mod tests;

use super::error::InvalidPoint;
use super::scalar::Scalar;
use crate::Backend;
use edwards::{CompletedPoint, Multiplier, Point, Table};
use encoding::{decode, encode_doubles, map};
use field::{LANES, Mask, Words};

/// Vectors per inversion. The inversion costs a tenth of a vector's multiplication.
const BATCH: usize = 32;

pub(super) fn hash_mul(uniform: &[[u8; 64]], k: &Scalar, out: &mut [[u8; 32]]) {
    assert!(Backend::Avx512.is_available(), "the processor cannot run this backend");
    // SAFETY: the processor has the features that the function enables.
    unsafe { hash_mul_vectors(uniform, k, out) }
}

pub(super) fn decode_mul(
    points: &[[u8; 32]],
    k: &Scalar,
    out: &mut [[u8; 32]],
) -> Result<(), InvalidPoint> {
    assert!(Backend::Avx512.is_available(), "the processor cannot run this backend");
    // SAFETY: the processor has the features that the function enables.
    unsafe { decode_mul_vectors(points, None, k, out) }
}

#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn hash_mul_vectors(uniform: &[[u8; 64]], k: &Scalar, out: &mut [[u8; 32]]) {
    let multiplier = Multiplier::new(&k.half_digits);
    let mut table = Table::empty();
    let mut batch = Vec::with_capacity(BATCH);
    for (uniform, out) in uniform.chunks(BATCH * LANES).zip(out.chunks_mut(BATCH * LANES)) {
        batch.clear();
        for vector in uniform.chunks(LANES) {
            batch.push(table.mul(&hash(vector), &multiplier).double_unified());
        }
        scatter(&batch, out);
    }
}

/// The canonical encoding of the generator (RFC 9496, A.1).
const GENERATOR: [u8; 32] = [
    0xe2, 0xf2, 0xae, 0x0a, 0x6a, 0xbc, 0x4e, 0x71, 0xa8, 0x84, 0xa9, 0x61, 0xc5, 0x00, 0x51, 0x5f,
    0x58, 0xe3, 0x0b, 0x6a, 0xa5, 0x82, 0xdd, 0x8d, 0xb6, 0xa6, 0x59, 0x45, 0xe0, 0x8d, 0x2d, 0x76,
];

pub(super) fn base_mul(ks: &[Scalar], out: &mut [[u8; 32]]) {
    point_mul(&GENERATOR, ks, out).expect("the generator is a point");
}

pub(super) fn base_mul_sub_hash(ks: &[Scalar], uniform: &[[u8; 64]], out: &mut [[u8; 32]]) {
    assert!(Backend::Avx512.is_available(), "the processor lacks AVX-512");
    // SAFETY: the processor has the features that the function enables.
    unsafe { point_mul_vectors(&GENERATOR, ks, Some(uniform), out) }
        .expect("the generator is a point");
}

pub(super) fn point_mul(
    point: &[u8; 32],
    ks: &[Scalar],
    out: &mut [[u8; 32]],
) -> Result<(), InvalidPoint> {
    assert!(Backend::Avx512.is_available(), "the processor lacks AVX-512");
    // SAFETY: the processor has the features that the function enables.
    unsafe { point_mul_vectors(point, ks, None, out) }
}

pub(super) fn decode_add_hash_mul(
    points: &[[u8; 32]],
    uniform: &[[u8; 64]],
    k: &Scalar,
    out: &mut [[u8; 32]],
) -> Result<(), InvalidPoint> {
    assert!(Backend::Avx512.is_available(), "the processor lacks AVX-512");
    // SAFETY: the processor has the features that the function enables.
    unsafe { decode_mul_vectors(points, Some(uniform), k, out) }
}

/// Multiples of one point, minus the hashes if there are any.
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn point_mul_vectors(
    point: &[u8; 32],
    ks: &[Scalar],
    uniform: Option<&[[u8; 64]]>,
    out: &mut [[u8; 32]],
) -> Result<(), InvalidPoint> {
    let words = gather(&[*point; LANES], 0);
    let [(point, valid), _] = decode(&[words, words]);
    if valid != Mask::MAX {
        return Err(InvalidPoint { index: 0 });
    }
    let mut table = Table::empty();
    let mut batch = Vec::with_capacity(BATCH);
    for (first, out) in (0..).step_by(BATCH * LANES).zip(out.chunks_mut(BATCH * LANES)) {
        batch.clear();
        for first in (first..first + out.len()).step_by(LANES) {
            let vector = &ks[first..ks.len().min(first + LANES)];
            // Lanes without a scalar repeat the first scalar.
            let digits =
                std::array::from_fn(|lane| &vector.get(lane).unwrap_or(&vector[0]).half_digits);
            let mut p = table.mul(&point, &Multiplier::each(&digits));
            if let Some(uniform) = uniform {
                p.sub(&hash(&uniform[first..first + vector.len()]));
            }
            batch.push(p.double_unified());
        }
        scatter(&batch, out);
    }
    Ok(())
}

/// Multiples of points, or of their sums with twice the hashes if there are any.
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn decode_mul_vectors(
    points: &[[u8; 32]],
    uniform: Option<&[[u8; 64]]>,
    k: &Scalar,
    out: &mut [[u8; 32]],
) -> Result<(), InvalidPoint> {
    let multiplier = Multiplier::new(&k.half_digits);
    let mut table = Table::empty();
    let mut batch = Vec::with_capacity(BATCH);
    let mut done = 0;
    for (points, out) in points.chunks(BATCH * LANES).zip(out.chunks_mut(BATCH * LANES)) {
        batch.clear();
        for pair in points.chunks(2 * LANES) {
            let (low, high) = pair.split_at(pair.len().min(LANES));
            let decoded = decode(&[gather(low, 0), gather(high, 0)]);
            for (vector, (mut p, valid)) in [low, high].into_iter().zip(decoded) {
                let invalid = !valid & first_lanes(vector.len());
                if invalid != 0 {
                    return Err(InvalidPoint { index: done + invalid.trailing_zeros() as usize });
                }
                if !vector.is_empty() {
                    if let Some(uniform) = uniform {
                        let hash = hash(&uniform[done..done + vector.len()]);
                        p.add(&hash);
                        p.add(&hash);
                    }
                    batch.push(table.mul(&p, &multiplier).double_unified());
                }
                done += vector.len();
            }
        }
        scatter(&batch, out);
    }
    Ok(())
}

/// MAP of up to eight inputs.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn hash(uniform: &[[u8; 64]]) -> Point {
    let [mut p, q] = map(&[gather(uniform, 0), gather(uniform, 32)]);
    p.add(&q);
    p
}

/// The mask of the first `len` lanes, for `len` up to 8.
fn first_lanes(len: usize) -> Mask {
    ((1_u16 << len) - 1) as Mask
}

/// Words of 32 bytes of each element, from `start` on; zero in lanes without an element.
fn gather<const N: usize>(vector: &[[u8; N]], start: usize) -> Words {
    let mut words = [[0; LANES]; 4];
    for (lane, bytes) in vector.iter().enumerate() {
        for (word, bytes) in words.iter_mut().zip(bytes[start..start + 32].chunks_exact(8)) {
            word[lane] = u64::from_le_bytes(bytes.try_into().expect("chunks of 8 bytes"));
        }
    }
    words
}

#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn scatter(batch: &[CompletedPoint], out: &mut [[u8; 32]]) {
    encode_doubles(batch, |n, words| {
        let first = n * LANES;
        let end = out.len().min(first + LANES);
        for (lane, bytes) in out[first..end].iter_mut().enumerate() {
            for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
                bytes.copy_from_slice(&word[lane].to_le_bytes());
            }
        }
    });
}
