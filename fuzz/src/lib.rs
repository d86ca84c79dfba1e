//! Fuzz targets: one for every decoder of foreign data.
//!
//! * [`Target`] — a function of bytes that panics on a wrong result of a decoder; [`TARGETS`] — all
//!   of them; [`find`] — a target by name.
//! * [`inputs`] — the stored inputs: small initial ones, and those that once found a bug.
//! * [`driver`] — runs targets for a while on inputs made from these, without coverage, as in
//!   continuous integration.
//! * [`quiet_expected_panics`] — for a fuzzer that counts every panic as a finding.
//!
//! `README.md` in this folder lists which decoder has which target, and a test compares. `make
//! fuzz` runs the same targets under libFuzzer, guided by coverage.

#![forbid(unsafe_code)]

pub mod driver;
mod input;
pub mod inputs;
mod panics;
mod targets;

pub use panics::quiet_expected_panics;
pub use targets::{TARGETS, Target, find};
