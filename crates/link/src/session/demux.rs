//! Splits the decrypted bytes into frames and handles them.

use super::Core;
use crate::frame::{Frame, HEADER_LEN, MAX_DATA_LEN};
use crate::sync::lock;
use vesica_core::TransportError;
use vesica_net::StreamId;

/// Where in a frame the bytes so far end.
#[derive(Default)]
pub(super) struct Demux {
    header: [u8; HEADER_LEN],
    header_len: usize,
    data: Option<Payload>,
}

struct Payload {
    stream: StreamId,
    block: Vec<u8>,
    missing: usize,
}

impl Demux {
    /// Handles the next bytes of the session.
    ///
    /// # Errors
    /// The reason the session ends: the peer's stop, or its misbehaviour.
    pub(super) fn feed(&mut self, core: &Core, mut bytes: &[u8]) -> Result<(), TransportError> {
        while !bytes.is_empty() {
            if let Some(payload) = &mut self.data {
                let (now, later) = bytes.split_at(bytes.len().min(payload.missing));
                payload.block.extend_from_slice(now);
                payload.missing -= now.len();
                core.has_moved();
                bytes = later;
                if payload.missing == 0 {
                    let (stream, block) = (payload.stream, std::mem::take(&mut payload.block));
                    self.data = None;
                    core.deliver(stream, block)?;
                }
                continue;
            }
            let (now, later) = bytes.split_at(bytes.len().min(HEADER_LEN - self.header_len));
            self.header[self.header_len..self.header_len + now.len()].copy_from_slice(now);
            self.header_len += now.len();
            bytes = later;
            if self.header_len == HEADER_LEN {
                self.header_len = 0;
                self.data = core.act(Frame::decode(&self.header)?)?;
            }
        }
        Ok(())
    }
}

impl Core {
    fn deliver(&self, stream: StreamId, block: Vec<u8>) -> Result<(), TransportError> {
        let credit = lock(&self.inbox).deliver(stream, block)?;
        if credit > 0 {
            let mut outbox = lock(&self.outbox);
            outbox.grant(stream, credit);
            self.wake_writer(&mut outbox);
        }
        Ok(())
    }

    fn act(&self, frame: Frame) -> Result<Option<Payload>, TransportError> {
        match frame {
            Frame::KeepAlive => {}
            // The frame decoder bounds `len`.
            Frame::Data { stream, len } => {
                let mut block = Vec::new();
                if len > MAX_DATA_LEN / 2 {
                    block = lock(&self.inbox).spare.take();
                    block.reserve_exact(MAX_DATA_LEN);
                } else {
                    block.reserve_exact(len);
                }
                return Ok(Some(Payload { stream, block, missing: len }));
            }
            Frame::Credit { stream, bytes } => {
                self.has_moved();
                let mut outbox = lock(&self.outbox);
                outbox.credit(stream, bytes)?;
                self.wake_writer(&mut outbox);
            }
            Frame::Finish { stream } => lock(&self.inbox).finish(stream)?,
            Frame::Stop(reason) => return Err(TransportError::PeerStopped(reason)),
            Frame::Goodbye => {
                lock(&self.inbox).goodbye();
                lock(&self.outbox).goodbye_received = true;
                self.progress.notify_all();
            }
        }
        Ok(None)
    }
}
