//! The passes over the clusters of the key-value store.

use super::hashing::{self, Hashing, Seed};
use super::plan::Plan;
use rand::Rng;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use vesica_core::tagged::Tagged;
use vesica_core::{Block, Error, Item, Result, Secret, SessionId};
use vesica_net::{Context, Pool};
use vesica_okvs::{EncodeError, Partition, Scratch};
use vesica_ot::silent::vole::Values;
use vesica_simd::aes::Aes128;
use vesica_simd::linear::LinearMap;
use vesica_simd::{gf128, xor};
use zeroize::Zeroizing;

/// Items per task of a CPU thread.
const ITEMS_PER_TASK: NonZeroUsize = NonZeroUsize::new(1 << 14).unwrap();

/// Elements of A per message.
const ELEMENTS_PER_MESSAGE: usize = 1 << 14;

/// A party's items, hashed under the receiver's seed and grouped by cluster.
pub struct Rows {
    partition: Partition,
    value_hash: Aes128,
}

impl Rows {
    /// Hashes and groups `items`. Takes 20 bytes per item.
    pub fn new<S: Hashing>(
        pool: &Pool,
        plan: &Plan,
        session: &SessionId,
        seed: &Seed,
        items: &[Item],
    ) -> Self {
        let mut keys = vec![Block::ZERO; items.len()];
        pool.zip_chunks(items, &mut keys, ITEMS_PER_TASK, |items, keys| {
            S::rows(session, seed, items, keys);
        });
        let partition = Partition::new(&*plan.okvs, &keys, pool);
        Self { partition, value_hash: seed.value_hash(session) }
    }

    /// Sets `values` to H_B of the row keys `keys`, in the lowest `bits` bits.
    fn values(&self, keys: &[Block], bits: u32, values: &mut Vec<Block>) {
        values.clear();
        values.extend_from_slice(keys);
        self.value_hash.mmo(values);
        if bits < 128 {
            let mask = Block::new(u128::MAX >> (128 - bits));
            values.iter_mut().for_each(|value| *value = *value & mask);
        }
    }
}

/// The inputs of H_o, one per item, by cluster, with the items' positions.
pub struct Inputs {
    rows: Rows,
    q: Vec<Tagged>,
}

impl Inputs {
    /// F of every item with its position, `bits` bits each: the lowest bits of H_o(q ⊕ w).
    ///
    /// w is zero for [`vesica_core::SemiHonest`] security, and both parties' joint coin for [`vesica_core::Malicious`].
    pub fn outputs<S: Hashing>(
        self,
        pool: &Pool,
        session: &SessionId,
        w: Block,
        bits: u32,
    ) -> Vec<Tagged> {
        let Inputs { rows, mut q } = self;
        let mask = u128::MAX >> (128 - bits);
        pool.zip_chunks(rows.partition.all_keys(), &mut q, ITEMS_PER_TASK, |keys, q| {
            let mut tags: Vec<Block> = q.iter().map(|q| Block::new(q.tag()) ^ w).collect();
            S::outputs(session, keys, &mut tags);
            for (q, tag) in q.iter_mut().zip(tags) {
                *q = Tagged::new(tag.get() & mask, q.position());
            }
        });
        q
    }
}

impl Inputs {
    /// A proof for every item, by position, that its owner could evaluate F there: a random oracle of the item and of
    /// the same input q ⊕ w as [`outputs`](Inputs::outputs).
    pub fn proofs(&self, pool: &Pool, session: &SessionId, w: Block) -> Vec<Block> {
        let mut proofs: Vec<Block> = self.q.iter().map(|q| Block::new(q.tag()) ^ w).collect();
        let keys = self.rows.partition.all_keys();
        pool.zip_chunks(keys, &mut proofs, ITEMS_PER_TASK, |keys, proofs| {
            hashing::proofs(session, keys, proofs);
        });
        let mut by_position = vec![Block::ZERO; proofs.len()];
        for (q, proof) in self.q.iter().zip(proofs) {
            by_position[q.position() as usize] = proof;
        }
        by_position
    }
}

impl Inputs {
    /// A proof that P holds the items at the positions `shared`, which both parties know: a random oracle of q at these
    /// items in order of their positions, before any coin w.
    ///
    /// If P decodes to something else at one of them, the sender's q differs from the receiver's by a nonzero multiple
    /// of Δ, so a party that still gives the proof knows Δ. The proof reveals nothing about Δ or b, as the sender can
    /// compute it from A, and nothing about the receiver's other items.
    pub fn proof_of_shared(&self, session: &SessionId, shared: &Range<usize>) -> [u8; 32] {
        let mut inputs = vec![(Block::ZERO, Block::ZERO); shared.len()];
        for (key, q) in self.rows.partition.all_keys().iter().zip(&self.q) {
            let position = q.position() as usize;
            if shared.contains(&position) {
                inputs[position - shared.start] = (*key, Block::new(q.tag()));
            }
        }
        hashing::shared(session, &inputs)
    }
}

/// The receiver's pass: for every cluster, encodes P, sends A = P + a, and decodes c at its items.
///
/// `correlations` supplies the next a and c of the VOLE.
///
/// # Errors
/// Transport errors; errors of `correlations`; [`Error::Bug`] if a cluster cannot be encoded, which has probability
/// 2^-40 for an honest set.
pub fn mask(
    ctx: &mut Context,
    plan: &Plan,
    rows: Rows,
    mut correlations: impl FnMut(&Pool, &mut [Block], &mut [Block]) -> Result<()>,
) -> Result<Inputs> {
    let mut secret = [0; 32];
    ctx.rng().fill_bytes(&mut secret);
    let fill = hashing::fill(&secret);
    let cluster_len = plan.okvs.cluster_len();
    let lower = Linear::lower(plan);
    let spare = Spare::default();
    let mut q = Vec::with_capacity(rows.partition.len());
    let decoder = Decoder { plan, rows: &rows, times_delta: None, spare: &spare };
    for clusters in batches(ctx.pool(), plan) {
        let tasks: Vec<usize> = clusters.clone().collect();
        let encoded =
            ctx.map(&tasks, NonZeroUsize::MIN, |task| encode(plan, &rows, task[0], &fill, &spare));
        if clusters.end == plan.okvs.cluster_count() {
            spare.release();
        }
        // Not kept for the next clusters, where it would add to the memory of their encoding.
        let mut a = Block::zeros(cluster_len * clusters.len());
        let mut c = Block::zeros(a.len());
        correlations(ctx.pool(), &mut a, &mut c)?;
        for (a, p) in a.chunks(cluster_len).zip(encoded) {
            let mut masked = p?;
            lower.add_to(&mut masked, a);
            send_elements(ctx, plan, &masked)?;
        }
        decoder.decode(ctx.pool(), clusters.clone(), &c, &mut q);
        ctx.progress(clusters.end as u64, plan.okvs.cluster_count() as u64);
    }
    Ok(Inputs { rows, q })
}

/// The sender's pass: for every cluster, receives A, computes K = b + AΔ, and decodes it at its items.
///
/// `correlations` supplies the next b of the VOLE.
///
/// # Errors
/// Transport errors, and errors of `correlations`.
pub fn unmask(
    ctx: &mut Context,
    plan: &Plan,
    rows: Rows,
    delta: Secret<Block>,
    mut correlations: impl FnMut(&Pool, &mut [Block]) -> Result<()>,
) -> Result<Inputs> {
    let cluster_len = plan.okvs.cluster_len();
    let times_delta = Linear::lift_times(plan, delta);
    let (mut k, mut a) = (Vec::new(), Vec::new());
    let spare = Spare::default();
    let mut q = Vec::with_capacity(rows.partition.len());
    let decoder = Decoder { plan, rows: &rows, times_delta: Some(&times_delta), spare: &spare };
    for clusters in batches(ctx.pool(), plan) {
        k.resize(cluster_len * clusters.len(), Block::ZERO);
        correlations(ctx.pool(), &mut k)?;
        let messages = k.chunks_mut(cluster_len).flat_map(|k| k.chunks_mut(ELEMENTS_PER_MESSAGE));
        for k in messages {
            recv_elements(ctx, plan, k.len(), &mut a)?;
            times_delta.add_to(k, &a);
        }
        decoder.decode(ctx.pool(), clusters.clone(), &k, &mut q);
        ctx.progress(clusters.end as u64, plan.okvs.cluster_count() as u64);
    }
    Ok(Inputs { rows, q })
}

/// A linear operation on many elements.
enum Linear {
    /// The identity.
    Identity,
    /// Multiplication in GF(2^128).
    Times(Secret<Block>),
    /// A GF(2)-linear map from or to the values' coordinates.
    Map(Box<LinearMap>),
}

impl Linear {
    /// From an element of B to its encoding.
    fn lower(plan: &Plan) -> Self {
        match plan.values {
            Values::Full => Linear::Identity,
            values => Self::map(|units| values.lower(units)),
        }
    }

    /// From the encoding to the element of B, times Δ.
    fn lift_times(plan: &Plan, delta: Secret<Block>) -> Self {
        match plan.values {
            Values::Full => Linear::Times(delta),
            values => Self::map(|units| {
                units[plan.value_bits as usize..].fill(Block::ZERO);
                values.lift(units);
                gf128::scale(units, *delta.expose());
            }),
        }
    }

    /// The linear map that agrees with `f` on the unit vectors.
    fn map(f: impl Fn(&mut [Block])) -> Self {
        let mut images: Zeroizing<[Block; 128]> =
            Zeroizing::new(std::array::from_fn(|i| Block::new(1 << i)));
        f(&mut *images);
        Linear::Map(Box::new(LinearMap::new(&images)))
    }

    fn add_to(&self, acc: &mut [Block], xs: &[Block]) {
        match self {
            Linear::Identity => xor::xor(acc, xs),
            Linear::Times(factor) => gf128::add_scaled(acc, xs, *factor.expose()),
            Linear::Map(map) => map.add_to(acc, xs),
        }
    }
}

/// The clusters in order, one batch at a time with one cluster per CPU thread.
fn batches(pool: &Pool, plan: &Plan) -> impl Iterator<Item = Range<usize>> + use<> {
    let (step, count) = (pool.len(), plan.okvs.cluster_count());
    (0..count).step_by(step).map(move |first| first..count.min(first + step))
}

fn encode(
    plan: &Plan,
    rows: &Rows,
    cluster: usize,
    fill: &Aes128,
    spare: &Spare,
) -> Result<Vec<Block>> {
    let keys = rows.partition.keys(cluster);
    let mut working = spare.take();
    let Working { store, values, .. } = &mut working;
    rows.values(keys, plan.value_bits, values);
    let mut slots = vec![Block::ZERO; plan.okvs.cluster_len()];
    let encoded = plan.okvs.encode(cluster, keys, values, &mut slots, store, fill);
    spare.put(working);
    match encoded {
        Ok(()) => Ok(slots),
        Err(EncodeError::DuplicateKey) => Err(Error::Bug("a set holds an item twice")),
        Err(_) => Err(Error::Bug("the encoding of a set failed, which happens once in 2^40 runs")),
    }
}

/// The common data for decoding all clusters.
struct Decoder<'a> {
    plan: &'a Plan,
    rows: &'a Rows,
    /// Multiplies by Δ, if Δ·H_B(x) is to be subtracted.
    times_delta: Option<&'a Linear>,
    spare: &'a Spare,
}

impl Decoder<'_> {
    /// Adds Decode(slots, x) to `q` for each item in the clusters, minus Δ·H_B(x) if `times_delta` is set. Clusters
    /// must come in order.
    fn decode(&self, pool: &Pool, clusters: Range<usize>, slots: &[Block], q: &mut Vec<Tagged>) {
        let partition = &self.rows.partition;
        let first = q.len();
        // Not earlier: memory that has not been written does not count.
        q.resize(partition.range(clusters.end - 1).end, Tagged::default());
        let mut q = &mut q[first..];
        let mut tasks = Vec::new();
        for (cluster, slots) in clusters.zip(slots.chunks(self.plan.okvs.cluster_len())) {
            let (of_cluster, rest) = q.split_at_mut(partition.range(cluster).len());
            q = rest;
            let keys = partition.keys(cluster).chunks(ITEMS_PER_TASK.get());
            let positions = partition.positions(cluster).chunks(ITEMS_PER_TASK.get());
            let of_cluster = of_cluster.chunks_mut(ITEMS_PER_TASK.get());
            tasks.extend(keys.zip(positions).zip(of_cluster).map(|task| (slots, task)));
        }
        pool.for_each(tasks, |(slots, ((keys, positions), q))| {
            let mut working = self.spare.take();
            let Working { store, values, out } = &mut working;
            out.resize(keys.len(), Block::ZERO);
            self.plan.okvs.decode(keys, slots, out, store);
            if let Some(times_delta) = self.times_delta {
                self.rows.values(keys, self.plan.value_bits, values);
                times_delta.add_to(out, values);
            }
            for (q, (out, position)) in q.iter_mut().zip(out.iter().zip(positions)) {
                *q = Tagged::new(out.get(), *position);
            }
            self.spare.put(working);
        });
    }
}

/// The working memory of the stores, one per active thread, kept from cluster to cluster.
#[derive(Default)]
struct Spare(Mutex<Vec<Working>>);

#[derive(Default)]
struct Working {
    store: Scratch,
    values: Vec<Block>,
    out: Vec<Block>,
}

impl Spare {
    fn take(&self) -> Working {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Frees the memory of encoding; decoding needs little.
    fn release(&self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter_mut().for_each(|working| working.store.release());
    }

    fn put(&self, scratch: Working) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
    }
}

fn send_elements(ctx: &mut Context, plan: &Plan, elements: &[Block]) -> Result<()> {
    let len = plan.value_bytes();
    let mut message = Vec::new();
    for elements in elements.chunks(ELEMENTS_PER_MESSAGE) {
        if len == Block::LEN {
            ctx.peer()?.send(Block::as_bytes(elements))?;
            continue;
        }
        message.clear();
        for element in elements {
            message.extend_from_slice(&element.to_le_bytes()[..len]);
        }
        ctx.peer()?.send(&message)?;
    }
    ctx.peer()?.flush()
}

fn recv_elements(
    ctx: &mut Context,
    plan: &Plan,
    count: usize,
    elements: &mut Vec<Block>,
) -> Result<()> {
    let len = plan.value_bytes();
    elements.resize(count, Block::ZERO);
    if len == Block::LEN {
        return ctx.peer()?.recv_into(Block::as_bytes_mut(elements));
    }
    let message = ctx.peer()?.recv(count * len)?;
    for (element, bytes) in elements.iter_mut().zip(message.chunks_exact(len)) {
        let mut block = [0; Block::LEN];
        block[..len].copy_from_slice(bytes);
        *element = Block::from_le_bytes(block);
    }
    Ok(())
}
