//! The effect of a peer's frames on a session, without a connection.

use super::inbox::{Inbox, Take};
use super::outbox::Outbox;
use crate::frame::{Frame, Packet};
use vesica_core::TransportError;
use vesica_net::StreamId;

/// Bytes of a frame's header.
pub const HEADER_LEN: usize = crate::frame::HEADER_LEN;

/// Decodes a frame's header and encodes it again; `None` if it is invalid.
pub fn frame(header: &[u8; HEADER_LEN]) -> Option<[u8; HEADER_LEN]> {
    Frame::decode(header).ok().map(Frame::encode)
}

/// The receiving end of a session: handles frames as the reader's thread does.
#[derive(Default)]
pub struct FrameFeed {
    inbox: Inbox,
    outbox: Outbox,
    /// The packets that the sending thread has taken.
    taken: Vec<Packet>,
}

impl std::fmt::Debug for FrameFeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FrameFeed(..)")
    }
}

impl FrameFeed {
    /// The end of a session that outlives its connection.
    pub fn mendable() -> Self {
        Self { outbox: Outbox::new(true), ..Self::default() }
    }

    /// The connection is lost, and there is another one: the peer says next what has arrived.
    pub fn lose(&mut self) {
        self.put_back();
        self.outbox.hold();
        self.outbox.tell_arrived(0);
    }

    /// Bytes that are kept until the peer has them, with what each frame costs.
    pub fn kept_bytes(&self) -> usize {
        self.outbox.kept_bytes()
    }

    fn put_back(&mut self) {
        for packet in self.taken.drain(..) {
            self.outbox.take_back(packet);
        }
    }

    /// Handles a frame whose payload, if it has one, is zeros.
    ///
    /// # Errors
    /// The reason the session ends.
    pub fn take(&mut self, header: &[u8; HEADER_LEN]) -> Result<(), TransportError> {
        match Frame::decode(header)? {
            Frame::KeepAlive => {}
            Frame::Data { stream, len } => {
                let credit = self.inbox.deliver(stream, vec![0; len])?;
                self.outbox.grant(stream, credit);
            }
            Frame::Credit { stream, bytes } => _ = self.outbox.credit(stream, bytes)?,
            Frame::Finish { stream } => self.inbox.finish(stream)?,
            Frame::Stop(reason) => return Err(TransportError::PeerStopped(reason)),
            Frame::Goodbye => self.inbox.goodbye(),
            Frame::Arrived { frames } => self.outbox.arrived(frames)?,
        }
        self.inbox.wake_served();
        Ok(())
    }

    /// This end opens a stream unless it is open.
    pub fn open(&mut self, stream: u64) {
        let id = StreamId::from_u64(stream);
        let _ = self.inbox.open(id).and_then(|_| self.outbox.open(id));
    }

    /// This end sends `len` bytes on a stream.
    pub fn send(&mut self, stream: u64, len: usize) {
        self.outbox.push(StreamId::from_u64(stream), vec![0; len]);
        self.outbox.hurry();
    }

    /// This end reads a block of a stream; returns its length.
    pub fn read(&mut self, stream: u64) -> usize {
        match self.inbox.take(StreamId::from_u64(stream)) {
            Take::Block(block, credit) => {
                self.outbox.grant(StreamId::from_u64(stream), credit);
                block.len()
            }
            Take::Nothing | Take::End => 0,
        }
    }

    /// This end drops both halves of a stream.
    pub fn leave(&mut self, stream: u64) {
        let id = StreamId::from_u64(stream);
        let credit = self.inbox.ignore(id);
        self.outbox.grant(id, credit);
        self.outbox.finish(id);
    }

    /// The headers of the frames that this end would send now.
    pub fn sent(&mut self) -> Vec<[u8; HEADER_LEN]> {
        self.put_back();
        self.outbox.next_packets(&mut self.taken);
        self.taken.iter().map(|(header, _)| *header).collect()
    }

    /// Bytes that wait to be read.
    pub fn held_bytes(&self) -> usize {
        self.inbox.held_bytes()
    }
}
