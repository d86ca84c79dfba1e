//! Two parties that meet and talk through a store of objects: a folder that both can reach.
//!
//! * [`Store`] — write-once objects of up to [`OBJECT_MAX_BYTES`]; [`FolderStore`] keeps them in a folder.
//! * [`Mirror`] — a store without a place, over a connection that may be lost.
//! * [`meet`] — the parties find each other in the store and toss a secret.
//! * [`Conversation`] — the streams of one run, written as sealed objects and read from the peer's.
//! * [`State`] — what a party keeps of an unfinished run.
//! * [`runs`], [`StoredRun`], [`clean`] — the runs in a store, for its operator.
//! * [`Lengths`], [`NotAnObject`] — the lengths of objects, and what has the name of an object and is none.
//! * [`ExchangeError`], [`Event`], [`Repeats`] — errors, and what happens while a party waits.
//! * [`fuzzing`] — entry points for fuzzers.
//!
//! ```text
//!   party 0                              store                               party 1
//!   0-hello ─────────▶  signed keys, commitments   ◀───────── 1-hello
//!   0-shares ────────▶  sealed coins               ◀───────── 1-shares
//!   0-000000 ────────▶  bytes of streams, sealed   ◀───────── 1-000000
//!   0-000001 ────────▶             …               ◀───────── 1-000001
//!   0-end ───────────▶  has said and heard all     ◀───────── 1-end
//! ```
//!
//! A party is a deterministic program of its seed, its set and the bytes that it receives. So a process that was killed
//! is started again, runs from the beginning against the objects that are there, publishes nothing that it has published
//! before, and goes on.
//!
//! **The store is not trusted**: it may read, drop, swap, replay and forge objects. Hellos are signed, and bodies are
//! sealed under a secret of the meeting, as with a helper ([`vesica_link::letters`]). It can always refuse to carry
//! objects.
//!
//! **One transcript under one seed.** Somebody who has a party answer two different messages under the same randomness
//! can learn its secrets. So the digest of every object of the peer is on the disk before the object is used, and a later
//! run must see the same one. An object of this party is on its disk before it is in the store, and what a later run
//! writes is compared with it. A party that has lost its state begins a new run, with new keys.

//!
//! **Every new run is counted.** Each is a new chance for a party that deviates, so the agreement limits how many may
//! follow each other without a result. A party counts those that it has begun in its [`State`], where the count outlives
//! them, and those that the store shows as given up. It says the number in its signed hello, and the larger of the two
//! numbers counts for both. So a party that has lost its state learns the number from the other one.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod conversation;
mod detached;
mod error;
mod folder;
#[doc(hidden)]
pub mod fuzzing;
mod journal;
mod meeting;
mod mirror;
mod name;
mod object;
mod poller;
mod retrying;
mod runs;
mod state;
mod store;

pub use conversation::Conversation;
pub use detached::{DETACHED_MAX_BYTES, DetachedKeys};
pub use error::{ActualKind, Event, ExchangeError, NotAnObject, ObjectName, Repeats, Waiting};
pub use folder::FolderStore;
pub use meeting::meet;
pub use mirror::{Dial, Dialled, Mirror};
pub use name::RunName;
pub use poller::Options;
pub use retrying::RetryingStore;
pub use runs::{
    CleanScope, Cleaned, CleanedRun, Cleaning, FileTotals, RunState, RunsError, Side, StoredRun,
    clean, runs,
};
pub use state::State;
pub use store::{Lengths, Listed, OBJECT_MAX_BYTES, Store};
