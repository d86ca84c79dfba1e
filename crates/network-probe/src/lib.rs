//! How fast the network between two parties is.
//!
//! * [`measure`](fn@measure) — both measure it for a moment, and come to the same figures.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod measure;

pub use measure::measure;
