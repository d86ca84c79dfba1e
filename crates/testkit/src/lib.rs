//! What tests of protocols are made of.
//!
//! * [`run`] — two parties in one process; [`Runner`] — the same with another network, thread
//!   count, seed or a tampering peer.
//! * [`sets`] — deterministic sets with a known intersection.
//! * [`laws`] — what every protocol of an operation must satisfy; [`side_by_side`] — applied to many of them.
//! * [`set_operations`] — the laws of unions, private ids, shares and sums of several columns.
//! * [`tamper`] — a transport that changes message k; [`Transcript`] — one that keeps them all.

#![forbid(unsafe_code)]

pub mod laws;
mod runner;
pub mod set_operations;
pub mod sets;
mod side_by_side;
mod two_parties;

pub use runner::{Run, run};
pub use side_by_side::side_by_side;
pub use two_parties::{BothRun, PartyRun, Runner, Transcript, tamper};
