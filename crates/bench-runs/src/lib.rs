//! Measured runs of one protocol between processes, on generated items.
//!
//! * [`Asked`] — what to measure: a row of the catalogue, sizes, a [`Question`], a network.
//! * [`Subject`] — that, once it is known that the row offers it.
//! * [`measure`] — starts a process for each party and any helper, and waits for their figures.
//! * [`run_party`] — what such a process does: one party, over a real session or through a real
//!   helper.
//! * [`BenchReport`] — every run and the medians, as text and as JSON.
//! * [`BenchError`] — what went wrong.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod error;
mod figures;
mod party;
mod party_figures;
mod processes;
mod question;
mod sizes;
mod subject;
mod two_parties;
mod with_helper;

pub use error::BenchError;
pub use figures::BenchReport;
pub use party::{Seat, run_party};
pub use processes::measure;
pub use question::Question;
pub use sizes::{SizeError, Sizes, size};
pub use subject::{Asked, HelperOptions, Row, Subject};
