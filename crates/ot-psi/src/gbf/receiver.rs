//! Steps 4 to 6 of the receiver, block by block.

use super::hashing::{Hashing, truncated};
use super::plan::{Plan, first_transfer, message_len};
use super::transfers::Choices;
use std::num::NonZeroUsize;
use vesica_core::tagged::{Buckets, Tagged};
use vesica_core::{Block, Result};
use vesica_net::{Context, Giver, Taker};
use vesica_okvs::bloom::{Bloom, Indices, Share, sum};
use vesica_ot::adapters::random::Hash;
use zeroize::Zeroizing;

/// Blocks of a group, however many CPU threads there are: all their corrections are sent before the
/// first of their strings is read.
pub(super) const GROUP_BLOCKS: usize = 8;

/// Groups that may wait for their strings. No number of CPU threads: how far the corrections are
/// ahead of the strings is what the peer sees.
pub(super) const GROUPS_AHEAD: usize = 64;

/// The two passes over the blocks.
pub(super) struct Query<'a> {
    pub(super) plan: &'a Plan,
    pub(super) hashing: &'a Hashing,
    pub(super) rows: &'a Buckets,
    /// Blocks that are worked on at a time, at most those of a group.
    pub(super) at_once: usize,
}

/// One block's filter, and the indices and values of its items.
struct Built<S> {
    filter: Bloom,
    indices: Vec<u32>,
    /// Where each item's indices end.
    ends: Vec<u32>,
    values: Vec<S>,
}

/// One block: its transfers, and where the sums of its items go.
struct Work<'a, S: Share> {
    block: usize,
    blocks: &'a mut [Block],
    built: Built<S>,
    sums: &'a mut Sums<S>,
}

/// For each item of a block t(y) + Σ p_i, the sum of the strings that a common item has.
pub(super) type Sums<S> = Zeroizing<Vec<S>>;

/// The sums of a group, block by block.
pub(super) type GroupSums<S> = Vec<Sums<S>>;

impl Query<'_> {
    /// Step 4: sends the corrections of block after block.
    pub(super) fn choose<S: Share>(
        &self,
        ctx: &mut Context,
        choices: &mut Choices,
        done: Giver<GroupSums<S>>,
    ) -> Result<()> {
        let pads = Hash::new(self.hashing.session());
        let (blocks, block_len) = (self.plan.shape.blocks(), self.plan.shape.block_len());
        let mut m = Zeroizing::new(Block::zeros(self.at_once * block_len));
        let mut c = Zeroizing::new(vec![0; block_len.div_ceil(64)]);
        let all: Vec<usize> = (0..blocks).collect();
        for group in all.chunks(GROUP_BLOCKS) {
            let mut sums: GroupSums<S> = group.iter().map(|_| Sums::default()).collect();
            for (now, sums) in group.chunks(self.at_once).zip(sums.chunks_mut(self.at_once)) {
                let built = ctx.child("filter", |ctx| {
                    ctx.map(now, NonZeroUsize::MIN, |block| self.build::<S>(block[0]))
                });
                for (built, m) in built.iter().zip(m.chunks_mut(block_len)) {
                    choices.fill(ctx, &mut c, m)?;
                    let b = built.filter.words();
                    c.iter_mut().zip(b).for_each(|(c, b)| *c ^= b);
                    let d: Vec<u8> = c.iter().flat_map(|word| word.to_le_bytes()).collect();
                    ctx.peer()?.send(&d[..self.plan.corrections_len()])?;
                }
                ctx.peer()?.flush()?;
                let parts = m.chunks_mut(block_len).zip(built).zip(sums).zip(now);
                let work = parts.map(|(((blocks, built), sums), block)| Work {
                    block: *block,
                    blocks,
                    built,
                    sums,
                });
                ctx.pool().for_each(work.collect(), |work| self.add_pads(&pads, work));
            }
            if !done.give(sums) {
                break;
            }
        }
        Ok(())
    }

    /// B of a block.
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

    /// Adds the pads of each item to its value. All slots of the receiver's items are ones.
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

    /// Steps 5 and 6: receives the strings and adds up those of each of the `n_y` items; the
    /// positions of the common ones, ascending. `None` if the other fork ended before the last
    /// block.
    pub(super) fn look_up<S: Share>(
        &self,
        ctx: &mut Context,
        sums: Taker<GroupSums<S>>,
        n_y: usize,
    ) -> Result<Option<Vec<usize>>> {
        let (blocks, string_len) = (self.plan.shape.blocks(), self.plan.string_len);
        let mut bytes = vec![0; self.at_once * self.plan.strings_len()];
        let mut is_common = vec![false; n_y];
        let all: Vec<usize> = (0..blocks).collect();
        for group in all.chunks(GROUP_BLOCKS) {
            let Some(sums) = sums.take() else { return Ok(None) };
            for (now, sums) in group.chunks(self.at_once).zip(sums.chunks(self.at_once)) {
                for strings in bytes.chunks_mut(self.plan.strings_len()).take(now.len()) {
                    strings
                        .chunks_mut(message_len(string_len))
                        .try_for_each(|part| ctx.peer()?.recv_into(part))?;
                }
                let strings = bytes.chunks(self.plan.strings_len());
                let work: Vec<_> = now.iter().zip(strings).zip(sums).collect();
                let found = ctx.child("query", |ctx| {
                    ctx.map(&work, NonZeroUsize::MIN, |work| {
                        let ((block, bytes), sums) = work[0];
                        self.look_up_block(*block, bytes, sums)
                    })
                });
                let found = found.iter().flatten();
                found.for_each(|(position, is)| is_common[*position as usize] = *is);
                ctx.progress(now[now.len() - 1] as u64 + 1, blocks as u64);
            }
        }
        let common = is_common.iter().enumerate().filter(|(_, is)| **is);
        Ok(Some(common.map(|(position, _)| position).collect()))
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
