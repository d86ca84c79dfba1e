//! What H_o is applied to.

use super::hashing::{self, Hashing};
use std::marker::PhantomData;
use std::ops::Range;
use vesica_core::tagged::Tagged;
use vesica_core::{Block, Malicious, SemiHonest, SessionId};
use vesica_net::Pool;
use vesica_okvs::Cluster;
use zeroize::Zeroize;

/// Items that one CPU thread decodes or hashes at a time.
const ITEMS_PER_TASK: usize = 1 << 14;

/// What H_o is applied to: one q for each item in some clusters, with the items' row keys and
/// positions.
///
/// Takes 36 bytes an item.
pub struct Inputs<S: Hashing> {
    session: SessionId,
    clusters: Vec<Cluster>,
    /// Cluster after cluster.
    q: Vec<Block>,
    security: PhantomData<S>,
}

impl<S: Hashing> Inputs<S> {
    /// The inputs at the items of `clusters`. `decode` gets the number of a cluster in this list,
    /// row keys of it, and zeros that it replaces by their q.
    pub(super) fn decoded(
        session: &SessionId,
        pool: &Pool,
        clusters: Vec<Cluster>,
        decode: impl Fn(usize, &[Block], &mut [Block]) + Sync + Send,
    ) -> Self {
        let len = clusters.iter().map(|cluster| cluster.keys().len()).sum();
        let mut q = Block::zeros(len);
        for_each(pool, &clusters, &mut q, decode);
        Self { session: *session, clusters, q, security: PhantomData }
    }

    /// Replaces every q by H_o of it.
    fn hash(&mut self, pool: &Pool) {
        for_each(pool, &self.clusters, &mut self.q, |_, keys, q| {
            S::outputs(&self.session, keys, q)
        });
    }
}

impl<S: Hashing> Drop for Inputs<S> {
    fn drop(&mut self) {
        self.q.zeroize();
    }
}

impl Inputs<SemiHonest> {
    /// Step 6: gives F of every item with the item's position, the low `bits` ≤ 128 bits of H_o(q).
    pub fn outputs(mut self, pool: &Pool, bits: u32, mut give: impl FnMut(Tagged)) {
        self.hash(pool);
        let mask = u128::MAX >> (128 - bits);
        for (position, _, output) in items(&self.clusters, &self.q) {
            give(Tagged::new(output.get() & mask, position));
        }
    }
}

impl Inputs<SemiHonest> {
    /// Sets the place of every item in `masks`, which follows the items' positions, to a second
    /// hash of q, of 128 bits, which cannot be computed from F.
    ///
    /// # Panics
    /// If an item has no place.
    pub fn masks(&self, pool: &Pool, masks: &mut [Block]) {
        let mut hashed = self.q.clone();
        for_each(pool, &self.clusters, &mut hashed, |_, _, q| hashing::masks(&self.session, q));
        for (position, _, mask) in items(&self.clusters, &hashed) {
            masks[position as usize] = mask;
        }
        hashed.zeroize();
    }
}

impl Inputs<Malicious> {
    /// Step 6: sets the place of every item in `outputs`, which follows the items' positions, to F
    /// of it, all 128 bits of H_o(q).
    ///
    /// # Panics
    /// If an item has no place.
    pub fn outputs(mut self, pool: &Pool, outputs: &mut [Block]) {
        self.hash(pool);
        for (position, _, output) in items(&self.clusters, &self.q) {
            outputs[position as usize] = output;
        }
    }
}

/// The inputs of H_o at the items that both parties know.
///
/// If P decodes to something else at one of them, the sender's q differs from the receiver's by a
/// nonzero multiple of Δ, and a receiver that gives the right [`proof`](Self::proof) nevertheless
/// knows Δ. The proof reveals nothing about Δ or b, as the sender can compute it from A, and
/// nothing about the receiver's other items.
pub struct Shared {
    positions: Range<usize>,
    /// (k, q) of each.
    inputs: Vec<(Block, Block)>,
}

impl Shared {
    /// Of the items at `positions`.
    pub fn new(positions: Range<usize>) -> Self {
        let inputs = vec![(Block::ZERO, Block::ZERO); positions.len()];
        Self { positions, inputs }
    }

    /// Keeps those among `inputs`.
    pub fn keep(&mut self, inputs: &Inputs<Malicious>) {
        if self.positions.is_empty() {
            return;
        }
        for (position, key, q) in items(&inputs.clusters, &inputs.q) {
            if self.positions.contains(&(position as usize)) {
                self.inputs[position as usize - self.positions.start] = (key, q);
            }
        }
    }

    /// A proof that P holds these items: a random oracle of k and q at them, in the order of their
    /// positions.
    pub fn proof(&self, session: &SessionId) -> [u8; 32] {
        hashing::shared(session, &self.inputs)
    }
}

/// Applies `f` to parts of `clusters` on all threads: the cluster's number, row keys, and the
/// items' places in `values`.
fn for_each(
    pool: &Pool,
    clusters: &[Cluster],
    mut values: &mut [Block],
    f: impl Fn(usize, &[Block], &mut [Block]) + Sync + Send,
) {
    let mut tasks = Vec::new();
    for (i, cluster) in clusters.iter().enumerate() {
        for keys in cluster.keys().chunks(ITEMS_PER_TASK) {
            let (of_keys, rest) = values.split_at_mut(keys.len());
            values = rest;
            tasks.push((i, keys, of_keys));
        }
    }
    pool.for_each(tasks, |(i, keys, values)| f(i, keys, values));
}

/// Position, row key and value of each item.
fn items<'a>(
    clusters: &'a [Cluster],
    mut values: &'a [Block],
) -> impl Iterator<Item = (u32, Block, Block)> + 'a {
    clusters.iter().flat_map(move |cluster| {
        let (of_cluster, rest) = values.split_at(cluster.keys().len());
        values = rest;
        let items = cluster.positions().iter().zip(cluster.keys()).zip(of_cluster);
        items.map(|((position, key), value)| (*position, *key, *value))
    })
}
