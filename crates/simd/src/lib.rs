//! Vector kernels behind run-time dispatch.
//!
//! This crate holds the only `unsafe` mathematics of the project. Every kernel has a portable twin
//! with identical results and the same tests.
//!
//! | module | contents |
//! |---|---|
//! | [`aes`] | AES-128 over batches of blocks, fixed-key hashes, pseudorandom streams |
//! | [`band`] | sums of the slots that a band of bits selects |
//! | [`garble`] | garbled AND gates: half gates, garbled and evaluated |
//! | [`gf128`] | GF(2^128) over vectors of blocks |
//! | [`linear`] | linear maps of blocks over GF(2) |
//! | [`ggm`] | levels of GGM trees |
//! | [`low_bits`](mod@low_bits) | the lowest bits of blocks, packed |
//! | [`lpn`] | sums of a few pseudorandomly chosen rows of a table |
//! | [`prefetch`](mod@prefetch) | prefetching |
//! | [`ristretto`] | batches of Ristretto255 group operations (RFC 9496) under one secret scalar |
//! | [`short_hash`] | keyed BLAKE3 of sixteen inputs of at most 64 bytes |
//! | [`sparse`] | sums of the three slots that a key selects |
//! | [`transpose`] | bit matrices with 128 rows |
//! | [`xor`] | sums of vectors of blocks |
//!
//! The [`Backend`] decides which kernel runs: the fastest one that the processor supports, or the
//! one given to [`force`].
//!
//! ```
//! use vesica_simd::aes::Aes128;
//! use vesica_simd::{Block, gf128};
//!
//! let mut stream = [Block::ZERO; 4];
//! Aes128::new(Block::new(7)).ctr(0, &mut stream);
//! let [a, b, c, _] = stream;
//! assert!(gf128::mul(a, b ^ c) == gf128::mul(a, b) ^ gf128::mul(a, c));
//! assert!(gf128::mul(a, gf128::inverse(a).unwrap()) == Block::ONE);
//! ```

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod aes;
mod backend;
pub mod band;
mod block;
pub mod garble;
pub mod gf128;
pub mod ggm;
#[cfg(target_arch = "x86_64")]
mod lanes;
pub mod linear;
pub mod low_bits;
pub mod lpn;
#[cfg(target_arch = "x86_64")]
mod matrices;
pub mod prefetch;
pub mod ristretto;
pub mod short_hash;
pub mod sparse;
pub mod transpose;
pub mod xor;

pub use backend::{Backend, BackendUnavailable, force};
pub use block::Block;
