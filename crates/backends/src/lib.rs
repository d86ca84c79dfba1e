//! Where a helper finds what lists of labels have in common, chosen by an address.
//!
//! | address | where | what it is for |
//! |---|---|---|
//! | `memory:` | in this process, lists in memory | sets of some millions |
//! | `disk:DIR` | in this process, lists in files in DIR | everything else |
//! | `redis://[USER:PASSWORD@]HOST[:PORT][/DB]`, `redis+unix://[USER:PASSWORD@]/SOCKET[?db=DB]` | a Redis server, version 4 or later | a store that is there anyway |
//! | `postgres://USER[:PASSWORD]@HOST[:PORT][/DATABASE]`, with `?host=DIRECTORY` a Unix socket in it | a PostgreSQL server, version 10 or later | the same |
//!
//! * [`Backend`] — what all of them do, [`open`] — the one at an address, [`RunName`] — whose lists they are.
//! * [`Place`] — where the service is to keep the lists themselves.
//! * [`BackendError`] — what can go wrong, by who must act.
//! * [`redacted`] — an address without its password.
//!
//! A server sees the labels, as the helper does: pseudo-random to both. Connections are not encrypted, so that it
//! belongs on the helper's machine or into its own network.

#![forbid(unsafe_code)]

mod backend;
mod error;
mod local;
mod postgres;
mod redis;
mod slices;
mod socket;
mod url;

pub use backend::{Backend, Place, RunName, open};
pub use error::{BackendError, BadUrl, ServerCode};
pub use url::redacted;
