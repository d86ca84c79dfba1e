//! One turn of a partition.

use crate::Fault;
use crate::orders::{Known, Orders};
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use vesica_core::{Error, Item, Misbehaviour, ParameterError, Result, Role};
use vesica_exchange::{ExchangeError, Store};
use vesica_net::{Flight, Parcel, Pool, Replay, Said, StreamId, Turn, Turned};
use vesica_own_rows::{Spread, distinct};
use vesica_partitions::{Cost, Given, code_of, reason};

/// What a party has said on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// The stream.
    pub stream: u64,
    /// So many bytes.
    pub len: u64,
    /// Their digest.
    pub digest: [u8; 32],
}

/// A [`Parcel`], to be sent elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parcelled {
    /// Its id.
    pub id: [u8; 16],
    /// The digest of what is stored.
    pub digest: [u8; 32],
    /// How many bytes of which streams it has.
    pub streams: Vec<(u64, u64)>,
}

impl From<&Parcel> for Parcelled {
    fn from(parcel: &Parcel) -> Self {
        let streams = parcel.streams.iter().map(|(id, len)| (id.as_u64(), *len)).collect();
        Self { id: parcel.id, digest: parcel.digest, streams }
    }
}

impl From<&Parcelled> for Parcel {
    fn from(parcel: &Parcelled) -> Self {
        let streams = parcel.streams.iter();
        let streams = streams.map(|(id, len)| (StreamId::from_u64(*id), *len)).collect();
        Self { id: parcel.id, digest: parcel.digest, streams }
    }
}

/// Where a task finds what its partition has heard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HeardAt {
    /// In the store.
    Parcel(Parcelled),
    /// Under this name, with whoever gives out the tasks.
    Kept(String),
}

/// One turn of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The number of the partition.
    pub part: u64,
    /// Its first stream.
    pub root: u64,
    /// The id of what it stores: random, and the same however often the task runs.
    pub id: [u8; 16],
    /// What it has said before.
    pub said: Vec<Point>,
    /// All that it has heard, in order.
    pub heard: Vec<HeardAt>,
}

/// What came of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// The number of the partition.
    pub part: u64,
    /// What it says next, if anything.
    pub parcel: Option<Parcelled>,
    /// All that it has said, with the parcel.
    pub said: Vec<Point>,
    /// The streams that it has opened.
    pub opened: Vec<u64>,
    /// Where it waits, for how many bytes of the stream in all.
    pub needs: Vec<(u64, u64)>,
    /// If it has come to its end, what the partition gave.
    pub ended: Option<Ended>,
    /// How the peer broke the protocol. The task says nothing then.
    pub fault: Option<Fault>,
}

/// What a partition gave, but for the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// How many own items are common; `None` if this party learns nothing.
    pub matched: Option<u64>,
    /// 0, or the code of the reason why the result is refused.
    refused: u8,
    /// Payload bytes sent and received.
    payload: (u64, u64),
    direction_changes: u64,
}

impl Ended {
    /// Why the result is refused.
    pub fn refused(&self) -> Option<Misbehaviour> {
        reason(self.refused).unwrap_or(Some(Misbehaviour::SelfCheckFailed))
    }

    /// The bytes that are kept of it: as many whatever was found.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![u8::from(self.matched.is_some()), self.refused];
        let numbers =
            [self.matched.unwrap_or(0), self.payload.0, self.payload.1, self.direction_changes];
        numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        bytes
    }

    /// What was kept in [these bytes](Self::to_bytes); `None` if it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let ([learns, refused], rest) = bytes.split_first_chunk::<2>()?;
        let (numbers, []) = rest.as_chunks::<8>() else { return None };
        let [matched, sent, received, direction_changes] = numbers else { return None };
        let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let ended = Self {
            matched: (*learns == 1).then(|| number(matched)),
            refused: *refused,
            payload: (number(sent), number(received)),
            direction_changes: number(direction_changes),
        };
        (ended.to_bytes() == bytes).then_some(ended)
    }

    /// What the run of the partition took.
    pub fn cost(&self) -> Cost {
        Cost { payload: self.payload, direction_changes: self.direction_changes }
    }
}

impl Task {
    /// As JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The task of its JSON; `None` if there is none.
    pub fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// Takes the turn with the partition's `entries`, the items of its rows, and stores in `store` what it says. `kept` gives
    /// what was kept under a name. Returns what came of it and, if the partition has ended and this party learns it, which
    /// entries are common.
    ///
    /// # Errors
    /// Those of this side: [`Error::Storage`] if the store fails or `kept` has nothing, and others. The same task may be
    /// taken again.
    pub fn take(
        &self,
        orders: &Orders,
        entries: &[Item],
        store: &dyn Store,
        threads: NonZeroUsize,
        kept: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<(Taken, Option<Vec<bool>>)> {
        let mut taken = Taken {
            part: self.part,
            parcel: None,
            said: self.said.clone(),
            opened: Vec::new(),
            needs: Vec::new(),
            ended: None,
            fault: None,
        };
        let known = Known::of(orders)?;
        let items = distinct(entries).ok_or(ParameterError::OutOfMemory)?;
        match self.turn(&known, items.clone(), store, Pool::new(threads)?, kept) {
            Ok(turned) => {
                let (taken, own) = self.keep(&known, turned, store, taken)?;
                let common = own.map(|own| Spread::new(&items, &own).of(entries).collect());
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
        known: &Known,
        items: Vec<Item>,
        store: &dyn Store,
        pool: Pool,
        kept: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<Turned<(Given, Cost)>> {
        let mut heard = Flight::default();
        for at in &self.heard {
            let flight = match at {
                HeardAt::Parcel(parcel) => known.desk.get(store, &parcel.into()).map_err(failed)?,
                HeardAt::Kept(name) => {
                    let flight = kept(name).and_then(|bytes| Flight::from_bytes(&bytes));
                    flight.ok_or(Error::Storage(ErrorKind::InvalidData))?
                }
            };
            heard.extend(&flight);
        }
        let replay = Replay {
            peer: if known.role == Role::Sender { Role::Receiver } else { Role::Sender },
            root: StreamId::from_u64(self.root),
            seed: known.seed_of(self.part),
            pool,
        };
        let (run, shared) = (known.run(), known.shared_of(self.part));
        replay.turn(&heard, &said_of(&self.said), |ctx| {
            let (given, _) = run.run(ctx, self.part, items, &shared)?;
            Ok((given, run.cost(ctx)))
        })
    }

    fn keep(
        &self,
        known: &Known,
        turned: Turned<(Given, Cost)>,
        store: &dyn Store,
        mut taken: Taken,
    ) -> Result<(Taken, Option<Vec<bool>>)> {
        if !turned.next.is_empty() {
            let parcel = known.desk.put(store, self.id, &turned.next).map_err(failed)?;
            taken.parcel = Some((&parcel).into());
        }
        taken.said = Point::all_of(&turned.said);
        taken.opened = turned.opened.iter().map(|id| id.as_u64()).collect();
        taken.needs = turned.needs.iter().map(|(id, len)| (id.as_u64(), *len)).collect();
        let Turn::Ends((Given { own, refused }, cost)) = turned.turn else {
            return Ok((taken, None));
        };
        let count = |own: &Vec<bool>| own.iter().filter(|one| **one).count() as u64;
        taken.ended = Some(Ended {
            matched: own.as_ref().map(count),
            refused: code_of(refused),
            payload: cost.payload,
            direction_changes: cost.direction_changes,
        });
        Ok((taken, own))
    }
}

impl Point {
    /// All that a party has said.
    pub fn all_of(said: &Said) -> Vec<Self> {
        let point = |(stream, (len, digest)): (&StreamId, &(u64, [u8; 32]))| Self {
            stream: stream.as_u64(),
            len: *len,
            digest: *digest,
        };
        said.streams.iter().map(point).collect()
    }
}

fn said_of(points: &[Point]) -> Said {
    let streams = points.iter().map(|one| (StreamId::from_u64(one.stream), (one.len, one.digest)));
    Said { streams: streams.collect() }
}

impl Taken {
    /// As JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What came of a task, of its JSON; `None` if there is nothing of the kind.
    pub fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// All that the partition has said.
    pub fn said(&self) -> Said {
        said_of(&self.said)
    }

    /// The streams that it has opened.
    pub fn opened(&self) -> Vec<StreamId> {
        self.opened.iter().map(|id| StreamId::from_u64(*id)).collect()
    }
}

fn failed(error: ExchangeError) -> Error {
    match error {
        ExchangeError::Store(kind) => Error::Storage(kind),
        ExchangeError::Gone { .. } => Error::Storage(ErrorKind::NotFound),
        ExchangeError::ForeignObject { .. } => {
            Error::Bug("a task that runs again says something else")
        }
        _ => Misbehaviour::BrokenFraming.into(),
    }
}
