use super::*;
use crate::object::{Pieces, body_of};
use rand::{RngExt, SeedableRng};
use std::collections::BTreeMap;

fn named(id: u64, streams: impl IntoIterator<Item = u64>) -> (StreamId, Vec<u8>) {
    let streams: Vec<_> = streams.into_iter().map(|id| (StreamId::from_u64(id), 1)).collect();
    let (id, none) = (u128::from(id).to_be_bytes(), [0; 32]);
    let parcel =
        Parcel { id, key: none, digest: none, len: crate::object::sealed_len(&streams), streams };
    (DETACHED, detached::to_bytes(&parcel))
}

fn id_of(parcel: &Parcel) -> u64 {
    u128::from_be_bytes(parcel.id) as u64
}

fn inbox() -> Inbox {
    Inbox::new(Vec::new(), HashSet::new(), 0)
}

fn add(inbox: &mut Inbox, pieces: Pieces) -> Result<(), Misbehaviour> {
    inbox.add(&Opened::of(body_of(&pieces)).unwrap())
}

/// The pieces as a party writes them.
fn joined(pieces: Pieces) -> Pieces {
    let mut all: Pieces = Vec::new();
    for (stream, bytes) in pieces {
        match all.last_mut() {
            Some((last, piece)) if *last == stream && stream != DETACHED => piece.extend(bytes),
            _ => all.push((stream, bytes)),
        }
    }
    all
}

/// A stream of the peer's, by its number in the test.
fn stream(number: u64) -> StreamId {
    StreamId::from_u64(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 63)
}

#[test]
fn an_id_that_is_named_twice_is_refused() {
    let mut other = detached::from_bytes(&named(7, [3]).1).unwrap();
    (other.key, other.digest) = ([1; 32], [2; 32]);
    let again = [named(7, [2]), named(7, [1]), (DETACHED, detached::to_bytes(&other))];
    for again in again {
        let mut inbox = inbox();
        add(&mut inbox, vec![named(7, [2]), named(8, [2])]).unwrap();
        inbox.take(&[StreamId::from_u64(2)]);
        let refused = add(&mut inbox, vec![again.clone()]);
        assert_eq!(refused, Err(Misbehaviour::BrokenFraming));
        // A process that resumes the run reads the same objects from the start.
        let closed = [StreamId::from_u64(2)];
        let mut inbox = Inbox::new(vec![[0; 32]], closed.into(), 0);
        add(&mut inbox, vec![named(7, [2]), named(8, [2])]).unwrap();
        assert_eq!(add(&mut inbox, vec![again]), Err(Misbehaviour::BrokenFraming));
    }
}

#[test]
fn more_objects_stored_detached_than_a_run_has_are_refused() {
    let mut inbox = inbox();
    let mut next = 0;
    let mut one = |inbox: &mut Inbox| {
        let names = (0..4096).map(|at| named(next + at, [1])).collect();
        next += 4096;
        let added = add(inbox, names);
        inbox.take(&[StreamId::from_u64(1)]);
        added
    };
    for _ in 0..NAMED_MAX / 4096 {
        one(&mut inbox).unwrap();
    }
    assert_eq!(one(&mut inbox), Err(Misbehaviour::Flood));
}

/// The peer sends one byte on each of many streams that this party never opens. The inbox refuses
/// them once there are more such streams than an honest peer has.
#[test]
fn streams_that_nobody_opens_are_bounded() {
    let mut inbox = inbox();
    let mut body = Vec::new();
    for number in 0..4_000_000 {
        body.extend_from_slice(&stream(number).as_u64().to_le_bytes());
        body.extend_from_slice(&[1, 0, 0, 0, 7]);
    }
    let refused = inbox.add(&Opened::of(body).unwrap());
    assert_eq!(refused, Err(Misbehaviour::Flood));
    assert!(inbox.streams.len() <= UNOPENED_MAX + 1);
    assert!(inbox.unread <= (UNOPENED_MAX + 1) * (STREAM_BYTES + 1), "{}", inbox.unread);
}

/// The peer sends on five streams of each partition of a run, none of which is open here.
#[test]
fn an_honest_peer_may_be_ahead_in_all_partitions() {
    let mut inbox = inbox();
    for part in 0..4096 {
        let streams = (0..5).map(|at| (stream(5 * part + at), vec![1; 2000])).collect();
        add(&mut inbox, streams).unwrap();
    }
    assert_eq!(inbox.unopened, 5 * 4096);
    // A stream that this party opens no longer counts.
    (0..5 * 4096).for_each(|number| inbox.open(stream(number)));
    assert_eq!(inbox.unopened, 0);
}

/// Unread bytes count for the memory that they take, and their limit follows the party's memory or
/// the sizes.
#[test]
fn unread_bytes_are_bounded() {
    let of = |memory: u64, expected: u64| {
        let mut inbox = Inbox::new(Vec::new(), HashSet::new(), memory);
        inbox.expect(expected);
        inbox
    };
    for (mut inbox, most) in [
        (of(0, 0), UNREAD_LEAST_BYTES),
        (of(1 << 20, 0), UNREAD_LEAST_BYTES),
        (of(300 << 20, 0), 300 << 20),
        (of(300 << 20, 100 << 20), UNREAD_LEAST_BYTES + (100 << 20)),
    ] {
        let mut added = 0;
        let refused = loop {
            match add(&mut inbox, vec![(stream(1), vec![1; 16 << 20])]) {
                Ok(()) => added += 16 << 20,
                Err(error) => break error,
            }
        };
        assert_eq!(refused, Misbehaviour::Flood);
        assert!((most - (17 << 20)..=most).contains(&added), "{added} of {most}");
    }
}

/// Pieces of one byte after the name of a detached object take only the memory of their bytes.
#[test]
fn small_pieces_take_no_more_than_their_bytes() {
    let mut inbox = inbox();
    let mut pieces = vec![named(1, [1, 2])];
    (0..100_000).for_each(|at| pieces.push((StreamId::from_u64(1 + at % 2), vec![7])));
    add(&mut inbox, pieces).unwrap();
    let each = STREAM_BYTES + NAME_BYTES + PIECE_BYTES + 50_000;
    assert_eq!(inbox.unread, 2 * each);
    let named = inbox.next_detached(StreamId::from_u64(1)).unwrap();
    let flight = [1, 2].map(|id| (StreamId::from_u64(id), vec![6])).into_iter().collect();
    inbox.fill(&named, &flight).unwrap();
    assert_eq!(inbox.unread, 2 * (STREAM_BYTES + 50_001));
    let mut bytes = vec![0; 50_001];
    assert_eq!(inbox.read(StreamId::from_u64(1), &mut bytes), 50_001);
    assert_eq!(bytes[..3], [6, 7, 7]);
    // A stream that was read takes no memory.
    assert_eq!(inbox.unread, STREAM_BYTES + 50_001);
    assert_eq!(inbox.streams.len(), 1);
}

/// Reading a stream takes its own bytes and leaves those of other streams, also where the peer
/// names objects with bytes of two streams.
#[test]
fn a_stream_is_taken_alone() {
    const LEN: u64 = 30_000;
    let mut inbox = inbox();
    add(&mut inbox, (1..LEN).rev().map(|at| named(at, [at, at + 1])).collect()).unwrap();
    let taken = inbox.take(&[StreamId::from_u64(2)]);
    let ids = taken.iter().map(|one| match one {
        Received::Parcel(parcel, stream) => (id_of(parcel), stream.as_u64()),
        Received::Bytes(_) => panic!("there are no bytes"),
    });
    assert!(ids.eq([(2, 2), (1, 2)]));
    let left = LEN as usize - 1;
    assert_eq!(inbox.unread, (2 * left - 2) * NAME_BYTES + left * STREAM_BYTES);
}

/// Thousands of small objects of all streams, and bytes in between: each stream keeps its order,
/// nothing comes twice, and what was not read stays.
#[test]
fn what_is_taken_is_in_the_order_of_each_stream() {
    const STREAMS: u64 = 12;
    for seed in 0..40 {
        let mut rng = rand::rngs::StdRng::seed_from_u64(seed);
        let mut inbox = inbox();
        // For each stream the numbers of what comes: bytes and detached objects.
        let mut sent: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        let mut taken: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        let mut next: u64 = 0;
        for _ in 0..30 {
            let mut pieces = Vec::new();
            for _ in 0..rng.random_range(1..100) {
                next += 1;
                if rng.random_range(0..3) == 0 {
                    let stream = rng.random_range(1..=STREAMS);
                    pieces.push((StreamId::from_u64(stream), next.to_le_bytes().to_vec()));
                    sent.entry(stream).or_default().push(next);
                    continue;
                }
                let share = rng.random_range(1..5);
                let streams: Vec<u64> =
                    (1..=STREAMS).filter(|_| rng.random_range(0..5) < share).collect();
                if streams.is_empty() {
                    continue;
                }
                streams.iter().for_each(|stream| sent.entry(*stream).or_default().push(next));
                pieces.push(named(next, streams));
            }
            if !pieces.is_empty() {
                add(&mut inbox, joined(pieces)).unwrap();
            }
            let asked = rng.random_range(1..=STREAMS);
            for one in inbox.take(&[StreamId::from_u64(asked)]) {
                match one {
                    Received::Bytes(flight) => flight.iter().for_each(|(stream, bytes)| {
                        let numbers = bytes.as_chunks().0.iter();
                        let numbers = numbers.map(|number| u64::from_le_bytes(*number));
                        taken.entry(stream.as_u64()).or_default().extend(numbers);
                    }),
                    Received::Parcel(parcel, stream) => {
                        taken.entry(stream.as_u64()).or_default().push(id_of(&parcel));
                    }
                }
            }
            assert_eq!(taken.get(&asked), sent.get(&asked), "all of it, seed {seed}");
        }
        inbox.take(&Vec::from_iter((1..=STREAMS).map(StreamId::from_u64)));
        assert_eq!(inbox.unread, 0);
    }
}

#[test]
fn nothing_waits_of_streams_that_are_closed() {
    let closed = [StreamId::from_u64(1), StreamId::from_u64(2)];
    let mut inbox = Inbox::new(Vec::new(), closed.into(), 0);
    let pieces = vec![named(1, [1, 2]), (closed[0], vec![1]), named(2, [2, 3])];
    add(&mut inbox, pieces).unwrap();
    assert_eq!(inbox.unread, STREAM_BYTES + NAME_BYTES);
    assert_eq!(inbox.take(&closed), []);
    let taken = inbox.take(&[StreamId::from_u64(3)]);
    assert!(matches!(&taken[..], [Received::Parcel(parcel, _)] if id_of(parcel) == 2));
}
