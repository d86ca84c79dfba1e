//! Reading objects, their names, and journals; receiving from the other side of a mirror.

pub use crate::mirror::fuzzing::{lines, receive};

use crate::{RunName, journal, name, object};
use vesica_net::StreamId;

/// An object of two pieces, opened, and a journal of two entries.
pub fn samples() -> [Vec<u8>; 2] {
    let stream = StreamId::from_u64(7);
    let pieces = vec![(stream, vec![1, 2, 3]), (StreamId::from_u64(9), vec![4])];
    [object::body_of(&pieces), journal::journal_of(&[1; 32], &[(stream, (3, [2; 32]))])]
}

/// Reads an opened object.
///
/// # Panics
/// If its pieces make another object.
pub fn read_object(body: &[u8]) {
    if let Some(pieces) = object::pieces_of(body) {
        assert_eq!(object::body_of(&pieces), body, "an object has one form");
    }
}

/// Reads a journal.
///
/// # Panics
/// If the whole entries, read again, are others.
pub fn read_journal(bytes: &[u8]) {
    if let Some((objects, whole)) = journal::read_objects(bytes) {
        let again = journal::read_objects(&bytes[..whole as usize]);
        assert!(again == Some((objects, whole)), "the rest of a journal changes nothing");
    }
}

/// Reads the name of an object in its folder, as a store lists it and a mirror receives it.
///
/// # Panics
/// If the folder is that of a run and has another name.
pub fn read_name(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (folder, object) = text.split_once('/').unwrap_or((text, text));
    let _ = name::parse_object(object);
    if let Some(run) = RunName::parse(folder) {
        assert_eq!(run.to_string(), folder, "a run has one name");
    }
}
