use super::answer_tags;
use super::hashing::{Hashing, truncated};
use super::plan::{Mode, Plan, SEED_LEN, first_transfer, is_trivial, message_len};
use super::transfers::Choices;
use crate::party::check_set_len;
use crate::{Output, Party};
use rand::Rng;
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_core::tagged::{Buckets, Tagged};
use vesica_core::{Block, Item, PsiParams, Result};
use vesica_net::Context;
use vesica_okvs::bloom::{Bloom, Indices, Share, sum};
use vesica_ot::adapters::random::Hash;
use zeroize::Zeroizing;

/// Learns which of its items the sender has.
pub struct Receiver {
    mode: Mode,
    params: PsiParams,
    y: Arc<Vec<Item>>,
}

impl Receiver {
    /// The receiver of the set `y`, which must hold no item twice.
    ///
    /// # Errors
    /// [`vesica_core::ParameterError::SetLenMismatch`].
    pub fn new(mode: Mode, params: PsiParams, y: Arc<Vec<Item>>) -> Result<Self> {
        check_set_len(params.receiver_len(), y.len())?;
        Ok(Self { mode, params, y })
    }
}

impl Party for Receiver {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Receiver { mode, params, y } = *self;
        let session = params.session();
        if is_trivial(&params) {
            return Ok(Output::Positions(Vec::new()));
        }
        let plan = Plan::new(mode, &params);

        let mut choices = ctx.child("setup", |ctx| Choices::setup(ctx, session, mode))?;
        let mut seed = [0; SEED_LEN];
        ctx.rng().fill_bytes(&mut seed);
        ctx.peer()?.send(&seed)?;
        ctx.child("transfers", |ctx| choices.extend(ctx, plan.shape.len()))?;
        let hashing = Hashing::new(&plan, session, &seed);
        let rows = hashing.rows(ctx.pool(), &plan, &y);
        let query = Query { plan: &plan, hashing: &hashing, rows: &rows };
        let narrow = plan.is_narrow();
        let common =
            if narrow { query.run::<u64>(ctx, choices) } else { query.run::<u128>(ctx, choices) }?;
        answer_tags::give(ctx, &params, &hashing, &y, &common)?;
        Ok(Output::Positions(common))
    }
}

/// The two passes over the blocks.
struct Query<'a> {
    plan: &'a Plan,
    hashing: &'a Hashing,
    rows: &'a Buckets,
}

/// One block's filter, and the indices and values of its items.
struct Built<S> {
    filter: Bloom,
    indices: Vec<u32>,
    /// Where each item's indices end.
    ends: Vec<u32>,
    values: Vec<S>,
}

/// One block on its way: its transfers, and what the sums of its items are so far.
struct Work<'a, S> {
    block: usize,
    blocks: &'a mut [Block],
    built: Built<S>,
    sums: &'a mut Vec<S>,
}

impl Query<'_> {
    /// The positions of the common items, ascending.
    fn run<S: Share>(&self, ctx: &mut Context, choices: Choices) -> Result<Vec<usize>> {
        let sums = ctx.child("filter", |ctx| self.choose::<S>(ctx, choices))?;
        ctx.child("query", |ctx| self.look_up(ctx, sums))
    }

    /// Chooses by the filter. Gives for each item, in the order of the blocks, its value and the sum of
    /// its pads.
    fn choose<S: Share>(
        &self,
        ctx: &mut Context,
        mut choices: Choices,
    ) -> Result<Zeroizing<Vec<Vec<S>>>> {
        let pads = Hash::new(self.hashing.session());
        let (blocks, block_len) = (self.plan.shape.blocks(), self.plan.shape.block_len());
        let at_once = ctx.pool().len().min(blocks);
        let mut m = Zeroizing::new(Block::zeros(at_once * block_len));
        let mut bits = Zeroizing::new(vec![0; block_len.div_ceil(64)]);
        let mut sums = Zeroizing::new(vec![Vec::new(); blocks]);
        let all: Vec<usize> = (0..blocks).collect();
        for (now, sums) in all.chunks(at_once).zip(sums.chunks_mut(at_once)) {
            let built = ctx.map(now, NonZeroUsize::MIN, |block| self.build::<S>(block[0]));
            for (built, m) in built.iter().zip(m.chunks_mut(block_len)) {
                choices.fill(ctx, &mut bits, m)?;
                bits.iter_mut().zip(built.filter.words()).for_each(|(bits, word)| *bits ^= word);
                let corrections: Vec<u8> =
                    bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
                ctx.peer()?.send(&corrections[..self.plan.corrections_len()])?;
            }
            let parts = m.chunks_mut(block_len).zip(built).zip(sums).zip(now);
            let work = parts.map(|(((blocks, built), sums), block)| Work {
                block: *block,
                blocks,
                built,
                sums,
            });
            ctx.pool().for_each(work.collect(), |work| self.add_pads(&pads, work));
            ctx.progress(now[now.len() - 1] as u64 + 1, blocks as u64);
        }
        ctx.peer()?.flush()?;
        Ok(sums)
    }

    fn build<S: Share>(&self, block: usize) -> Built<S> {
        let rows = self.rows.bucket(block);
        let mut built = Built {
            filter: Bloom::new(self.plan.shape.block_len()),
            indices: Vec::with_capacity(rows.len() * self.plan.shape.hashes()),
            ends: Vec::with_capacity(rows.len()),
            values: Vec::with_capacity(rows.len()),
        };
        self.each::<S>(rows, |indices, value| {
            built.filter.insert(indices);
            built.indices.extend_from_slice(indices);
            built.ends.push(built.indices.len() as u32);
            built.values.push(value);
        });
        built
    }

    /// Indices and value of each item.
    fn each<S: Share>(&self, rows: &[Tagged], mut f: impl FnMut(&[u32], S)) {
        let mut indices = Indices::new(&self.hashing.indices);
        for row in rows {
            let (indices, tag) = indices.of(&[Block::new(row.tag())]);
            f(indices, truncated(tag, self.plan.string_len));
        }
    }

    /// Adds the pads of each item to its value. All slots of an item of its own are ones.
    fn add_pads<S: Share>(&self, pads: &Hash, work: Work<'_, S>) {
        pads.apply(first_transfer(self.plan, work.block), work.blocks);
        let pads: Vec<S> =
            work.blocks.iter().map(|block| truncated(*block, self.plan.string_len)).collect();
        let pads = Zeroizing::new(pads);
        *work.sums = work.built.values;
        let mut start = 0;
        for (value, end) in work.sums.iter_mut().zip(work.built.ends) {
            *value ^= sum(&pads, &work.built.indices[start..end as usize]);
            start = end as usize;
        }
    }

    /// Receives the strings and adds up those of each item.
    fn look_up<S: Share>(
        &self,
        ctx: &mut Context,
        sums: Zeroizing<Vec<Vec<S>>>,
    ) -> Result<Vec<usize>> {
        let (blocks, string_len) = (self.plan.shape.blocks(), self.plan.string_len);
        let at_once = ctx.pool().len().min(blocks);
        let mut bytes = vec![0; at_once * self.plan.strings_len()];
        let mut common = vec![false; sums.iter().map(Vec::len).sum()];
        let all: Vec<usize> = (0..blocks).collect();
        for now in all.chunks(at_once) {
            for strings in bytes.chunks_mut(self.plan.strings_len()).take(now.len()) {
                strings
                    .chunks_mut(message_len(string_len))
                    .try_for_each(|part| ctx.peer()?.recv_into(part))?;
            }
            let work: Vec<_> = now.iter().zip(bytes.chunks(self.plan.strings_len())).collect();
            let found = ctx.map(&work, NonZeroUsize::MIN, |work| {
                let (block, bytes) = work[0];
                let strings: Vec<S> = bytes.chunks(string_len).map(S::read).collect();
                let rows = self.rows.bucket(*block);
                let mut sums = sums[*block].iter().zip(rows);
                let mut found = Vec::new();
                self.each::<S>(rows, |indices, _| {
                    let (expected, row) = sums.next().expect("a sum for each item");
                    found.push((row.position(), *expected == sum(&strings, indices)));
                });
                found
            });
            found.iter().flatten().for_each(|(position, is)| common[*position as usize] = *is);
            ctx.progress(now[now.len() - 1] as u64 + 1, blocks as u64);
        }
        Ok(common.iter().enumerate().filter(|(_, common)| **common).map(|(i, _)| i).collect())
    }
}
