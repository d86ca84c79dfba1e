//! The streams of a conversation, and their two ends.

use super::{Conversation, Core, lock};
use crate::error::ExchangeError;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use vesica_core::{StopReason, TransportError};
use vesica_net::{StreamId, StreamPair, StreamReader, StreamWriter, Streams};

impl Streams for Conversation {
    fn open(&self, id: StreamId) -> Result<StreamPair, TransportError> {
        self.core.check_open()?;
        lock(&self.core.inbox).open(id);
        let core = || Arc::clone(&self.core);
        let (reader, writer) =
            (Reader { core: core(), stream: id }, Writer { core: core(), stream: id });
        Ok((Box::new(reader), Box::new(writer)))
    }

    fn abort(&self, _: StopReason) {
        let _ = self.core.fail(ExchangeError::Cancelled);
    }

    fn parts(&self, more: isize) {
        self.core.working.fetch_add(more, Ordering::Relaxed);
    }
}

struct Reader {
    core: Arc<Core>,
    stream: StreamId,
}

impl StreamReader for Reader {
    fn read_exact(&mut self, buf: &mut [u8]) -> Result<(), TransportError> {
        self.core.read(self.stream, buf)
    }
}

struct Writer {
    core: Arc<Core>,
    stream: StreamId,
}

impl StreamWriter for Writer {
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        self.core.write(self.stream, bytes)
    }

    /// Does not wait. What was written is published when this party waits for the other one.
    fn flush(&mut self) -> Result<(), TransportError> {
        self.core.check_open()
    }
}
