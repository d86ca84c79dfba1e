//! # Silent correlations
//!
//! Long correlations from short messages: pseudorandom correlation generators from regular-noise
//! LPN (E. Boyle, G. Couteau, N. Gilboa, Y. Ishai, CCS 2018; the same with L. Kohl, P. Rindal, P.
//! Scholl, CCS 2019).
//!
//! The receiver's values are a pseudorandom codeword plus few errors. Of the errors it holds
//! puncturable trees that the [SoftSpoken](crate::softspoken) extension transfers; from there on
//! everything is local. The code is used in small steps whose table stays in the cache, each
//! seeded by the one before (K. Yang, C. Weng, X. Lan, J. Zhang, X. Wang, "Ferret", CCS 2020).
//!
//! * [`cot`] — correlated transfer with random choices.
//! * [`vole`] — VOLE over GF(2^128), the receiver's values in all of it or in a subspace.
//! * [`pieces`] — correlated transfer in many extensions, and the hashes of its pieces.

mod check;
mod code;
pub mod cot;
mod dual;
mod parameters;
pub mod pieces;
mod receiver_trees;
mod seed;
mod sender_trees;
mod stream;
mod subfield;
#[cfg(test)]
mod tests;
mod tree;
mod values;
pub mod vole;
