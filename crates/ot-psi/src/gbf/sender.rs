//! Steps 4 and 5 of the sender, block by block.

use super::hashing::{Hashing, truncated};
use super::plan::{Plan, first_transfer, message_len};
use rand::Rng;
use vesica_core::tagged::{Buckets, Tagged};
use vesica_core::{Block, ParameterError, Result, Secret};
use vesica_net::{Context, Giver, Taker};
use vesica_okvs::bloom::{GarbledBloom, Indices, NoFreeSlot, Share};
use vesica_ot::adapters::random::Hash;
use vesica_simd::aes::Aes128;
use zeroize::{Zeroize, Zeroizing};

/// What garbles a block besides its items.
pub(super) struct Garbling<'a> {
    plan: &'a Plan,
    hashing: &'a Hashing,
    pads: Hash,
    delta: Secret<Block>,
    /// The stream of the random strings.
    prg: Aes128,
}

/// The transfers of one block: K, and d.
pub(super) struct Transfers {
    pub(super) keys: Vec<Block>,
    pub(super) d: Vec<u8>,
}

impl Transfers {
    pub(super) fn new(plan: &Plan) -> Self {
        let keys = Block::zeros(plan.shape.block_len());
        Self { keys, d: vec![0; plan.corrections_len()] }
    }
}

impl Drop for Transfers {
    fn drop(&mut self) {
        self.keys.zeroize();
    }
}

/// One block that is garbled.
struct Work<'a> {
    block: usize,
    transfers: &'a mut Transfers,
    strings: &'a mut [u8],
    done: &'a mut Result<()>,
}

impl<'a> Garbling<'a> {
    pub(super) fn new(
        rng: &mut impl Rng,
        plan: &'a Plan,
        hashing: &'a Hashing,
        delta: Secret<Block>,
    ) -> Self {
        let mut key = Zeroizing::new([0; Block::LEN]);
        rng.fill_bytes(&mut *key);
        let prg = Aes128::new(Block::from_le_bytes(*key));
        Self { plan, hashing, pads: Hash::new(hashing.session()), delta, prg }
    }

    /// Garbles and sends block after block, and gives their transfers back to be filled again.
    /// False if the other fork ended before the last block.
    ///
    /// Blocks whose transfers are ready are garbled at the same time. It waits for none but the
    /// next: what is sent depends on what has come, not on the number of CPU threads.
    pub(super) fn send<S: Share>(
        &self,
        ctx: &mut Context,
        rows: &Buckets,
        ready: Taker<Transfers>,
        spare: Giver<Transfers>,
    ) -> Result<bool> {
        let (blocks, strings_len) = (self.plan.shape.blocks(), self.plan.strings_len());
        let at_once = ctx.pool().len().min(blocks);
        let mut strings = vec![0; at_once * strings_len];
        let mut first = 0;
        while first < blocks {
            let mut transfers: Vec<Transfers> = ready.take_ready(at_once);
            if transfers.is_empty() {
                // The peer may wait for these strings before it sends more.
                ctx.peer()?.flush()?;
                let Some(next) = ready.take() else { return Ok(false) };
                transfers.push(next);
                transfers.extend(ready.take_ready(at_once - 1));
            }
            let now = transfers.len();
            let mut results = vec![Ok(()); now];
            let parts = transfers.iter_mut().zip(strings.chunks_mut(strings_len));
            let parts = parts.zip(&mut results).enumerate();
            let work = parts.map(|(i, ((transfers, strings), done))| Work {
                block: first + i,
                transfers,
                strings,
                done,
            });
            ctx.child("filter", |ctx| {
                ctx.pool().for_each(work.collect(), |mut work| {
                    *work.done = self.garble::<S>(rows.bucket(work.block), &mut work);
                });
            });
            for transfers in transfers {
                // The last ones are not needed again.
                let _ = spare.give(transfers);
            }
            results.into_iter().collect::<Result<()>>()?;
            for strings in strings.chunks(strings_len).take(now) {
                strings
                    .chunks(message_len(self.plan.string_len))
                    .try_for_each(|part| ctx.peer()?.send(part))?;
            }
            first += now;
            ctx.progress(first as u64, blocks as u64);
        }
        Ok(true)
    }

    /// The strings of a block: G_i + p_{i, 1 + d_i}.
    fn garble<S: Share>(&self, rows: &[Tagged], work: &mut Work<'_>) -> Result<()> {
        let block_len = self.plan.shape.block_len();
        let Transfers { keys, d } = &mut *work.transfers;
        for (keys, d) in keys.chunks_mut(8).zip(d.iter()) {
            for (bit, key) in keys.iter_mut().enumerate() {
                *key ^= *self.delta.expose() & Block::mask(d >> bit & 1 == 0);
            }
        }
        self.pads.apply(first_transfer(self.plan, work.block), keys);

        let first = (work.block * block_len) as u128;
        let mut filter = GarbledBloom::<S>::new(block_len, &self.prg, first);
        let mut indices = Indices::new(&self.hashing.indices);
        for row in rows {
            let (indices, tag) = indices.compute(&[Block::new(row.tag())]);
            let value = truncated::<S>(tag, self.plan.string_len);
            filter.insert(indices, value).map_err(|NoFreeSlot| ParameterError::HashingFailed)?;
        }
        let strings = work.strings.chunks_mut(self.plan.string_len);
        for ((string, share), pad) in strings.zip(filter.shares()).zip(keys.iter()) {
            (*share ^ S::low(*pad)).write(string);
        }
        Ok(())
    }
}
