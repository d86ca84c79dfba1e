//! Oblivious transfer and vector oblivious linear evaluation.
//!
//! In all but the first and [`coded`] the *sender* holds Δ ∈ GF(2^128), and the receiver's result is the
//! sender's plus a multiple of Δ that the receiver knows.
//!
//! * [`base`] — a few transfers from public-key operations (Masny–Rindal).
//! * [`pprf`] — punctured GGM trees from base transfers.
//! * [`softspoken`] — many correlations from 128 base transfers (SoftSpokenOT; with one bit it is
//!   IKNP), semi-honest and malicious.
//! * [`coded`] — extension with a code: 1-out-of-N transfer (KK13), and what the OPRF of KKRT16 needs.
//! * [`silent`] — long correlations from short messages, streamed.
//! * [`cot`] — the correlated transfer that extensions offer: [`CotSender`], [`CotReceiver`].
//! * [`adapters`] — random, chosen and correlated transfer, and VOLE, over any of them.
//! * [`Lift`] — bit vectors as elements of GF(2^128), the values of a VOLE.
//! * [`Bits`], [`Traffic`] — lists of bits, and payload bytes each way.

#![forbid(unsafe_code)]

#[cfg(test)]
extern crate self as vesica_ot;
#[cfg(test)]
#[path = "../tests/integration/support/mod.rs"]
mod support;

pub mod adapters;
pub mod base;
mod bits;
pub mod coded;
pub mod cot;
mod lift;
mod poison;
pub mod pprf;
pub mod silent;
pub mod softspoken;
mod traffic;

pub use bits::Bits;
pub use cot::{CotReceiver, CotSender, Cots};
pub use lift::Lift;
pub use traffic::Traffic;
