//! The portable backend: `curve25519-dalek`, with one inversion per batch of encodings.

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};

use super::{InvalidPoint, Scalar};

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
