//! What the parts of one call share: what is wanted, who waits, and for how long.

use super::event::LinkEvent;
use super::options::LinkOptions;
use crate::tls::Tls;
use crate::{CancelToken, LinkError};
use std::sync::Arc;
use std::time::Duration;
use vesica_core::Secret;

/// How long one connection may take from its first byte to an established session.
pub(super) const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);

/// Most time from cancellation to the end of a wait.
pub(super) const CANCEL_TICK: Duration = Duration::from_millis(50);

/// How often a wait reports that it continues.
pub(super) const WAITING_EVENT_EVERY: Duration = Duration::from_secs(1);

/// The kind of connection that a side requests.
#[derive(Clone)]
pub(crate) enum Intent {
    /// A session that ends with it.
    Plain,
    /// A session that outlives it.
    Mendable,
    /// To continue the session with this root secret.
    Again(Arc<Secret<[u8; 32]>>),
}

impl Intent {
    pub(super) const AGAIN: u8 = 2;

    /// The byte that represents it on the wire.
    pub(super) fn code(&self) -> u8 {
        match self {
            Intent::Plain => 0,
            Intent::Mendable => 1,
            Intent::Again(_) => Self::AGAIN,
        }
    }
}

/// State shared by all parts of one call of [`establish`](super::establish()).
pub(super) struct Attempt<'a> {
    pub(super) tls: Tls,
    pub(super) options: &'a LinkOptions,
    pub(super) intent: Intent,
    /// The first bytes that a connecting side sends, at each attempt.
    pub(super) first: &'a [u8],
    pub(super) caller: Caller<'a>,
}

/// The caller of a wait: receives events, and can cancel.
#[derive(Clone, Copy)]
pub(super) struct Caller<'a> {
    pub(super) on_event: &'a dyn Fn(LinkEvent),
    pub(super) cancel: &'a CancelToken,
}

impl Caller<'_> {
    pub(super) fn check_cancel(&self) -> Result<(), LinkError> {
        if self.cancel.is_cancelled() { Err(LinkError::Cancelled) } else { Ok(()) }
    }
}
