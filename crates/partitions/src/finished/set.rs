//! The result of a partition of an intersection.
//!
//! | bytes | content |
//! |---|---|
//! | 24 | the cost |
//! | 1 | 0, or why the result is refused |
//! | 1 | whether this side learns which items are common |
//! | 8 | how many own items there are |
//! | one bit each | whether the item is common, in the order of the items |

use super::{Cost, code_of, reason};
use vesica_core::Misbehaviour;

const HEAD_LEN: usize = Cost::LEN + 10;

/// The output of a partition, unchecked.
pub struct PartitionOutput {
    /// Which of the own items are common; `None` if the party learns nothing.
    pub own: Option<Vec<bool>>,
    /// Why the result is refused, if it is.
    pub refused: Option<Misbehaviour>,
}

/// A finished partition of an intersection.
pub struct FinishedPartition {
    /// Its output.
    pub given: PartitionOutput,
    /// Its cost.
    pub cost: Cost,
}

impl PartitionOutput {
    /// The bytes that are stored of a partition with `own_len` own items, this output and this
    /// `cost`. Their number does not depend on the result.
    pub fn to_bytes(&self, own_len: usize, cost: Cost) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_LEN + own_len.div_ceil(8));
        cost.write(&mut bytes);
        bytes.push(code_of(self.refused));
        bytes.push(self.own.is_some().into());
        bytes.extend_from_slice(&(own_len as u64).to_le_bytes());
        bytes.resize(HEAD_LEN + own_len.div_ceil(8), 0);
        let bits = &mut bytes[HEAD_LEN..];
        for (index, common) in self.own.iter().flatten().enumerate() {
            bits[index / 8] |= u8::from(*common) << (index % 8);
        }
        bytes
    }
}

impl FinishedPartition {
    /// The bytes that are stored of the partition; see [`PartitionOutput::to_bytes`].
    pub fn to_bytes(&self, own_len: usize) -> Vec<u8> {
        self.given.to_bytes(own_len, self.cost)
    }

    /// The partition in stored bytes, if it has `own_len` own items; otherwise `None`.
    pub fn from_bytes(bytes: &[u8], own_len: usize) -> Option<Self> {
        let (cost, rest) = Cost::read(bytes)?;
        let ([code, learns], rest) = rest.split_first_chunk()?;
        let (len, bits) = rest.split_first_chunk()?;
        if u64::from_le_bytes(*len) != own_len as u64 || bits.len() != own_len.div_ceil(8) {
            return None;
        }
        let own = (0..own_len).map(|index| bits[index / 8] >> (index % 8) & 1 == 1);
        let own = (*learns == 1).then(|| own.collect());
        let over = Self { given: PartitionOutput { own, refused: reason(*code)? }, cost };
        // Each partition has exactly one form.
        (over.to_bytes(own_len) == bytes).then_some(over)
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
            let given = PartitionOutput { own: own.clone(), refused };
            let cost = Cost { payload: (1 << 40, 7), direction_changes: 5 };
            let bytes = FinishedPartition { given, cost }.to_bytes(19);
            assert_eq!(bytes.len(), HEAD_LEN + 3);
            let read = FinishedPartition::from_bytes(&bytes, 19).unwrap();
            assert_eq!((read.given.own, read.given.refused, read.cost), (own, refused, cost));
            assert!(FinishedPartition::from_bytes(&bytes, 20).is_none());
            assert!(FinishedPartition::from_bytes(&bytes[..HEAD_LEN + 2], 19).is_none());
            let mut long = bytes.clone();
            long[HEAD_LEN + 2] |= 1 << 3;
            assert!(FinishedPartition::from_bytes(&long, 19).is_none(), "a bit of no item");
        }
    }
}
