//! The messages of the receiver, block by block.

use super::cut::Opening;
use super::injection::pack;
use super::plan::{BYTES_PER_MESSAGE, PER_MESSAGE, Plan};
use std::num::NonZeroUsize;
use vesica_core::{Block, Result};
use vesica_net::Context;

/// Sends d of a block, which turns the random choices of the transfers into b. Of the transfers
/// this needs only these choices, in the lowest bits.
pub(super) fn send_choices(
    ctx: &mut Context,
    plan: &Plan,
    transfers: &[Block],
    b: &[u64],
) -> Result<()> {
    let words = transfers.chunks(64).zip(b);
    let d: Vec<u8> = words
        .flat_map(|(blocks, b)| {
            let bits = blocks.iter().enumerate();
            let word = bits.fold(0, |word, (i, m)| word | (m.get() as u64 & 1) << i);
            (word ^ b).to_le_bytes()
        })
        .collect();
    let parts = d[..plan.corrections_len()].chunks(BYTES_PER_MESSAGE);
    parts.into_iter().try_for_each(|part| ctx.peer()?.send(part))
}

/// Sends R and r* of a block.
pub(super) fn send_opening(ctx: &mut Context, opening: &Opening) -> Result<()> {
    let parts = opening.zeros.chunks(BYTES_PER_MESSAGE);
    parts.into_iter().try_for_each(|part| ctx.peer()?.send(part))?;
    ctx.peer()?.send(&opening.sum.to_le_bytes())
}

/// Sends π of a block.
pub(super) fn send_places(ctx: &mut Context, plan: &Plan, places: &[u32]) -> Result<()> {
    let parts: Vec<&[u32]> = places.chunks(PER_MESSAGE).collect();
    let packed = ctx.map(&parts, NonZeroUsize::MIN, |part| pack(part[0], plan.place_bits));
    packed.iter().try_for_each(|part| ctx.peer()?.send(part))
}
