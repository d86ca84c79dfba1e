//! A connection to one peer, which carries the streams of a run.

use crate::{Detached, StreamId, Streams};
use vesica_core::{StopReason, TransportError};

/// A connection to one peer, for one run.
pub trait Connection: Streams {
    /// 32 bytes that only the two ends of this connection can derive, different for each
    /// connection, `label` and `context`.
    fn export(&self, label: &str, context: &[u8]) -> [u8; 32];

    /// The seed of this end's randomness, if the same program must run again with the same bytes;
    /// `None` if the randomness must be fresh.
    fn seed(&self) -> Option<[u8; 32]>;

    /// Why the connection ended; `None` while it is open.
    fn ended(&self) -> Option<TransportError>;

    /// Ends the connection early and sends the peer the reason.
    fn stop(&self, reason: StopReason);

    /// Ends the connection in order, after all flushed data.
    ///
    /// # Errors
    /// Any [`TransportError`]; the one that ended the connection, if it had ended before.
    fn close(&self) -> Result<(), TransportError>;

    /// Bytes sent and received so far, including what the connection adds to the streams.
    fn wire_bytes(&self) -> (u64, u64);

    /// Bounds the bytes that an honest peer sends before this end reads them. A connection that
    /// stores unread bytes without slowing the peer down then ends the run if the peer sends more.
    fn expect(&self, _bytes: u64) {}

    /// This connection, if programs in other processes can store what parts of the run send.
    fn detached(&self) -> Option<&dyn Detached> {
        None
    }

    /// The result that [`keep_part`](Self::keep_part) stored for this part of the run, in this
    /// process or an earlier one; `None` if there is none. A part with a stored result need not run
    /// again, and must not: its streams are closed.
    ///
    /// # Errors
    /// Any [`TransportError`] if it cannot be read.
    fn kept_part(&self, _part: u64) -> Result<Option<Vec<u8>>, TransportError> {
        Ok(None)
    }

    /// Stores the `result` of a finished part of the run, if this connection outlives a process.
    /// Only this part has used `streams`.
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
