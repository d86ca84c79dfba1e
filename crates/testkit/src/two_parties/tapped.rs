use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::thread;
use std::time::Duration;
use vesica_core::{StopReason, TransportError};
use vesica_net::{StreamId, StreamPair, StreamWriter, Streams};

/// What becomes of the bytes that are written to a stream.
pub(super) type Tap = Box<dyn FnMut(&[u8]) -> Vec<u8> + Send>;

/// `inner`, each of its streams with its own tap between the writer and the transport.
pub(super) fn tapped(
    inner: &Arc<dyn Streams>,
    tap: impl Fn(StreamId) -> Tap + Send + Sync + 'static,
) -> Arc<dyn Streams> {
    Arc::new(Tapped { inner: Arc::clone(inner), tap })
}

/// `inner`, which takes up to three milliseconds more for each piece that is written. The times
/// differ from stream to stream and from piece to piece, so forks overtake each other in another
/// order than without them.
pub(super) fn uneven(inner: &Arc<dyn Streams>) -> Arc<dyn Streams> {
    tapped(inner, |id| {
        let mut turn = id.as_u64();
        Box::new(move |bytes| {
            turn = turn.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            thread::sleep(Duration::from_millis(turn >> 62));
            bytes.to_vec()
        })
    })
}

struct Tapped<F> {
    inner: Arc<dyn Streams>,
    tap: F,
}

impl<F: Fn(StreamId) -> Tap + Send + Sync> Streams for Tapped<F> {
    fn open(&self, id: StreamId) -> Result<StreamPair, TransportError> {
        let (reader, inner) = self.inner.open(id)?;
        Ok((reader, Box::new(TappedWriter { inner, tap: (self.tap)(id) })))
    }

    fn abort(&self, reason: StopReason) {
        self.inner.abort(reason);
    }
}

struct TappedWriter {
    inner: Box<dyn StreamWriter>,
    tap: Tap,
}

impl StreamWriter for TappedWriter {
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        self.inner.write_all(&(self.tap)(bytes))
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        self.inner.flush()
    }

    fn unwritten(&self) -> Option<Arc<AtomicUsize>> {
        self.inner.unwritten()
    }
}
