//! The hint P, which carries the programmed values.

use super::Plan;
use super::inputs::HintSeed;
use crate::packed::{self, VALUES_PER_MESSAGE};
use rand::Rng;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use vesica_core::hash::derive_into;
use vesica_core::{Block, Error, ParameterError, Result, SessionId};
use vesica_net::{Context, Pool};
use vesica_okvs::{EncodeError, Partition, Scratch};
use vesica_simd::aes::Aes128;
use zeroize::Zeroizing;

const FILL_LABEL: &str = "vesica v1 programmable oprf fill";

/// Keys per task of a CPU thread.
const KEYS_PER_TASK: usize = 1 << 14;

/// Groups the keys of `inputs` for the hint. Takes 20 bytes per key.
pub(super) fn partition(
    pool: &Pool,
    plan: &Plan,
    session: &SessionId,
    seed: &HintSeed,
    mut inputs: Zeroizing<Vec<Block>>,
) -> Partition {
    let hash = seed.hash(session);
    pool.for_each(inputs.chunks_mut(KEYS_PER_TASK).collect(), |inputs| hash.mmo(inputs));
    Partition::new(&*plan.hint, &inputs, pool)
}

/// A thread's memory for encoding a part of the hint.
#[derive(Default)]
struct Encoder {
    scratch: Scratch,
    values: Zeroizing<Vec<Block>>,
    slots: Vec<Block>,
}

impl Encoder {
    fn encode(
        &mut self,
        plan: &Plan,
        partition: &Partition,
        masked: &[Block],
        clusters: Range<usize>,
        fill: &Aes128,
    ) -> Result<(), EncodeError> {
        let len = plan.hint.cluster_len();
        self.slots.resize(clusters.len() * len, Block::ZERO);
        for (cluster, slots) in clusters.zip(self.slots.chunks_mut(len)) {
            self.values.clear();
            let positions = partition.positions(cluster);
            self.values.extend(positions.iter().map(|position| masked[*position as usize]));
            let keys = partition.keys(cluster);
            plan.hint.encode(cluster, keys, &self.values, slots, &mut self.scratch, fill)?;
        }
        Ok(())
    }
}

/// Sends P, where key p has the value `masked[p]`.
pub(super) fn send(
    ctx: &mut Context,
    plan: &Plan,
    partition: &Partition,
    masked: &[Block],
) -> Result<()> {
    let mut secret = Zeroizing::new([0; 32]);
    ctx.rng().fill_bytes(&mut *secret);
    let mut key = [Block::ZERO];
    derive_into(FILL_LABEL, &[&*secret], Block::as_bytes_mut(&mut key));
    let fill = Aes128::new(key[0]);

    let pool = ctx.pool().clone();
    let mut encoders: Vec<Encoder> = Vec::new();
    encoders.resize_with(pool.len(), Encoder::default);
    let parts: Vec<Range<usize>> = plan.parts().collect();
    let mut message = Vec::new();
    for parts in parts.chunks(encoders.len()) {
        let outcome = Mutex::new(Ok(()));
        pool.for_each(encoders.iter_mut().zip(parts).collect(), |(encoder, part)| {
            if let Err(error) = encoder.encode(plan, partition, masked, part.clone(), &fill) {
                *outcome.lock().unwrap_or_else(PoisonError::into_inner) = Err(error);
            }
        });
        outcome.into_inner().unwrap_or_else(PoisonError::into_inner).map_err(failed)?;
        for (encoder, _) in encoders.iter().zip(parts) {
            for slots in encoder.slots.chunks(VALUES_PER_MESSAGE) {
                message.clear();
                packed::pack(slots, plan.slot_bits, &mut message);
                ctx.peer()?.send(&message)?;
            }
        }
        ctx.peer()?.flush()?;
        let done = parts.last().map_or(0, |part| part.end);
        ctx.progress(done as u64, plan.hint.cluster_count() as u64);
    }
    Ok(())
}

fn failed(error: EncodeError) -> Error {
    match error {
        EncodeError::DuplicateKey => ParameterError::DuplicateItem.into(),
        _ => Error::Bug("the encoding of a hint failed, which happens once in 2^40 runs"),
    }
}

/// Receives P, and calls `add(p, value)` with the decoded value of each key number p.
pub(super) fn receive(
    ctx: &mut Context,
    plan: &Plan,
    partition: &Partition,
    mut add: impl FnMut(usize, Block),
) -> Result<()> {
    let pool = ctx.pool().clone();
    let scratches = Mutex::new(Vec::<Scratch>::new());
    let (mut slots, mut decoded) = (Vec::new(), Zeroizing::new(Vec::new()));
    let len = plan.hint.cluster_len();
    for clusters in plan.parts() {
        slots.resize(clusters.len() * len, Block::ZERO);
        for slots in slots.chunks_mut(VALUES_PER_MESSAGE) {
            let message = ctx.peer()?.recv(packed::bytes_len(slots.len(), plan.slot_bits))?;
            packed::unpack(message, plan.slot_bits, slots);
        }
        let keys_len = clusters.clone().map(|cluster| partition.keys(cluster).len()).sum();
        decoded.clear();
        decoded.resize(keys_len, Block::ZERO);
        let mut left = &mut decoded[..];
        let mut tasks = Vec::new();
        for (cluster, slots) in clusters.clone().zip(slots.chunks(len)) {
            let keys = partition.keys(cluster);
            let (decoded, rest) = std::mem::take(&mut left).split_at_mut(keys.len());
            left = rest;
            let chunks = keys.chunks(KEYS_PER_TASK).zip(decoded.chunks_mut(KEYS_PER_TASK));
            tasks.extend(chunks.map(|(keys, decoded)| (slots, keys, decoded)));
        }
        pool.for_each(tasks, |(slots, keys, decoded)| {
            let spare = || scratches.lock().unwrap_or_else(PoisonError::into_inner);
            let mut scratch = spare().pop().unwrap_or_default();
            plan.hint.decode(keys, slots, decoded, &mut scratch);
            spare().push(scratch);
        });
        let positions = clusters.clone().flat_map(|cluster| partition.positions(cluster));
        for (position, value) in positions.zip(&*decoded) {
            add(*position as usize, *value);
        }
        ctx.progress(clusters.end as u64, plan.hint.cluster_count() as u64);
    }
    Ok(())
}
