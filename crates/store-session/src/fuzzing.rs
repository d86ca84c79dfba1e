//! Reading objects, their names and journals, and receiving from the other side of a mirror.

pub use crate::mirror::fuzzing::{lines, receive};

use crate::conversation::{Conversation, take_all};
use crate::detached::{self, DetachedKeys};
use crate::object::DETACHED;
use crate::object::Opened;
use crate::{RunName, journal, name, object};
use vesica_net::{Parcel, StreamId};

/// The body of an object with two pieces, of one that names detached objects, a journal with an
/// object of each side, and a party's keys for detached work.
pub fn samples() -> [Vec<u8>; 4] {
    let [stream, other] = [7, 9].map(StreamId::from_u64);
    let pieces = vec![(stream, vec![1, 2, 3]), (other, vec![4])];
    let parcel = |id, streams: Vec<(StreamId, u64)>| {
        let len = object::sealed_len(&streams);
        Parcel { id: [id; 16], key: [6; 32], digest: [5; 32], len, streams }
    };
    let parcels = [parcel(1, vec![(stream, 3), (other, 2)]), parcel(2, vec![(other, 1)])];
    let mut named: object::Pieces =
        parcels.iter().map(|parcel| (DETACHED, detached::to_bytes(parcel))).collect();
    named.insert(1, (stream, vec![6]));
    [
        object::body_of(&pieces),
        object::body_of(&named),
        journal::journal_of(&[1; 32], &[(stream, (3, [2; 32]))]),
        DetachedKeys::new("0123456789abcdef-0001", 1, &[3; 32]).to_bytes(),
    ]
}

/// The object with this number and any body, from a party that deviates.
pub fn sealed(on: &Conversation, number: u32, body: Vec<u8>) -> Vec<u8> {
    on.sealed(number, body)
}

/// The piece that names a detached object, which has one byte of `stream`.
pub fn named(id: u64, stream: StreamId) -> (StreamId, Vec<u8>) {
    let streams = vec![(stream, 1)];
    let (id, len) = (u128::from(id).to_be_bytes(), object::sealed_len(&streams));
    (DETACHED, detached::to_bytes(&Parcel { id, key: [0; 32], digest: [0; 32], len, streams }))
}

/// Reads an opened object, and the names of detached objects in it.
///
/// # Panics
/// If its pieces do not make the same object again, if the name of a detached object in it does
/// not, or if some of its bytes can never be read.
pub fn read_object(body: &[u8]) {
    let Some(opened) = Opened::of(body.to_vec()) else { return };
    let pieces: object::Pieces =
        opened.pieces().map(|(stream, bytes)| (stream, bytes.to_vec())).collect();
    assert_eq!(object::body_of(&pieces), body, "an object has one form");
    for (_, bytes) in pieces.iter().filter(|(stream, _)| *stream == DETACHED) {
        if let Some(parcel) = detached::from_bytes(bytes) {
            assert_eq!(&detached::to_bytes(&parcel), bytes, "the name of an object has one form");
        }
    }
    take_all(&opened);
}

/// Decodes the secret keys with which a party's detached programs open and seal objects, and
/// encodes them again.
///
/// # Panics
/// If the encoding differs from `bytes`.
pub fn read_desk(bytes: &[u8]) {
    if let Some(desk) = DetachedKeys::from_bytes(bytes) {
        assert_eq!(desk.to_bytes(), bytes, "a party's keys have one form");
    }
}

/// Reads a journal.
///
/// # Panics
/// If the whole entries, read again, have other objects.
pub fn read_journal(bytes: &[u8]) {
    if let Some((objects, whole)) = journal::read_objects(bytes) {
        let again = journal::read_objects(&bytes[..whole as usize]);
        assert!(again == Some((objects, whole)), "the rest of a journal changes nothing");
    }
}

/// Reads the name of an object in its folder, as a store lists it and a mirror receives it.
///
/// # Panics
/// If the folder is one of a run but is spelled differently.
pub fn read_name(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (folder, object) = text.split_once('/').unwrap_or((text, text));
    let _ = name::parse_object(object);
    if let Some(run) = RunName::parse(folder) {
        assert_eq!(run.to_string(), folder, "a run has one name");
    }
}
