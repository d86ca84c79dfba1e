//! Finds the common labels of lists for a helper, on a backend chosen by an address.
//!
//! | address | where | use |
//! |---|---|---|
//! | `memory:` | in this process, lists in memory | sets of some millions |
//! | `disk:DIR` | in this process, lists in files in DIR | everything else |
//! | `redis://[USER:PASSWORD@]HOST[:PORT][/DB]`, `redis+unix://[USER:PASSWORD@]/SOCKET[?db=DB]` | a Redis server, version 4 or later | an existing store |
//! | `postgres://USER[:PASSWORD]@HOST[:PORT][/DATABASE]`, with `?host=DIRECTORY` a Unix socket in it | a PostgreSQL server, version 10 or later | the same |
//! | `cluster:DIR` | in a cluster that reaches the folder DIR | lists too long for one machine |
//!
//! * [`Backend`] — the interface of all backends, [`open`] — the backend at an address, [`RunName`]
//!   — the run of the lists.
//! * [`Place`] — where the service stores the lists themselves.
//! * [`BackendError`] — errors, by who must act.
//! * [`JoinRequest`] — what a helper asks a cluster for, and how programs of the cluster answer.
//! * [`redacted`] — an address without its password.
//! * [`fuzzing`] — entry points for fuzzers.
//!
//! A server sees the labels, as the helper does: pseudo-random to both. Connections are not
//! encrypted, so the server belongs on the helper's machine or in its own network. A cluster sees
//! them too, and what it answers is believed.
//!
//! Without a server, lists in this process:
//!
//! ```
//! use std::num::NonZeroUsize;
//! use vesica_label_joins::{Place, open, redacted};
//! use vesica_net::Pool;
//!
//! let pool = Pool::new(NonZeroUsize::MIN)?;
//! let backend = open("memory:", pool, 1 << 30)?;
//! backend.check()?;
//! assert_eq!(backend.name(), "memory");
//!
//! assert_eq!(Place::of("disk:/var/lib/vesica")?, Place::Directory("/var/lib/vesica".into()));
//! assert_eq!(redacted("redis://user:secret@localhost"), "redis://user:***@localhost");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod address;
mod backend;
mod cluster;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod local;
mod postgres;
mod redis;
mod slices;
mod socket;
mod url;

pub use address::{Place, open};
pub use backend::{Answers, Backend, RunName, Stop};
pub use cluster::{Copies, Digest, JoinRequest};
pub use error::{BackendError, BadUrl, ServerCode};
pub use url::redacted;
