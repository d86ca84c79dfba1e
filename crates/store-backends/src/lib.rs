//! The stores that a place names: a folder, a bucket, a server with SFTP.
//!
//! * [`open`] — opens the store that a path or a URL names.
//! * [`StoresError`] — why it cannot be used.
//!
//! The libraries behind buckets and SFTP are asynchronous. Their runtime starts and ends in this
//! crate; a [`Store`](vesica_store_session::Store) blocks like everything else.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod bucket;
mod cause;
mod error;
mod place;
mod runtime;
mod sftp;
mod ssh;

pub use error::{Service, SshFault, StoresError, UrlFault};
pub use place::{SCHEMES, open, shown};
