use super::hashing::{Hashing, truncated};
use super::plan::{Mode, Plan, SEED_LEN, first_transfer, message_len};
use super::transfers::Choices;
use crate::party::check_set_len;
use crate::{Output, Party, answer};
use rand::Rng;
use std::num::NonZeroUsize;
use std::sync::{Arc, mpsc};
use vesica_core::tagged::{Buckets, Tagged};
use vesica_core::{Block, Item, PsiParams, Result};
use vesica_net::Context;
use vesica_okvs::bloom::{Bloom, Indices, Share, sum};
use vesica_ot::adapters::random::Hash;
use zeroize::Zeroizing;

/// Blocks under way at a time, however many CPU threads there are: all their corrections are sent
/// before the first string is read.
const MAX_AT_ONCE: usize = 8;

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
        if params.has_empty_set() {
            return Ok(Output::Positions(Vec::new()));
        }
        let plan = Plan::new(mode, &params);

        let mut choices = ctx.child("setup", |ctx| Choices::setup(ctx, session, mode))?;
        ctx.child("transfers", |ctx| choices.extend(ctx, plan.shape.len()))?;
        let mut seed = [0; SEED_LEN];
        ctx.rng().fill_bytes(&mut seed);
        ctx.peer()?.send(&seed)?;
        ctx.peer()?.flush()?;
        let hashing = Hashing::new(&plan, session, &seed);
        let rows = hashing.rows(ctx.pool(), &plan, &y);
        let query = Query { plan: &plan, hashing: &hashing, rows: &rows, params: &params, y: &y };
        let common = match plan.is_narrow() {
            true => query.run::<u64>(ctx, choices),
            false => query.run::<u128>(ctx, choices),
        }?;
        Ok(Output::Positions(common))
    }
}

/// The two passes over the blocks.
struct Query<'a> {
    plan: &'a Plan,
    hashing: &'a Hashing,
    rows: &'a Buckets,
    params: &'a PsiParams,
    y: &'a [Item],
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
struct Work<'a, S: Share> {
    block: usize,
    blocks: &'a mut [Block],
    built: Built<S>,
    sums: &'a mut Sums<S>,
}

/// Of each item of a block its value and the sum of its pads.
type Sums<S> = Zeroizing<Vec<S>>;

/// Blocks that may wait for their strings, for each that is worked on.
const BLOCKS_AHEAD: usize = 64;

impl Query<'_> {
    /// Sends the corrections of block after block while the strings of earlier ones come, and then the
    /// answer. Gives the positions of the common items, ascending.
    fn run<S: Share>(&self, ctx: &mut Context, mut choices: Choices) -> Result<Vec<usize>> {
        let at_once = ctx.pool().len().min(self.plan.shape.blocks()).min(MAX_AT_ONCE);
        let (give, take) = mpsc::sync_channel(BLOCKS_AHEAD * at_once);
        let choose = |ctx: &mut Context| self.choose::<S>(ctx, at_once, &mut choices, give);
        let look_up = |ctx: &mut Context| {
            let Some(common) = self.look_up::<S>(ctx, at_once, take)? else {
                return Ok(Vec::new());
            };
            let common = common.iter().enumerate().filter(|(_, common)| **common);
            let common: Vec<usize> = common.map(|(i, _)| i).collect();
            answer::give_items(ctx, self.params, self.y, &common)?;
            Ok(common)
        };
        // A part whose channel has closed ends quietly: the other part has the error.
        let ((), common) = ctx.join(("choices", choose), ("strings", look_up))?;
        Ok(common)
    }

    /// Chooses by the filter.
    fn choose<S: Share>(
        &self,
        ctx: &mut Context,
        at_once: usize,
        choices: &mut Choices,
        give: mpsc::SyncSender<Sums<S>>,
    ) -> Result<()> {
        let pads = Hash::new(self.hashing.session());
        let (blocks, block_len) = (self.plan.shape.blocks(), self.plan.shape.block_len());
        let mut m = Zeroizing::new(Block::zeros(at_once * block_len));
        let mut bits = Zeroizing::new(vec![0; block_len.div_ceil(64)]);
        let all: Vec<usize> = (0..blocks).collect();
        for now in all.chunks(at_once) {
            let built = ctx.map(now, NonZeroUsize::MIN, |block| self.build::<S>(block[0]));
            for (built, m) in built.iter().zip(m.chunks_mut(block_len)) {
                choices.fill(ctx, &mut bits, m)?;
                bits.iter_mut().zip(built.filter.words()).for_each(|(bits, word)| *bits ^= word);
                let corrections: Vec<u8> =
                    bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
                ctx.peer()?.send(&corrections[..self.plan.corrections_len()])?;
            }
            ctx.peer()?.flush()?;
            let mut sums: Vec<Sums<S>> = now.iter().map(|_| Sums::default()).collect();
            let parts = m.chunks_mut(block_len).zip(built).zip(&mut sums).zip(now);
            let work = parts.map(|(((blocks, built), sums), block)| Work {
                block: *block,
                blocks,
                built,
                sums,
            });
            ctx.pool().for_each(work.collect(), |work| self.add_pads(&pads, work));
            if sums.into_iter().any(|sums| give.send(sums).is_err()) {
                break;
            }
        }
        Ok(())
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
            let (indices, tag) = indices.compute(&[Block::new(row.tag())]);
            f(indices, truncated(tag, self.plan.string_len));
        }
    }

    /// Adds the pads of each item to its value. All slots of an item of its own are ones.
    fn add_pads<S: Share>(&self, pads: &Hash, work: Work<'_, S>) {
        pads.apply(first_transfer(self.plan, work.block), work.blocks);
        let pads: Vec<S> =
            work.blocks.iter().map(|block| truncated(*block, self.plan.string_len)).collect();
        let pads = Zeroizing::new(pads);
        *work.sums = Zeroizing::new(work.built.values);
        let mut start = 0;
        for (value, end) in work.sums.iter_mut().zip(work.built.ends) {
            *value ^= sum(&pads, &work.built.indices[start..end as usize]);
            start = end as usize;
        }
    }

    /// Receives the strings and adds up those of each item; which positions are common. `None` if the
    /// sums ended before their time.
    fn look_up<S: Share>(
        &self,
        ctx: &mut Context,
        at_once: usize,
        take: mpsc::Receiver<Sums<S>>,
    ) -> Result<Option<Vec<bool>>> {
        let (blocks, string_len) = (self.plan.shape.blocks(), self.plan.string_len);
        let mut bytes = vec![0; at_once * self.plan.strings_len()];
        let mut common = vec![false; self.y.len()];
        let all: Vec<usize> = (0..blocks).collect();
        for now in all.chunks(at_once) {
            let sums: Vec<Sums<S>> = take.iter().take(now.len()).collect();
            if sums.len() < now.len() {
                return Ok(None);
            }
            for strings in bytes.chunks_mut(self.plan.strings_len()).take(now.len()) {
                strings
                    .chunks_mut(message_len(string_len))
                    .try_for_each(|part| ctx.peer()?.recv_into(part))?;
            }
            let strings = bytes.chunks(self.plan.strings_len());
            let work: Vec<_> = now.iter().zip(strings).zip(&sums).collect();
            let found = ctx.map(&work, NonZeroUsize::MIN, |work| {
                let ((block, bytes), sums) = work[0];
                self.look_up_block(*block, bytes, sums)
            });
            found.iter().flatten().for_each(|(position, is)| common[*position as usize] = *is);
            ctx.progress(now[now.len() - 1] as u64 + 1, blocks as u64);
        }
        Ok(Some(common))
    }

    /// The position of each item of a block, and whether it is common.
    fn look_up_block<S: Share>(&self, block: usize, bytes: &[u8], sums: &[S]) -> Vec<(u32, bool)> {
        let strings: Vec<S> = bytes.chunks(self.plan.string_len).map(S::read).collect();
        let rows = self.rows.bucket(block);
        let mut expected = sums.iter().zip(rows);
        let mut found = Vec::with_capacity(rows.len());
        self.each::<S>(rows, |indices, _| {
            let (expected, row) = expected.next().expect("a sum for each item");
            found.push((row.position(), *expected == sum(&strings, indices)));
        });
        found
    }
}
