//! Connections between two parties: identities, TLS, one port, many streams.
//!
//! * [`Identity`], [`PublicIdentity`] — an Ed25519 key file and its printable public half.
//! * [`establish`] — listens or connects until the one expected peer is connected.
//! * [`establish_mendable`] — the same for a session that outlives its connection.
//! * [`Listener`] — an open port on which a service serves many sessions at once.
//! * [`Session`] — one TLS 1.3 connection that carries any number of streams.
//! * [`letters`] — messages between parties through a helper they do not trust.
//! * [`Proxy`] — what a connecting party may have to go through.
//! * [`CancelToken`] — ends a wait from another thread.
//! * [`LinkError`], [`LinkEvent`] — errors, and events while waiting.
//! * [`ShapedRelay`] — an emulated network between two processes on one machine.
//! * [`fuzzing`] — entry points for fuzzers.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod access;
mod address;
mod authenticated;
mod cancel;
mod error;
mod establish;
mod frame;
#[doc(hidden)]
pub mod fuzzing;
mod identity;
mod key_file;
pub mod letters;
mod relay;
mod session;
mod sync;
mod tls;

pub use access::{Access, access_of_others, access_to_secret};
pub use address::{check_address, check_peer_address};
pub use cancel::CancelToken;
pub use error::LinkError;
pub use establish::{
    Endpoint, LinkEvent, LinkOptions, ListenOptions, Listener, MAX_FIRST_LEN, OnEvent, establish,
    establish_mendable, establish_sending,
};
pub use identity::{ParseIdentityError, PublicIdentity};
pub use key_file::{Identity, IdentityError};
pub use relay::ShapedRelay;
pub use session::Session;
pub use vesica_addresses::{Proxy, ProxyChoice, ProxyError, ProxyFault};
