//! The passes over the clusters of the key-value store.

use super::hashing::{self, Hashing};
use super::inputs::Inputs;
use super::plan::Plan;
use super::rows::Rows;
use rand::Rng;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use vesica_core::{Block, Error, Result, Secret};
use vesica_net::{Context, Pool};
use vesica_okvs::{EncodeError, Scratch};
use vesica_ot::silent::vole::{ReceiverStream, SenderStream, Values};
use vesica_simd::aes::Aes128;
use vesica_simd::linear::LinearMap;
use vesica_simd::{gf128, xor};
use zeroize::Zeroizing;

/// Elements of A per message.
const ELEMENTS_PER_MESSAGE: usize = 1 << 14;

/// Slots of a batch up to which memory is kept for the next one. Of more, it would add to the peak
/// while that is encoded.
const SLOTS_KEPT: usize = 1 << 18;

/// The receiver's pass: for every cluster encodes P, sends A = P + a, and gives q = Decode(c, x) at
/// its items.
pub(super) fn mask<S: Hashing>(
    ctx: &mut Context,
    plan: &Plan,
    mut rows: Rows<S>,
    mut ac: ReceiverStream,
    mut evaluate: impl FnMut(&Pool, Inputs<S>),
) -> Result<()> {
    let mut secret = [0; 32];
    ctx.rng().fill_bytes(&mut secret);
    let fill = hashing::fill(&secret);
    let cluster_len = plan.okvs.cluster_len();
    let lower = Linear::lower(plan);
    let spare = Spare::default();
    let decoder = Decoder { plan, times_delta: None, spare: &spare };
    let (mut a, mut c) = (Vec::new(), Vec::new());
    for clusters in batches(ctx.pool(), plan) {
        let tasks: Vec<usize> = clusters.clone().collect();
        let encoded =
            ctx.map(&tasks, NonZeroUsize::MIN, |task| encode(plan, &rows, task[0], &fill, &spare));
        if clusters.end == plan.okvs.cluster_count() {
            spare.release();
        }
        let slots = cluster_len * clusters.len();
        a.resize(slots, Block::ZERO);
        c.resize(slots, Block::ZERO);
        ac.fill(ctx.pool(), &mut a, &mut c)?;
        for (a, p) in a.chunks(cluster_len).zip(encoded) {
            let mut masked = p?;
            lower.add_to(&mut masked, a);
            send_elements(ctx, plan, &masked)?;
            if slots <= SLOTS_KEPT {
                spare.put_slots(masked);
            }
        }
        let inputs = decoder.decode(ctx.pool(), &mut rows, clusters.clone(), &c);
        evaluate(ctx.pool(), inputs);
        if slots > SLOTS_KEPT {
            (a, c) = (Vec::new(), Vec::new());
        }
        ctx.progress(clusters.end as u64, plan.okvs.cluster_count() as u64);
    }
    Ok(())
}

/// The sender's pass: for every cluster receives A, computes K = b + AΔ, and gives q = Decode(K, y)
/// − Δ·H_B(y, r) at its items.
pub(super) fn unmask<S: Hashing>(
    ctx: &mut Context,
    plan: &Plan,
    mut rows: Rows<S>,
    delta: Secret<Block>,
    mut b: SenderStream,
    mut evaluate: impl FnMut(&Pool, Inputs<S>),
) -> Result<()> {
    let cluster_len = plan.okvs.cluster_len();
    let times_delta = Linear::lift_times(plan, delta);
    let (mut k, mut a) = (Vec::new(), Vec::new());
    let spare = Spare::default();
    let decoder = Decoder { plan, times_delta: Some(&times_delta), spare: &spare };
    for clusters in batches(ctx.pool(), plan) {
        k.resize(cluster_len * clusters.len(), Block::ZERO);
        b.fill(ctx.pool(), &mut k)?;
        let messages = k.chunks_mut(cluster_len).flat_map(|k| k.chunks_mut(ELEMENTS_PER_MESSAGE));
        for k in messages {
            recv_elements(ctx, plan, k.len(), &mut a)?;
            times_delta.add_to(k, &a);
        }
        let inputs = decoder.decode(ctx.pool(), &mut rows, clusters.clone(), &k);
        evaluate(ctx.pool(), inputs);
        ctx.progress(clusters.end as u64, plan.okvs.cluster_count() as u64);
    }
    Ok(())
}

/// A linear map of many elements.
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

/// The clusters in order, as many at a time as there are CPU threads.
fn batches(pool: &Pool, plan: &Plan) -> impl Iterator<Item = Range<usize>> + use<> {
    let (step, count) = (pool.len(), plan.okvs.cluster_count());
    (0..count).step_by(step).map(move |first| first..count.min(first + step))
}

fn encode<S: Hashing>(
    plan: &Plan,
    rows: &Rows<S>,
    cluster: usize,
    fill: &Aes128,
    spare: &Spare,
) -> Result<Vec<Block>> {
    let keys = rows.partition.keys(cluster);
    let mut working = spare.take();
    let Working { store, values } = &mut working;
    rows.values(keys, plan.value_bits, values);
    let mut slots = spare.take_slots();
    slots.resize(plan.okvs.cluster_len(), Block::ZERO);
    let encoded = plan.okvs.encode(cluster, keys, values, &mut slots, store, fill);
    spare.put(working);
    match encoded {
        Ok(()) => Ok(slots),
        Err(EncodeError::DuplicateKey) => Err(Error::Bug("a set holds an item twice")),
        Err(_) => Err(Error::Bug("the encoding of a set failed, which happens once in 2^40 runs")),
    }
}

/// What the decoding of all clusters shares.
struct Decoder<'a> {
    plan: &'a Plan,
    /// Multiplies by Δ, if Δ·H_B(x) is to be subtracted.
    times_delta: Option<&'a Linear>,
    spare: &'a Spare,
}

impl Decoder<'_> {
    /// Takes the clusters out of `rows`, and gives Decode(slots, x) at their items, minus Δ·H_B(x)
    /// if `times_delta` is set.
    fn decode<S: Hashing>(
        &self,
        pool: &Pool,
        rows: &mut Rows<S>,
        clusters: Range<usize>,
        slots: &[Block],
    ) -> Inputs<S> {
        let taken = clusters.map(|cluster| rows.partition.take(cluster)).collect();
        let (rows, cluster_len) = (&*rows, self.plan.okvs.cluster_len());
        Inputs::decoded(&rows.session, pool, taken, |i, keys, q| {
            let mut working = self.spare.take();
            let Working { store, values } = &mut working;
            let slots = &slots[i * cluster_len..][..cluster_len];
            self.plan.okvs.decode(keys, slots, q, store);
            if let Some(times_delta) = self.times_delta {
                rows.values(keys, self.plan.value_bits, values);
                times_delta.add_to(q, values);
            }
            self.spare.put(working);
        })
    }
}

/// The stores' working memory, one for each active thread, and slots, all reused from cluster to
/// cluster.
#[derive(Default)]
struct Spare {
    working: Mutex<Vec<Working>>,
    slots: Mutex<Vec<Vec<Block>>>,
}

#[derive(Default)]
struct Working {
    store: Scratch,
    values: Vec<Block>,
}

impl Spare {
    fn take(&self) -> Working {
        locked(&self.working).pop().unwrap_or_default()
    }

    fn put(&self, working: Working) {
        locked(&self.working).push(working);
    }

    fn take_slots(&self) -> Vec<Block> {
        locked(&self.slots).pop().unwrap_or_default()
    }

    fn put_slots(&self, slots: Vec<Block>) {
        locked(&self.slots).push(slots);
    }

    /// Frees the memory that encoding used; decoding needs little.
    fn release(&self) {
        locked(&self.working).iter_mut().for_each(|working| working.store.release());
    }
}

fn locked<T>(all: &Mutex<T>) -> MutexGuard<'_, T> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
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
