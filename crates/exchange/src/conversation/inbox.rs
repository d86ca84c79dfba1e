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

impl Segment {
    /// What it counts for.
    fn size(&self) -> usize {
        match self {
            Segment::Bytes(bytes) => ENTRY_BYTES + bytes.len(),
            Segment::Apart(_) => ENTRY_BYTES,
        }
    }
}

impl Queue {
    /// Adds a segment; returns how much more the stream counts for.
    fn push(&mut self, segment: Segment) -> usize {
        match segment {
            Segment::Bytes(bytes) if self.later.is_empty() => {
                self.ready.extend(&bytes);
                bytes.len()
            }
            segment => {
                let size = segment.size();
                self.later.push_back(segment);
                size
            }
        }
    }

    /// Moves the bytes that nothing comes before; returns how much less the stream counts for.
    fn settle(&mut self) -> usize {
        let mut less = 0;
        while let Some(Segment::Bytes(bytes)) = self.later.front_mut() {
            self.ready.extend(std::mem::take(bytes));
            self.later.pop_front();
            less += ENTRY_BYTES;
        }
        less
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
                        let queue = self.streams.entry(*stream).or_default();
                        self.unread += queue.push(Segment::Apart(Arc::clone(&named)));
                    }
                }
            } else if !self.closed.contains(&stream) {
                self.unread += self.streams.entry(stream).or_default().push(Segment::Bytes(bytes));
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
                *segment = Segment::Bytes(bytes.to_vec());
                self.unread = self.unread + bytes.len() - queue.settle();
            }
        }
        (self.unread <= UNREAD_MAX_BYTES).then_some(())
    }

    /// Takes all that there is of `streams`: of each what follows from this stream alone, whatever the peer says on others.
    pub(super) fn hear(&mut self, streams: &[StreamId]) -> Vec<Heard> {
        let mut heard = Vec::new();
        for stream in streams {
            let Some(queue) = self.streams.remove(stream) else { continue };
            self.unread -= queue.ready.len();
            say(&mut heard, *stream, &Vec::from(queue.ready));
            for segment in queue.later {
                self.unread -= segment.size();
                match segment {
                    Segment::Bytes(bytes) => say(&mut heard, *stream, &bytes),
                    Segment::Apart(named) => {
                        heard.push(Heard::Parcel(named.parcel.clone(), *stream));
                    }
                }
            }
        }
        heard
    }
}

/// Takes all that an object with such `pieces` brings.
///
/// # Panics
/// If something of it stays.
pub(crate) fn hear_all(pieces: Pieces) {
    let mut inbox = Inbox::default();
    if inbox.add(pieces).is_some() {
        let mut streams: Vec<StreamId> = inbox.streams.keys().copied().collect();
        streams.sort_unstable();
        let heard = inbox.hear(&streams);
        assert!(inbox.unread == 0 && heard.is_empty() == streams.is_empty(), "something stays");
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

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use std::collections::BTreeMap;

    fn named(id: u64, streams: impl IntoIterator<Item = u64>) -> (StreamId, Vec<u8>) {
        let streams = streams.into_iter().map(|stream| (StreamId::from_u64(stream), 1)).collect();
        let (id, none) = (u128::from(id).to_be_bytes(), [0; 32]);
        let parcel = Parcel { id, key: none, digest: none, len: 9, streams };
        (APART, apart::to_bytes(&parcel))
    }

    fn id_of(parcel: &Parcel) -> u64 {
        u128::from_be_bytes(parcel.id) as u64
    }

    fn inbox() -> Inbox {
        Inbox::new(Vec::new(), HashSet::new())
    }

    /// However the peer entangles streams, each gives what is said on it, and leaves what is said on others.
    #[test]
    fn a_stream_is_heard_alone() {
        const LEN: u64 = 200_000;
        let mut inbox = inbox();
        inbox.add((1..LEN).rev().map(|at| named(at, [at, at + 1])).collect()).unwrap();
        let heard = inbox.hear(&[StreamId::from_u64(2)]);
        let ids = heard.iter().map(|one| match one {
            Heard::Parcel(parcel, stream) => (id_of(parcel), stream.as_u64()),
            Heard::Bytes(_) => panic!("there are no bytes"),
        });
        assert!(ids.eq([(2, 2), (1, 2)]));
        assert_eq!(inbox.unread, (2 * LEN as usize - 4) * ENTRY_BYTES);
    }

    /// Small objects of all streams, thousands of them, and bytes in between: each stream keeps its order, nothing comes
    /// twice, and what was not asked for stays.
    #[test]
    fn what_is_heard_is_in_the_order_of_each_stream() {
        const STREAMS: u64 = 12;
        for seed in 0..40 {
            let mut rng = rand::rngs::StdRng::seed_from_u64(seed);
            let mut inbox = inbox();
            // Of each stream the numbers of what comes, bytes and objects apart.
            let mut said: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
            let mut heard: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
            let mut next: u64 = 0;
            for _ in 0..30 {
                let mut pieces = Vec::new();
                for _ in 0..rng.random_range(1..100) {
                    next += 1;
                    if rng.random_range(0..3) == 0 {
                        let stream = rng.random_range(1..=STREAMS);
                        pieces.push((StreamId::from_u64(stream), next.to_le_bytes().to_vec()));
                        said.entry(stream).or_default().push(next);
                        continue;
                    }
                    let share = rng.random_range(1..5);
                    let streams: Vec<u64> =
                        (1..=STREAMS).filter(|_| rng.random_range(0..5) < share).collect();
                    if streams.is_empty() {
                        continue;
                    }
                    streams.iter().for_each(|stream| said.entry(*stream).or_default().push(next));
                    pieces.push(named(next, streams));
                }
                inbox.add(pieces).unwrap();
                let asked = rng.random_range(1..=STREAMS);
                for one in inbox.hear(&[StreamId::from_u64(asked)]) {
                    match one {
                        Heard::Bytes(flight) => flight.iter().for_each(|(stream, bytes)| {
                            let numbers = bytes.as_chunks().0.iter();
                            let numbers = numbers.map(|number| u64::from_le_bytes(*number));
                            heard.entry(stream.as_u64()).or_default().extend(numbers);
                        }),
                        Heard::Parcel(parcel, stream) => {
                            heard.entry(stream.as_u64()).or_default().push(id_of(&parcel));
                        }
                    }
                }
                assert_eq!(heard.get(&asked), said.get(&asked), "all of it, seed {seed}");
            }
            inbox.hear(&Vec::from_iter((1..=STREAMS).map(StreamId::from_u64)));
            assert_eq!(inbox.unread, 0);
        }
    }

    #[test]
    fn nothing_waits_of_streams_that_are_closed() {
        let closed = [StreamId::from_u64(1), StreamId::from_u64(2)];
        let mut inbox = Inbox::new(Vec::new(), closed.into());
        inbox.add(vec![named(1, [1, 2]), (closed[0], vec![1]), named(2, [2, 3])]).unwrap();
        assert_eq!(inbox.unread, ENTRY_BYTES);
        assert_eq!(inbox.hear(&closed), []);
        let heard = inbox.hear(&[StreamId::from_u64(3)]);
        assert!(matches!(&heard[..], [Heard::Parcel(parcel, _)] if id_of(parcel) == 2));
    }
}
