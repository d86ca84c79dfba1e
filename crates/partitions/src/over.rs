//! What a partition gave, as it is kept until the run is over: a later process does not run it again.
//!
//! | bytes | content |
//! |---|---|
//! | 8, 8 | payload bytes sent and received |
//! | 8 | changes of direction |
//! | 1 | 0, or why the result is refused |
//! | 1 | whether this side learns which items are common |
//! | 8 | how many own items there are |
//! | a bit each | whether the item is common, in the order of the items |

use vesica_core::Misbehaviour;

const HEAD_LEN: usize = 34;

/// Reasons by their codes, from 1 on. Another one becomes the first.
const REASONS: [Misbehaviour; 3] =
    [Misbehaviour::SelfCheckFailed, Misbehaviour::InvalidValue, Misbehaviour::CommitmentBroken];

/// What a partition gave, unchecked.
pub struct Given {
    /// Which of the own items are common; `None` if the party learns nothing.
    pub own: Option<Vec<bool>>,
    /// Why the result is refused.
    pub refused: Option<Misbehaviour>,
}

/// A partition that is over.
pub struct Over {
    /// What it gave.
    pub given: Given,
    /// Payload bytes sent and received.
    pub payload: (u64, u64),
    /// Changes between sending and receiving.
    pub direction_changes: u64,
}

impl Over {
    /// The bytes that are kept of a partition with `own_len` own items. Their number does not depend on what was found.
    pub fn to_bytes(&self, own_len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_LEN + own_len.div_ceil(8));
        for number in [self.payload.0, self.payload.1, self.direction_changes] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let code = |why| 1 + REASONS.iter().position(|reason| *reason == why).unwrap_or(0) as u8;
        bytes.push(self.given.refused.map_or(0, code));
        bytes.push(self.given.own.is_some().into());
        bytes.extend_from_slice(&(own_len as u64).to_le_bytes());
        bytes.resize(HEAD_LEN + own_len.div_ceil(8), 0);
        let bits = &mut bytes[HEAD_LEN..];
        for (index, common) in self.given.own.iter().flatten().enumerate() {
            bits[index / 8] |= u8::from(*common) << (index % 8);
        }
        bytes
    }

    /// What was kept of a partition with so many own items; `None` if it is not of that one.
    pub fn from_bytes(bytes: &[u8], own_len: usize) -> Option<Self> {
        let (head, bits) = bytes.split_first_chunk::<HEAD_LEN>()?;
        let (numbers, rest) = head.as_chunks::<8>();
        let [sent, received, direction_changes, mixed] = *numbers else { return None };
        let (code, learns) = (mixed[0], mixed[1]);
        let len = [&mixed[2..], rest].concat();
        if u64::from_le_bytes(len.try_into().ok()?) != own_len as u64
            || bits.len() != own_len.div_ceil(8)
        {
            return None;
        }
        let refused = match code {
            0 => None,
            code => Some(*REASONS.get(usize::from(code) - 1)?),
        };
        let own = (0..own_len).map(|index| bits[index / 8] >> (index % 8) & 1 == 1);
        let own = (learns == 1).then(|| own.collect());
        Some(Self {
            given: Given { own, refused },
            payload: (u64::from_le_bytes(sent), u64::from_le_bytes(received)),
            direction_changes: u64::from_le_bytes(direction_changes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_partition_gave_reads_back() {
        let own: Vec<bool> = (0..19).map(|n| n % 3 == 0).collect();
        for (own, refused) in [
            (Some(own.clone()), None),
            (Some(own), Some(Misbehaviour::InvalidValue)),
            (None, Some(Misbehaviour::SelfCheckFailed)),
        ] {
            let given = Given { own: own.clone(), refused };
            let over = Over { given, payload: (1 << 40, 7), direction_changes: 5 };
            let bytes = over.to_bytes(19);
            assert_eq!(bytes.len(), HEAD_LEN + 3);
            let read = Over::from_bytes(&bytes, 19).unwrap();
            assert_eq!((read.given.own, read.given.refused), (own, refused));
            assert_eq!((read.payload, read.direction_changes), ((1 << 40, 7), 5));
            assert!(Over::from_bytes(&bytes, 20).is_none());
            assert!(Over::from_bytes(&bytes[..HEAD_LEN + 2], 19).is_none());
        }
    }
}
