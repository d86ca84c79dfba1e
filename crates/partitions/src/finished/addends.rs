//! The result of a partition when the answer is a number: this party's shares.
//!
//! | bytes | content |
//! |---|---|
//! | 24 | the cost |
//! | 8 | the share of the count |
//! | 16 each | the share of the sum, column by column |

use super::Cost;

/// A finished partition of a count or a sum. The shares alone reveal nothing; with the peer's they
/// make the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedAddends {
    /// This party's share of how many items are common, modulo 2^64.
    pub count: u64,
    /// This party's shares of the sums of the common items' values, modulo 2^128.
    pub sums: Vec<u128>,
    /// The cost of the partition.
    pub cost: Cost,
}

impl FinishedAddends {
    /// The bytes that are stored. Their number depends only on that of the columns.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Cost::LEN + 8 + 16 * self.sums.len());
        self.cost.write(&mut bytes);
        bytes.extend_from_slice(&self.count.to_le_bytes());
        self.sums.iter().for_each(|sum| bytes.extend_from_slice(&sum.to_le_bytes()));
        bytes
    }

    /// The partition with this many `columns` in stored bytes; `None` if they hold something else.
    pub fn from_bytes(bytes: &[u8], columns: usize) -> Option<Self> {
        let (cost, rest) = Cost::read(bytes)?;
        let (count, rest) = rest.split_first_chunk()?;
        let (sums, []) = rest.as_chunks() else { return None };
        let sums: Vec<u128> = sums.iter().map(|sum| u128::from_le_bytes(*sum)).collect();
        let count = u64::from_le_bytes(*count);
        (sums.len() == columns).then_some(Self { count, sums, cost })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_a_partition_read_back() {
        let cost = Cost { payload: (3, 1 << 50), direction_changes: 9 };
        for sums in [vec![], vec![u128::MAX - 6], vec![1, 2 << 90, 3]] {
            let (columns, count) = (sums.len(), u64::MAX - 1);
            let over = FinishedAddends { count, sums, cost };
            let bytes = over.to_bytes();
            assert_eq!(bytes.len(), 32 + 16 * columns);
            assert_eq!(FinishedAddends::from_bytes(&bytes, columns), Some(over));
            assert_eq!(FinishedAddends::from_bytes(&bytes, columns + 1), None);
            for len in 0..bytes.len() {
                assert_eq!(FinishedAddends::from_bytes(&bytes[..len], columns), None);
            }
        }
    }

    #[test]
    fn zeros_take_as_many_bytes_as_other_shares() {
        let of = |number: u64| {
            let cost = Cost { payload: (number, number), direction_changes: number };
            FinishedAddends { count: number, sums: vec![number.into(); 2], cost }.to_bytes().len()
        };
        assert_eq!(of(0), of(u64::MAX));
    }
}
