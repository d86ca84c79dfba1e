use super::answer_tags;
use super::hashing::{Hashing, truncated};
use super::plan::{Mode, Plan, SEED_LEN, first_transfer, is_trivial, message_len};
use super::transfers::Keys;
use crate::party::check_set_len;
use crate::{Output, Party};
use rand::Rng;
use std::sync::Arc;
use vesica_core::tagged::Tagged;
use vesica_core::{Block, Item, Learns, ParameterError, PsiParams, Result};
use vesica_net::Context;
use vesica_okvs::bloom::{GarbledBloom, Indices, NoFreeSlot, Share};
use vesica_ot::adapters::random::Hash;
use vesica_simd::aes::Aes128;
use zeroize::Zeroizing;

/// Garbles its set; learns n_y, or with [`Learns::Both`] which of its items the receiver has.
pub struct Sender {
    mode: Mode,
    params: PsiParams,
    x: Arc<Vec<Item>>,
}

impl Sender {
    /// The sender of the set `x`, which must hold no item twice.
    ///
    /// # Errors
    /// [`ParameterError::SetLenMismatch`].
    pub fn new(mode: Mode, params: PsiParams, x: Arc<Vec<Item>>) -> Result<Self> {
        check_set_len(params.sender_len(), x.len())?;
        Ok(Self { mode, params, x })
    }
}

impl Party for Sender {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Sender { mode, params, x } = *self;
        let session = params.session();
        if is_trivial(&params) {
            return Ok(match params.learns() {
                Learns::Receiver => Output::Nothing,
                Learns::Both => Output::Positions(Vec::new()),
            });
        }
        let plan = Plan::new(mode, &params);

        let mut keys = ctx.child("setup", |ctx| Keys::setup(ctx, session, mode))?;
        let mut seed = [0; SEED_LEN];
        ctx.peer()?.recv_into(&mut seed)?;
        ctx.child("transfers", |ctx| keys.extend(ctx, plan.shape.len()))?;
        let hashing = Hashing::new(&plan, session, &seed);
        ctx.child("filter", |ctx| {
            let send = if plan.is_narrow() { send_filter::<u64> } else { send_filter::<u128> };
            send(ctx, &plan, &hashing, &mut keys, &x)
        })?;
        drop(keys);
        answer_tags::take(ctx, &params, &hashing, &x)
    }
}

/// What garbles a block besides its items.
struct Garbling<'a> {
    plan: &'a Plan,
    hashing: &'a Hashing,
    pads: Hash,
    delta: Block,
    /// The stream of the random strings.
    prg: Aes128,
}

/// One block on its way.
struct Work<'a> {
    block: usize,
    keys: &'a mut [Block],
    corrections: &'a [u8],
    strings: &'a mut [u8],
    done: &'a mut Result<()>,
}

/// Builds the filter block by block and sends its strings, each under its pad.
fn send_filter<S: Share>(
    ctx: &mut Context,
    plan: &Plan,
    hashing: &Hashing,
    keys: &mut Keys,
    x: &[Item],
) -> Result<()> {
    let rows = hashing.rows(ctx.pool(), plan, x);
    let mut secret = Zeroizing::new([0; Block::LEN]);
    ctx.rng().fill_bytes(&mut *secret);
    let garbling = Garbling {
        plan,
        hashing,
        pads: Hash::new(hashing.session()),
        delta: keys.delta(),
        prg: Aes128::new(Block::from_le_bytes(*secret)),
    };
    let (blocks, block_len) = (plan.shape.blocks(), plan.shape.block_len());
    let at_once = ctx.pool().len().min(blocks);
    let mut k = Zeroizing::new(Block::zeros(at_once * block_len));
    let mut corrections = vec![0; at_once * plan.corrections_len()];
    let mut strings = vec![0; at_once * plan.strings_len()];
    for first in (0..blocks).step_by(at_once) {
        let now = at_once.min(blocks - first);
        let parts = k.chunks_mut(block_len).zip(corrections.chunks_mut(plan.corrections_len()));
        for (k, corrections) in parts.take(now) {
            keys.fill(ctx, k)?;
            ctx.peer()?.recv_into(corrections)?;
        }
        let mut results = vec![Ok(()); now];
        let parts = k.chunks_mut(block_len).zip(corrections.chunks(plan.corrections_len()));
        let parts = parts.zip(strings.chunks_mut(plan.strings_len())).zip(&mut results);
        let work = parts.enumerate().map(|(i, (((keys, corrections), strings), done))| Work {
            block: first + i,
            keys,
            corrections,
            strings,
            done,
        });
        ctx.pool().for_each(work.collect(), |mut work| {
            *work.done = garbling.run::<S>(rows.bucket(work.block), &mut work);
        });
        results.into_iter().collect::<Result<()>>()?;
        for strings in strings.chunks(plan.strings_len()).take(now) {
            strings
                .chunks(message_len(plan.string_len))
                .try_for_each(|part| ctx.peer()?.send(part))?;
        }
        ctx.progress((first + now) as u64, blocks as u64);
    }
    ctx.finish()
}

impl Garbling<'_> {
    /// The strings of a block: G_i + p_{i, 1 + d_i}.
    fn run<S: Share>(&self, rows: &[Tagged], work: &mut Work<'_>) -> Result<()> {
        let block_len = self.plan.shape.block_len();
        for (keys, corrections) in work.keys.chunks_mut(8).zip(work.corrections) {
            for (bit, key) in keys.iter_mut().enumerate() {
                *key ^= self.delta & Block::mask(corrections >> bit & 1 == 0);
            }
        }
        self.pads.apply(first_transfer(self.plan, work.block), work.keys);

        let first = (work.block * block_len) as u128;
        let mut filter = GarbledBloom::<S>::new(block_len, &self.prg, first);
        let mut indices = Indices::new(&self.hashing.indices);
        for row in rows {
            let (indices, tag) = indices.of(&[Block::new(row.tag())]);
            let value = truncated::<S>(tag, self.plan.string_len);
            filter.insert(indices, value).map_err(|NoFreeSlot| ParameterError::HashingFailed)?;
        }
        let strings = work.strings.chunks_mut(self.plan.string_len);
        for ((string, share), pad) in strings.zip(filter.shares()).zip(work.keys.iter()) {
            (*share ^ S::low(*pad)).write(string);
        }
        Ok(())
    }
}
