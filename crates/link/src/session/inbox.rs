//! Data that has arrived and is not read yet.

use super::spare::Spare;
use super::windows::{FIRST_WINDOW, MAX_UNOPENED, WINDOW};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Condvar};
use vesica_core::TransportError;
use vesica_net::StreamId;

/// Blocks are joined up to this size, so that many tiny messages do not become many tiny blocks.
const GATHER_BYTES: usize = 4 << 10;

/// Credit is returned in portions to save frames.
const CREDIT_PORTION: usize = WINDOW / 4;

/// The receiving halves of all streams.
#[derive(Default)]
pub(super) struct Inbox {
    streams: HashMap<StreamId, Incoming>,
    /// Streams that have ended here; nothing more may arrive on them.
    finished: HashSet<StreamId>,
    unopened: usize,
    /// The peer will send nothing more on any stream.
    goodbye: bool,
    /// Readers to wake after everything that arrived together is stored.
    to_wake: Vec<Arc<Condvar>>,
    pub(super) spare: Spare,
}

struct Incoming {
    blocks: VecDeque<Vec<u8>>,
    /// Bytes the peer may still send.
    window: usize,
    /// Bytes read for which no credit was returned yet.
    taken: usize,
    /// The peer has sent everything.
    complete: bool,
    opened: bool,
    /// The reader was dropped: later data is discarded.
    ignored: bool,
    waiting: bool,
    arrived: Arc<Condvar>,
}

/// The result of a read.
pub(super) enum Take {
    /// A block, and the credit to return for it (0 for none yet).
    Block(Vec<u8>, usize),
    /// Nothing yet.
    Nothing,
    /// No data, and none will come.
    End,
}

impl Inbox {
    /// Opens the stream here; the condition variable signals arrivals.
    pub(super) fn open(&mut self, id: StreamId) -> Result<Arc<Condvar>, TransportError> {
        if self.finished.contains(&id) {
            return Err(TransportError::AlreadyOpen);
        }
        let known = self.streams.contains_key(&id);
        let stream = self.streams.entry(id).or_insert_with(Incoming::new);
        if stream.opened {
            return Err(TransportError::AlreadyOpen);
        }
        if known {
            self.unopened -= 1;
        }
        stream.opened = true;
        stream.window += WINDOW - FIRST_WINDOW;
        Ok(Arc::clone(&stream.arrived))
    }

    /// Stores a block of data, at most a frame's payload. Returns the credit to return at once, for
    /// a stream whose reader is gone.
    pub(super) fn deliver(
        &mut self,
        id: StreamId,
        block: Vec<u8>,
    ) -> Result<usize, TransportError> {
        let stream = self.incoming(id)?;
        if stream.complete {
            return Err(TransportError::PeerBrokeFraming);
        }
        stream.window = stream.window.checked_sub(block.len()).ok_or(TransportError::PeerFlood)?;
        if stream.ignored {
            return Ok(stream.give_back(block.len()));
        }
        match stream.blocks.back_mut() {
            _ if block.len() >= GATHER_BYTES => stream.blocks.push_back(block),
            Some(last) if last.capacity() - last.len() >= block.len() => {
                last.extend_from_slice(&block);
            }
            _ => {
                let mut gathered = Vec::with_capacity(GATHER_BYTES);
                gathered.extend_from_slice(&block);
                stream.blocks.push_back(gathered);
            }
        }
        let served = std::mem::take(&mut stream.waiting).then(|| Arc::clone(&stream.arrived));
        self.to_wake.extend(served);
        Ok(0)
    }

    /// The peer has sent everything on a stream.
    pub(super) fn finish(&mut self, id: StreamId) -> Result<(), TransportError> {
        let stream = self.incoming(id)?;
        if std::mem::replace(&mut stream.complete, true) {
            return Err(TransportError::PeerBrokeFraming);
        }
        stream.wake();
        self.forget_if_over(id);
        Ok(())
    }

    /// The peer has sent everything on all streams.
    pub(super) fn goodbye(&mut self) {
        self.goodbye = true;
        self.wake_all();
    }

    /// Takes the next block of an open stream.
    pub(super) fn take(&mut self, id: StreamId) -> Take {
        let goodbye = self.goodbye;
        let Some(stream) = self.streams.get_mut(&id) else { return Take::End };
        match stream.blocks.pop_front() {
            Some(block) => {
                let credit = stream.give_back(block.len());
                Take::Block(block, credit)
            }
            None if stream.complete || goodbye => Take::End,
            None => {
                stream.waiting = true;
                Take::Nothing
            }
        }
    }

    /// The reader is gone. Returns the credit for the discarded data.
    pub(super) fn ignore(&mut self, id: StreamId) -> usize {
        let Some(stream) = self.streams.get_mut(&id) else { return 0 };
        stream.ignored = true;
        let thrown: usize = stream.blocks.drain(..).map(|block| block.len()).sum();
        let credit = stream.give_back(thrown);
        self.forget_if_over(id);
        credit
    }

    /// Wakes the readers for which data arrived.
    pub(super) fn wake_served(&mut self) {
        for arrived in self.to_wake.drain(..) {
            arrived.notify_all();
        }
    }

    pub(super) fn wake_all(&mut self) {
        self.wake_served();
        for stream in self.streams.values_mut() {
            stream.wake();
        }
    }

    /// Bytes that wait to be read.
    pub(super) fn held_bytes(&self) -> usize {
        self.streams.values().flat_map(|stream| &stream.blocks).map(Vec::len).sum()
    }

    /// Capacity of the blocks that wait to be read.
    #[cfg(test)]
    pub(super) fn held_capacity(&self) -> usize {
        self.streams.values().flat_map(|stream| &stream.blocks).map(Vec::capacity).sum()
    }

    fn incoming(&mut self, id: StreamId) -> Result<&mut Incoming, TransportError> {
        if self.goodbye || self.finished.contains(&id) {
            return Err(TransportError::PeerBrokeFraming);
        }
        if !self.streams.contains_key(&id) {
            if self.unopened >= MAX_UNOPENED {
                return Err(TransportError::PeerFlood);
            }
            self.unopened += 1;
        }
        Ok(self.streams.entry(id).or_insert_with(Incoming::new))
    }

    fn forget_if_over(&mut self, id: StreamId) {
        if self.streams.get(&id).is_some_and(|stream| stream.complete && stream.ignored) {
            self.streams.remove(&id);
            self.finished.insert(id);
        }
    }
}

impl Incoming {
    fn new() -> Self {
        Self {
            blocks: VecDeque::new(),
            window: FIRST_WINDOW,
            taken: 0,
            complete: false,
            opened: false,
            ignored: false,
            waiting: false,
            arrived: Arc::new(Condvar::new()),
        }
    }

    fn give_back(&mut self, len: usize) -> usize {
        self.taken += len;
        if self.taken < CREDIT_PORTION || self.complete {
            return 0;
        }
        self.window += self.taken;
        std::mem::take(&mut self.taken)
    }

    fn wake(&mut self) {
        if std::mem::take(&mut self.waiting) {
            self.arrived.notify_all();
        }
    }
}
