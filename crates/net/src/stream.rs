//! The interface of a transport: independent two-way byte streams, opened by name.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use vesica_core::{StopReason, TransportError};

/// Names a stream. Both ends open the same name and are connected without a round trip.
///
/// The root stream is [`StreamId::ROOT`]; the n-th fork of a stream is [`StreamId::child`]`(n)` at
/// both ends, so equal programs open equal names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(u64);

impl StreamId {
    /// The first stream of every session.
    pub const ROOT: StreamId = StreamId(1);

    /// A stream id from the wire.
    pub const fn from_u64(id: u64) -> Self {
        Self(id)
    }

    /// The id for the wire.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// The `index`-th child of this stream.
    pub fn child(self, index: u64) -> Self {
        const LABEL: &str = "vesica v1 stream child";
        let digest =
            vesica_core::hash::derive(LABEL, &[&self.0.to_le_bytes(), &index.to_le_bytes()]);
        let mut id = [0; 8];
        id.copy_from_slice(&digest[..8]);
        Self(u64::from_le_bytes(id))
    }
}

impl fmt::Debug for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StreamId({:016x})", self.0)
    }
}

/// The reading half of a stream. It blocks, and fails at the transport's own time limits.
pub trait StreamReader: Send {
    /// Fills `buf` completely.
    ///
    /// # Errors
    /// Any [`TransportError`]; the stream is unusable afterwards.
    fn read_exact(&mut self, buf: &mut [u8]) -> Result<(), TransportError>;
}

/// The writing half of a stream. It blocks while the peer accepts no data.
pub trait StreamWriter: Send {
    /// Writes all of `bytes`, in order. They may stay in a buffer until [`flush`](Self::flush).
    ///
    /// # Errors
    /// Any [`TransportError`]; the stream is unusable afterwards.
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), TransportError>;

    /// Sends the buffered data.
    ///
    /// # Errors
    /// Any [`TransportError`]; the stream is unusable afterwards.
    fn flush(&mut self) -> Result<(), TransportError>;

    /// Where the stream wants to know how many bytes wait in a queue before it: their number, which
    /// the queue keeps.
    fn unwritten(&self) -> Option<Arc<AtomicUsize>> {
        None
    }
}

/// Both halves of one stream.
pub type StreamPair = (Box<dyn StreamReader>, Box<dyn StreamWriter>);

/// A connection to one peer that carries any number of streams.
pub trait Streams: Send + Sync {
    /// Opens the stream `id`. Each end opens an id at most once.
    ///
    /// # Errors
    /// Any [`TransportError`] if the connection is already closed.
    fn open(&self, id: StreamId) -> Result<StreamPair, TransportError>;

    /// Ends the connection at once: tells the peer why, if still possible, and wakes all waiting
    /// threads. Called when one of several parallel parts of a protocol fails, so that the others
    /// do not wait for the peer.
    fn abort(&self, reason: StopReason);

    /// Changes by `more` the number of this party's parts that work in parallel; it is 1 at first.
    /// A part that waits for the peer counts.
    fn parts(&self, _more: isize) {}
}
