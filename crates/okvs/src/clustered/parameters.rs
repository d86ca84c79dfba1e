use super::table::{self, CLUSTER_KEYS, DENSE_ONLY};
use super::table_of_many;
use crate::clusters::line_of;
use vesica_core::Runs;

/// The layout of the slots of an encoding of n keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) clusters: usize,
    pub(super) sparse: usize,
    pub(super) dense: usize,
}

impl Layout {
    pub(super) fn new(n: usize, runs: Runs) -> Self {
        if n <= DENSE_ONLY {
            return Self { clusters: 1, sparse: 0, dense: n };
        }
        let (single, clustered) = match runs {
            Runs::ONE => (table::SINGLE, table::CLUSTERED),
            _ => (table_of_many::SINGLE, table_of_many::CLUSTERED),
        };
        let (line, clusters) = line_of(n, single, CLUSTER_KEYS, clustered);
        let scaled = (n as u128 * u128::from(line.slope)).div_ceil((clusters as u128) << 16);
        let sparse = scaled as usize + line.offset as usize;
        Self { clusters, sparse, dense: usize::from(line.dense) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_fits_into_sixteen_bits() {
        for n in
            (0..2_000_000).step_by(977).chain([100_000_000, 1 << 30, u32::MAX as usize, usize::MAX])
        {
            for runs in [Runs::ONE, Runs::MAX] {
                assert!(Layout::new(n, runs).sparse <= 1 << 16, "{n}");
            }
        }
    }

    #[test]
    fn the_lines_reach_two_to_the_32_keys() {
        let clusters = ((1 << 32) + CLUSTER_KEYS / 2) / CLUSTER_KEYS;
        for clustered in [table::CLUSTERED, table_of_many::CLUSTERED] {
            assert_eq!(clusters.ilog2() as usize, clustered.len());
        }
    }

    #[test]
    fn a_cluster_has_sparse_slots_beyond_the_threshold_of_peeling() {
        for n in DENSE_ONLY + 1..=CLUSTER_KEYS * 3 {
            let layout = Layout::new(n, Runs::ONE);
            assert!((layout.clusters * layout.sparse) as f64 >= 1.24 * n as f64, "{n}");
        }
    }

    #[test]
    fn a_million_keys_need_at_most_1_285_slots_each() {
        let n = 1 << 20;
        let layout = Layout::new(n, Runs::ONE);
        let slots = layout.clusters * (layout.sparse + layout.dense);
        assert!(slots as f64 <= 1.285 * n as f64, "{slots}");
    }

    #[test]
    fn runs_of_one_result_take_a_few_slots_more_than_a_run_alone() {
        for n in (17..3000).chain([1 << 16, 1 << 20, 3 << 19, 1 << 24]) {
            let of = |runs| Layout::new(n, Runs::new(runs).unwrap());
            let (alone, many) = (of(1), of(1024));
            assert_eq!((many, many), (of(2), of(4096)));
            assert_eq!(many.clusters, alone.clusters);
            assert!(many.dense >= alone.dense && many.sparse >= alone.sparse, "{n}: {many:?}");
            assert!(many.sparse <= alone.sparse + alone.sparse / 12, "{n}: {many:?}");
        }
        assert_eq!(Layout::new(16, Runs::MAX), Layout::new(16, Runs::ONE));
    }
}
