use crate::Okvs;
use crate::clusters::scaled;
use std::num::NonZeroUsize;
use std::ops::Range;
use vesica_core::Block;
use vesica_net::Pool;
use vesica_simd::prefetch::prefetch;

/// Maximum number of keys: positions have 32 bits.
const MAX_KEYS: usize = u32::MAX as usize;

/// Keys that a thread makes before it groups them; they stay in the first-level cache.
const KEYS_AT_ONCE: usize = 1 << 10;

/// Distance in keys at which a cluster's memory is prefetched, so that cache misses overlap.
const AHEAD: usize = 8;

/// The keys of a set, grouped by cluster.
///
/// Takes 20 bytes per key, and spare room for some keys in each cluster.
pub struct Partition {
    clusters: Vec<Cluster>,
    len: usize,
}

/// The keys of one cluster, and their positions in the list, in the same order.
#[derive(Default)]
pub struct Cluster {
    keys: Vec<Block>,
    positions: Vec<u32>,
}

impl Cluster {
    /// Room for one of `clusters` parts of `len` uniform keys: four standard deviations above the
    /// mean, so few have to grow.
    fn of(len: usize, clusters: usize) -> Self {
        let mean = len / clusters;
        let room = len.min(mean + 4 * mean.isqrt() + 4);
        Self { keys: Vec::with_capacity(room), positions: Vec::with_capacity(room) }
    }

    /// The keys.
    pub fn keys(&self) -> &[Block] {
        &self.keys
    }

    /// The original positions of the [`keys`](Self::keys) in the list.
    pub fn positions(&self) -> &[u32] {
        &self.positions
    }

    fn append(&mut self, other: &Cluster) {
        self.keys.extend_from_slice(&other.keys);
        self.positions.extend_from_slice(&other.positions);
    }

    /// The contents of `parts`, one after the other.
    fn joined(mut parts: Vec<Cluster>) -> Self {
        if parts.len() == 1 {
            return parts.pop().unwrap_or_default();
        }
        let len = parts.iter().map(|part| part.keys.len()).sum();
        let mut whole = Self { keys: Vec::with_capacity(len), positions: Vec::with_capacity(len) };
        parts.into_iter().for_each(|part| whole.append(&part));
        whole
    }
}

impl Partition {
    /// Groups `keys` on all threads of `pool`.
    ///
    /// If the encoding is faster that way, the keys of a cluster form groups in ascending order.
    /// Within a group they keep the order of the list.
    ///
    /// # Panics
    /// If there are more than 2^32 - 1 keys.
    pub fn new(okvs: &(impl Okvs + ?Sized), keys: &[Block], pool: &Pool) -> Self {
        Self::made(okvs, keys.len(), pool, |range, out| out.copy_from_slice(&keys[range]))
    }

    /// [`new`](Self::new) for `len` keys, of which `make(i..j, out)` gives the i-th to the (j −
    /// 1)-th. They go to their clusters as they are made.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn made(
        okvs: &(impl Okvs + ?Sized),
        len: usize,
        pool: &Pool,
        make: impl Fn(Range<usize>, &mut [Block]) + Sync,
    ) -> Self {
        assert!(len <= MAX_KEYS, "positions have 32 bits");
        let (groups, clusters) = (okvs.group_count(), okvs.cluster_count());
        let chunk_len = len.div_ceil(pool.len()).max(1);
        let firsts: Vec<usize> = (0..len).step_by(chunk_len).collect();
        let parts = pool.map_chunks(&firsts, NonZeroUsize::MIN, |first| {
            let end = len.min(first[0] + chunk_len);
            grouped(first[0]..end, groups, &make)
        });
        // By cluster: its groups, each from all threads.
        let mut of_clusters: Vec<Vec<Cluster>> = (0..clusters).map(|_| Vec::new()).collect();
        let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
        for group in 0..groups {
            let of_cluster = &mut of_clusters[group / (groups / clusters)];
            of_cluster.extend(parts.iter_mut().filter_map(Iterator::next));
        }
        let mut joined: Vec<Cluster> = (0..clusters).map(|_| Cluster::default()).collect();
        let tasks = joined.iter_mut().zip(of_clusters).collect();
        pool.for_each(tasks, |(joined, parts)| *joined = Cluster::joined(parts));
        Self { clusters: joined, len }
    }

    /// Total number of keys, also of those [taken](Self::take).
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of clusters.
    pub fn cluster_count(&self) -> usize {
        self.clusters.len()
    }

    /// The keys of cluster `cluster`.
    ///
    /// # Panics
    /// If `cluster` is out of range.
    pub fn keys(&self, cluster: usize) -> &[Block] {
        self.clusters[cluster].keys()
    }

    /// The original positions of [`keys`](Partition::keys) in the list.
    ///
    /// # Panics
    /// If `cluster` is out of range.
    pub fn positions(&self, cluster: usize) -> &[u32] {
        self.clusters[cluster].positions()
    }

    /// Takes a cluster out, so that its memory is free when it is dropped, and leaves an empty one
    /// here.
    ///
    /// # Panics
    /// If `cluster` is out of range.
    pub fn take(&mut self, cluster: usize) -> Cluster {
        std::mem::take(&mut self.clusters[cluster])
    }
}

/// The keys of `range`, by group.
fn grouped(
    range: Range<usize>,
    groups: usize,
    make: &impl Fn(Range<usize>, &mut [Block]),
) -> Vec<Cluster> {
    let mut parts: Vec<Cluster> = (0..groups).map(|_| Cluster::of(range.len(), groups)).collect();
    let mut made = Block::zeros(KEYS_AT_ONCE.min(range.len()));
    for first in range.clone().step_by(KEYS_AT_ONCE) {
        let keys = first..range.end.min(first + KEYS_AT_ONCE);
        let made = &mut made[..keys.len()];
        make(keys.clone(), made);
        for (position, key) in keys.zip(made) {
            let part = &mut parts[scaled(*key, groups).0];
            // There are more clusters than the processor follows by itself.
            prefetch(part.keys.spare_capacity_mut(), AHEAD);
            prefetch(part.positions.spare_capacity_mut(), 4 * AHEAD);
            part.keys.push(*key);
            part.positions.push(position as u32);
        }
    }
    parts
}
