use super::table::{self, CLUSTER_KEYS};
use super::table_of_many;
use crate::clusters::{line_of, scaled};
use vesica_core::{Block, Runs};
use vesica_simd::band::WIDTH;

/// The layout of the slots of an encoding of n keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) clusters: usize,
    pub(super) slots: usize,
}

impl Layout {
    pub(super) fn new(n: usize, runs: Runs) -> Self {
        if n == 0 {
            return Self { clusters: 1, slots: 0 };
        }
        let (dense, single, clustered) = match runs {
            Runs::ONE => (table::DENSE, table::SINGLE, table::CLUSTERED),
            _ => (table_of_many::DENSE, table_of_many::SINGLE, table_of_many::CLUSTERED),
        };
        if n <= WIDTH - dense {
            return Self { clusters: 1, slots: n + dense };
        }
        let (line, clusters) = line_of(n, single, CLUSTER_KEYS, clustered);
        let scaled = (n as u128 * u128::from(line.slope)).div_ceil((clusters as u128) << 24);
        Self { clusters, slots: scaled as usize + line.offset as usize }
    }

    /// Number of slots at which a band can start.
    pub(super) fn starts(&self) -> usize {
        self.slots.saturating_sub(WIDTH) + 1
    }

    /// The cluster of `key`, and the slot in it at which its band starts; ascending in `key`.
    #[inline(always)]
    pub(super) fn place(&self, key: Block) -> (usize, u32) {
        let (cluster, fraction) = scaled(key, self.clusters);
        (cluster, ((u128::from(fraction) * self.starts() as u128) >> 64) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_reach_two_to_the_32_keys() {
        let clusters = ((1 << 32) + CLUSTER_KEYS / 2) / CLUSTER_KEYS;
        for clustered in [table::CLUSTERED, table_of_many::CLUSTERED] {
            assert_eq!(clusters.ilog2() as usize, clustered.len());
        }
    }

    #[test]
    fn any_number_of_keys_has_more_slots_than_keys() {
        let most = u32::MAX as usize;
        let around = |n: usize| [n.saturating_sub(1), n, n.saturating_add(1)];
        let powers = (0..usize::BITS).map(|i| 1 << i).chain([most, usize::MAX]).flat_map(around);
        for (n, runs) in (1..4000).chain(powers).flat_map(|n| [(n, Runs::ONE), (n, Runs::MAX)]) {
            let layout = Layout::new(n, runs);
            let slots = layout.clusters as u128 * layout.slots as u128;
            assert!(slots > n as u128 || n == 0, "{n}: {layout:?}");
            assert!(u32::try_from(layout.slots).is_ok(), "{n}: starts fit into 32 bits");
        }
    }

    #[test]
    fn more_keys_in_a_single_cluster_never_have_fewer_slots() {
        for runs in [Runs::ONE, Runs::MAX] {
            let most = table::SINGLE.last().expect("there are lines").0;
            let sizes = (0..3000).chain((3000..most).step_by(101));
            let slots: Vec<_> = sizes.map(|n| Layout::new(n, runs).slots).collect();
            // Where lines meet, one can lie slightly above the next.
            assert!(slots.windows(2).all(|pair| pair[0] <= pair[1] + pair[1] / 500 + 4));
        }
    }

    #[test]
    fn runs_of_one_result_take_a_few_slots_more_than_a_run_alone() {
        for n in (1..3000).chain([1 << 16, 1 << 20, 3 << 19, 1 << 24]) {
            let of = |runs| Layout::new(n, Runs::new(runs).unwrap());
            let (alone, many) = (of(1), of(1024));
            assert_eq!(many, of(2));
            assert_eq!(many, of(4096));
            assert_eq!(many.clusters, alone.clusters);
            let more = many.slots - alone.slots;
            // Where a line of one table ends, the other's may lie slightly above it.
            assert!((8..=12 + alone.slots / 80).contains(&more), "{n}: {more}");
        }
    }
}
