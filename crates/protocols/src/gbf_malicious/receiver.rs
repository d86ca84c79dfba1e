use super::cut::{Opening, choices, cut};
use super::hashing::Hashing;
use super::injection::{draw, pack};
use super::plan::{BYTES_PER_MESSAGE, PER_MESSAGE, Plan, SEED_LEN, TAG_BITS, check_lens};
#[cfg(test)]
use super::tests::Deviation;
use super::{commit, proofs};
use crate::{Input, Output, Party, sorted_tags};
use rand::Rng;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;
use vesica_core::elias_fano::Shape;
use vesica_core::tagged::Tagged;
use vesica_core::{
    Block, Item, Learns, Malicious, Misbehaviour, ParameterError, PsiParams, Result,
};
use vesica_net::Context;
use vesica_okvs::bloom::Bloom;
use vesica_ot::adapters::random::Hash;
use vesica_ot::silent::cot;
use zeroize::Zeroizing;

/// Learns which of its items the sender has.
pub struct Receiver {
    params: PsiParams,
    y: Arc<Vec<Item>>,
    shared: Range<usize>,
    /// How this party deviates.
    #[cfg(test)]
    pub(super) deviation: Deviation,
}

impl Receiver {
    /// The receiver of a set `y`, which must hold no item twice.
    ///
    /// # Errors
    /// [`ParameterError::SetLenMismatch`]; [`ParameterError::SetTooLarge`] above
    /// [`MAX_RECEIVER_LEN`](super::MAX_RECEIVER_LEN).
    pub fn new(params: PsiParams, y: impl Into<Input>) -> Result<Self> {
        let y = y.into();
        check_lens(&params, params.receiver_len(), y.items().len())?;
        Ok(Self {
            params,
            shared: y.shared(),
            y: y.into_items(),
            #[cfg(test)]
            deviation: Deviation::default(),
        })
    }
}

impl Party for Receiver {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let (params, y) = (self.params, &self.y);
        let session = params.session();
        if params.has_empty_set() {
            return Ok(Output::Positions(Vec::new()));
        }
        let plan = Plan::new(&params);

        let mut commitment = [0; SEED_LEN];
        ctx.peer()?.recv_into(&mut commitment)?;
        let mut transfers =
            ctx.child("setup", |ctx| cot::Receiver::<Malicious>::setup(ctx, session))?;
        let (messages, choices) = ctx.child("choosing", |ctx| {
            let len = plan.sizes.blocks() * plan.sizes.transfers;
            let [first, second] = transfers.extend_readers(ctx, len)?;
            Ok::<_, vesica_core::Error>((second, self.choose(ctx, &plan, first)?))
        })?;
        let mut r = [0; SEED_LEN];
        ctx.rng().fill_bytes(&mut r);
        ctx.peer()?.send(&r)?;

        let (mut challenge, mut s) = ([0; SEED_LEN], [0; SEED_LEN]);
        ctx.peer()?.recv_into(&mut challenge)?;
        ctx.peer()?.recv_into(&mut s)?;
        if commit(session, &s) != commitment {
            return Err(Misbehaviour::CommitmentBroken.into());
        }
        let hashing = Hashing::new(&plan, session, &s, &r);
        let sums = ctx.child("filter", |ctx| {
            self.sums(ctx, &plan, &hashing, &challenge, (messages, &choices))
        })?;
        drop(choices);
        let proofs = match params.learns() {
            Learns::Receiver => Vec::new(),
            Learns::Both => hashing.proofs(ctx.pool(), y, &sums),
        };
        let matches = ctx.child("tags", |ctx| {
            let tags = hashing.tags(ctx.pool(), y, &sums);
            let shape = Shape::new(params.sender_len() as u64, TAG_BITS);
            sorted_tags::find_checked(ctx, shape, tags, &self.shared)
        })?;
        proofs::give(ctx, &params, &matches, &proofs)?;
        Ok(Output::Positions(sorted_tags::own_positions(&matches, params.receiver_len())))
    }
}

impl Receiver {
    /// Draws b and sends d, block by block. Of the transfers this needs only the random choices.
    fn choose(
        &self,
        ctx: &mut Context,
        plan: &Plan,
        mut stream: cot::ReceiverStream,
    ) -> Result<Zeroizing<Vec<Vec<u64>>>> {
        let blocks = plan.sizes.blocks();
        let mut all = Zeroizing::new(Vec::with_capacity(blocks));
        let mut transfers = Zeroizing::new(Block::zeros(plan.sizes.transfers));
        for block in 0..blocks {
            let choices = choices(&plan.sizes, ctx.rng());
            #[cfg(test)]
            let choices = self.deviation.choices(choices, plan);
            stream.fill(ctx.pool(), &mut transfers)?;
            let words = transfers.chunks(64).zip(&choices);
            let corrections: Vec<u8> = words
                .flat_map(|(blocks, choices)| {
                    let bits = blocks.iter().enumerate();
                    let word = bits.fold(0, |word, (i, m)| word | (m.get() as u64 & 1) << i);
                    (word ^ choices).to_le_bytes()
                })
                .collect();
            let parts = corrections[..plan.corrections_len()].chunks(BYTES_PER_MESSAGE);
            parts.into_iter().try_for_each(|part| ctx.peer()?.send(part))?;
            all.push(choices);
            ctx.progress(block as u64 + 1, blocks as u64);
        }
        Ok(all)
    }

    /// Opens what is to be opened, builds the filter, sends π, and adds up the messages of each item,
    /// by position; block by block.
    fn sums(
        &self,
        ctx: &mut Context,
        plan: &Plan,
        hashing: &Hashing,
        challenge: &[u8; SEED_LEN],
        (mut stream, choices): (cot::ReceiverStream, &[Vec<u64>]),
    ) -> Result<Zeroizing<Vec<Block>>> {
        let session = self.params.session();
        let hash = Hash::new(session);
        let blocks = hashing.by_block(ctx.pool(), plan, &self.y);
        let mut sums = Zeroizing::new(vec![Block::ZERO; self.y.len()]);
        let mut messages = Zeroizing::new(Block::zeros(plan.sizes.transfers));
        for (block, choices) in choices.iter().enumerate() {
            let items = blocks.bucket(block);
            if items.len() > plan.sizes.load {
                return Err(ParameterError::HashingFailed.into());
            }
            stream.fill(ctx.pool(), &mut messages)?;
            let first = block * plan.sizes.transfers;
            let pieces = messages.chunks_mut(PER_MESSAGE).enumerate();
            ctx.pool().for_each(pieces.collect(), |(i, piece)| {
                hash.apply((first + i * PER_MESSAGE) as u64, piece);
            });

            let cut = cut(&plan.sizes, session, challenge, block);
            let opening = Opening::new(&cut, choices, &messages, &plan.sizes);
            #[cfg(test)]
            let opening = self.deviation.opening(opening, plan);
            send_opening(ctx, &opening)?;

            let mut filter = Bloom::new(plan.sizes.slots);
            hashing.each(&self.y, items, |indices| filter.insert(indices));
            let pool = ctx.pool().clone();
            let places = draw(&pool, ctx.rng(), plan, &cut, choices, &filter)?;
            let sent = &places;
            #[cfg(test)]
            let sent = &self.deviation.places(sent, &cut, plan);
            send_places(ctx, plan, sent)?;
            // The sender works on this block while this party works on the next.
            ctx.peer()?.flush()?;

            let of_block = hashing.sums(&pool, &self.y, items, &places, &messages);
            let positions = items.iter().map(Tagged::position);
            positions.zip(of_block).for_each(|(i, sum)| sums[i as usize] = sum);
            ctx.progress(block as u64 + 1, plan.sizes.blocks() as u64);
        }
        Ok(sums)
    }
}

/// Sends R and r* of a block.
fn send_opening(ctx: &mut Context, opening: &Opening) -> Result<()> {
    let parts = opening.zeros.chunks(BYTES_PER_MESSAGE);
    parts.into_iter().try_for_each(|part| ctx.peer()?.send(part))?;
    ctx.peer()?.send(&opening.sum.to_le_bytes())
}

/// Sends π of a block.
fn send_places(ctx: &mut Context, plan: &Plan, places: &[u32]) -> Result<()> {
    let parts: Vec<&[u32]> = places.chunks(PER_MESSAGE).collect();
    let packed = ctx.map(&parts, NonZeroUsize::MIN, |part| pack(part[0], plan.place_bits));
    packed.iter().try_for_each(|part| ctx.peer()?.send(part))
}
