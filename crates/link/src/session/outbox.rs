//! Data to send, and how much of it may be sent.

use super::log::Log;
use super::spare::Spare;
use super::windows::{FIRST_WINDOW, MAX_AHEAD, MAX_UNOPENED};
use crate::frame::{Frame, MAX_DATA_LEN, Packet};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Condvar};
use vesica_core::{StopReason, TransportError};
use vesica_net::StreamId;

/// Bytes a stream may queue before its writer waits, and the much lower level at which it
/// continues, so that the threads do not wake each other for every block.
const MAX_QUEUED_BYTES: usize = 512 << 10;
const ROOM_AGAIN_BYTES: usize = 256 << 10;

/// Bytes passed to TLS at once: large writes take half the processor time of small ones.
const BATCH_BYTES: usize = 256 << 10;

/// More credit than an honest peer grants to one stream.
const MAX_CREDIT: usize = 1 << 40;

/// The sending halves of all streams, and the state of the session's end.
#[derive(Default)]
pub(super) struct Outbox {
    streams: HashMap<StreamId, Outgoing>,
    /// Streams that have data and credit, in turn.
    ready: VecDeque<StreamId>,
    /// Credit to grant to the peer.
    grants: VecDeque<(StreamId, u32)>,
    finished: HashSet<StreamId>,
    unopened: usize,
    /// Streams opened here that the peer has not opened: it grants credit when it does.
    ahead: HashSet<StreamId>,
    queued_bytes: usize,
    /// Queued data must be sent now, even if it is little.
    urgent: bool,
    /// TLS itself has data to send.
    pub(super) tls_output: bool,
    pub(super) writer_asleep: bool,
    /// This side asked to close in order.
    pub(super) closing: bool,
    /// Our goodbye is queued; no data may follow.
    goodbye_queued: bool,
    pub(super) goodbye_sent: bool,
    pub(super) goodbye_received: bool,
    /// Both sides sent goodbye: close the connection.
    pub(super) disconnect: bool,
    /// The reason to send to the peer at an early end.
    pub(super) farewell: Option<StopReason>,
    pub(super) reader_done: bool,
    pub(super) writer_done: bool,
    pub(super) spare: Spare,
    /// The sending thread has no connection, and has taken no packets.
    pub(super) parked: bool,
    /// The frames that the peer may lack, if the session can be mended.
    log: Option<Log>,
}

struct Outgoing {
    blocks: VecDeque<Vec<u8>>,
    queued_bytes: usize,
    credit: usize,
    opened: bool,
    /// The writer is gone; the end of the stream follows its last block.
    finishing: bool,
    in_turn: bool,
    waiting: bool,
    room: Arc<Condvar>,
}

impl Outbox {
    /// With `mendable`, frames are kept until the peer has them.
    pub(super) fn new(mendable: bool) -> Self {
        Self { log: mendable.then(Log::default), ..Self::default() }
    }

    /// Records that `bytes`, fewer than the first window, were sent on the stream before the
    /// session began.
    pub(super) fn count_early_bytes(&mut self, id: StreamId, bytes: usize) {
        if bytes > 0 {
            let stream = Outgoing::new();
            let credit = stream.credit.saturating_sub(bytes);
            self.unopened += 1;
            self.streams.insert(id, Outgoing { credit, ..stream });
        }
    }

    /// Opens the stream here; the condition variable signals room.
    pub(super) fn open(&mut self, id: StreamId) -> Result<Arc<Condvar>, TransportError> {
        if self.finished.contains(&id) {
            return Err(TransportError::AlreadyOpen);
        }
        let known = self.streams.contains_key(&id);
        let stream = self.streams.entry(id).or_insert_with(Outgoing::new);
        if stream.opened {
            return Err(TransportError::AlreadyOpen);
        }
        if known {
            self.unopened -= 1;
        } else {
            self.ahead.insert(id);
        }
        stream.opened = true;
        Ok(Arc::clone(&stream.room))
    }

    /// Whether the peer accepts that this end opens one more stream before it does.
    pub(super) fn may_open(&self, id: StreamId) -> bool {
        self.ahead.len() < MAX_AHEAD || self.streams.contains_key(&id)
    }

    /// Whether data can still be sent.
    pub(super) fn is_shut(&self) -> bool {
        self.goodbye_queued
    }

    /// Whether the goodbye is partly sent.
    pub(super) fn is_saying_goodbye(&self) -> bool {
        self.goodbye_queued && !self.goodbye_sent
    }

    /// Whether to send the goodbye now: the session is closing and everything else is sent. True
    /// once.
    fn goodbye_is_due(&mut self) -> bool {
        let due = self.closing && !self.goodbye_queued && self.is_empty();
        self.goodbye_queued |= due;
        due
    }

    /// Whether the stream can queue a block now. If not, its writer is marked as waiting.
    pub(super) fn has_room(&mut self, id: StreamId) -> bool {
        let Some(stream) = self.streams.get_mut(&id) else { return true };
        stream.waiting = stream.queued_bytes >= MAX_QUEUED_BYTES;
        !stream.waiting
    }

    /// Sends queued data now; otherwise it is sent when there is enough for one large write.
    pub(super) fn hurry(&mut self) {
        self.urgent = true;
    }

    /// Whether data should be sent now.
    pub(super) fn data_is_due(&self) -> bool {
        self.urgent || self.queued_bytes >= BATCH_BYTES
    }

    /// Queues a block, at most as long as a frame's payload.
    pub(super) fn push(&mut self, id: StreamId, block: Vec<u8>) {
        if self.goodbye_queued {
            return;
        }
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.queued_bytes += block.len();
        self.queued_bytes += block.len();
        stream.blocks.push_back(block);
        self.take_turn(id);
    }

    /// Ends the stream after its queued data.
    pub(super) fn finish(&mut self, id: StreamId) {
        if self.goodbye_queued {
            return;
        }
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.finishing = true;
        self.urgent = true;
        self.take_turn(id);
    }

    /// Grants the peer credit on a stream.
    pub(super) fn grant(&mut self, id: StreamId, bytes: usize) {
        if bytes > 0 {
            self.grants.push_back((id, u32::try_from(bytes).unwrap_or(u32::MAX)));
        }
    }

    /// Adds credit that the peer granted on a stream. Returns whether the peer has opened a stream
    /// that was opened here before.
    pub(super) fn credit(&mut self, id: StreamId, bytes: u32) -> Result<bool, TransportError> {
        let has_followed = self.ahead.remove(&id);
        if self.finished.contains(&id) {
            // It crossed our end of the stream.
            return Ok(has_followed);
        }
        if !self.streams.contains_key(&id) {
            if self.unopened >= MAX_UNOPENED {
                return Err(TransportError::PeerFlood);
            }
            self.unopened += 1;
        }
        let stream = self.streams.entry(id).or_insert_with(Outgoing::new);
        stream.credit += bytes as usize;
        if stream.credit > MAX_CREDIT {
            return Err(TransportError::PeerFlood);
        }
        // Blocks that waited for credit may have been flushed long ago.
        self.urgent |= !stream.blocks.is_empty();
        self.take_turn(id);
        Ok(has_followed)
    }

    pub(super) fn wake_all(&mut self) {
        for stream in self.streams.values_mut() {
            stream.waiting = false;
            stream.room.notify_all();
        }
    }

    /// Whether the streams have no queued data left.
    fn is_empty(&self) -> bool {
        self.queued_bytes == 0 && self.ready.is_empty() && self.grants.is_empty()
    }

    /// Whether the session is waiting for a connection that it can use.
    pub(super) fn holds(&self) -> bool {
        self.log.as_ref().is_some_and(Log::holds)
    }

    /// Bytes of frames that the peer may not have, with what each frame costs.
    pub(super) fn kept_bytes(&self) -> usize {
        self.log.as_ref().map_or(0, Log::bytes)
    }

    /// The connection is lost.
    pub(super) fn hold(&mut self) {
        if let Some(log) = &mut self.log {
            log.hold();
        }
    }

    /// Tells the peer how many of its frames have arrived.
    pub(super) fn tell_arrived(&mut self, frames: u64) {
        if let Some(log) = &mut self.log {
            log.tell(frames);
        }
    }

    /// Records that `frames` of our frames have arrived at the peer.
    pub(super) fn arrived(&mut self, frames: u64) -> Result<(), TransportError> {
        let log = self.log.as_mut().ok_or(TransportError::PeerBrokeFraming)?;
        log.arrived(frames, &mut self.spare)?;
        self.goodbye_sent |= log.goodbye_has_arrived();
        Ok(())
    }

    /// Frames of this side that have arrived at the peer.
    pub(super) fn arrived_frames(&self) -> u64 {
        self.log.as_ref().map_or(0, Log::arrived_frames)
    }

    /// The peer has ended the connection in order, which it does only when it has all.
    pub(super) fn all_has_arrived(&mut self) {
        if let Some(log) = &mut self.log
            && self.goodbye_queued
        {
            log.all_has_arrived();
            self.goodbye_sent = true;
        }
    }

    /// Takes back a sent packet.
    pub(super) fn take_back(&mut self, (header, payload): Packet) {
        match &mut self.log {
            Some(log) if Frame::decode(&header).is_ok_and(Frame::is_numbered) => {
                log.keep((header, payload), &mut self.spare);
            }
            _ => self.spare.put(payload),
        }
    }

    /// Removes what to send next. Returns whether it is the goodbye, which counts as sent when it
    /// is written; in a session that can be mended, when the peer has it.
    pub(super) fn next_packets(&mut self, batch: &mut Vec<Packet>) -> bool {
        if let Some(log) = &mut self.log
            && !log.first(batch)
        {
            return false;
        }
        let first = batch.len();
        self.next_batch(batch);
        let goodbye = self.goodbye_is_due();
        if goodbye {
            batch.push((Frame::Goodbye.encode(), Vec::new()));
        }
        match &mut self.log {
            Some(log) => {
                log.number(&batch[first..], goodbye);
                false
            }
            None => goodbye,
        }
    }

    /// Removes what to send next: all credit, then data of the ready streams in turn.
    pub(super) fn next_batch(&mut self, batch: &mut Vec<Packet>) {
        for (stream, bytes) in self.grants.drain(..) {
            batch.push((Frame::Credit { stream, bytes }.encode(), Vec::new()));
        }
        if !self.data_is_due() {
            return;
        }
        let mut batch_bytes = 0;
        while batch_bytes < BATCH_BYTES {
            let Some(id) = self.ready.pop_front() else { break };
            let Some(stream) = self.streams.get_mut(&id) else { continue };
            stream.in_turn = false;
            if let Some(block) = stream.next_block() {
                self.queued_bytes -= block.len();
                batch_bytes += block.len();
                batch.push((Frame::Data { stream: id, len: block.len() }.encode(), block));
            }
            if stream.finishing && stream.blocks.is_empty() {
                batch.push((Frame::Finish { stream: id }.encode(), Vec::new()));
                self.streams.remove(&id);
                self.finished.insert(id);
            } else {
                self.take_turn(id);
            }
        }
        self.urgent &= !self.ready.is_empty();
    }

    /// Queues a stream for sending if it has data and credit.
    fn take_turn(&mut self, id: StreamId) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let may_send = stream.credit > 0 && !stream.blocks.is_empty();
        let may_finish = stream.finishing && stream.blocks.is_empty();
        if (may_send || may_finish) && !stream.in_turn {
            stream.in_turn = true;
            self.ready.push_back(id);
        }
    }
}

impl Outgoing {
    fn new() -> Self {
        Self {
            blocks: VecDeque::new(),
            queued_bytes: 0,
            credit: FIRST_WINDOW,
            opened: false,
            finishing: false,
            in_turn: false,
            waiting: false,
            room: Arc::new(Condvar::new()),
        }
    }

    /// The next block, limited to the credit.
    fn next_block(&mut self) -> Option<Vec<u8>> {
        if self.credit == 0 {
            return None;
        }
        let mut block = self.blocks.pop_front()?;
        debug_assert!(block.len() <= MAX_DATA_LEN);
        if block.len() > self.credit {
            let rest = block.split_off(self.credit);
            self.blocks.push_front(rest);
            // It may be kept until the peer has it: a peer that grants byte by byte must not have
            // us keep whole blocks.
            block.shrink_to_fit();
        }
        self.credit -= block.len();
        self.queued_bytes -= block.len();
        if self.waiting && self.queued_bytes <= ROOM_AGAIN_BYTES {
            self.waiting = false;
            self.room.notify_all();
        }
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_is_sent_byte_by_byte_takes_as_much_memory_as_it_is_long() {
        let mut outgoing = Outgoing::new();
        (outgoing.credit, outgoing.queued_bytes) = (0, MAX_DATA_LEN);
        outgoing.blocks.push_back(vec![1; MAX_DATA_LEN]);
        for _ in 0..100 {
            outgoing.credit = 1;
            let block = outgoing.next_block().unwrap();
            assert_eq!(block.len(), 1);
            assert!(block.capacity() < 1024, "{}", block.capacity());
        }
    }
}
