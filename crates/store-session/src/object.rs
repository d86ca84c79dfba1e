//! The names of objects, and their contents: sealed pieces of streams.
//!
//! | bytes | of a piece |
//! |---|---|
//! | 8 | the stream |
//! | 4 | the length n |
//! | n | the next n bytes of the stream |

use vesica_link::letters::{SEAL_LEN, Sealer};
use vesica_net::StreamId;

/// Takes the place of a stream's id in a piece that names a detached object.
pub(crate) const DETACHED: StreamId = StreamId::from_u64(0);

const HEAD_LEN: usize = 12;

/// The kinds of unnumbered objects, as their names have them.
pub(crate) const HELLO: &str = "hello";
pub(crate) const SHARES: &str = "shares";
/// The party has sent and received everything.
pub(crate) const END: &str = "end";
/// The party has abandoned the run.
pub(crate) const GIVEN_UP: &str = "given-up";

/// The name of an object of `party` in the folder `run`.
pub(crate) fn name(run: &str, party: u8, what: &str) -> String {
    format!("{run}/{party}-{what}")
}

/// The name of the object with this number.
pub(crate) fn numbered(run: &str, party: u8, number: u32) -> String {
    name(run, party, &format!("{number:06}"))
}

/// Pieces of streams, in the order in which they were written.
pub(crate) type Pieces = Vec<(StreamId, Vec<u8>)>;

/// The sealed object with these pieces.
pub(crate) fn seal(sealer: &Sealer, number: u32, pieces: &Pieces) -> Vec<u8> {
    sealer.seal(number, body_of(pieces))
}

pub(crate) fn body_of(pieces: &Pieces) -> Vec<u8> {
    let len = pieces.iter().map(|(_, bytes)| HEAD_LEN + bytes.len()).sum();
    let mut body = Vec::with_capacity(len);
    for (stream, bytes) in pieces {
        body.extend_from_slice(&stream.as_u64().to_le_bytes());
        body.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        body.extend_from_slice(bytes);
    }
    body
}

/// A piece of a stream in an object.
pub(crate) type Piece<'a> = (StreamId, &'a [u8]);

/// An opened object. Its pieces are slices of its body, so that small pieces need no memory of
/// their own.
pub(crate) struct Opened {
    body: Vec<u8>,
}

impl Opened {
    /// The object with this `body`; `None` if it is malformed. A party joins neighbouring pieces of
    /// a stream, and writes neither empty pieces nor objects without pieces.
    pub(crate) fn of(body: Vec<u8>) -> Option<Self> {
        let (mut rest, mut last) = (&body[..], None);
        while !rest.is_empty() {
            let ((stream, bytes), after) = first_piece(rest)?;
            let continues = last == Some(stream) && stream != DETACHED;
            if bytes.is_empty() || continues {
                return None;
            }
            (rest, last) = (after, Some(stream));
        }
        last.is_some().then_some(Self { body })
    }

    pub(crate) fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let mut rest = &self.body[..];
        std::iter::from_fn(move || {
            let (piece, after) = first_piece(rest)?;
            rest = after;
            Some(piece)
        })
    }
}

/// The first piece of an object's body, and the bytes after it; `None` if the piece was cut.
fn first_piece(body: &[u8]) -> Option<(Piece<'_>, &[u8])> {
    let (stream, rest) = body.split_first_chunk::<8>()?;
    let (len, rest) = rest.split_first_chunk::<4>()?;
    let (bytes, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
    Some(((StreamId::from_u64(u64::from_le_bytes(*stream)), bytes), rest))
}

/// The length of a sealed object that has one piece of each of these streams, with that piece's
/// length.
pub(crate) fn sealed_len(streams: &[(StreamId, u64)]) -> u64 {
    let of_piece = |(_, len): &(StreamId, u64)| HEAD_LEN as u64 + len;
    streams.iter().map(of_piece).sum::<u64>() + SEAL_LEN as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_opens_as_the_one_that_it_was_sealed_as() {
        let sealer = |from| Sealer::new(&[1; 32], "vesica exchange test", from);
        let pieces = vec![
            (StreamId::from_u64(1), vec![1, 2]),
            (StreamId::from_u64(9), vec![4]),
            (StreamId::from_u64(1), vec![3; 1000]),
        ];
        let object = seal(&sealer(0), 5, &pieces);
        let opened = Opened::of(sealer(0).open(5, object.clone()).unwrap()).unwrap();
        assert!(opened.pieces().eq(pieces.iter().map(|(stream, bytes)| (*stream, &bytes[..]))));
        assert!(sealer(1).open(5, object.clone()).is_err());
        assert!(sealer(0).open(6, object.clone()).is_err());
        assert!(sealer(0).open(5, object[1..].to_vec()).is_err());
        let lens: Vec<_> = pieces.iter().map(|(id, bytes)| (*id, bytes.len() as u64)).collect();
        assert_eq!(sealed_len(&lens), object.len() as u64);
    }

    #[test]
    fn malformed_objects_are_refused() {
        let of = |pieces: &[(u64, &[u8])]| {
            let piece = |(id, bytes): &(u64, &[u8])| (StreamId::from_u64(*id), bytes.to_vec());
            Opened::of(body_of(&pieces.iter().map(piece).collect()))
        };
        assert!(of(&[(1, &[1]), (2, &[1]), (1, &[1])]).is_some());
        // The names of two detached objects may be neighbours.
        assert!(of(&[(0, &[1]), (0, &[1])]).is_some());
        assert!(of(&[]).is_none(), "no piece");
        assert!(of(&[(1, &[1]), (2, &[])]).is_none(), "an empty piece");
        assert!(of(&[(1, &[1]), (1, &[1])]).is_none(), "pieces that a party joins");
        for body in [&[0; 7][..], &[0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1]] {
            assert!(Opened::of(body.to_vec()).is_none(), "a piece that was cut");
        }
    }
}
