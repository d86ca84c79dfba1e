//! Items, labelled hashes, roles, parameters and errors: the vocabulary of all other crates.
//!
//! * [`Item`] — one element of a set, a 128-bit keyed digest; [`Items`] — what a party enters, row
//!   by row.
//! * [`hash`] — labelled hashing, the only source of keys and digests in this project.
//! * [`hash_to_group`] — uniform bytes for a group's one-way map (RFC 9380).
//! * [`group_operations`] — counts of public-key operations, for measurements.
//! * [`tags`] — shortened tags and the search among them.
//! * [`tagged`] — tags with the positions of their items, grouped by leading bits.
//! * [`elias_fano`] — a compact code for a set of tags.
//! * [`Block`] — 128 bits, the unit of the symmetric primitives.
//! * [`Role`] — the role of a party in one protocol.
//! * [`PsiParams`] — the public parameters of one run, checked once.
//! * [`Query`] — the operation on two sets; [`Bounds`] — the sizes of the intersection for which
//!   there is an answer.
//! * [`sort`] — sorting lists of items, and the rows of equal ones.
//! * [`Shuffled`] — items in random order, the only order that leaves a party.
//! * [`Security`] — the adversary that a primitive withstands: [`SemiHonest`] or [`Malicious`].
//! * [`Secret`] — a value that is wiped and never printed.
//! * [`Refusal`] — why a helper does not continue; [`Excess`] — which [`Limit`] a run exceeds.
//! * [`Error`] — all errors below the engine; the variant says who must act.
//!
//! ```
//! use vesica_core::hash::ItemHash;
//! use vesica_core::{Learns, PsiParams, SessionId};
//!
//! let hash = ItemHash::new("example 2026 items", &[b"agreement"]);
//! let (alice, bob) = (hash.item(b"alice"), hash.item(b"bob"));
//! assert_ne!(alice, bob);
//! assert_eq!(format!("{alice:?}"), "Item(..)");
//!
//! let params = PsiParams::new(SessionId::from_bytes([1; 32]), 1 << 20, 1 << 20, Learns::Receiver)?;
//! assert_eq!(params.tag_len_bytes(), 10);
//! # Ok::<(), vesica_core::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod elias_fano;
pub mod error;
pub mod group_operations;
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
pub mod sort;
pub mod tagged;
pub mod tags;

pub use error::{Error, Misbehaviour, ParameterError, Result, StopReason, TransportError};
pub use item::{Item, Items};
pub use params::{EarlyReveal, Learns, PsiParams, Runs, SessionId};
pub use query::{Bounds, Operation, PayloadLen, Query, TextLen, Values};
pub use refusal::{Excess, Limit, Refusal};
pub use role::Role;
pub use secret::Secret;
pub use security::{Malicious, Security, SemiHonest};
pub use shuffled::{Shuffled, bit, pack_bits};
pub use vesica_simd::Block;
