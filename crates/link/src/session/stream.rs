//! The two halves of a stream.

use super::inbox::Take;
use super::shared::Core;
use crate::frame::MAX_DATA_LEN;
use crate::sync::{lock, wait};
use std::sync::{Arc, Condvar};
use vesica_core::TransportError;
use vesica_net::{StreamId, StreamReader, StreamWriter};

pub(super) struct Reader {
    core: Arc<Core>,
    id: StreamId,
    arrived: Arc<Condvar>,
    /// The block being read, and how far.
    block: Vec<u8>,
    position: usize,
}

impl Reader {
    pub(super) fn new(core: Arc<Core>, id: StreamId, arrived: Arc<Condvar>) -> Self {
        Self { core, id, arrived, block: Vec::new(), position: 0 }
    }

    /// Makes the next block the current one.
    fn advance(&mut self) -> Result<(), TransportError> {
        let mut inbox = lock(&self.core.inbox);
        loop {
            // After an orderly end, data that arrived before it can still be read; an error is
            // returned at once.
            let ended = self.core.ended.get();
            if let Some(error) = ended.filter(|error| **error != TransportError::Closed) {
                return Err(*error);
            }
            match inbox.take(self.id) {
                Take::Block(block, credit) => {
                    inbox.spare.put(std::mem::take(&mut self.block));
                    drop(inbox);
                    self.core.give_back(self.id, credit);
                    self.block = block;
                    self.position = 0;
                    return Ok(());
                }
                Take::End => return Err(TransportError::Closed),
                Take::Nothing if ended.is_some() => return Err(TransportError::Closed),
                Take::Nothing => inbox = wait(&self.arrived, inbox),
            }
        }
    }
}

impl StreamReader for Reader {
    fn read_exact(&mut self, mut buf: &mut [u8]) -> Result<(), TransportError> {
        while !buf.is_empty() {
            if self.position == self.block.len() {
                self.advance()?;
            }
            let len = buf.len().min(self.block.len() - self.position);
            let (now, later) = buf.split_at_mut(len);
            now.copy_from_slice(&self.block[self.position..self.position + len]);
            self.position += len;
            buf = later;
        }
        Ok(())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let credit = lock(&self.core.inbox).ignore(self.id);
        self.core.give_back(self.id, credit);
    }
}

pub(super) struct Writer {
    core: Arc<Core>,
    id: StreamId,
    room: Arc<Condvar>,
    /// Written and not yet queued; less than a frame's payload.
    gathered: Vec<u8>,
}

impl Writer {
    pub(super) fn new(core: Arc<Core>, id: StreamId, room: Arc<Condvar>) -> Self {
        Self { core, id, room, gathered: Vec::new() }
    }

    /// Queues the gathered bytes. Unless `urgent`, they are sent when there is enough for one large
    /// write.
    fn hand_over(&mut self, urgent: bool) -> Result<(), TransportError> {
        let block = std::mem::take(&mut self.gathered);
        let mut outbox = lock(&self.core.outbox);
        loop {
            if let Some(error) = self.core.ended.get() {
                return Err(*error);
            }
            if outbox.is_shut() {
                return Err(TransportError::Closed);
            }
            if outbox.has_room(self.id) {
                if !block.is_empty() {
                    outbox.push(self.id, block);
                }
                if urgent {
                    outbox.hurry();
                }
                if outbox.data_is_due() {
                    self.core.wake_writer(&mut outbox);
                }
                return Ok(());
            }
            outbox = wait(&self.room, outbox);
        }
    }
}

impl StreamWriter for Writer {
    fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), TransportError> {
        while !bytes.is_empty() {
            if bytes.len() >= MAX_DATA_LEN / 2 && self.gathered.capacity() == 0 {
                self.gathered = lock(&self.core.outbox).spare.take();
                self.gathered.reserve_exact(MAX_DATA_LEN);
            }
            let (now, later) = bytes.split_at(bytes.len().min(MAX_DATA_LEN - self.gathered.len()));
            self.gathered.extend_from_slice(now);
            bytes = later;
            if self.gathered.len() == MAX_DATA_LEN {
                self.hand_over(false)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        self.hand_over(true)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Without waiting for room: one block above the limit is harmless.
        let mut outbox = lock(&self.core.outbox);
        if !self.gathered.is_empty() {
            outbox.push(self.id, std::mem::take(&mut self.gathered));
        }
        outbox.finish(self.id);
        self.core.wake_writer(&mut outbox);
    }
}

impl Core {
    fn give_back(&self, id: StreamId, credit: usize) {
        if credit > 0 {
            let mut outbox = lock(&self.outbox);
            outbox.grant(id, credit);
            self.wake_writer(&mut outbox);
        }
    }
}
