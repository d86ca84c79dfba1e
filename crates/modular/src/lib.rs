//! Arithmetic modulo large odd numbers, for protocols that were made for it.
//!
//! * [`Modulus`], [`Residue`], [`Exponent`] — products, powers and inverses, in a time that does
//!   not depend on the values; hashing to residues.
//! * [`FixedBase`] — many powers of one residue.
//! * [`rsa`] — RSA as a permutation with a trapdoor: keys, their checks, roots by the Chinese
//!   remainder theorem.
//! * [`paillier`] — Paillier's additively homomorphic encryption, and the shuffle of packed values
//!   that is made of it.
//! * [`modp`] — the group of RFC 7919 modulo a prime of 2048 bits.
//!
//! The multiplications are those of the library `crypto-bigint`, constant in time unless a name
//! says otherwise. What this crate keeps is wiped when dropped; the library does not wipe the
//! tables and constants it computes from a modulus, so the factors of an RSA key may stay behind in
//! freed memory.

#![forbid(unsafe_code)]

mod fixed_base;
pub mod modp;
mod modulus;
pub mod paillier;
pub mod rsa;

pub use fixed_base::FixedBase;
pub use modulus::{Exponent, Modulus, Residue};
