//! The objects of a run so far, and the file that records them.

use crate::error::ExchangeError;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fs::File;
use std::io::Write;
use vesica_net::StreamId;

pub(crate) const DIGEST_LEN: usize = 32;
const SENT: u8 = 1;
const SEEN: u8 = 2;
const PART: u8 = 3;
const DETACHED: u8 = 4;

/// A point of a stream: how many bytes come before it, and their digest.
pub(crate) type Point = (u64, [u8; DIGEST_LEN]);

/// A part of a run that has finished.
pub(crate) struct FinishedPart {
    pub(crate) number: u64,
    pub(crate) streams: Vec<StreamId>,
    /// The digest of its result.
    pub(crate) digest: [u8; DIGEST_LEN],
}

/// A detached object, and what its part of the run has sent by then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DetachedEntry {
    pub(crate) part: u64,
    /// The id of the object.
    pub(crate) id: [u8; 16],
    /// The point that each of the part's streams had reached at the end of the object.
    pub(crate) points: Vec<(StreamId, Point)>,
}

/// The objects of a run so far.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Objects {
    /// The digests of this party's objects.
    pub(crate) sent: Vec<[u8; DIGEST_LEN]>,
    /// For each stream, the point that it had reached at the end of each of this party's objects
    /// that has bytes of the stream.
    pub(crate) points: BTreeMap<StreamId, VecDeque<Point>>,
    /// The digests of the peer's objects.
    pub(crate) seen: Vec<[u8; DIGEST_LEN]>,
    /// For each finished partition, by its number, the digest of its result.
    pub(crate) parts: BTreeMap<u64, [u8; DIGEST_LEN]>,
    /// The detached objects of partitions, in order.
    pub(crate) detached: Vec<DetachedEntry>,
    /// The streams of the finished partitions.
    pub(crate) closed: HashSet<StreamId>,
}

/// The file to which digests of objects are appended, each durably before its object is used.
///
/// | bytes | of an entry |
/// |---|---|
/// | 4 | the length of the rest |
/// | 1 | 1: this party's object; 2: the peer's; 3: the result of a part; 4: a detached object |
/// | 32 | the digest; for a detached object the number of its part, its id, and zeros |
/// | 48 each | for kinds 1 and 4: a stream, its bytes in all objects so far, and their digest |
/// | 8 each | for kind 3: the part's number, and its streams |
///
/// The entries of detached objects precede the entry of the object that names them, and count only
/// with it.
pub(crate) struct Journal {
    pub(crate) file: File,
    /// After a failed write the end of the file is unknown.
    pub(crate) has_failed: bool,
}

impl Journal {
    /// Appends an object of the peer's.
    pub(crate) fn see(&mut self, digest: &[u8; DIGEST_LEN]) -> Result<(), ExchangeError> {
        self.append(entry_of(SEEN, digest, &[]))
    }

    /// Appends an object of this party's, and the detached objects that it names.
    pub(crate) fn send(
        &mut self,
        digest: &[u8; DIGEST_LEN],
        points: &[(StreamId, Point)],
        detached: &[DetachedEntry],
    ) -> Result<(), ExchangeError> {
        let mut entries: Vec<u8> = detached.iter().flat_map(entry_of_detached).collect();
        entries.extend(entry_of(SENT, digest, points));
        self.append(entries)
    }

    /// Appends a finished part, whose result is kept and whose bytes are all in objects.
    pub(crate) fn close(&mut self, part: &FinishedPart) -> Result<(), ExchangeError> {
        let mut entry = entry_of(PART, &part.digest, &[]);
        entry.extend_from_slice(&part.number.to_le_bytes());
        for stream in &part.streams {
            entry.extend_from_slice(&stream.as_u64().to_le_bytes());
        }
        self.append(with_len(entry))
    }

    fn append(&mut self, entry: Vec<u8>) -> Result<(), ExchangeError> {
        if std::mem::replace(&mut self.has_failed, true) {
            return Err(ExchangeError::Damaged);
        }
        let written = self.file.write_all(&entry).and_then(|()| self.file.sync_data());
        self.has_failed = written.is_err();
        written.map_err(ExchangeError::kept)
    }
}

/// The bytes of an entry.
fn entry_of(kind: u8, digest: &[u8; DIGEST_LEN], points: &[(StreamId, Point)]) -> Vec<u8> {
    let mut entry = vec![0; 4];
    entry.push(kind);
    entry.extend_from_slice(digest);
    for (stream, (end, digest)) in points {
        entry.extend_from_slice(&stream.as_u64().to_le_bytes());
        entry.extend_from_slice(&end.to_le_bytes());
        entry.extend_from_slice(digest);
    }
    with_len(entry)
}

fn entry_of_detached(detached: &DetachedEntry) -> Vec<u8> {
    let mut digest = [0; DIGEST_LEN];
    digest[..8].copy_from_slice(&detached.part.to_le_bytes());
    digest[8..24].copy_from_slice(&detached.id);
    entry_of(DETACHED, &digest, &detached.points)
}

/// The points in an entry.
fn points_of(points: &[[u8; 48]]) -> Option<Vec<(StreamId, Point)>> {
    let point = |point: &[u8; 48]| {
        let (stream, point) = point.split_first_chunk::<8>()?;
        let (end, digest) = point.split_first_chunk::<8>()?;
        let stream = StreamId::from_u64(u64::from_le_bytes(*stream));
        Some((stream, (u64::from_le_bytes(*end), digest.try_into().ok()?)))
    };
    points.iter().map(point).collect()
}

/// The entry with its length.
fn with_len(mut entry: Vec<u8>) -> Vec<u8> {
    let len = (entry.len() - 4) as u32;
    entry[..4].copy_from_slice(&len.to_le_bytes());
    entry
}

/// A journal with an object of this party's, which names a detached one, and an object of the
/// peer's.
pub(crate) fn journal_of(digest: &[u8; DIGEST_LEN], points: &[(StreamId, Point)]) -> Vec<u8> {
    let detached = DetachedEntry { part: 3, id: [4; 16], points: points.to_vec() };
    [entry_of_detached(&detached), entry_of(SENT, digest, points), entry_of(SEEN, digest, &[])]
        .concat()
}

/// The objects in the bytes of a journal, and how many of the bytes are whole entries; `None` if it
/// is not a journal.
pub(crate) fn read_objects(bytes: &[u8]) -> Option<(Objects, u64)> {
    let (mut objects, mut rest) = (Objects::default(), bytes);
    // Detached objects that no object names yet, and where the last whole entry before them ends.
    let (mut detached, mut whole) = (Vec::new(), 0);
    while let Some((len, after)) = rest.split_first_chunk::<4>() {
        let len = u32::from_le_bytes(*len) as usize;
        let Some((entry, after)) = after.split_at_checked(len) else { break };
        let (kind, entry) = entry.split_first()?;
        let (digest, points) = entry.split_first_chunk::<DIGEST_LEN>()?;
        let (points, none) = points.as_chunks::<48>();
        // Detached objects are written together with the object that names them.
        if !detached.is_empty() && ![SENT, DETACHED].contains(kind) {
            return None;
        }
        match *kind {
            SENT if none.is_empty() => {
                objects.sent.push(*digest);
                for (stream, point) in points_of(points)? {
                    objects.points.entry(stream).or_default().push_back(point);
                }
                objects.detached.append(&mut detached);
            }
            DETACHED if none.is_empty() => {
                let (part, id) = digest.split_first_chunk::<8>()?;
                let id = *id.first_chunk::<16>()?;
                let part = u64::from_le_bytes(*part);
                detached.push(DetachedEntry { part, id, points: points_of(points)? });
            }
            SEEN if entry.len() == DIGEST_LEN => objects.seen.push(*digest),
            PART => {
                let (numbers, none) = entry[DIGEST_LEN..].as_chunks::<8>();
                let (number, streams) = numbers.split_first()?;
                if !none.is_empty() {
                    return None;
                }
                objects.parts.insert(u64::from_le_bytes(*number), *digest);
                let streams = streams.iter().map(|id| StreamId::from_u64(u64::from_le_bytes(*id)));
                objects.closed.extend(streams);
            }
            _ => return None,
        }
        rest = after;
        if detached.is_empty() {
            whole = bytes.len() - rest.len();
        }
    }
    Some((objects, whole as u64))
}
