//! Fuzz targets: one for every decoder that reads what somebody else wrote.
//!
//! * [`Target`] — a function of some bytes that panics when a decoder does what it must not; [`TARGETS`] — all of
//!   them; [`find`] — the one of a name.
//! * [`inputs`] — the inputs that are kept: small ones to begin with, and those that once found something.
//! * [`driver`] — runs targets for a while on inputs made of these, without coverage: what continuous integration does.
//! * [`quiet_expected_panics`] — for a search that takes every panic for a finding.
//!
//! Which decoder has which target is listed in `README.md` beside this, and a test compares. `make fuzz` runs the same
//! targets under libFuzzer, which is guided by coverage.

#![forbid(unsafe_code)]

pub mod driver;
mod input;
pub mod inputs;
mod panics;
mod targets;

pub use panics::quiet_expected_panics;
pub use targets::{TARGETS, Target, find};
