//! Oblivious pseudorandom functions. The receiver learns F_k(x) for each of its items. The sender
//! learns the key k, and so F_k everywhere. Neither learns anything else.
//!
//! * [`characters`] — from 1-out-of-N OT on the characters of a string (Pinkas, Schneider, Zohner
//!   2014; Pinkas, Schneider, Segev, Zohner 2015).
//! * [`kkrt`] — many instances with one input each, from OT extension with a pseudorandom code
//!   (Kolesnikov, Kumaresan, Rosulek, Trieu 2016).
//! * [`vole`] — from subfield VOLE and an oblivious key-value store (Rindal, Schoppmann 2021;
//!   Raghuraman, Rindal 2022).
//! * [`programmable`] — an OPRF whose values at its own items the sender chooses, from either of
//!   the last two (Pinkas, Schneider, Tkachenko, Yanai 2019; Garimella, Mohassel, Rosulek,
//!   Sadeghian, Singh 2021).
//! * [`equality`] — of two lists, place by place, from either of them (the same, 2021).
//!
//! Two parties compare lists place by place:
//!
//! ```
//! use vesica_core::{Block, Runs, SessionId};
//! use vesica_oprf::equality::{self, Form};
//!
//! let session = SessionId::from_bytes([1; 32]);
//! let (x, y) = ([5, 6, 7].map(Block::new), [5, 0, 7].map(Block::new));
//! let (_, is_equal) = vesica_net::run_both(
//!     |ctx| equality::send(ctx, &session, Form::Kkrt, Runs::ONE, &x),
//!     |ctx| equality::receive(ctx, &session, Form::Kkrt, Runs::ONE, &y),
//! )?;
//! assert!(is_equal.iter().eq([true, false, true]));
//! # Ok::<(), vesica_core::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod characters;
pub mod equality;
pub mod kkrt;
mod packed;
pub mod programmable;
pub mod vole;
