//! One turn of a partition, which is a task for a worker: the protocol runs from the start on all
//! bytes received so far, until it ends or needs more.

use crate::run_spec::{CheckedSpec, RunSpec};
use crate::{Fault, StepOutcome};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use vesica_core::hash::derive;
use vesica_core::{Error, Item, Misbehaviour, ParameterError, Result, Role};
use vesica_net::{Context, Flight, Parcel, Pool, Replay, SentDigests, StreamId, Turn, TurnOutcome};
use vesica_own_rows::{Spread, distinct};
use vesica_partitions::{Cost, PartitionOutput, code_of, reason};
use vesica_protocols::{Step, Steps};
use vesica_store_session::{DETACHED_MAX_BYTES, DetachedKeys, ExchangeError, Store};

const KEPT_LABEL: &str = "vesica tasks 2026 kept messages v1";
const ID_LABEL: &str = "vesica tasks 2026 id of an object v1";

/// Most bytes of streams in one object.
const OBJECT_BYTES: usize = DETACHED_MAX_BYTES as usize;

/// How long a task waits for an object that the peer has named and that the store does not show
/// yet: this many pauses, each this long.
const LATE: (u32, Duration) = (20, Duration::from_millis(250));

/// What a party has sent on a stream so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// The stream.
    pub stream: u64,
    /// How many bytes the party has sent on it.
    pub len: u64,
    /// The digest of those bytes.
    pub digest: [u8; 32],
}

/// A [`Parcel`], an object of the store with bytes that a partition sends, in a form that travels
/// between processes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ParcelRecord {
    /// The id of the object.
    pub id: [u8; 16],
    /// The key that seals it.
    pub key: [u8; 32],
    /// The digest of the stored object.
    pub digest: [u8; 32],
    /// The length of the stored object in bytes.
    pub len: u64,
    /// The streams of which it has bytes, each with their number.
    pub streams: Vec<(u64, u64)>,
}

impl From<&Parcel> for ParcelRecord {
    fn from(parcel: &Parcel) -> Self {
        let streams = parcel.streams.iter().map(|(id, len)| (id.as_u64(), *len)).collect();
        let Parcel { id, key, digest, len, .. } = *parcel;
        Self { id, key, digest, len, streams }
    }
}

impl From<&ParcelRecord> for Parcel {
    fn from(parcel: &ParcelRecord) -> Self {
        let streams = parcel.streams.iter();
        let streams = streams.map(|(id, len)| (StreamId::from_u64(*id), *len)).collect();
        let ParcelRecord { id, key, digest, len, .. } = *parcel;
        Self { id, key, digest, len, streams }
    }
}

/// Where a task finds bytes that its partition has received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReceivedAt {
    /// The bytes of this stream in an object of the store.
    Parcel(ParcelRecord, u64),
    /// Bytes that [`Workers::take`](crate::Workers::take) stored under this name; their
    /// [digest](digest_of).
    Kept(String, [u8; 32]),
}

/// A task: one turn of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The number of the partition.
    pub part: u64,
    /// The first stream of each step of the protocol; of the whole run if it has no steps.
    pub roots: Vec<u64>,
    /// The ids of the objects that the task stores derive from this: random, and the same however
    /// often the task runs.
    pub id: [u8; 16],
    /// The key that seals those objects: random, and the same however often the task runs.
    pub key: [u8; 32],
    /// What the partition has sent in earlier turns.
    #[serde(rename = "said")]
    pub sent: Vec<Point>,
    /// All that the partition has received, in order.
    #[serde(rename = "heard")]
    pub received: Vec<ReceivedAt>,
}

/// The result of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskResult {
    /// The number of the partition.
    pub part: u64,
    /// The objects that the task has stored, with the bytes that the partition sends next, in
    /// order.
    pub parcels: Vec<ParcelRecord>,
    /// All that the partition has sent, including the parcels.
    #[serde(rename = "said")]
    pub sent: Vec<Point>,
    /// The streams that the partition has opened.
    pub opened: Vec<u64>,
    /// On which streams the partition waits, and for how many bytes of each in all.
    pub needs: Vec<(u64, u64)>,
    /// Whether the step in which this party reveals something has started. The coordinator must not
    /// announce the parcels to the peer before all partitions have reached that step.
    pub reveals: bool,
    /// The partition's result, if it has finished.
    pub ended: Option<PartitionResult>,
    /// How the peer broke the protocol. The task then sends nothing.
    pub fault: Option<Fault>,
}

/// The result of a partition, except for the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionResult {
    /// How many own items are common; `None` if this party learns nothing.
    pub matched: Option<u64>,
    /// How many rows have a common item; 0 if this party learns nothing.
    pub rows: u64,
    /// 0, or the code of the reason why the result is refused.
    refused: u8,
    /// Payload bytes sent and received.
    payload: (u64, u64),
    direction_changes: u64,
}

impl PartitionResult {
    /// Why the result is refused, if it is.
    pub fn refused(&self) -> Option<Misbehaviour> {
        reason(self.refused).unwrap_or(Some(Misbehaviour::SelfCheckFailed))
    }

    /// The bytes in which the partition's result is stored: their number does not depend on the
    /// result.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![u8::from(self.matched.is_some()), self.refused];
        let (sent, received) = self.payload;
        let matched = self.matched.unwrap_or(0);
        let numbers = [matched, self.rows, sent, received, self.direction_changes];
        numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        bytes
    }

    /// The result in [these bytes](Self::to_bytes); `None` if they are malformed.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let ([learns, refused], rest) = bytes.split_first_chunk::<2>()?;
        let (numbers, []) = rest.as_chunks::<8>() else { return None };
        let [matched, rows, sent, received, direction_changes] = numbers else { return None };
        let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let ended = Self {
            matched: (*learns == 1).then(|| number(matched)),
            rows: number(rows),
            refused: *refused,
            payload: (number(sent), number(received)),
            direction_changes: number(direction_changes),
        };
        (ended.to_bytes() == bytes).then_some(ended)
    }

    /// The cost of the partition's run.
    pub fn cost(&self) -> Cost {
        Cost { payload: self.payload, direction_changes: self.direction_changes }
    }
}

impl Task {
    /// As JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The task in this JSON; `None` if it is malformed.
    pub fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// Runs the turn with the partition's `entries`, the items of its rows, and stores in `store`
    /// the bytes that the partition sends. `kept` returns the bytes that
    /// [`Workers::take`](crate::Workers::take) stored under a name. Returns the result of the task
    /// and, if the partition has finished and this party learns its result, which entries are
    /// common.
    ///
    /// # Errors
    /// The errors of this side, such as [`Error::Storage`] if the store fails or `kept` returns
    /// `None`. The same task may then run again.
    pub fn take(
        &self,
        run_spec: &RunSpec,
        entries: &[Item],
        store: &dyn Store,
        threads: NonZeroUsize,
        kept: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<(TaskResult, Option<Vec<bool>>)> {
        let mut taken = TaskResult {
            part: self.part,
            parcels: Vec::new(),
            sent: self.sent.clone(),
            opened: Vec::new(),
            needs: Vec::new(),
            reveals: false,
            ended: None,
            fault: None,
        };
        let known = CheckedSpec::of(run_spec)?;
        let items = distinct(entries).ok_or(ParameterError::OutOfMemory)?;
        let reveals = AtomicBool::new(false);
        let pool = Pool::new(threads)?;
        match self.turn(&known, items.clone(), store, pool, &reveals, kept) {
            Ok(turned) => {
                taken.reveals = reveals.into_inner();
                let (mut taken, own) = self.keep(&known, turned, store, taken)?;
                let spread = |own: Vec<bool>| Spread::new(&items, &own).of(entries).collect();
                let common: Option<Vec<bool>> = own.map(spread);
                if let (Some(ended), Some(common)) = (&mut taken.ended, &common) {
                    ended.rows = common.iter().filter(|one| **one).count() as u64;
                }
                Ok((taken, common))
            }
            Err(Error::PeerMisbehaved(kind)) => {
                taken.fault = Some(kind.into());
                Ok((taken, None))
            }
            Err(error) => Err(error),
        }
    }

    fn turn(
        &self,
        known: &CheckedSpec,
        items: Vec<Item>,
        store: &dyn Store,
        pool: Pool,
        reveals: &AtomicBool,
        kept: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<TurnOutcome<(PartitionOutput, Cost)>> {
        let mut received = Flight::default();
        // Keyed by the whole record: under the same id, another length or digest is another object.
        let mut fetched: BTreeMap<&ParcelRecord, Flight> = BTreeMap::new();
        for at in &self.received {
            match at {
                ReceivedAt::Parcel(parcel, stream) => {
                    let flight = match fetched.entry(parcel) {
                        Entry::Occupied(there) => there.into_mut(),
                        Entry::Vacant(place) => {
                            place.insert(fetch(&known.desk, store, &parcel.into())?)
                        }
                    };
                    let stream = StreamId::from_u64(*stream);
                    received.push(stream, flight.of(stream));
                }
                ReceivedAt::Kept(name, digest) => {
                    let bytes = kept(name).filter(|bytes| digest_of(bytes) == *digest);
                    let flight = bytes.and_then(|bytes| Flight::from_bytes(&bytes));
                    received.extend(&flight.ok_or(Error::Storage(ErrorKind::InvalidData))?);
                }
            }
        }
        let replay = Replay {
            peer: if known.role == Role::Sender { Role::Receiver } else { Role::Sender },
            root: self.root(Step::Commit)?,
            seed: known.seed_of(self.part, Step::Commit),
            pool,
        };
        let (run, shared) = (known.run(), known.shared_of(self.part));
        replay.turn(&received, &sent_of(&self.sent), |ctx| match run.steps() {
            None => {
                let (given, _) = run.run(ctx, self.part, items, &shared)?;
                Ok((given, run.cost(ctx)))
            }
            Some(steps) => self.in_steps(known, steps, ctx, items, &shared, reveals),
        })
    }

    /// Runs all steps of the protocol, each on its own streams.
    fn in_steps(
        &self,
        known: &CheckedSpec,
        steps: Steps,
        ctx: &mut Context,
        items: Vec<Item>,
        shared: &[Item],
        reveals: &AtomicBool,
    ) -> Result<(PartitionOutput, Cost)> {
        let run = known.run();
        let next = |ctx: &Context, step| {
            if Steps::reveals(known.role, run.params) == Some(step) {
                reveals.store(true, Ordering::Relaxed);
            }
            ctx.sibling(self.root(step)?, *known.seed_of(self.part, step).expose())
        };
        let (committed, _) = run.commit(ctx, self.part, items, shared)?;
        let mut second = next(ctx, Step::Compare)?;
        let compared = run.compare(steps, &mut second, self.part, committed)?;
        let cost = run.cost(ctx).and(run.cost(&second));
        match compared {
            StepOutcome::Output(given) => Ok((given, cost)),
            StepOutcome::Values(stepped) => {
                let mut third = next(ctx, Step::Answer)?;
                let given = run.answer(steps, &mut third, self.part, stepped)?;
                Ok((given, cost.and(run.cost(&third))))
            }
        }
    }

    /// The first stream of a step.
    fn root(&self, step: Step) -> Result<StreamId> {
        let root = self.roots.get(step as usize);
        root.map(|root| StreamId::from_u64(*root)).ok_or(Error::Bug("a task lacks a stream"))
    }

    fn keep(
        &self,
        known: &CheckedSpec,
        turned: TurnOutcome<(PartitionOutput, Cost)>,
        store: &dyn Store,
        mut taken: TaskResult,
    ) -> Result<(TaskResult, Option<Vec<bool>>)> {
        for (number, flight) in (0..).zip(&cut(&turned.next)) {
            let id = id_of(&self.id, number);
            let parcel = known.desk.put(store, id, self.key, flight).map_err(failed)?;
            taken.parcels.push((&parcel).into());
        }
        taken.sent = Point::all_of(&turned.sent);
        taken.opened = turned.opened.iter().map(|id| id.as_u64()).collect();
        taken.needs = turned.needs.iter().map(|(id, len)| (id.as_u64(), *len)).collect();
        let Turn::Ends((PartitionOutput { own, refused }, cost)) = turned.turn else {
            return Ok((taken, None));
        };
        let count = |own: &Vec<bool>| own.iter().filter(|one| **one).count() as u64;
        taken.ended = Some(PartitionResult {
            matched: own.as_ref().map(count),
            rows: 0,
            refused: code_of(refused),
            payload: cost.payload,
            direction_changes: cost.direction_changes,
        });
        Ok((taken, own))
    }
}

impl Point {
    /// What a party has sent, with a point for each stream.
    pub fn all_of(sent: &SentDigests) -> Vec<Self> {
        let point = |(stream, (len, digest)): (&StreamId, &(u64, [u8; 32]))| Self {
            stream: stream.as_u64(),
            len: *len,
            digest: *digest,
        };
        sent.streams.iter().map(point).collect()
    }
}

fn sent_of(points: &[Point]) -> SentDigests {
    let streams = points.iter().map(|one| (StreamId::from_u64(one.stream), (one.len, one.digest)));
    SentDigests { streams: streams.collect() }
}

impl TaskResult {
    /// As JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The task's result in this JSON; `None` if it is malformed.
    pub fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// All that the partition has sent.
    pub fn sent(&self) -> SentDigests {
        sent_of(&self.sent)
    }

    /// The streams that it has opened.
    pub fn opened(&self) -> Vec<StreamId> {
        self.opened.iter().map(|id| StreamId::from_u64(*id)).collect()
    }
}

/// The digest of bytes that workers store under a name.
pub fn digest_of(kept: &[u8]) -> [u8; 32] {
    derive(KEPT_LABEL, &[kept])
}

/// The id of a task's object with this number.
fn id_of(task: &[u8; 16], number: u64) -> [u8; 16] {
    let digest = derive(ID_LABEL, &[task, &number.to_le_bytes()]);
    let mut id = [0; 16];
    id.copy_from_slice(&digest[..16]);
    id
}

/// Cuts the flight of a partition into pieces that fit into an object of the store.
fn cut(flight: &Flight) -> Vec<Flight> {
    let (mut flights, mut room) = (Vec::new(), 0);
    for (stream, mut bytes) in flight.iter() {
        while !bytes.is_empty() {
            if room == 0 {
                flights.push(Flight::default());
                room = OBJECT_BYTES;
            }
            let (now, rest) = bytes.split_at(room.min(bytes.len()));
            if let Some(last) = flights.last_mut() {
                last.push(stream, now);
            }
            room -= now.len();
            bytes = rest;
        }
    }
    flights
}

/// Reads from `store` the bytes that the peer sends in `parcel`. A store may show its object some
/// moments later than the object that names it.
fn fetch(desk: &DetachedKeys, store: &dyn Store, parcel: &Parcel) -> Result<Flight> {
    let (tries, pause) = LATE;
    for _ in 0..tries {
        match desk.get(store, parcel) {
            Err(ExchangeError::Gone { .. }) => std::thread::sleep(pause),
            flight => return flight.map_err(failed),
        }
    }
    desk.get(store, parcel).map_err(failed)
}

fn failed(error: ExchangeError) -> Error {
    match error {
        ExchangeError::Store(kind) => Error::Storage(kind),
        ExchangeError::Gone { .. } => Error::Storage(ErrorKind::NotFound),
        // The store has another object than the peer named: anyone who can write to the store may
        // have put it there.
        ExchangeError::WrongObject { .. } | ExchangeError::NotAnObject(_) => {
            Error::Storage(ErrorKind::InvalidData)
        }
        ExchangeError::ForeignObject { .. } => {
            Error::Bug("a task that runs again stores other bytes")
        }
        ExchangeError::PeerMisbehaved(kind) => kind.into(),
        _ => Error::Bug("a task met an error that its objects cannot have"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_reads_back_and_has_one_length() {
        let of = |matched, rows| PartitionResult {
            matched,
            rows,
            refused: 2,
            payload: (1 << 40, 3),
            direction_changes: 7,
        };
        for ended in [of(None, 0), of(Some(0), 0), of(Some(5), 9)] {
            let bytes = ended.to_bytes();
            assert_eq!(bytes.len(), 42);
            assert_eq!(PartitionResult::from_bytes(&bytes), Some(ended));
            assert_eq!(PartitionResult::from_bytes(&bytes[1..]), None);
        }
    }

    #[test]
    fn a_long_flight_is_cut_and_put_together() {
        let len = OBJECT_BYTES + 10;
        let flight: Flight = [(1, 7), (2, len), (3, OBJECT_BYTES)]
            .map(|(id, len)| (StreamId::from_u64(id), vec![id as u8; len]))
            .into_iter()
            .collect();
        let flights = cut(&flight);
        let lens: Vec<usize> =
            flights.iter().map(|one| one.iter().map(|(_, bytes)| bytes.len()).sum()).collect();
        assert_eq!(lens, [OBJECT_BYTES, OBJECT_BYTES, 17]);
        let mut whole = Flight::default();
        flights.iter().for_each(|one| whole.extend(one));
        assert_eq!(whole, flight);
        assert_eq!(cut(&Flight::default()), []);
        let ids = [0, 1, 2].map(|number| id_of(&[9; 16], number));
        assert!(ids[0] != ids[1] && ids[1] != ids[2]);
    }
}
