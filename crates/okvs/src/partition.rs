use crate::Okvs;
use crate::okvs::scaled;
use rayon::prelude::*;
use vesica_core::Block;
use vesica_net::Pool;

/// The keys of a set, grouped by cluster.
///
/// Takes 20 bytes per key.
pub struct Partition {
    keys: Vec<Block>,
    positions: Vec<u32>,
    /// The start of each cluster, and the end of the last one.
    starts: Vec<usize>,
}

/// Maximum number of keys: positions have 32 bits.
const MAX_KEYS: usize = u32::MAX as usize;

impl Partition {
    /// Groups `keys` on all threads of `pool`. One pass over the keys counts them, another moves them.
    ///
    /// If the encoding is faster that way, the keys of a cluster form groups in ascending order. Within a group they
    /// keep the order of the list.
    ///
    /// # Panics
    /// If there are more than 2^32 - 1 keys.
    pub fn new(okvs: &(impl Okvs + ?Sized), keys: &[Block], pool: &Pool) -> Self {
        assert!(keys.len() <= MAX_KEYS, "positions have 32 bits");
        let groups = okvs.group_count();
        let in_cluster = groups / okvs.cluster_count();
        let chunk_len = keys.len().div_ceil(pool.len()).max(1);
        let counts: Vec<Vec<usize>> = pool.run(|| {
            keys.par_chunks(chunk_len)
                .map(|chunk| {
                    let mut counts = vec![0; groups];
                    chunk.iter().for_each(|key| counts[scaled(*key, groups).0] += 1);
                    counts
                })
                .collect()
        });

        let mut grouped = vec![Block::ZERO; keys.len()];
        let mut positions = vec![0; keys.len()];
        let mut starts = Vec::with_capacity(okvs.cluster_count() + 1);
        // Each chunk owns a part of each group.
        let mut parts: Vec<Vec<Part<'_>>> =
            counts.iter().map(|_| Vec::with_capacity(groups)).collect();
        let (mut free_keys, mut free_positions) = (&mut grouped[..], &mut positions[..]);
        let mut start = 0;
        for group in 0..groups {
            if group % in_cluster == 0 {
                starts.push(start);
            }
            for (counts, parts) in counts.iter().zip(&mut parts) {
                let count = counts[group];
                start += count;
                let (keys, rest) = free_keys.split_at_mut(count);
                free_keys = rest;
                let (positions, rest) = free_positions.split_at_mut(count);
                free_positions = rest;
                parts.push(Part { keys, positions, filled: 0 });
            }
        }
        starts.push(start);

        pool.run(|| {
            keys.par_chunks(chunk_len).zip(parts).enumerate().for_each(
                |(i, (chunk, mut parts))| {
                    let first = i * chunk_len;
                    for (position, key) in (first..).zip(chunk) {
                        let part = &mut parts[scaled(*key, groups).0];
                        part.keys[part.filled] = *key;
                        part.positions[part.filled] = position as u32;
                        part.filled += 1;
                    }
                },
            );
        });
        Self { keys: grouped, positions, starts }
    }

    /// Total number of keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Number of clusters.
    pub fn cluster_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The keys of cluster `cluster`.
    ///
    /// # Panics
    /// If `cluster` is out of range.
    pub fn keys(&self, cluster: usize) -> &[Block] {
        &self.keys[self.range(cluster)]
    }

    /// The original positions of [`keys`](Partition::keys) in the list.
    ///
    /// # Panics
    /// If `cluster` is out of range.
    pub fn positions(&self, cluster: usize) -> &[u32] {
        &self.positions[self.range(cluster)]
    }

    /// The range of the keys of `cluster` within [`all_keys`](Partition::all_keys).
    ///
    /// # Panics
    /// If `cluster` is out of range.
    pub fn range(&self, cluster: usize) -> std::ops::Range<usize> {
        self.starts[cluster]..self.starts[cluster + 1]
    }

    /// All keys, cluster after cluster.
    pub fn all_keys(&self) -> &[Block] {
        &self.keys
    }

    /// The original positions of [`all_keys`](Partition::all_keys) in the list.
    pub fn all_positions(&self) -> &[u32] {
        &self.positions
    }
}

/// The keys of one chunk that belong to one group.
struct Part<'a> {
    keys: &'a mut [Block],
    positions: &'a mut [u32],
    filled: usize,
}
