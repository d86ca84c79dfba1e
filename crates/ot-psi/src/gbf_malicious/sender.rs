//! The messages of the receiver as the sender receives them, and the messages of the transfers.

use super::cut::{Opening, is_one};
use super::injection::{Used, unpack};
use super::plan::{BYTES_PER_MESSAGE, PER_MESSAGE, Plan};
use vesica_core::{Block, Result, Secret};
use vesica_net::{Context, Pool};
use vesica_ot::adapters::random::Hash;
use zeroize::Zeroizing;

/// Receives d of all blocks.
pub(super) fn recv_corrections(ctx: &mut Context, plan: &Plan) -> Result<Vec<u8>> {
    let of_block = plan.corrections_len();
    let mut corrections = vec![0; plan.sizes.blocks() * of_block];
    for (block, corrections) in corrections.chunks_mut(of_block).enumerate() {
        let parts = corrections.chunks_mut(BYTES_PER_MESSAGE);
        parts.into_iter().try_for_each(|part| ctx.peer()?.recv_into(part))?;
        ctx.progress(block as u64 + 1, plan.sizes.blocks() as u64);
    }
    Ok(corrections)
}

/// Turns the keys of correlated transfers into messages.
pub(super) struct Pads<'a> {
    pub(super) hash: Hash,
    pub(super) delta: Secret<Block>,
    pub(super) plan: &'a Plan,
}

impl Pads<'_> {
    /// Replaces the keys of a block by m_{i,1}; returns m_{i,0} for those in C, in order.
    pub(super) fn apply(
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

    /// The same for the piece at `place` of the block, whose first transfer has the number `first`.
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
pub(super) fn recv_opening(ctx: &mut Context, plan: &Plan) -> Result<Opening> {
    let mut zeros = vec![0; plan.sizes.opened.div_ceil(8)];
    let parts = zeros.chunks_mut(BYTES_PER_MESSAGE);
    parts.into_iter().try_for_each(|part| ctx.peer()?.recv_into(part))?;
    let mut sum = [0; Block::LEN];
    ctx.peer()?.recv_into(&mut sum)?;
    Ok(Opening { zeros, sum: Block::from_le_bytes(sum) })
}

/// Receives π of a block and checks each message as it comes.
pub(super) fn recv_places(
    ctx: &mut Context,
    plan: &Plan,
    cut: &[u64],
    places: &mut [u32],
) -> Result<()> {
    let mut used = Used::new(plan, cut);
    for part in places.chunks_mut(PER_MESSAGE) {
        let bytes = ctx.peer()?.recv(plan.places_len(part.len()))?;
        unpack(&bytes, plan.place_bits, part)?;
        used.use_all(part)?;
    }
    Ok(())
}
