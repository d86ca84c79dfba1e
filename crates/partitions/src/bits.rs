/// A bit for every entry of every partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionBits {
    /// The first entry of each partition, and the number of all.
    starts: Vec<u64>,
    words: Vec<u64>,
}

impl PartitionBits {
    /// Bits that are all zero, for partitions with `lens` entries.
    pub(crate) fn of_lens(lens: impl Iterator<Item = u64>) -> Self {
        let mut starts = vec![0];
        let mut sum = 0;
        for len in lens {
            sum += len;
            starts.push(sum);
        }
        Self { starts, words: vec![0; sum.div_ceil(64) as usize] }
    }

    /// Sets the bits of the entries of `partition` from the entry `first` on, in the order of
    /// [`Grouped::read`](crate::Grouped::read).
    pub fn set(&mut self, partition: u64, first: u64, bits: impl Iterator<Item = bool>) {
        let start = self.starts[partition as usize] + first;
        let range = start..self.starts[partition as usize + 1];
        for (entry, bit) in range.zip(bits) {
            self.words[(entry / 64) as usize] |= u64::from(bit) << (entry % 64);
        }
    }

    /// The position of the first bit of `partition`.
    pub(crate) fn start(&self, partition: usize) -> u64 {
        self.starts[partition]
    }

    #[inline]
    pub(crate) fn get(&self, entry: u64) -> bool {
        self.words[(entry / 64) as usize] >> (entry % 64) & 1 == 1
    }
}
