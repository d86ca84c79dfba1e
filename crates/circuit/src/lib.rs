//! Boolean circuits, each written once as a function, and those who evaluate them.
//!
//! * [`Gates`] — what a circuit is written in; wires are vectors of lanes, [`Lanes`].

#![forbid(unsafe_code)]

mod gates;
mod party;

pub use gates::{Gates, Known, Lanes};
pub use party::{Computation, Reveal};
