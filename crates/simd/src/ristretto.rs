//! Batches of Ristretto255 group operations (RFC 9496) under one secret scalar.
//!
//! Both operations of a Diffie–Hellman set intersection, fused so that a batch stays in vector form
//! between decoding, multiplication and encoding:
//!
//! | function | per element | RFC 9496 |
//! |---|---|---|
//! | [`hash_mul`] | map 64 uniform bytes to the group, times k, encode | 4.3.4, 4.3.2 |
//! | [`decode_mul`] | decode 32 bytes, times k, encode | 4.3.1, 4.3.2 |
//!
//! The steps of an oblivious transfer on this group, where the hash to the group is twice the map:
//!
//! | function | per element |
//! |---|---|
//! | [`base_mul`] | k_i times the generator, encode |
//! | [`base_mul_sub_hash`] | k_i times the generator minus 2 · MAP of 64 uniform bytes, encode |
//! | [`point_mul`] | k_i times one given point, encode |
//! | [`decode_add_hash_mul`] | decode 32 bytes, add 2 · MAP of 64 uniform bytes, times k, encode |
//!
//! # Timing
//!
//! The scalar is secret, and so are the 64 uniform bytes of [`hash_mul`], which represent a private
//! item. In either backend, no branch, no memory address and no instruction with data-dependent
//! latency depends on them. In the vector backend this holds by construction:
//!
//! * Arithmetic alone recodes the scalar into 63 signed digits. Their number is fixed, and so is
//!   the sequence of doublings and additions; the addition law has no exceptions.
//! * A digit selects its multiple by a masked read of the whole table, and its sign by masked
//!   swaps. The masks come from values hidden from the compiler, so it cannot turn them into
//!   branches.
//! * Field arithmetic has no branches: carries and the final reduction run at full length,
//!   exponents are public constants, and the cases of the one-way map and of the encoding are
//!   masked selections. The identity among the results is masked too.
//!
//! Public are the number of elements, the backend, and for [`decode_mul`] which elements are
//! invalid: the peer knows the bytes it sent.
//!
//! The scalar and the values derived from it are wiped on drop, and so are the vector backend's
//! tables. Intermediate points in registers and on the stack are not.

#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod digits;
mod error;
#[cfg_attr(feature = "repeated", allow(unreachable_pub, reason = "`repeated` calls it"))]
mod intersection;
#[cfg_attr(feature = "repeated", allow(unreachable_pub, reason = "`repeated` calls it"))]
mod oblivious;
mod portable;
#[cfg(feature = "repeated")]
#[path = "ristretto/tests/repeated.rs"]
mod repeated;
mod scalar;

pub use error::InvalidPoint;
#[cfg(not(feature = "repeated"))]
pub use intersection::{decode_mul, hash_mul};
pub use intersection::{decode_mul_with, hash_mul_with};
#[cfg(not(feature = "repeated"))]
pub use oblivious::{base_mul, base_mul_sub_hash, decode_add_hash_mul, point_mul};
#[cfg(feature = "repeated")]
pub use repeated::{
    base_mul, base_mul_sub_hash, decode_add_hash_mul, decode_mul, hash_mul, point_mul,
    remember_repeated_calls,
};
pub use scalar::Scalar;
