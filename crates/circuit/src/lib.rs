//! Boolean circuits, each written once as a function, and those who evaluate them.
//!
//! * [`Gates`] — what a circuit is written in; wires are vectors of lanes, [`Lanes`].
//! * [`gadgets`] — comparing, sorting, counting: the circuits others are made of; [`word`] — lists of wires.
//! * [`Clear`] — evaluates in clear; [`Counting`] — counts gates.
//! * [`Computation`] — a party of two that evaluate together: [`gmw`], on shares; [`yao`], garbled.

#![forbid(unsafe_code)]

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
pub use gates::{Gates, Known, Lanes};
pub use party::{Bins, Computation, EachBins, InBins, Reveal};
