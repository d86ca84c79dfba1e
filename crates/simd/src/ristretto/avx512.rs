//! The AVX-512 IFMA backend: eight elements at a time, one in each 64-bit lane.
//!
//! | module | what it gives |
//! |---|---|
//! | `field` | arithmetic modulo 2^255 - 19, with the bounds of its limbs |
//! | `edwards` | the curve's addition, doubling, and multiples by a secret scalar |
//! | `encoding` | the decoding, one-way map and encoding of RFC 9496 |
//! | `constants` | constants of the curve |
//!
//! Every function below this module needs the processor's AVX-512 F, IFMA, VL and DQ; the two here
//! check for them. Lanes never mix, so an invalid or exceptional element touches no other.

mod constants;
mod edwards;
mod encoding;
mod field;
#[cfg(test)]
mod tests;

use super::{InvalidPoint, Scalar};
use crate::Backend;
use edwards::{CompletedPoint, Multiplier, Table};
use encoding::{decode, encode_doubles, map};
use field::{Mask, Words};

/// Elements per vector.
const LANES: usize = 8;

/// Vectors per inversion. The inversion costs as much as a tenth of a vector's multiplication.
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
    unsafe { decode_mul_vectors(points, k, out) }
}

#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn hash_mul_vectors(uniform: &[[u8; 64]], k: &Scalar, out: &mut [[u8; 32]]) {
    let multiplier = Multiplier::new(&k.half_digits);
    let mut table = Table::empty();
    let mut batch = Vec::with_capacity(BATCH);
    for (uniform, out) in uniform.chunks(BATCH * LANES).zip(out.chunks_mut(BATCH * LANES)) {
        batch.clear();
        for vector in uniform.chunks(LANES) {
            let [mut p, q] = map(&[gather(vector, 0), gather(vector, 32)]);
            p.add(&q);
            batch.push(table.mul(&p, &multiplier).double_unified());
        }
        scatter(&batch, out);
    }
}

#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
fn decode_mul_vectors(
    points: &[[u8; 32]],
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
            for (vector, (p, valid)) in [low, high].into_iter().zip(decoded) {
                let invalid = !valid & first_lanes(vector.len());
                if invalid != 0 {
                    return Err(InvalidPoint { index: done + invalid.trailing_zeros() as usize });
                }
                if !vector.is_empty() {
                    batch.push(table.mul(&p, &multiplier).double_unified());
                }
                done += vector.len();
            }
        }
        scatter(&batch, out);
    }
    Ok(())
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
