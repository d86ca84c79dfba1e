//! A party's side of a run with a helper: how the parties meet through it, and what a party stores.
//!
//! * [`State`] — a party's folder of an unfinished run with a helper, from which the run can
//!   resume.
//! * [`Remote`] — the board of a run, which the helper keeps, over the network; survives the
//!   helper's restarts.
//! * [`meet`] — the parties say hello through the helper and toss the coins that make their common
//!   secret.
//! * [`Waits`] — the parties that a party waits for at the helper.
//! * [`fuzzing`] — entry points for fuzzers.
//! * [`Answer`] — what a party has learned; it stores this before it tells the helper that it needs
//!   nothing more.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod answer;
#[doc(hidden)]
pub mod fuzzing;
mod meeting;
mod remote;
mod state;
mod waits;

pub use answer::{Answer, Learned};
pub use meeting::{Common, Envelopes, MeetingError, meet};
pub use remote::{Remote, RemoteEvent, RemoteOptions, Seen};
pub use state::{State, StateError};
pub use vesica_helper_wire::Instance;
pub use vesica_state_folder::FolderError;
pub use waits::Waits;
