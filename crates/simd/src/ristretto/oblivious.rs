//! The group operations of an oblivious transfer by key agreement.
//!
//! H(u) = 2 · MAP(u) is the hash to the group. Doubling permutes a group of odd order, so the hash
//! is as uniform as MAP, and an element that is known to be a double is far cheaper to encode.

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::error::InvalidPoint;
use super::portable;
use super::scalar::Scalar;
use crate::Backend;

macro_rules! vector_or_portable {
    ($name:ident($($argument:expr),*)) => {
        match Backend::active() {
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 => avx512::$name($($argument),*),
            _ => portable::$name($($argument),*),
        }
    };
}

/// `out[i]` = encoding of k_i · G, where G is the generator of RFC 9496.
///
/// # Panics
/// If the two slices differ in length.
pub fn base_mul(ks: &[Scalar], out: &mut [[u8; 32]]) {
    assert_eq!(ks.len(), out.len(), "one output per scalar");
    vector_or_portable!(base_mul(ks, out));
}

/// `out[i]` = encoding of k_i · G − 2 · MAP(`uniform[i]`).
///
/// # Panics
/// If the slices differ in length.
pub fn base_mul_sub_hash(ks: &[Scalar], uniform: &[[u8; 64]], out: &mut [[u8; 32]]) {
    assert_eq!(ks.len(), out.len(), "one output per scalar");
    assert_eq!(ks.len(), uniform.len(), "one input per scalar");
    vector_or_portable!(base_mul_sub_hash(ks, uniform, out));
}

/// `out[i]` = encoding of k_i · P, where `point` encodes P.
///
/// # Errors
/// [`InvalidPoint`] with index 0 if `point` is not a canonical encoding or encodes the identity.
///
/// # Panics
/// If the two slices differ in length.
pub fn point_mul(
    point: &[u8; 32],
    ks: &[Scalar],
    out: &mut [[u8; 32]],
) -> Result<(), InvalidPoint> {
    assert_eq!(ks.len(), out.len(), "one output per scalar");
    vector_or_portable!(point_mul(point, ks, out))
}

/// `out[i]` = encoding of k · (P_i + 2 · MAP(`uniform[i]`)), where `points[i]` encodes P_i.
///
/// # Errors
/// [`InvalidPoint`] with the first index whose bytes are not a canonical encoding or encode the
/// identity. `out` is then all zero bytes.
///
/// # Panics
/// If the slices differ in length.
pub fn decode_add_hash_mul(
    points: &[[u8; 32]],
    uniform: &[[u8; 64]],
    k: &Scalar,
    out: &mut [[u8; 32]],
) -> Result<(), InvalidPoint> {
    assert_eq!(points.len(), out.len(), "one output per input");
    assert_eq!(points.len(), uniform.len(), "one summand per point");
    let result = vector_or_portable!(decode_add_hash_mul(points, uniform, k, out));
    if result.is_err() {
        out.fill([0; 32]);
    }
    result
}
