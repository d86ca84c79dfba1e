//! Splits the decrypted bytes into frames and handles them.

use super::log::FRAME_COST;
use super::shared::Core;
use crate::frame::{Frame, HEADER_LEN, MAX_DATA_LEN};
use crate::sync::lock;
use vesica_core::TransportError;
use vesica_net::StreamId;

/// Bytes that arrive before they are acknowledged. The peer keeps them as long.
const ACKNOWLEDGED_BYTES: usize = 256 << 10;

/// Where in a frame the bytes so far end.
#[derive(Default)]
pub(super) struct Demux {
    header: [u8; HEADER_LEN],
    header_len: usize,
    data: Option<Payload>,
    /// Numbered frames that have arrived, in all connections of the session.
    frames: u64,
    /// Bytes received since the last acknowledgement.
    unacknowledged: usize,
    /// On a new connection of the session: the peer has not yet reported what arrived.
    begins: bool,
    /// The peer has just reported it after a reconnection.
    pub(super) mended: bool,
}

struct Payload {
    stream: StreamId,
    block: Vec<u8>,
    missing: usize,
}

impl Demux {
    /// Numbered frames that have arrived, in all connections of the session.
    pub(super) fn frames(&self) -> u64 {
        self.frames
    }

    /// The following bytes come from another connection of the session.
    pub(super) fn begin_again(&mut self) {
        (self.header_len, self.data) = (0, None);
        (self.unacknowledged, self.begins) = (0, true);
    }

    /// A numbered frame has arrived.
    fn count(&mut self, core: &Core, len: usize) {
        self.frames += 1;
        self.unacknowledged += len + FRAME_COST;
        if core.mender.is_some() && self.unacknowledged >= ACKNOWLEDGED_BYTES {
            self.unacknowledged = 0;
            let mut outbox = lock(&core.outbox);
            outbox.tell_arrived(self.frames);
            core.wake_writer(&mut outbox);
        }
    }

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
                    let len = block.len();
                    core.deliver(stream, block)?;
                    self.count(core, len);
                }
                continue;
            }
            let (now, later) = bytes.split_at(bytes.len().min(HEADER_LEN - self.header_len));
            self.header[self.header_len..self.header_len + now.len()].copy_from_slice(now);
            self.header_len += now.len();
            bytes = later;
            if self.header_len == HEADER_LEN {
                self.header_len = 0;
                self.act(core, Frame::decode(&self.header)?)?;
            }
        }
        Ok(())
    }

    fn act(&mut self, core: &Core, frame: Frame) -> Result<(), TransportError> {
        match frame {
            Frame::Arrived { frames } => {
                self.mended |= std::mem::take(&mut self.begins);
                return core.arrived(frames);
            }
            Frame::Stop(_) => {}
            _ if self.begins => return Err(TransportError::PeerBrokeFraming),
            Frame::Goodbye => {
                // Before another thread learns of the goodbye, since the connection may then end.
                self.unacknowledged = 0;
                lock(&core.outbox).tell_arrived(self.frames + 1);
            }
            _ => {}
        }
        self.data = core.act(frame)?;
        if self.data.is_none() && frame.is_numbered() {
            self.count(core, 0);
        }
        Ok(())
    }
}

impl Core {
    fn arrived(&self, frames: u64) -> Result<(), TransportError> {
        let mut outbox = lock(&self.outbox);
        outbox.arrived(frames)?;
        self.wake_writer(&mut outbox);
        drop(outbox);
        self.progress.notify_all();
        Ok(())
    }

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
                let has_followed = outbox.credit(stream, bytes)?;
                self.wake_writer(&mut outbox);
                drop(outbox);
                if has_followed {
                    self.progress.notify_all();
                }
            }
            Frame::Finish { stream } => lock(&self.inbox).finish(stream)?,
            Frame::Stop(reason) => return Err(TransportError::PeerStopped(reason)),
            Frame::Goodbye => {
                lock(&self.inbox).goodbye();
                let mut outbox = lock(&self.outbox);
                outbox.goodbye_received = true;
                self.wake_writer(&mut outbox);
                drop(outbox);
                self.progress.notify_all();
            }
            // It is for the session, not for its streams.
            Frame::Arrived { .. } => {}
        }
        Ok(None)
    }
}
