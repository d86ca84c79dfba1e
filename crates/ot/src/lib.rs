//! Oblivious transfer and vector oblivious linear evaluation.
//!
//! In all modules but [`base`] and [`coded`] the *sender* holds Δ ∈ GF(2^128), and the receiver's
//! result is the sender's plus a multiple of Δ that the receiver knows.
//!
//! * [`base`] — a few transfers from public-key operations (Masny–Rindal).
//! * [`pprf`] — punctured GGM trees from base transfers.
//! * [`softspoken`] — many correlations from 128 base transfers (SoftSpokenOT; with one bit it is
//!   IKNP), semi-honest and malicious.
//! * [`coded`] — extension with a code: 1-out-of-N transfer (KK13), and the rows for the OPRF of
//!   KKRT16.
//! * [`silent`] — long correlations from short messages, streamed.
//! * [`cot`] — the interface of extensions, correlated transfer: [`CotSender`], [`CotReceiver`].
//! * [`adapters`] — random, chosen and correlated transfer, and VOLE, from any of them.
//! * [`Lift`] — bit vectors as elements of GF(2^128), the values of a VOLE.
//! * [`Bits`], [`Traffic`] — lists of bits, and payload bytes in each direction.
//!
//! Random oblivious transfer between two parties, secure against malicious parties:
//!
//! ```
//! use vesica_core::{Malicious, SessionId};
//! use vesica_ot::adapters::random;
//! use vesica_ot::softspoken::{self, FieldBits};
//!
//! let session = SessionId::from_bytes([1; 32]);
//! let (pairs, received) = vesica_net::run_both(
//!     |ctx| {
//!         let cots = softspoken::Sender::<Malicious>::setup(ctx, &session, FieldBits::Two)?;
//!         random::Sender::new(cots, &session).extend(ctx, 1000)
//!     },
//!     |ctx| {
//!         let cots = softspoken::Receiver::<Malicious>::setup(ctx, &session, FieldBits::Two)?;
//!         random::Receiver::new(cots, &session).extend(ctx, 1000)
//!     },
//! )?;
//! for (i, pair) in pairs.iter().enumerate() {
//!     assert!(pair[usize::from(received.choices.get(i))] == received.messages[i]);
//! }
//! # Ok::<(), vesica_core::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

#[cfg(test)]
extern crate self as vesica_ot;
#[cfg(test)]
#[path = "../tests/integration/support.rs"]
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
