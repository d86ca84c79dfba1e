//! Arithmetic modulo large odd numbers, for the protocols that need it.
//!
//! * [`Modulus`], [`Residue`], [`Exponent`] — products, powers and inverses, in a time that does
//!   not depend on the values; hashing to residues.
//! * [`FixedBase`] — many powers of one residue.
//! * [`rsa`] — RSA as a trapdoor permutation: keys, their checks, roots by the Chinese remainder
//!   theorem.
//! * [`paillier`] — Paillier's additively homomorphic encryption, and the shuffle of packed values
//!   built on it.
//! * [`modp`] — the groups of RFC 7919 modulo primes of 2048 and of 3072 bits.
//!
//! The library `crypto-bigint` does the multiplications, in constant time unless a name says
//! otherwise. This crate wipes its own values when they are dropped. The library does not wipe the
//! tables and constants that it computes from a modulus, so the factors of an RSA key can remain in
//! freed memory.
//!
//! Masks of two parties commute, as in a Diffie–Hellman protocol:
//!
//! ```
//! use vesica_modular::{Exponent, modp};
//!
//! let group = modp::Group::new(modp::Prime::Bits2048);
//! let item = group.hash("example 2026 items", &[b"alice"]);
//! let (a, b) = (Exponent::from_be_bytes(&[3; 32]), Exponent::from_be_bytes(&[5; 32]));
//! assert!(item.pow(&a).pow(&b).equals(&item.pow(&b).pow(&a)));
//! assert!(!item.pow(&a).equals(&item.pow(&b)));
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod fixed_base;
pub mod modp;
mod modulus;
pub mod paillier;
pub mod rsa;

pub use fixed_base::FixedBase;
pub use modulus::{Exponent, Modulus, Residue};
