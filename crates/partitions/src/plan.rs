//! The public figures of a split: the same at both parties, so integers only.

/// The most partitions: enough for sets of 2^32 items in partitions of the default length.
pub const MAX_PARTITIONS: u64 = 1 << MAX_BITS;

pub(crate) const MAX_BITS: u32 = 12;

/// −log2 of the chance that any partition of either set is longer than its padded length.
const OVERFLOW_BITS: u64 = vesica_core::params::STATISTICAL_SECURITY_BITS as u64;

/// How two sets are split. Depends only on their announced sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    partitions: u64,
}

impl Plan {
    /// One partition: the sets are not split.
    pub const WHOLE: Self = Self { partitions: 1 };

    /// The split of sets of these sizes, self-check items included: the fewest partitions, a power
    /// of two, in which the larger set has at most `partition_len` items on average, but at most
    /// [`MAX_PARTITIONS`]. If either set is empty, the sets are not split. A `partition_len` of 0
    /// counts as 1.
    pub fn new(sender_len: u64, receiver_len: u64, partition_len: u64) -> Self {
        let len = sender_len.max(receiver_len);
        if sender_len.min(receiver_len) == 0 {
            return Self::WHOLE;
        }
        let partitions = len.div_ceil(partition_len.max(1)).next_power_of_two();
        Self { partitions: partitions.min(MAX_PARTITIONS) }
    }

    /// The same plan, but with fewer partitions if padding would let a party that deviates enter
    /// more than twice the items that it announces. Both parties know `known` items of each set, so
    /// these are no guesses. For protocols against malicious parties.
    ///
    /// A small set, split as finely as a large one, is padded by several times its size.
    pub fn guarded(mut self, lens: [u64; 2], known: u64) -> Self {
        let is_kept = |plan: Self| {
            lens.iter().all(|len| {
                let entered = plan.partitions * plan.bound(*len);
                entered.saturating_sub(known) <= 2 * len.saturating_sub(known)
            })
        };
        while self.is_split() && !is_kept(self) {
            self.partitions /= 2;
        }
        self
    }

    /// P, a power of two.
    pub fn partitions(self) -> u64 {
        self.partitions
    }

    /// Whether the sets are split at all.
    pub fn is_split(self) -> bool {
        self.partitions > 1
    }

    /// The partition of an item with this prefix.
    pub fn partition_of(self, prefix: u16) -> u64 {
        u64::from(prefix >> (MAX_BITS - self.partitions.ilog2()))
    }

    /// B, the length to which each partition of a set of `len` items is padded: at most `len`.
    ///
    /// An item falls into a given partition with probability 1/P. Let m be the mean number of items
    /// that do; by Bernstein's inequality there are more than m + c/3 + √(c²/9 + 2cm) with
    /// probability at most e^-c. With c = (41 + log2 P) ln 2, the chance that any of the P
    /// partitions of either set is longer is at most 2^-40.
    pub fn bound(self, len: u64) -> u64 {
        if !self.is_split() {
            return len;
        }
        let bits = OVERFLOW_BITS + 1 + u64::from(self.partitions.ilog2());
        // 710/1024 is a little more than ln 2.
        let c = (bits * 710).div_ceil(1024);
        let mean = len.div_ceil(self.partitions);
        let deviation = c.div_ceil(3) + ((c * c).div_ceil(9) + 2 * c * mean).isqrt() + 1;
        (mean + deviation).min(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_core::params::WHOLE_SET_LEN;

    #[test]
    fn sets_are_split_into_about_a_million_items_each() {
        let of = |len| Plan::new(len, 1, WHOLE_SET_LEN).partitions();
        let expected = [
            (1, 1),
            (WHOLE_SET_LEN, 1),
            (WHOLE_SET_LEN + 1, 2),
            (1 << 21, 2),
            (1 << 24, 16),
            (10_000_000, 8),
            (100_000_000, 64),
            (1_000_000_000, 1024),
            (u64::from(u32::MAX), 4096),
        ];
        for (len, partitions) in expected {
            assert_eq!(of(len), partitions, "{len}");
            let turned = Plan::new(1, len, WHOLE_SET_LEN);
            assert_eq!(turned.partitions(), partitions, "{len}");
        }
        assert_eq!(Plan::new(1 << 30, 0, WHOLE_SET_LEN), Plan::WHOLE);
    }

    #[test]
    fn a_partition_has_at_most_the_agreed_length_on_average_while_there_are_few() {
        let lens = (1..300).map(|i| 97 * i * i).chain([1 << 24, 1 << 30, u64::from(u32::MAX)]);
        for len in lens {
            for most in [0, 1, 1_000, 1_001, 20_000, 65_536, 1_000_000, WHOLE_SET_LEN] {
                let (plan, case) = (Plan::new(len, 1, most), format!("{len} in {most}"));
                let (partitions, most) = (plan.partitions(), most.max(1));
                assert!(partitions.is_power_of_two() && partitions <= MAX_PARTITIONS, "{case}");
                assert!(partitions * most >= len || partitions == MAX_PARTITIONS, "{case}");
                assert!(partitions == 1 || partitions / 2 * most < len, "the fewest, {case}");
                assert_eq!(plan, Plan::new(1, len, most), "{case}");
            }
        }
        let expected = [(1_000, 1), (1_001, 2), (20_016, 32), (4_096_000, 4096), (1 << 30, 4096)];
        for (len, partitions) in expected {
            assert_eq!(Plan::new(len, 0, 1_000), Plan::WHOLE);
            assert_eq!(Plan::new(len, 1_000, 1_000).partitions(), partitions, "{len}");
        }
    }

    /// Where the average is small, padding is not: what a deviating party gains from it stays
    /// bounded.
    #[test]
    fn padding_of_small_partitions_at_most_doubles_what_is_guarded() {
        for len in [1_001, 2_000, 20_000, 300_000, 4_000_000] {
            for other in [1, 100, len / 4, len - len / 4, len] {
                let lens = [len + 16, other + 16];
                let plan = Plan::new(lens[0], lens[1], 1_000).guarded(lens, 16);
                for (guarded, own) in lens.into_iter().zip([len, other]) {
                    let entered = plan.partitions() * plan.bound(guarded) - 16;
                    assert!(entered <= 2 * own || !plan.is_split(), "{lens:?}");
                }
                let is_known = [(1, false), (len, true)].into_iter().find(|(n, _)| *n == other);
                assert!(is_known.is_none_or(|(_, split)| plan.is_split() == split), "{lens:?}");
            }
        }
        let plan = Plan::new(20_016, 15_016, 1_000).guarded([20_016, 15_016], 16);
        assert_eq!([plan.partitions(), plan.bound(20_016), plan.bound(15_016)], [32, 838, 655]);
    }

    #[test]
    fn a_small_set_is_split_only_so_far_that_padding_does_not_double_it() {
        let of =
            |len: u64| Plan::new(1 << 30, len + 16, WHOLE_SET_LEN).guarded([1 << 30, len + 16], 16);
        let expected =
            [(1, 1), (100, 1), (1_000, 8), (10_000, 64), (100_000, 1024), (1 << 30, 1024)];
        for (len, partitions) in expected {
            let plan = of(len);
            assert_eq!(plan.partitions(), partitions, "{len}");
            assert!(plan.partitions() * plan.bound(len + 16) <= 16 + 2 * len || !plan.is_split());
        }
        let plan = Plan::new(1 << 30, 16, WHOLE_SET_LEN).guarded([1 << 30, 16], 16);
        assert_eq!(plan, Plan::WHOLE);
    }

    #[test]
    fn padding_takes_at_most_two_percent_of_a_set_that_is_split() {
        for len in [WHOLE_SET_LEN + 1, 1 << 21, 3 << 20, 10_000_000, 1 << 24, 1 << 30, 1 << 32] {
            let plan = Plan::new(len, len, WHOLE_SET_LEN);
            let padded = plan.partitions() * plan.bound(len);
            assert!(padded >= len && padded * 100 <= len * 102, "{len}: {padded}");
        }
        assert_eq!(Plan::WHOLE.bound(5), 5);
        assert_eq!(
            Plan::new(1 << 30, 10, WHOLE_SET_LEN).bound(10),
            10,
            "never longer than the set"
        );
    }
}
