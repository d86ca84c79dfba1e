//! Boolean circuits: each is written once as a function and runs on several evaluators.
//!
//! * [`Gates`] — the operations of a circuit; wires are vectors of lanes, [`Lanes`].
//! * [`gadgets`] — building blocks: comparing, sorting, counting; [`word`] — lists of wires.
//! * [`Clear`] — evaluates in the clear; [`Counting`] — counts gates.
//! * [`Computation`] — one party of a two-party evaluation: [`gmw`], on shares; [`yao`], garbled.
//!
//! Two parties compare private numbers with a garbled circuit:
//!
//! ```
//! use vesica_circuit::{Computation, Reveal, gadgets, word, yao};
//! use vesica_core::{Result, Role, SessionId};
//! use vesica_ot::Bits;
//!
//! /// Compares three 8-bit numbers of each party, one in each lane.
//! fn equality<C: Computation>(c: &mut C, own: [u128; 3]) -> Result<Option<Vec<Bits>>> {
//!     let (role, own) = (c.role(), word::bits_of(own.into_iter(), 8));
//!     let input = |of| (of == role).then_some(&own[..]);
//!     let x = c.input(Role::Sender, input(Role::Sender), 8, 3)?;
//!     let y = c.input(Role::Receiver, input(Role::Receiver), 8, 3)?;
//!     let is_equal = gadgets::equal(c, &x, &y)?;
//!     c.reveal(&[is_equal], Reveal::Receiver)
//! }
//!
//! let mut counting = yao::counting();
//! equality(&mut counting, [0; 3])?;
//! let (session, cost) = (SessionId::from_bytes([1; 32]), counting.cost());
//! let (nothing, is_equal) = vesica_net::run_both(
//!     |ctx| equality(&mut yao::Garbler::new(ctx, &session, cost)?, [5, 6, 7]),
//!     |ctx| equality(&mut yao::Evaluator::new(ctx, &session, cost)?, [5, 0, 7]),
//! )?;
//! assert_eq!(nothing, None);
//! assert!(is_equal.unwrap()[0].iter().eq([true, false, true]));
//! # Ok::<(), vesica_core::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

#[cfg(test)]
extern crate self as vesica_circuit;

mod bit_lanes;
mod clear;
mod counting;
pub mod gadgets;
mod gates;
pub mod gmw;
#[cfg(test)]
#[path = "../tests/gmw.rs"]
mod gmw_in_short_extensions;
mod party;
pub mod word;
pub mod yao;

pub use bit_lanes::BitLanes;
pub use clear::Clear;
pub use counting::{Cost, Count, Counted, Counting};
pub use gates::{Gates, Known, LaneWise, Lanes};
pub use party::{Bins, Computation, EachBins, InBins, Reveal};
