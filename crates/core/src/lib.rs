//! Items, labelled hashes, roles, parameters and errors: the words every other crate uses.
//!
//! * [`Item`] — one element of a set, a 128-bit keyed digest.
//! * [`hash`] — labelled hashing, the only way this project derives keys and digests.
//! * [`hash_to_group`] — uniform bytes for a group's one-way map (RFC 9380).
//! * [`tags`] — shortened tags and the search among them.
//! * [`tagged`] — tags that remember whose they are, grouped by leading bits.
//! * [`elias_fano`] — the short code of a set of tags.
//! * [`Block`] — 128 bits, the word of the symmetric primitives.
//! * [`Role`] — who a party is inside one protocol.
//! * [`PsiParams`] — the public parameters of one run, checked once.
//! * [`Query`] — what is asked of two sets; [`Bounds`] — how large it may be for an answer.
//! * [`Shuffled`] — items in random order, the only order that leaves a party.
//! * [`Security`] — against whom a primitive is secure: [`SemiHonest`] or [`Malicious`].
//! * [`Secret`] — a value that is wiped and never printed.
//! * [`Refusal`] — why a helper does not go on.
//! * [`Error`] — what can go wrong below the engine; the variant says who must act.

#![forbid(unsafe_code)]

pub mod elias_fano;
pub mod error;
pub mod hash;
pub mod hash_to_group;
mod item;
pub mod params;
mod query;
mod refusal;
mod role;
mod secret;
pub mod security;
mod shuffled;
pub mod tagged;
pub mod tags;

pub use error::{Error, Misbehaviour, ParameterError, Result, StopReason, TransportError};
pub use item::Item;
pub use params::{Learns, PsiParams, SessionId};
pub use query::{Bounds, Operation, Query, TextLen, Values};
pub use refusal::Refusal;
pub use role::Role;
pub use secret::Secret;
pub use security::{Malicious, Security, SemiHonest};
pub use shuffled::{Shuffled, bit, pack_bits};
pub use vesica_simd::Block;
