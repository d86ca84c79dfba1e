//! Detached objects: bytes of streams that programs other than the party's process write and read.
//!
//! A numbered object of the run names each detached one. For that it has a piece of the stream
//! [`DETACHED`] with
//!
//! | bytes | |
//! |---|---|
//! | 16 | the id of the detached object |
//! | 32 | the key that seals it, along with secrets of the run |
//! | 32 | its digest |
//! | 8 | its length |
//! | 16 each | a stream, and how many bytes of the stream it has |
//!
//! The detached object itself consists of pieces of streams, as all objects do. The peer cannot
//! open it before it is named.

use crate::error::ExchangeError;
use crate::name::what_of;
use crate::object::{self, DETACHED, Opened, body_of, sealed_len};
use crate::poller::{digest, put};
use crate::store::{Lengths, Store};
use vesica_core::hash::derive;
use vesica_core::{Misbehaviour, Secret};
use vesica_link::letters::Sealer;
use vesica_net::{Flight, Parcel, StreamId};

const SECRET_LABEL: &str = "vesica exchange 2026 objects apart";
const KEY_LABEL: &str = "vesica exchange 2026 object apart v1";
const SEAL_LABEL: &str = "vesica exchange 2026 sealed object apart v1";

/// Maximum bytes of streams in a detached object. A party splits a longer flight.
pub const DETACHED_MAX_BYTES: u64 = 64 << 20;

/// Maximum number of streams of which a detached object has bytes. A task writes the streams of one
/// partition, which are five at most. A reader keeps the whole name with each stream, so memory for
/// a name grows with the square of the number of its streams.
const STREAMS_MAX: usize = 32;

const BROKEN: ExchangeError = ExchangeError::PeerMisbehaved(Misbehaviour::BrokenFraming);

/// The keys with which a party's detached programs store its objects and read the peer's. `Debug`
/// shows no secret.
#[derive(Debug)]
pub struct DetachedKeys {
    run: String,
    own: u8,
    secret: Secret<[u8; 32]>,
}

impl DetachedKeys {
    /// The keys of the party `own` in `run`, where both parties share `secret`.
    pub(crate) fn new(run: &str, own: u8, secret: &[u8; 32]) -> Self {
        Self { run: run.to_owned(), own, secret: Secret::new(derive(SECRET_LABEL, &[secret])) }
    }

    /// The keys as bytes, which are secret.
    pub fn to_bytes(&self) -> Vec<u8> {
        [&[self.own][..], self.secret.expose(), self.run.as_bytes()].concat()
    }

    /// The keys in `bytes`; `None` if they are malformed.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let ([own], rest) = bytes.split_first_chunk()?;
        let (secret, run) = rest.split_first_chunk::<32>()?;
        let run = std::str::from_utf8(run).ok()?.to_owned();
        (*own < 2).then(|| Self { run, own: *own, secret: Secret::new(*secret) })
    }

    /// Stores `flight`, which this party sends, under `id`, sealed under `key`. The same flight
    /// with the same id and key gives the same object, so several programs may do the same work. No
    /// party can open the object before this one sends the parcel.
    ///
    /// # Errors
    /// The store's errors; [`ExchangeError::ForeignObject`] if another object has this id.
    pub fn put(
        &self,
        store: &dyn Store,
        id: [u8; 16],
        key: [u8; 32],
        flight: &Flight,
    ) -> Result<Parcel, ExchangeError> {
        let pieces = flight.iter().map(|(stream, bytes)| (stream, bytes.to_vec())).collect();
        let object = self.sealer(self.own, &id, &key).seal(0, body_of(&pieces));
        put(store, &name(&self.run, self.own, &id), &object)
            .map_err(|error| error.unwrap_or(ExchangeError::ForeignObject { number: 0 }))?;
        let streams = flight.iter().map(|(stream, bytes)| (stream, bytes.len() as u64)).collect();
        Ok(Parcel { id, key, digest: digest(&object), len: object.len() as u64, streams })
    }

    /// Reads from `store` the bytes that the peer sends in `parcel`, which describes a detached
    /// object.
    ///
    /// # Errors
    /// The store's errors; [`ExchangeError::Gone`] if it has no such object;
    /// [`ExchangeError::WrongObject`] if it has another one; [`ExchangeError::NotAnObject`] if the
    /// object has another length; [`ExchangeError::PeerMisbehaved`] if the object is the peer's but
    /// does not match the parcel.
    pub fn get(&self, store: &dyn Store, parcel: &Parcel) -> Result<Flight, ExchangeError> {
        let lengths = Lengths::exactly(parcel.len);
        let object = store
            .get(&self.name_of(parcel), lengths)
            .map_err(ExchangeError::store)?
            .ok_or(ExchangeError::Gone { number: 0 })?;
        self.open(parcel, object, 0)
    }

    /// The name of the object of the peer's `parcel`.
    pub(crate) fn name_of(&self, parcel: &Parcel) -> String {
        name(&self.run, 1 - self.own, &parcel.id)
    }

    /// Opens `object`, which is the peer's `parcel` if its digest is right. The object numbered
    /// `number` names it.
    ///
    /// # Errors
    /// [`ExchangeError::WrongObject`] if the peer named another object, and
    /// [`ExchangeError::PeerMisbehaved`] if it named this one but the object does not have the
    /// bytes that the parcel says.
    pub(crate) fn open(
        &self,
        parcel: &Parcel,
        object: Vec<u8>,
        number: u32,
    ) -> Result<Flight, ExchangeError> {
        if digest(&object) != parcel.digest {
            return Err(ExchangeError::WrongObject { number });
        }
        let body = self.sealer(1 - self.own, &parcel.id, &parcel.key).open(0, object).ok();
        let opened = body.and_then(Opened::of).ok_or(BROKEN)?;
        // There is one piece for each stream. Compare them before the flight is made, in which
        // thousands of other pieces would take memory.
        let lens = opened.pieces().map(|(stream, bytes)| (stream, bytes.len() as u64));
        if !lens.eq(parcel.streams.iter().copied()) {
            return Err(BROKEN);
        }
        let mut flight = Flight::default();
        opened.pieces().for_each(|(stream, bytes)| flight.push(stream, bytes));
        Ok(flight)
    }

    fn sealer(&self, from: u8, id: &[u8; 16], key: &[u8; 32]) -> Sealer {
        Sealer::new(&derive(KEY_LABEL, &[self.secret.expose(), id, key]), SEAL_LABEL, from)
    }
}

/// The name of the detached object of `party` in the folder `run`.
pub(crate) fn name(run: &str, party: u8, id: &[u8; 16]) -> String {
    object::name(run, party, &what_of(id))
}

/// The bytes in the piece that names `parcel`.
pub(crate) fn to_bytes(parcel: &Parcel) -> Vec<u8> {
    let mut bytes = [&parcel.id[..], &parcel.key, &parcel.digest].concat();
    bytes.extend_from_slice(&parcel.len.to_le_bytes());
    for (stream, len) in &parcel.streams {
        bytes.extend_from_slice(&stream.as_u64().to_le_bytes());
        bytes.extend_from_slice(&len.to_le_bytes());
    }
    bytes
}

/// The parcel that a piece names; `None` if it is malformed. The parcel's streams are in ascending
/// order, it has bytes of each, and its length is that of an object with these bytes.
pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Parcel> {
    let (id, rest) = bytes.split_first_chunk::<16>()?;
    let (key, rest) = rest.split_first_chunk::<32>()?;
    let (digest, rest) = rest.split_first_chunk::<32>()?;
    let (object_len, rest) = rest.split_first_chunk::<8>()?;
    let object_len = u64::from_le_bytes(*object_len);
    let (entries, none) = rest.as_chunks::<16>();
    if !none.is_empty() || entries.is_empty() || entries.len() > STREAMS_MAX {
        return None;
    }
    let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).ok();
    let mut streams: Vec<(StreamId, u64)> = Vec::with_capacity(entries.len());
    for entry in entries {
        let (stream, len) = (StreamId::from_u64(number(&entry[..8])?), number(&entry[8..])?);
        if len == 0
            || len > DETACHED_MAX_BYTES
            || stream == DETACHED
            || streams.last().is_some_and(|(last, _)| *last >= stream)
        {
            return None;
        }
        streams.push((stream, len));
    }
    let all: u64 = streams.iter().map(|(_, len)| len).sum();
    if all > DETACHED_MAX_BYTES || object_len != sealed_len(&streams) {
        return None;
    }
    Some(Parcel { id: *id, key: *key, digest: *digest, len: object_len, streams })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FolderStore;
    use crate::name::is_detached;

    fn desks() -> [DetachedKeys; 2] {
        [0, 1].map(|own| DetachedKeys::new("0123456789abcdef-0001", own, &[own + 7; 32]))
    }

    #[test]
    fn a_parcel_reads_back_at_the_peer_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = FolderStore::open(folder.path()).unwrap();
        let [mut one, two] = desks();
        one.secret = Secret::new(*two.secret.expose());
        let flight: Flight =
            [(StreamId::from_u64(9), vec![1; 40]), (StreamId::from_u64(3), vec![2])]
                .into_iter()
                .collect();
        let parcel = one.put(&store, [5; 16], [6; 32], &flight).unwrap();
        assert_eq!(
            one.put(&store, [5; 16], [6; 32], &flight),
            Ok(parcel.clone()),
            "as often as one likes"
        );
        assert_eq!(two.get(&store, &parcel), Ok(flight.clone()));
        assert_eq!(from_bytes(&to_bytes(&parcel)), Some(parcel.clone()));
        let again = DetachedKeys::from_bytes(&two.to_bytes()).unwrap();
        assert_eq!(again.get(&store, &parcel), Ok(flight));

        let other: Flight = [(StreamId::from_u64(3), vec![2])].into_iter().collect();
        let taken = Err(ExchangeError::ForeignObject { number: 0 });
        assert_eq!(one.put(&store, [5; 16], [6; 32], &other), taken);
        let wrong = Err(ExchangeError::WrongObject { number: 0 });
        let broken = Err(BROKEN);
        let mut parcel = parcel;
        parcel.streams[0].1 += 1;
        assert_eq!(two.get(&store, &parcel), broken);
        parcel.streams[0].1 -= 1;
        parcel.key[0] ^= 1;
        assert_eq!(two.get(&store, &parcel), broken, "before it is named");
        parcel.digest[0] ^= 1;
        assert_eq!(two.get(&store, &parcel), wrong);
        parcel.id[0] ^= 1;
        assert_eq!(two.get(&store, &parcel), Err(ExchangeError::Gone { number: 0 }));
    }

    #[test]
    fn malformed_parcels_are_refused() {
        let stream = |id, len: u64| [u64::to_le_bytes(id), len.to_le_bytes()].concat();
        let long = |len: u64, rest: &[Vec<u8>]| {
            [vec![1; 80], len.to_le_bytes().to_vec(), rest.concat()].concat()
        };
        let with = |rest: &[Vec<u8>]| {
            let len_of = |entry: &Vec<u8>| {
                entry.get(8..16).map_or(0, |len| u64::from_le_bytes(len.try_into().unwrap()))
            };
            long(16 + rest.iter().map(|entry| 12 + len_of(entry)).sum::<u64>(), rest)
        };
        assert!(from_bytes(&with(&[stream(1, 1), stream(2, 1)])).is_some());
        assert!(from_bytes(&with(&[stream(1, DETACHED_MAX_BYTES)])).is_some());
        let streams: Vec<_> = (1..=STREAMS_MAX as u64 + 1).map(|id| stream(id, 1)).collect();
        assert!(from_bytes(&with(&streams[1..])).is_some());
        for bytes in [
            vec![1; 87],
            [vec![1; 88], stream(1, 1)].concat(),
            with(&[stream(1, DETACHED_MAX_BYTES + 1)]),
            with(&[stream(1, DETACHED_MAX_BYTES), stream(2, 1)]),
            with(&streams),
            long(28, &[stream(1, 1)]),
            long(30, &[stream(1, 1)]),
            with(&[]),
            with(&[stream(1, 0)]),
            with(&[stream(0, 1)]),
            with(&[stream(2, 1), stream(2, 1)]),
            with(&[stream(2, 1), stream(1, 1)]),
            with(&[stream(1, 1), vec![0; 15]]),
        ] {
            assert_eq!(from_bytes(&bytes), None);
        }
    }

    #[test]
    fn a_name_has_one_form() {
        assert!(is_detached(&what_of(&[0; 16])) && is_detached(&what_of(&[255; 16])));
        for other in ["x", "x1", "000001", "xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"] {
            assert!(!is_detached(other));
        }
    }
}
