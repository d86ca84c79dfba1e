//! What a transport must offer: independent two-way byte streams, opened by name.

use std::fmt;
use vesica_core::{StopReason, TransportError};

/// Names a stream. Both ends open the same name and are joined; no round trip is spent on it.
///
/// The root stream is [`StreamId::ROOT`]; the n-th fork of a stream is [`StreamId::child`]`(n)` at
/// both ends, so equal programs meet on equal names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(u64);

impl StreamId {
    /// The stream every session starts with.
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

/// The reading half of a stream. Blocks; ends with the transport's own time limits.
pub trait StreamReader: Send {
    /// Fills `buf` whole.
    ///
    /// # Errors
    /// Any [`TransportError`]; the stream is of no use afterwards.
    fn read_exact(&mut self, buf: &mut [u8]) -> Result<(), TransportError>;
}

/// The writing half of a stream. Blocks while the peer is not taking data.
pub trait StreamWriter: Send {
    /// Hands over all of `bytes`, in order. They may sit in a buffer until [`flush`](Self::flush).
    ///
    /// # Errors
    /// Any [`TransportError`]; the stream is of no use afterwards.
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), TransportError>;

    /// Sends what is buffered on its way.
    ///
    /// # Errors
    /// Any [`TransportError`]; the stream is of no use afterwards.
    fn flush(&mut self) -> Result<(), TransportError>;
}

/// Both halves of one stream.
pub type StreamPair = (Box<dyn StreamReader>, Box<dyn StreamWriter>);

/// A connection to one peer that carries any number of streams.
pub trait Streams: Send + Sync {
    /// Opens the stream `id`. Each end opens an id at most once.
    ///
    /// # Errors
    /// Any [`TransportError`] when the connection is already gone.
    fn open(&self, id: StreamId) -> Result<StreamPair, TransportError>;

    /// Ends the connection at once: tells the peer why, if that is still possible, and wakes
    /// everybody who waits on a stream of it. Called when one of several parallel parts of a
    /// protocol fails, so that the others do not wait for a peer that has nothing left to say.
    fn abort(&self, reason: StopReason);
}
