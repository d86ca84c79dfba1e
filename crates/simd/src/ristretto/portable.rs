//! The portable backend: `curve25519-dalek`, with one inversion per batch of encodings.

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoBasepointTable, RistrettoPoint};

use super::error::InvalidPoint;
use super::scalar::Scalar;

/// Elements per inversion: large enough to make it free, small enough to stay in the L1 cache.
const BATCH: usize = 64;

pub(super) fn hash_mul(uniform: &[[u8; 64]], k: &Scalar, out: &mut [[u8; 32]]) {
    for (uniform, out) in uniform.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
        let points = uniform.iter().map(|bytes| RistrettoPoint::from_uniform_bytes(bytes) * k.half);
        encode_doubles(&points.collect::<Vec<_>>(), out);
    }
}

pub(super) fn decode_mul(
    points: &[[u8; 32]],
    k: &Scalar,
    out: &mut [[u8; 32]],
) -> Result<(), InvalidPoint> {
    let batches = points.chunks(BATCH).zip(out.chunks_mut(BATCH));
    for (batch, (points, out)) in batches.enumerate() {
        let decoded = points.iter().enumerate().map(|(lane, bytes)| match decode(bytes) {
            Some(point) => Ok(point * k.half),
            None => Err(InvalidPoint { index: batch * BATCH + lane }),
        });
        encode_doubles(&decoded.collect::<Result<Vec<_>, _>>()?, out);
    }
    Ok(())
}

pub(super) fn base_mul(ks: &[Scalar], out: &mut [[u8; 32]]) {
    let halves: Vec<_> = ks.iter().map(|k| RistrettoPoint::mul_base(&k.half)).collect();
    encode_doubles(&halves, out);
}

pub(super) fn base_mul_sub_hash(ks: &[Scalar], uniform: &[[u8; 64]], out: &mut [[u8; 32]]) {
    let halves = ks.iter().zip(uniform).map(|(k, uniform)| {
        RistrettoPoint::mul_base(&k.half) - RistrettoPoint::from_uniform_bytes(uniform)
    });
    encode_doubles(&halves.collect::<Vec<_>>(), out);
}

pub(super) fn point_mul(
    point: &[u8; 32],
    ks: &[Scalar],
    out: &mut [[u8; 32]],
) -> Result<(), InvalidPoint> {
    let point = decode(point).ok_or(InvalidPoint { index: 0 })?;
    let table = RistrettoBasepointTable::create(&point);
    let halves: Vec<_> = ks.iter().map(|k| &table * &k.half).collect();
    encode_doubles(&halves, out);
    Ok(())
}

pub(super) fn decode_add_hash_mul(
    points: &[[u8; 32]],
    uniform: &[[u8; 64]],
    k: &Scalar,
    out: &mut [[u8; 32]],
) -> Result<(), InvalidPoint> {
    let halves = points.iter().zip(uniform).enumerate().map(|(index, (bytes, uniform))| {
        let point = decode(bytes).ok_or(InvalidPoint { index })?;
        let hash = RistrettoPoint::from_uniform_bytes(uniform);
        Ok((point + hash + hash) * k.half)
    });
    encode_doubles(&halves.collect::<Result<Vec<_>, _>>()?, out);
    Ok(())
}

fn decode(bytes: &[u8; 32]) -> Option<RistrettoPoint> {
    // The identity's only canonical encoding is all zero.
    if *bytes == [0; 32] { None } else { CompressedRistretto(*bytes).decompress() }
}

fn encode_doubles(points: &[RistrettoPoint], out: &mut [[u8; 32]]) {
    let encodings = RistrettoPoint::double_and_compress_batch(points);
    for (out, encoding) in out.iter_mut().zip(encodings) {
        *out = encoding.to_bytes();
    }
}
