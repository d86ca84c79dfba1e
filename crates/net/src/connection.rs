//! A connection to one peer, which carries the streams of a run.

use crate::{Detached, StreamId, Streams};
use vesica_core::{StopReason, TransportError};

/// A connection to one peer, for one run.
pub trait Connection: Streams {
    /// 32 bytes that only the two ends of this connection can derive, different for each connection, `label` and
    /// `context`.
    fn export(&self, label: &str, context: &[u8]) -> [u8; 32];

    /// The seed of this end's randomness, where the same program must run again with the same bytes; `None` where it
    /// must be fresh.
    fn seed(&self) -> Option<[u8; 32]>;

    /// Why it ended; `None` while it is open.
    fn ended(&self) -> Option<TransportError>;

    /// Ends it early and gives the peer the reason.
    fn stop(&self, reason: StopReason);

    /// Ends it in order, after all that was flushed.
    ///
    /// # Errors
    /// Any [`TransportError`]; the one that ended it before.
    fn close(&self) -> Result<(), TransportError>;

    /// Bytes sent and received so far, with all that is added to the streams.
    fn wire_bytes(&self) -> (u64, u64);

    /// An honest peer sends at most this many bytes before this end reads them. A connection that keeps what is unread without
    /// holding the peer up then ends the run of a peer that sends more.
    fn expect(&self, _bytes: u64) {}

    /// This connection, if parts of the run can store apart what they say.
    fn detached(&self) -> Option<&dyn Detached> {
        None
    }

    /// What [`keep_part`](Self::keep_part) kept of this part of the run, by an earlier process too; `None` if nothing. The
    /// part need not run again, and must not: its streams are closed.
    ///
    /// # Errors
    /// Any [`TransportError`] if it cannot be read.
    fn kept_part(&self, _part: u64) -> Result<Option<Vec<u8>>, TransportError> {
        Ok(None)
    }

    /// Keeps `result` of a part of the run that is over, if this connection outlives a process. The part has used
    /// `streams`, and nobody else does.
    ///
    /// # Errors
    /// Any [`TransportError`].
    fn keep_part(
        &self,
        _part: u64,
        _streams: &[StreamId],
        _result: &[u8],
    ) -> Result<(), TransportError> {
        Ok(())
    }
}
