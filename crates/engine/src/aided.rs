//! Runs with a helper: a server that all parties talk to, and that they need not trust with their keys.
//!
//! * [`look`] — whether a helper would take a run, and which parties are there.
//!
//! What the parties agree on is an [`Agreement`](vesica_agreement::Agreement) with a helper, and one party's run is a
//! [`Job`](crate::Job) like any other.

pub(crate) mod answer;
pub(crate) mod fuzzing;
mod look;
pub(crate) mod meeting;
pub(crate) mod state;

pub use look::{HelperSeen, look};
