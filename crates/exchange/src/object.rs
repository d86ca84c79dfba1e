//! The names of objects, and what is in one: pieces of streams, sealed.
//!
//! | bytes | of a piece |
//! |---|---|
//! | 8 | the stream |
//! | 4 | the length n |
//! | n | bytes of the stream, those of an earlier piece coming before them |

use vesica_link::letters::Sealer;
use vesica_net::StreamId;

const HEAD_LEN: usize = 12;

/// What an object of a meeting is.
pub(crate) const HELLO: &str = "hello";
pub(crate) const SHARES: &str = "shares";
/// The party has said and heard all.
pub(crate) const END: &str = "end";
/// The party has given the run up.
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

/// The object of these pieces.
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

/// The pieces of the object; `None` if it was not sealed as this one.
pub(crate) fn open(sealer: &Sealer, number: u32, object: Vec<u8>) -> Option<Pieces> {
    pieces_of(&sealer.open(number, object).ok()?)
}

/// The pieces in an opened object.
pub(crate) fn pieces_of(body: &[u8]) -> Option<Pieces> {
    let (mut pieces, mut rest) = (Vec::new(), body);
    while !rest.is_empty() {
        let (stream, after) = rest.split_first_chunk::<8>()?;
        let (len, after) = after.split_first_chunk::<4>()?;
        let (bytes, after) = after.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        // Nobody writes an empty one, and many would take room without counting.
        if bytes.is_empty() {
            return None;
        }
        pieces.push((StreamId::from_u64(u64::from_le_bytes(*stream)), bytes.to_vec()));
        rest = after;
    }
    // Nor an object without any.
    (!pieces.is_empty()).then_some(pieces)
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
        assert_eq!(open(&sealer(0), 5, object.clone()), Some(pieces));
        assert_eq!(open(&sealer(1), 5, object.clone()), None);
        assert_eq!(open(&sealer(0), 6, object.clone()), None);
        assert_eq!(open(&sealer(0), 5, object[1..].to_vec()), None);
        // Only the party itself can seal what is malformed.
        for body in [&[0; 7][..], &[0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1]] {
            assert_eq!(open(&sealer(0), 5, sealer(0).seal(5, body.to_vec())), None);
        }
    }
}
