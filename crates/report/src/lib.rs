//! The report of a run, for machines.
//!
//! * [`Report`] — what a run did, in the layout of `docs/report.md`.
//! * [`Resources`] — time and memory; a [`Stopwatch`] measures them.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod input;
mod report;
mod resources;

pub use report::*;
pub use resources::{Resources, Stopwatch};
