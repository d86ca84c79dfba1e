use super::hashing::{Hashing, truncated};
use super::plan::{Mode, Plan, SEED_LEN, first_transfer, message_len};
use super::transfers::Keys;
use crate::party::check_set_len;
use crate::{Output, Party, answer};
use rand::Rng;
use std::sync::{Arc, mpsc};
use vesica_core::tagged::{Buckets, Tagged};
use vesica_core::{Block, Item, Learns, ParameterError, PsiParams, Result, Secret};
use vesica_net::Context;
use vesica_okvs::bloom::{GarbledBloom, Indices, NoFreeSlot, Share};
use vesica_ot::adapters::random::Hash;
use vesica_simd::aes::Aes128;
use zeroize::{Zeroize, Zeroizing};

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
        if params.has_empty_set() {
            return Ok(match params.learns() {
                Learns::Receiver => Output::Nothing,
                Learns::Both => Output::Positions(Vec::new()),
            });
        }
        let plan = Plan::new(mode, &params);

        let mut keys = ctx.child("setup", |ctx| Keys::setup(ctx, session, mode))?;
        ctx.child("transfers", |ctx| keys.extend(ctx, plan.shape.len()))?;
        let mut seed = [0; SEED_LEN];
        ctx.peer()?.recv_into(&mut seed)?;
        let hashing = Hashing::new(&plan, session, &seed);
        let send = if plan.is_narrow() { send_filter::<u64> } else { send_filter::<u128> };
        send(ctx, &plan, &hashing, keys, &params, &x)
    }
}

/// What garbles a block besides its items.
struct Garbling<'a> {
    plan: &'a Plan,
    hashing: &'a Hashing,
    pads: Hash,
    delta: Secret<Block>,
    /// The stream of the random strings.
    prg: Aes128,
}

/// The transfers of one block: K, and d.
struct Transfers {
    keys: Vec<Block>,
    corrections: Vec<u8>,
}

impl Drop for Transfers {
    fn drop(&mut self) {
        self.keys.zeroize();
    }
}

/// One block on its way.
struct Work<'a> {
    block: usize,
    transfers: &'a mut Transfers,
    strings: &'a mut [u8],
    done: &'a mut Result<()>,
}

/// Receives the corrections of block after block, builds the filter and sends its strings, each under
/// its pad; and takes the answer.
///
/// The strings of a block leave while the corrections of the next come, so that neither party holds
/// many blocks, and neither waits for the other.
fn send_filter<S: Share>(
    ctx: &mut Context,
    plan: &Plan,
    hashing: &Hashing,
    mut keys: Keys,
    params: &PsiParams,
    x: &[Item],
) -> Result<Output> {
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
    // Twice as many as are garbled at once; they go round.
    let (give_ready, take_ready) = mpsc::channel();
    let (give_spare, take_spare) = mpsc::channel();
    for _ in 0..2 * at_once {
        let corrections = vec![0; plan.corrections_len()];
        // The other end is in this very function.
        let _ = give_spare.send(Transfers { keys: Block::zeros(block_len), corrections });
    }
    // A part whose channel has closed ends quietly: the other part has the error.
    let receive = move |ctx: &mut Context| -> Result<()> {
        for _ in 0..blocks {
            let Ok(mut transfers) = take_spare.recv() else { break };
            keys.fill(ctx, &mut transfers.keys)?;
            ctx.peer()?.recv_into(&mut transfers.corrections)?;
            if give_ready.send(transfers).is_err() {
                break;
            }
        }
        Ok(())
    };
    let (garbling, rows) = (&garbling, &rows);
    let send =
        move |ctx: &mut Context| match garbling.send::<S>(ctx, rows, take_ready, give_spare)? {
            true => answer::take_items(ctx, params, x),
            false => Ok(Output::Nothing),
        };
    ctx.join(("choices", receive), ("strings", send)).map(|((), output)| output)
}

impl Garbling<'_> {
    /// Garbles and sends block after block, and gives their transfers back to be filled again. False
    /// if the transfers ended before their time.
    fn send<S: Share>(
        &self,
        ctx: &mut Context,
        rows: &Buckets,
        ready: mpsc::Receiver<Transfers>,
        spare: mpsc::Sender<Transfers>,
    ) -> Result<bool> {
        let (blocks, strings_len) = (self.plan.shape.blocks(), self.plan.strings_len());
        let at_once = ctx.pool().len().min(blocks);
        let mut strings = vec![0; at_once * strings_len];
        for first in (0..blocks).step_by(at_once) {
            let now = at_once.min(blocks - first);
            let mut transfers: Vec<Transfers> = ready.iter().take(now).collect();
            if transfers.len() < now {
                return Ok(false);
            }
            let mut results = vec![Ok(()); now];
            let parts = transfers.iter_mut().zip(strings.chunks_mut(strings_len));
            let parts = parts.zip(&mut results).enumerate();
            let work = parts.map(|(i, ((transfers, strings), done))| Work {
                block: first + i,
                transfers,
                strings,
                done,
            });
            ctx.pool().for_each(work.collect(), |mut work| {
                *work.done = self.garble::<S>(rows.bucket(work.block), &mut work);
            });
            for transfers in transfers {
                // Nobody takes the last ones.
                let _ = spare.send(transfers);
            }
            results.into_iter().collect::<Result<()>>()?;
            for strings in strings.chunks(strings_len).take(now) {
                strings
                    .chunks(message_len(self.plan.string_len))
                    .try_for_each(|part| ctx.peer()?.send(part))?;
            }
            ctx.progress((first + now) as u64, blocks as u64);
        }
        Ok(true)
    }

    /// The strings of a block: G_i + p_{i, 1 + d_i}.
    fn garble<S: Share>(&self, rows: &[Tagged], work: &mut Work<'_>) -> Result<()> {
        let block_len = self.plan.shape.block_len();
        let Transfers { keys, corrections } = &mut *work.transfers;
        for (keys, corrections) in keys.chunks_mut(8).zip(corrections.iter()) {
            for (bit, key) in keys.iter_mut().enumerate() {
                *key ^= *self.delta.expose() & Block::mask(corrections >> bit & 1 == 0);
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
