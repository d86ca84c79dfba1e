//! Permutation networks: switches whose settings can realise any permutation.
//!
//! * [`Permutation`] — drawn uniformly, inverted, composed, applied.
//! * [`Network`] — Waksman and Beneš networks of any number of lanes: their levels, segments and
//!   switches.
//! * [`Routing`] — the switch settings that realise a permutation.
//! * [`apply_plain()`] — sends lanes through a network in the clear.
//! * [`oblivious`] — the oblivious switching network: shares of one party's rows in the other
//!   party's secret order; with all rows, *permute and share*.
//!
//! Random switch settings do *not* permute uniformly: draw a [`Permutation`] and route it.
//!
//! Two parties permute and share rows:
//!
//! ```
//! use vesica_core::SessionId;
//! use vesica_switching::Permutation;
//! use vesica_switching::oblivious::{Form, Rows, Sizes, hold, route};
//!
//! let session = SessionId::from_bytes([1; 32]);
//! let rows = Rows::from_numbers(&[10, 20, 30], 8);
//! let permutation = Permutation::from_sources(vec![2, 0, 1]).unwrap();
//! let sizes = Sizes { inputs: 3, outputs: 3, bits: 8 };
//! let (mut sum, share) = vesica_net::run_both(
//!     |ctx| hold(ctx, &session, Form::Correlated, &rows, sizes.outputs),
//!     |ctx| route(ctx, &session, Form::Correlated, permutation.sources(), &sizes),
//! )?;
//! sum.xor_with(&share);
//! assert_eq!([0, 1, 2].map(|i| sum.number(i)), [30, 10, 20]);
//! # Ok::<(), vesica_core::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod network;
pub mod oblivious;
mod permutation;
mod plain;
mod routing;

pub use network::{Network, Segment};
pub use permutation::{NotAPermutation, Permutation};
pub use plain::apply_plain;
pub use routing::{Routing, WrongSwitchCount};
