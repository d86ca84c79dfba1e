//! Permutation networks: switches that can be set so that any permutation results.
//!
//! * [`Permutation`] — drawn uniformly, inverted, composed, applied.
//! * [`Network`] — Waksman and Beneš networks of any number of lanes: their levels, segments and
//!   switches.
//! * [`Routing`] — how the switches of a network stand for a permutation.
//! * [`apply_plain()`] — runs lanes through a network, in clear.
//! * [`oblivious`] — the oblivious switching network: one party's rows in the other's secret order, as shares.
//! * [`permute_and_share`] — the same for a permutation of all rows.
//!
//! Switches set at random do *not* permute uniformly: draw a [`Permutation`] and route it.

#![forbid(unsafe_code)]

mod network;
pub mod oblivious;
mod permutation;
pub mod permute_and_share;
mod plain;
mod routing;

pub use network::{Network, Segment};
pub use permutation::{NotAPermutation, Permutation};
pub use plain::apply_plain;
pub use routing::{Routing, WrongSwitchCount};
