//! The group operations of a Diffie–Hellman set intersection: one secret scalar for a batch.

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::error::InvalidPoint;
use super::portable;
use super::scalar::Scalar;
use crate::Backend;

/// `out[i]` = encoding of k · MAP(`uniform[i]`), MAP being the one-way map of RFC 9496, 4.3.4.
///
/// Uses [`Backend::active`].
///
/// # Panics
/// If the two slices differ in length.
pub fn hash_mul(uniform: &[[u8; 64]], k: &Scalar, out: &mut [[u8; 32]]) {
    hash_mul_with(Backend::active(), uniform, k, out);
}

/// `out[i]` = encoding of k · P with P the element that `points[i]` encodes (RFC 9496, 4.3.1).
///
/// Uses [`Backend::active`].
///
/// # Errors
/// [`InvalidPoint`] with the first index whose bytes are not a canonical encoding or are the
/// identity's. `out` is then all zero bytes.
///
/// # Panics
/// If the two slices differ in length.
pub fn decode_mul(
    points: &[[u8; 32]],
    k: &Scalar,
    out: &mut [[u8; 32]],
) -> Result<(), InvalidPoint> {
    decode_mul_with(Backend::active(), points, k, out)
}

/// [`hash_mul`](super::hash_mul) on the given backend.
///
/// # Panics
/// If the two slices differ in length, or the processor cannot run the backend.
pub fn hash_mul_with(backend: Backend, uniform: &[[u8; 64]], k: &Scalar, out: &mut [[u8; 32]]) {
    assert_eq!(uniform.len(), out.len(), "one output per input");
    assert!(backend.is_available(), "the processor cannot run this backend");
    match backend {
        Backend::Portable | Backend::Avx2 => portable::hash_mul(uniform, k, out),
        #[cfg(target_arch = "x86_64")]
        Backend::Avx512 => avx512::hash_mul(uniform, k, out),
        #[cfg(not(target_arch = "x86_64"))]
        Backend::Avx512 => unreachable!("not available, as asserted"),
    }
}

/// [`decode_mul`](super::decode_mul) on the given backend.
///
/// # Errors
/// As [`decode_mul`](super::decode_mul), the same index on every backend.
///
/// # Panics
/// If the two slices differ in length, or the processor cannot run the backend.
pub fn decode_mul_with(
    backend: Backend,
    points: &[[u8; 32]],
    k: &Scalar,
    out: &mut [[u8; 32]],
) -> Result<(), InvalidPoint> {
    assert_eq!(points.len(), out.len(), "one output per input");
    assert!(backend.is_available(), "the processor cannot run this backend");
    let result = match backend {
        Backend::Portable | Backend::Avx2 => portable::decode_mul(points, k, out),
        #[cfg(target_arch = "x86_64")]
        Backend::Avx512 => avx512::decode_mul(points, k, out),
        #[cfg(not(target_arch = "x86_64"))]
        Backend::Avx512 => unreachable!("not available, as asserted"),
    };
    if result.is_err() {
        out.fill([0; 32]);
    }
    result
}
