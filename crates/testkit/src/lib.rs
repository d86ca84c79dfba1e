//! Tools for tests of protocols.
//!
//! * [`run`] — two parties in one process; [`Runner`] — the same with another network, thread
//!   count, seed or a tampering peer.
//! * [`sets`] — deterministic sets with a known intersection.
//! * [`laws`] — the laws that every protocol of an operation must satisfy; [`side_by_side`] —
//!   applies one to many protocols.
//! * [`Cases`] — which combinations of its factors a law tries; [`is_variant`] — which rows have
//!   another row's protocol.
//! * [`set_operations`] — the laws of unions, private ids, shares and sums of several columns.
//! * [`wire`] — what a party sends is a function of its seed, its input and what it received.
//! * [`tamper`] — a transport that changes message k; [`Transcript`] — a transport that records all
//!   messages.
//!
//! The plain answer to two sets, and a protocol's:
//!
//! ```
//! use vesica_core::Learns;
//! use vesica_protocols::{Output, catalogue};
//! use vesica_testkit::sets::{overlapping, plain_intersection};
//! use vesica_testkit::{Runner, laws};
//!
//! let (x, y) = overlapping(20, 30, 10);
//! let protocol = catalogue().iter().find(|row| row.id == "dh").expect("a row of the catalogue");
//! let run = laws::run_psi(protocol, &Runner::default(), Learns::Receiver, &x, &y);
//! assert_eq!(run.receiver.output, Ok(Output::Positions(plain_intersection(&y, &x))));
//! assert_eq!(run.sender.output, Ok(Output::Nothing));
//! ```

#![forbid(unsafe_code)]

mod cases;
pub mod laws;
mod runner;
pub mod set_operations;
pub mod sets;
mod side_by_side;
mod two_parties;
mod variants;
pub mod wire;

pub use cases::Cases;
pub use runner::{Outcomes, run};
pub use side_by_side::side_by_side;
pub use two_parties::{BothRun, PartyRun, Runner, Transcript, tamper};
pub use variants::{VARIANTS, is_variant};
