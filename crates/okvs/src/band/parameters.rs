use super::table::{CLUSTER_KEYS, CLUSTERED, DENSE, SINGLE};
use crate::okvs::scaled;
use vesica_core::Block;
use vesica_simd::band::WIDTH;

/// Slots of a cluster as a line over its average number of keys.
#[derive(Clone, Copy)]
pub(super) struct Line {
    /// In units of 2^-24.
    pub(super) slope: u32,
    pub(super) offset: u32,
}

/// How the slots of an encoding of n keys are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) clusters: usize,
    pub(super) slots: usize,
}

impl Layout {
    pub(super) fn new(n: usize) -> Self {
        if n == 0 {
            return Self { clusters: 1, slots: 0 };
        }
        if n + DENSE <= WIDTH {
            return Self { clusters: 1, slots: n + DENSE };
        }
        if let Some((_, line)) = SINGLE.iter().find(|(greatest, _)| n <= *greatest) {
            return Self::on(line, n, 1);
        }
        let clusters = n.saturating_add(CLUSTER_KEYS / 2) / CLUSTER_KEYS;
        let octave = (clusters.ilog2() as usize - 1).min(CLUSTERED.len() - 1);
        Self::on(&CLUSTERED[octave], n, clusters)
    }

    fn on(line: &Line, n: usize, clusters: usize) -> Self {
        let scaled = (n as u128 * u128::from(line.slope)).div_ceil((clusters as u128) << 24);
        Self { clusters, slots: scaled as usize + line.offset as usize }
    }

    /// How many slots a band can start at.
    pub(super) fn starts(&self) -> usize {
        self.slots.saturating_sub(WIDTH) + 1
    }

    /// The cluster of `key` and the slot in it at which its band starts; ascending in `key`.
    #[inline(always)]
    pub(super) fn place(&self, key: Block) -> (usize, u32) {
        let (cluster, fraction) = scaled(key, self.clusters);
        (cluster, ((u128::from(fraction) * self.starts() as u128) >> 64) as u32)
    }
}
