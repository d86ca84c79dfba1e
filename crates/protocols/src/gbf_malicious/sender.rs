use super::cut::{Opening, cut, is_one};
use super::hashing::Hashing;
use super::injection::{Used, unpack};
use super::plan::{BYTES_PER_MESSAGE, PER_MESSAGE, Plan, SEED_LEN, TAG_BITS, check_lens};
use super::{commit, proofs};
use crate::{Output, Party, answer, sorted_tags};
use rand::Rng;
use std::sync::Arc;
use vesica_core::elias_fano::Shape;
use vesica_core::tagged::Tagged;
use vesica_core::{Block, Item, Learns, Malicious, PsiParams, Result, Secret};
use vesica_net::{Context, Pool};
use vesica_ot::adapters::random::Hash;
use vesica_ot::silent::cot;
use zeroize::Zeroizing;

/// Challenges the receiver's choices; learns n_y, or with [`Learns::Both`] which of its items the receiver has.
pub struct Sender {
    params: PsiParams,
    x: Arc<Vec<Item>>,
    /// A transfer whose message this party spoils, when it deviates.
    #[cfg(test)]
    pub(super) spoils: Option<usize>,
}

impl Sender {
    /// The sender of the set `x`, which must hold no item twice.
    ///
    /// # Errors
    /// [`vesica_core::ParameterError::SetLenMismatch`];
    /// [`vesica_core::ParameterError::SetTooLarge`] for a receiver's set above
    /// [`MAX_RECEIVER_LEN`](super::MAX_RECEIVER_LEN).
    pub fn new(params: PsiParams, x: Arc<Vec<Item>>) -> Result<Self> {
        check_lens(&params, params.sender_len(), x.len())?;
        Ok(Self {
            params,
            x,
            #[cfg(test)]
            spoils: None,
        })
    }
}

impl Party for Sender {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let (params, x) = (self.params, &self.x);
        let session = params.session();
        if params.has_empty_set() {
            return answer::take_places(ctx, &params, &[]);
        }
        let plan = Plan::new(&params);

        let (mut s, mut challenge) = ([0; SEED_LEN], [0; SEED_LEN]);
        ctx.rng().fill_bytes(&mut s);
        ctx.rng().fill_bytes(&mut challenge);
        ctx.peer()?.send(&commit(session, &s))?;
        let mut transfers =
            ctx.child("setup", |ctx| cot::Sender::<Malicious>::setup(ctx, session))?;
        let (keys, corrections) = ctx.child("choosing", |ctx| {
            let keys = transfers.extend(ctx, plan.sizes.blocks() * plan.sizes.transfers)?;
            Ok::<_, vesica_core::Error>((keys, recv_corrections(ctx, &plan)?))
        })?;
        let mut r = [0; SEED_LEN];
        ctx.peer()?.recv_into(&mut r)?;

        ctx.peer()?.send(&challenge)?;
        ctx.peer()?.send(&s)?;
        ctx.peer()?.flush()?;
        let hashing = Hashing::new(&plan, session, &s, &r);
        let sums = ctx.child("filter", |ctx| {
            let pads = Pads { hash: Hash::new(session), delta: transfers.delta(), plan: &plan };
            self.sums(ctx, &plan, &hashing, &challenge, (pads, keys, corrections))
        })?;
        let proofs = match params.learns() {
            Learns::Receiver => Vec::new(),
            Learns::Both => hashing.proofs(ctx.pool(), x, &sums),
        };
        let order = ctx.child("tags", |ctx| {
            let tags = hashing.tags(ctx.pool(), x, &sums);
            sorted_tags::send(ctx, Shape::new(params.sender_len() as u64, TAG_BITS), tags)
        })?;
        proofs::take(ctx, &params, &order, &proofs)
    }
}

impl Sender {
    /// Checks what the receiver says of each block, and adds up the messages of each item, by
    /// position.
    fn sums(
        &self,
        ctx: &mut Context,
        plan: &Plan,
        hashing: &Hashing,
        challenge: &[u8; SEED_LEN],
        (pads, mut keys, corrections): (Pads<'_>, cot::SenderStream, Vec<u8>),
    ) -> Result<Zeroizing<Vec<Block>>> {
        let blocks = hashing.by_block(ctx.pool(), plan, &self.x);
        let mut sums = Zeroizing::new(vec![Block::ZERO; self.x.len()]);
        let mut one = Zeroizing::new(Block::zeros(plan.sizes.transfers));
        let mut places = vec![0; plan.sizes.slots];
        for (block, corrections) in corrections.chunks(plan.corrections_len()).enumerate() {
            let cut = cut(&plan.sizes, self.params.session(), challenge, block);
            keys.fill(ctx.pool(), &mut one)?;
            let zero = pads.apply(ctx.pool(), block, &cut, &mut one, corrections);
            #[cfg(test)]
            self.spoils.iter().for_each(|i| one[*i] ^= Block::ONE);
            recv_opening(ctx, plan)?.check(plan, &zero)?;
            recv_places(ctx, plan, &cut, &mut places)?;
            let of_block = hashing.sums(ctx.pool(), &self.x, blocks.bucket(block), &places, &one);
            let positions = blocks.bucket(block).iter().map(Tagged::position);
            positions.zip(of_block).for_each(|(i, sum)| sums[i as usize] = sum);
            ctx.progress(block as u64 + 1, plan.sizes.blocks() as u64);
        }
        Ok(sums)
    }
}

/// Receives d of all blocks.
fn recv_corrections(ctx: &mut Context, plan: &Plan) -> Result<Vec<u8>> {
    let of_block = plan.corrections_len();
    let mut corrections = vec![0; plan.sizes.blocks() * of_block];
    for (block, corrections) in corrections.chunks_mut(of_block).enumerate() {
        let parts = corrections.chunks_mut(BYTES_PER_MESSAGE);
        parts.into_iter().try_for_each(|part| ctx.peer()?.recv_into(part))?;
        ctx.progress(block as u64 + 1, plan.sizes.blocks() as u64);
    }
    Ok(corrections)
}

/// What makes messages of correlated transfers.
struct Pads<'a> {
    hash: Hash,
    delta: Secret<Block>,
    plan: &'a Plan,
}

impl Pads<'_> {
    /// Makes m_{i,1} of the keys of a block; gives m_{i,0} of those in C, in order.
    fn apply(
        &self,
        pool: &Pool,
        block: usize,
        cut: &[u64],
        keys: &mut [Block],
        corrections: &[u8],
    ) -> Zeroizing<Vec<Block>> {
        let first = block * self.plan.sizes.transfers;
        let pieces = keys.chunks_mut(PER_MESSAGE).zip(corrections.chunks(PER_MESSAGE / 8));
        let mut zero: Vec<_> = pieces.map(|parts| (parts, Zeroizing::default())).collect();
        pool.for_each(zero.iter_mut().enumerate().collect(), |(i, ((keys, corrections), zero))| {
            let place = i * PER_MESSAGE;
            *zero = self.piece(cut, (first + place) as u64, place, keys, corrections);
        });
        Zeroizing::new(zero.iter().flat_map(|(_, zero)| zero.iter().copied()).collect())
    }

    /// The same of the piece at `place` of the block, whose first transfer has the number `first`.
    fn piece(
        &self,
        cut: &[u64],
        first: u64,
        place: usize,
        keys: &mut [Block],
        corrections: &[u8],
    ) -> Zeroizing<Vec<Block>> {
        let mut zeros = Zeroizing::new(keys.to_vec());
        let parts = keys.chunks_mut(8).zip(zeros.chunks_mut(8)).zip(corrections);
        for ((ones, zeros), corrections) in parts {
            for (bit, (one, zero)) in ones.iter_mut().zip(zeros).enumerate() {
                let flips = corrections >> bit & 1 == 1;
                *one ^= *self.delta.expose() & Block::mask(!flips);
                *zero ^= *self.delta.expose() & Block::mask(flips);
            }
        }
        self.hash.apply(first, keys);
        self.hash.apply(first, &mut zeros);
        let places = (place..).zip(zeros.iter());
        let opened = places.filter(|(place, _)| is_one(cut, *place)).map(|(_, zero)| *zero);
        Zeroizing::new(opened.collect())
    }
}

/// Receives R and r* of a block.
fn recv_opening(ctx: &mut Context, plan: &Plan) -> Result<Opening> {
    let mut zeros = vec![0; plan.sizes.opened.div_ceil(8)];
    let parts = zeros.chunks_mut(BYTES_PER_MESSAGE);
    parts.into_iter().try_for_each(|part| ctx.peer()?.recv_into(part))?;
    let mut sum = [0; Block::LEN];
    ctx.peer()?.recv_into(&mut sum)?;
    Ok(Opening { zeros, sum: Block::from_le_bytes(sum) })
}

/// Receives π of a block and checks it as it comes.
fn recv_places(ctx: &mut Context, plan: &Plan, cut: &[u64], places: &mut [u32]) -> Result<()> {
    let mut used = Used::new(plan, cut);
    for part in places.chunks_mut(PER_MESSAGE) {
        let bytes = ctx.peer()?.recv(plan.places_len(part.len()))?;
        unpack(&bytes, plan.place_bits, part)?;
        used.use_all(part)?;
    }
    Ok(())
}
