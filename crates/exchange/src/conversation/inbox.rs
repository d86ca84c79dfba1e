//! What has arrived and nobody has read yet.

use crate::apart::{self, APART};
use crate::object::Pieces;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use vesica_net::{Flight, Heard, Parcel, StreamId};

/// Most bytes of streams that have arrived and that nobody has read: an honest peer is ahead by some partitions.
const UNREAD_MAX_BYTES: usize = 4 << 30;

/// What an entry of a list takes, about.
const ENTRY_BYTES: usize = 64;

#[derive(Default)]
pub(super) struct Inbox {
    streams: HashMap<StreamId, Queue>,
    unread: usize,
    /// The digests of the objects that earlier processes have used.
    pub(super) seen: Vec<[u8; 32]>,
    /// Streams that nobody reads any more.
    closed: HashSet<StreamId>,
    /// The number of the next object.
    pub(super) next: u32,
}

/// The bytes of a stream.
#[derive(Default)]
struct Queue {
    ready: VecDeque<u8>,
    /// What follows, beginning with bytes that are stored apart.
    later: VecDeque<Segment>,
}

enum Segment {
    Bytes(Vec<u8>),
    Apart(Arc<Named>),
}

/// Bytes that are stored apart, as an object has named them.
pub(super) struct Named {
    pub(super) parcel: Parcel,
    /// The number of that object.
    pub(super) number: u32,
}

impl Queue {
    fn push(&mut self, segment: Segment) {
        match segment {
            Segment::Bytes(bytes) if self.later.is_empty() => self.ready.extend(bytes),
            segment => self.later.push_back(segment),
        }
    }

    /// Moves the bytes that nothing comes before.
    fn settle(&mut self) {
        while let Some(Segment::Bytes(bytes)) = self.later.front_mut() {
            self.ready.extend(std::mem::take(bytes));
            self.later.pop_front();
        }
    }
}

impl Inbox {
    pub(super) fn new(seen: Vec<[u8; 32]>, closed: HashSet<StreamId>) -> Self {
        Self { seen, closed, ..Self::default() }
    }

    /// Adds the pieces of the next object; `None` if they are malformed, or too many wait.
    pub(super) fn add(&mut self, pieces: Pieces) -> Option<()> {
        let number = self.next;
        self.next += 1;
        for (stream, bytes) in pieces {
            if stream == APART {
                let named = Arc::new(Named { parcel: apart::from_bytes(&bytes)?, number });
                for (stream, _) in &named.parcel.streams {
                    if !self.closed.contains(stream) {
                        self.unread += ENTRY_BYTES;
                        let queue = self.streams.entry(*stream).or_default();
                        queue.push(Segment::Apart(Arc::clone(&named)));
                    }
                }
            } else if !self.closed.contains(&stream) {
                self.unread += bytes.len();
                self.streams.entry(stream).or_default().push(Segment::Bytes(bytes));
            }
        }
        (self.unread <= UNREAD_MAX_BYTES).then_some(())
    }

    /// Fills as much of `buf` as there are bytes of `stream`; returns how much.
    pub(super) fn read(&mut self, stream: StreamId, buf: &mut [u8]) -> usize {
        let Some(queue) = self.streams.get_mut(&stream) else { return 0 };
        let read = std::io::Read::read(&mut queue.ready, buf).unwrap_or(0);
        self.unread -= read;
        read
    }

    /// Whether there are bytes of `stream` to read.
    pub(super) fn has(&self, stream: StreamId) -> bool {
        self.streams.get(&stream).is_some_and(|queue| !queue.ready.is_empty())
    }

    /// What must be fetched before there are more bytes of `stream`.
    pub(super) fn next_apart(&self, stream: StreamId) -> Option<Arc<Named>> {
        match self.streams.get(&stream)?.later.front()? {
            Segment::Apart(named) => Some(Arc::clone(named)),
            Segment::Bytes(_) => None,
        }
    }

    /// Puts the bytes of `named` where they belong; `None` if too many wait.
    pub(super) fn fill(&mut self, named: &Arc<Named>, flight: &Flight) -> Option<()> {
        for (stream, bytes) in flight.iter() {
            let Some(queue) = self.streams.get_mut(&stream) else { continue };
            let is_it =
                |one: &Segment| matches!(one, Segment::Apart(apart) if Arc::ptr_eq(apart, named));
            if let Some(segment) = queue.later.iter_mut().find(|one| is_it(one)) {
                self.unread += bytes.len();
                self.unread -= ENTRY_BYTES;
                *segment = Segment::Bytes(bytes.to_vec());
                queue.settle();
            }
        }
        (self.unread <= UNREAD_MAX_BYTES).then_some(())
    }

    /// Takes all that there is of `streams`, and all that comes with it or before it.
    pub(super) fn hear(&mut self, streams: &[StreamId]) -> Vec<Heard> {
        let mut heard = Vec::new();
        streams.iter().for_each(|stream| self.hear_until(*stream, None, &mut heard));
        heard
    }

    /// Takes what there is of `stream`, until `until` is taken from it.
    fn hear_until(&mut self, stream: StreamId, until: Option<&Arc<Named>>, heard: &mut Vec<Heard>) {
        let Some(queue) = self.streams.get_mut(&stream) else { return };
        let ready = Vec::from(std::mem::take(&mut queue.ready));
        self.unread -= ready.len();
        say(heard, stream, &ready);
        while let Some(segment) =
            self.streams.get_mut(&stream).and_then(|queue| queue.later.pop_front())
        {
            match segment {
                Segment::Bytes(bytes) => {
                    self.unread -= bytes.len();
                    say(heard, stream, &bytes);
                }
                Segment::Apart(named) => {
                    self.unread -= ENTRY_BYTES;
                    if until.is_some_and(|until| Arc::ptr_eq(until, &named)) {
                        break;
                    }
                    for (other, _) in &named.parcel.streams {
                        if *other != stream {
                            self.hear_until(*other, Some(&named), heard);
                        }
                    }
                    heard.push(Heard::Parcel(named.parcel.clone()));
                }
            }
        }
        if let Some(queue) = self.streams.get_mut(&stream) {
            queue.settle();
        }
    }
}

fn say(heard: &mut Vec<Heard>, stream: StreamId, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    match heard.last_mut() {
        Some(Heard::Bytes(flight)) => flight.push(stream, bytes),
        _ => heard.push(Heard::Bytes([(stream, bytes.to_vec())].into_iter().collect())),
    }
}
