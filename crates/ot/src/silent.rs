//! # Silent correlations
//!
//! Long correlations from short messages: pseudorandom correlation generators from regular-noise
//! LPN (E. Boyle, G. Couteau, N. Gilboa, Y. Ishai, CCS 2018; the same with L. Kohl, P. Rindal, P.
//! Scholl, CCS 2019).
//!
//! The receiver's values are a pseudorandom codeword plus sparse errors. For the errors it holds
//! puncturable trees that come from the [SoftSpoken](crate::softspoken) extension; everything else
//! is local. The code works in small steps whose table stays in the cache, and each step seeds the
//! next (K. Yang, C. Weng, X. Lan, J. Zhang, X. Wang, "Ferret", CCS 2020).
//!
//! * [`cot`] — correlated transfer with random choices.
//! * [`vole`] — VOLE over GF(2^128), the receiver's values in all of it or in a subspace.
//! * [`pieces`] — correlated transfer in several extensions, and a hash for each piece.

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
