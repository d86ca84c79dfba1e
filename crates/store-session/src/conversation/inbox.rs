//! The peer's bytes that have arrived through the store and that this party has not read yet.

use crate::detached;
use crate::object::DETACHED;
use crate::object::Opened;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};
use vesica_core::Misbehaviour;
use vesica_net::{Flight, Parcel, Received, StreamId};

/// Bytes of streams that a party keeps unread even with less memory. Before it knows the sizes, an
/// honest peer sends a few thousand.
const UNREAD_LEAST_BYTES: usize = 256 << 20;

/// About the memory that a stream takes with its two queues.
const STREAM_BYTES: usize = 256;

/// About the memory that bytes after a detached object take in addition to their length.
const PIECE_BYTES: usize = 96;

/// About the memory that the name of a detached object takes with each of its streams.
const NAME_BYTES: usize = 320;

/// Maximum number of streams with bytes that this party has not opened. An honest peer may be ahead
/// in all of the 4,096 partitions of a run, each of which has a few streams; for a run that is not
/// split the link allows 512.
const UNOPENED_MAX: usize = 512 + 4096 * 8;

/// Maximum number of detached objects that the peer names in a run. An honest peer names one for
/// each turn of a partition, and one for each 64 MiB that it sends: 64 for each of 4,096 partitions
/// are several times as many as a protocol has messages.
const NAMED_MAX: usize = 4096 * 64;

/// The bytes that the peer has sent, which are checked here whether this party does its work itself
/// or detached: either way it receives the same bytes, or ends the run with the same error.
#[derive(Default)]
pub(super) struct Inbox {
    streams: HashMap<StreamId, Queue>,
    /// The sum of the sizes of all streams, and its maximum.
    unread: usize,
    unread_max: usize,
    /// How many of the streams with bytes this party has not opened.
    unopened: usize,
    opened: HashSet<StreamId>,
    /// The ids of the detached objects that the peer has named since the start of the run: a
    /// process that resumes it reads all objects again.
    ids: HashSet<[u8; 16]>,
    /// The digests of the objects that earlier processes have used.
    pub(super) seen: Vec<[u8; 32]>,
    /// Streams of finished parts, which are no longer read.
    closed: HashSet<StreamId>,
    /// The number of the peer's next object.
    pub(super) next: u32,
}

/// The bytes of a stream.
#[derive(Default)]
struct Queue {
    ready: VecDeque<u8>,
    /// What follows the ready bytes, starting with a detached object that is not fetched yet.
    later: VecDeque<Segment>,
}

enum Segment {
    Bytes(Vec<u8>),
    Detached(Arc<Named>),
}

/// A detached object, as a numbered object has named it.
pub(super) struct Named {
    pub(super) parcel: Parcel,
    /// The number of the object that named it.
    pub(super) number: u32,
    /// Held by the thread that fetches the detached object.
    pub(super) fetching: Mutex<()>,
}

impl Segment {
    /// How much the segment counts against the limit of unread bytes.
    fn size(&self) -> usize {
        match self {
            Segment::Bytes(bytes) => PIECE_BYTES + bytes.len(),
            Segment::Detached(_) => NAME_BYTES,
        }
    }
}

impl Queue {
    /// Adds bytes; returns how much the size of the stream grows.
    fn push(&mut self, bytes: &[u8]) -> usize {
        match self.later.back_mut() {
            None => self.ready.extend(bytes),
            // Joined, so that small pieces of one stream take only the memory of their bytes.
            Some(Segment::Bytes(last)) => last.extend_from_slice(bytes),
            Some(Segment::Detached(_)) => {
                self.later.push_back(Segment::Bytes(bytes.to_vec()));
                return PIECE_BYTES + bytes.len();
            }
        }
        bytes.len()
    }

    /// Makes the bytes before the next detached object ready; returns how much the size shrinks.
    fn settle(&mut self) -> usize {
        let mut less = 0;
        while let Some(Segment::Bytes(bytes)) = self.later.front_mut() {
            let bytes = std::mem::take(bytes);
            if self.ready.is_empty() {
                self.ready = bytes.into();
            } else {
                self.ready.extend(&bytes);
            }
            self.later.pop_front();
            less += PIECE_BYTES;
        }
        less
    }

    fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.later.is_empty()
    }

    /// How much the stream counts against the limit of unread bytes.
    fn size(&self) -> usize {
        STREAM_BYTES + self.ready.len() + self.later.iter().map(Segment::size).sum::<usize>()
    }
}

impl Inbox {
    /// An empty inbox of a party with this much memory.
    pub(super) fn new(seen: Vec<[u8; 32]>, closed: HashSet<StreamId>, memory_bytes: u64) -> Self {
        let memory = usize::try_from(memory_bytes).unwrap_or(usize::MAX);
        let unread_max = memory.max(UNREAD_LEAST_BYTES);
        Self { seen, closed, unread_max, ..Self::default() }
    }

    /// Raises the limit to at least `bytes` unread bytes and the memory for their streams.
    pub(super) fn expect(&mut self, bytes: u64) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.unread_max = self.unread_max.max(bytes.saturating_add(UNREAD_LEAST_BYTES));
    }

    /// Notes that this party reads `stream` from now on.
    pub(super) fn open(&mut self, stream: StreamId) {
        if self.opened.insert(stream) && self.streams.contains_key(&stream) {
            self.unopened -= 1;
        }
    }

    /// Adds the pieces of the peer's next object.
    ///
    /// # Errors
    /// Misbehaviour of the peer: [`Misbehaviour::Flood`] if there are too many unread bytes.
    pub(super) fn add(&mut self, object: &Opened) -> Result<(), Misbehaviour> {
        let number = self.next;
        self.next += 1;
        for (stream, bytes) in object.pieces() {
            if stream != DETACHED {
                self.push(stream, |queue| queue.push(bytes))?;
                continue;
            }
            let parcel = detached::from_bytes(bytes).ok_or(Misbehaviour::BrokenFraming)?;
            if !self.ids.insert(parcel.id) {
                return Err(Misbehaviour::BrokenFraming);
            }
            if self.ids.len() > NAMED_MAX {
                return Err(Misbehaviour::Flood);
            }
            let named = Arc::new(Named { parcel, number, fetching: Mutex::default() });
            for (stream, _) in &named.parcel.streams {
                self.push(*stream, |queue| {
                    queue.later.push_back(Segment::Detached(Arc::clone(&named)));
                    NAME_BYTES
                })?;
            }
        }
        Ok(())
    }

    /// Adds bytes or a detached object to a stream; `push` returns how much the stream's size
    /// grows.
    fn push(
        &mut self,
        stream: StreamId,
        push: impl FnOnce(&mut Queue) -> usize,
    ) -> Result<(), Misbehaviour> {
        if self.closed.contains(&stream) {
            return Ok(());
        }
        if !self.streams.contains_key(&stream) {
            if !self.opened.contains(&stream) {
                self.unopened += 1;
            }
            self.unread += STREAM_BYTES;
        }
        self.unread += push(self.streams.entry(stream).or_default());
        self.check()
    }

    fn check(&self) -> Result<(), Misbehaviour> {
        if self.unopened > UNOPENED_MAX || self.unread > self.unread_max {
            Err(Misbehaviour::Flood)
        } else {
            Ok(())
        }
    }

    /// Removes the queue of `stream`.
    fn remove(&mut self, stream: StreamId) -> Option<Queue> {
        let queue = self.streams.remove(&stream)?;
        self.unread -= queue.size();
        if !self.opened.contains(&stream) {
            self.unopened -= 1;
        }
        Some(queue)
    }

    /// Fills as much of `buf` as there are bytes of `stream`; returns how much it filled.
    pub(super) fn read(&mut self, stream: StreamId, buf: &mut [u8]) -> usize {
        let Some(queue) = self.streams.get_mut(&stream) else { return 0 };
        let read = std::io::Read::read(&mut queue.ready, buf).unwrap_or(0);
        self.unread -= read;
        if queue.is_empty() {
            // Otherwise its memory would be held until the run ends.
            self.remove(stream);
        }
        read
    }

    /// Whether there are bytes of `stream` to read.
    pub(super) fn has(&self, stream: StreamId) -> bool {
        self.streams.get(&stream).is_some_and(|queue| !queue.ready.is_empty())
    }

    /// What must be fetched before there are more bytes of `stream`.
    pub(super) fn next_detached(&self, stream: StreamId) -> Option<Arc<Named>> {
        let queue = self.streams.get(&stream).filter(|queue| queue.ready.is_empty())?;
        match queue.later.front()? {
            Segment::Detached(named) => Some(Arc::clone(named)),
            Segment::Bytes(_) => None,
        }
    }

    /// Replaces the detached object `named`, in the queues of its streams, with its bytes.
    ///
    /// # Errors
    /// [`Misbehaviour::Flood`] if there are too many unread bytes.
    pub(super) fn fill(&mut self, named: &Arc<Named>, flight: &Flight) -> Result<(), Misbehaviour> {
        for (stream, bytes) in flight.iter() {
            let Some(queue) = self.streams.get_mut(&stream) else { continue };
            let is_it = |one: &Segment| match one {
                Segment::Detached(there) => Arc::ptr_eq(there, named),
                Segment::Bytes(_) => false,
            };
            if let Some(segment) = queue.later.iter_mut().find(|one| is_it(one)) {
                let filled = Segment::Bytes(bytes.to_vec());
                self.unread += filled.size();
                self.unread -= std::mem::replace(segment, filled).size();
                self.unread -= queue.settle();
            }
        }
        self.check()
    }

    /// Takes all unread bytes and detached objects of `streams`, which this party reads from now
    /// on. What it takes of a stream does not depend on what the peer sends on other streams.
    pub(super) fn take(&mut self, streams: &[StreamId]) -> Vec<Received> {
        let mut taken = Vec::new();
        for stream in streams {
            self.open(*stream);
            let Some(queue) = self.remove(*stream) else { continue };
            push(&mut taken, *stream, &Vec::from(queue.ready));
            for segment in queue.later {
                match segment {
                    Segment::Bytes(bytes) => push(&mut taken, *stream, &bytes),
                    Segment::Detached(named) => {
                        taken.push(Received::Parcel(named.parcel.clone(), *stream));
                    }
                }
            }
        }
        taken
    }
}

/// Adds an object to an empty inbox, and takes everything out of it.
///
/// # Panics
/// If anything remains in the inbox, or was not counted.
pub(crate) fn take_all(object: &Opened) {
    let mut inbox = Inbox::new(Vec::new(), HashSet::new(), 0);
    let added = inbox.add(object);
    let counted: usize = inbox.streams.values().map(Queue::size).sum();
    assert!(counted == inbox.unread, "some unread bytes are not counted");
    assert!(inbox.unopened == inbox.streams.len(), "an unopened stream is not counted");
    let mut streams: Vec<StreamId> = inbox.streams.keys().copied().collect();
    streams.sort_unstable();
    let taken = inbox.take(&streams);
    assert!(inbox.unread == 0 && inbox.unopened == 0, "something remains in the inbox");
    assert!(taken.is_empty() == streams.is_empty(), "a stream has nothing to take");
    if added.is_ok() {
        // The same object again names the same ids.
        let names = object.pieces().any(|(stream, _)| stream == DETACHED);
        assert!(inbox.add(object).is_err() == names, "an id is used twice");
    }
}

fn push(taken: &mut Vec<Received>, stream: StreamId, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    match taken.last_mut() {
        Some(Received::Bytes(flight)) => flight.push(stream, bytes),
        _ => taken.push(Received::Bytes([(stream, bytes.to_vec())].into_iter().collect())),
    }
}

#[cfg(test)]
mod tests;
