//! Two parties that run a protocol through a store of objects, such as a folder that both can
//! reach.
//!
//! * [`Store`] — write-once objects of up to [`OBJECT_MAX_BYTES`]; [`FolderStore`] keeps them in a
//!   folder.
//! * [`Mirror`] — a store of which each side keeps a copy, synchronized over a connection that may
//!   be lost.
//! * [`meet`] — the parties find each other in the store and toss a secret.
//! * [`Conversation`] — the streams of one run, written as sealed objects and read from the peer's.
//! * [`State`] — what a party keeps of an unfinished run.
//! * [`runs`], [`StoredRun`], [`clean`] — the runs in a store, for its operator.
//! * [`Lengths`], [`NotAnObject`] — the lengths that objects may have, and what has an object's
//!   name but is not one.
//! * [`ExchangeError`], [`Event`], [`Repeats`] — errors, and events while a party waits.
//! * [`fuzzing`] — entry points for fuzzers.
//!
//! ```text
//!   party 0                              store                               party 1
//!   0-hello ─────────▶  signed keys, commitments   ◀───────── 1-hello
//!   0-shares ────────▶  sealed coins               ◀───────── 1-shares
//!   0-000000 ────────▶  bytes of streams, sealed   ◀───────── 1-000000
//!   0-000001 ────────▶             …               ◀───────── 1-000001
//!   0-end ───────────▶  has sent and received all  ◀───────── 1-end
//! ```
//!
//! A party is a deterministic function of its seed, its set and the bytes that it receives. So
//! after a process was killed, a new one runs the program from the start against the objects in the
//! store, publishes nothing that was published before, and continues.
//!
//! **The store is not trusted**: it may read, drop, swap, replay and forge objects. Hellos are
//! signed, and bodies are sealed under a secret of the meeting, as with a helper
//! ([`vesica_link::letters`]). The store can always refuse to carry objects.
//!
//! **One transcript under one seed.** Anyone who makes a party answer two different messages with
//! the same randomness can learn its secrets. So a party writes the digest of each of the peer's
//! objects to disk before it uses the object, and a later process must see the same object. It
//! writes its own object to disk before it puts the object in the store, and a later process must
//! write the same bytes. A party that has lost its state starts a new run, with new keys.
//!
//! **Every new run is counted.** Each new run gives a party that deviates another chance, so the
//! agreement limits how many runs may follow each other without a result. A party counts the runs
//! that it started in its [`State`], where the count outlives them, and the runs that the store
//! shows as abandoned. It sends the count in its signed hello, and the larger of the two counts
//! applies to both parties. So a party that has lost its state learns the count from the other one.

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
