//! Permutation networks: switches whose settings can realise any permutation.
//!
//! * [`Permutation`] — drawn uniformly, inverted, composed, applied.
//! * [`Network`] — Waksman and Beneš networks of any number of lanes: their levels, segments and switches.
//! * [`Routing`] — the switch settings that realise a permutation.
//! * [`apply_plain()`] — sends lanes through a network in the clear.
//! * [`oblivious`] — the oblivious switching network: shares of one party's rows in the other party's secret order.
//! * [`permute_and_share`] — the special case of a permutation of all rows.
//!
//! Random switch settings do *not* permute uniformly: draw a [`Permutation`] and route it.
//!
//! Two parties permute and share rows:
//!
//! ```
//! use vesica_core::SessionId;
//! use vesica_switching::oblivious::{Form, Rows};
//! use vesica_switching::{Permutation, permute_and_share};
//!
//! let session = SessionId::from_bytes([1; 32]);
//! let rows = Rows::from_numbers(&[10, 20, 30], 8);
//! let permutation = Permutation::from_sources(vec![2, 0, 1]).unwrap();
//! let (mut sum, share) = vesica_net::run_both(
//!     |ctx| permute_and_share::hold(ctx, &session, Form::Correlated, &rows),
//!     |ctx| permute_and_share::route(ctx, &session, Form::Correlated, &permutation, 8),
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
pub mod permute_and_share;
mod plain;
mod routing;

pub use network::{Network, Segment};
pub use permutation::{NotAPermutation, Permutation};
pub use plain::apply_plain;
pub use routing::{Routing, WrongSwitchCount};
