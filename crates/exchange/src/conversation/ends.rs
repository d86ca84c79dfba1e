//! The two ends of a stream.

use super::Core;
use std::sync::Arc;
use vesica_core::TransportError;
use vesica_net::{StreamId, StreamReader, StreamWriter};

pub(super) struct Reader {
    pub(super) core: Arc<Core>,
    pub(super) stream: StreamId,
}

impl StreamReader for Reader {
    fn read_exact(&mut self, buf: &mut [u8]) -> Result<(), TransportError> {
        self.core.read(self.stream, buf)
    }
}

pub(super) struct Writer {
    pub(super) core: Arc<Core>,
    pub(super) stream: StreamId,
}

impl StreamWriter for Writer {
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        self.core.write(self.stream, bytes)
    }

    /// Waits for nobody: what was written is published when this party waits for the other one.
    fn flush(&mut self) -> Result<(), TransportError> {
        self.core.check_open()
    }
}
