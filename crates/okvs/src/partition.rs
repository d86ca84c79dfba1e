use crate::Okvs;
use crate::okvs::scaled;
use rayon::prelude::*;
use vesica_core::Block;
use vesica_net::Pool;

/// The keys of a set, grouped by the cluster they belong to.
///
/// Takes 20 bytes a key.
pub struct Partition {
    keys: Vec<Block>,
    positions: Vec<u32>,
    /// Where each cluster starts, and the end of the last one.
    starts: Vec<usize>,
}

/// The most keys a [`Partition`] takes: positions have 32 bits.
const MAX_KEYS: usize = u32::MAX as usize;

impl Partition {
    /// Groups `keys`, in one pass that counts and one that moves, on all threads of `pool`.
    ///
    /// Inside a cluster keys are in groups of ascending order where the encoding is faster so, and
    /// in the order of the list inside a group.
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
        // Each chunk has a part of each group for itself.
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

    /// How many keys there are in all.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// How many clusters there are.
    pub fn cluster_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The keys of cluster `cluster`.
    ///
    /// # Panics
    /// If there is no such cluster.
    pub fn keys(&self, cluster: usize) -> &[Block] {
        &self.keys[self.range(cluster)]
    }

    /// Where each of [`keys`](Partition::keys) was in the list that was grouped.
    ///
    /// # Panics
    /// If there is no such cluster.
    pub fn positions(&self, cluster: usize) -> &[u32] {
        &self.positions[self.range(cluster)]
    }

    /// Which of [`all_keys`](Partition::all_keys) are those of `cluster`.
    ///
    /// # Panics
    /// If there is no such cluster.
    pub fn range(&self, cluster: usize) -> std::ops::Range<usize> {
        self.starts[cluster]..self.starts[cluster + 1]
    }

    /// All keys, cluster after cluster.
    pub fn all_keys(&self) -> &[Block] {
        &self.keys
    }

    /// Where each of [`all_keys`](Partition::all_keys) was in the list that was grouped.
    pub fn all_positions(&self) -> &[u32] {
        &self.positions
    }
}

/// What one chunk contributes to one group.
struct Part<'a> {
    keys: &'a mut [Block],
    positions: &'a mut [u32],
    filled: usize,
}
