//! What tests of protocols are made of.
//!
//! * [`run`] — two parties in one process; [`Runner`] — the same with another network, thread
//!   count, seed or a tampering peer.
//! * [`sets`] — deterministic sets with a known intersection.
//! * [`laws`] — what every protocol of an operation must satisfy.
//! * [`tamper`] — a transport that changes message k.

#![forbid(unsafe_code)]

pub mod laws;
mod runner;
pub mod sets;
pub mod tamper;

pub use runner::{PartyRun, Run, Runner, run};
