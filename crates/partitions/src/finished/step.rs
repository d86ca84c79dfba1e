//! The result of a partition's step, for a protocol that finishes each step in all partitions
//! before the next.
//!
//! | bytes | content |
//! |---|---|
//! | 24 | the cost |
//! | 1 | 0, or why the result is refused |
//! | as agreed | what the party keeps of the partition besides its values |
//! | 8 | how many values there are |
//! | 16 each | the value of an item, in the order of the items |

use super::{Cost, code_of, reason};
use vesica_core::{Block, Misbehaviour};

/// A finished step of a partition.
#[derive(PartialEq, Eq)]
pub struct FinishedStep {
    /// What the party keeps of the partition besides the values. Its length depends on public
    /// figures.
    pub rest: Vec<u8>,
    /// A value for each item.
    pub values: Vec<Block>,
    /// Why the result is refused, if it is.
    pub refused: Option<Misbehaviour>,
    /// The cost of the step.
    pub cost: Cost,
}

impl FinishedStep {
    /// The bytes that are stored of the step. Their number does not depend on the result.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes =
            Vec::with_capacity(Cost::LEN + 9 + self.rest.len() + Block::LEN * self.values.len());
        self.cost.write(&mut bytes);
        bytes.push(code_of(self.refused));
        bytes.extend_from_slice(&self.rest);
        bytes.extend_from_slice(&(self.values.len() as u64).to_le_bytes());
        self.values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        bytes
    }

    /// The step in these bytes, if it has `rest_len` bytes besides its `len` values; otherwise
    /// `None`.
    pub fn from_bytes(bytes: &[u8], rest_len: usize, len: usize) -> Option<Self> {
        let (cost, rest) = Cost::read(bytes)?;
        let (code, rest) = rest.split_first()?;
        let (kept, rest) = rest.split_at_checked(rest_len)?;
        let (count, values) = rest.split_first_chunk()?;
        let (values, []) = values.as_chunks() else { return None };
        if u64::from_le_bytes(*count) != len as u64 || values.len() != len {
            return None;
        }
        let values = values.iter().map(|value| Block::from_le_bytes(*value)).collect();
        Some(Self { rest: kept.to_vec(), values, refused: reason(*code)?, cost })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_reads_back() {
        let cost = Cost { payload: (1 << 40, 7), direction_changes: 5 };
        let values = (0..5).map(|i| Block::new(i << 90)).collect();
        let refused = Some(Misbehaviour::SelfCheckFailed);
        let over = FinishedStep { rest: vec![7; 11], values, refused, cost };
        let bytes = over.to_bytes();
        assert_eq!(bytes.len(), 24 + 1 + 11 + 8 + 5 * 16);
        for (rest_len, len) in [(10, 5), (12, 5), (11, 4), (11, 6), (usize::MAX, 5)] {
            assert!(FinishedStep::from_bytes(&bytes, rest_len, len).is_none());
        }
        assert!(FinishedStep::from_bytes(&bytes[1..], 11, 5).is_none());
        assert!(FinishedStep::from_bytes(&bytes, 11, 5) == Some(over));
    }
}
