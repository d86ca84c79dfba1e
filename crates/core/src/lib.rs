//! Items, labelled hashes, roles, parameters and errors: the words every other crate uses.
//!
//! * [`Item`] — one element of a set, a 128-bit keyed digest.
//! * [`hash`] — labelled hashing, the only way this project derives keys and digests.
//! * [`Role`] — who a party is inside one protocol.
//! * [`PsiParams`] — the public parameters of one run, checked once.
//! * [`Secret`] — a value that is wiped and never printed.
//! * [`Error`] — what can go wrong below the engine; the variant says who must act.

#![forbid(unsafe_code)]

pub mod error;
pub mod hash;
mod item;
pub mod params;
mod role;
mod secret;

pub use error::{Error, Misbehaviour, ParameterError, Result, StopReason, TransportError};
pub use item::Item;
pub use params::{Learns, PsiParams, SessionId};
pub use role::Role;
pub use secret::Secret;
