//! The last step of protocols in which the receiver compares tags: it finds what is common and,
//! with [`Learns::Both`], tells the sender.

use crate::Output;
use vesica_core::tags::{Tag, TagSet};
use vesica_core::{Learns, PsiParams, Result, Shuffled, bit, pack_bits};
use vesica_net::Context;

/// Bytes of the answer in one message.
const BYTES_PER_MESSAGE: usize = 1 << 20;

/// Payload bytes from the receiver to the sender: one bit per item of the sender, or nothing.
pub(crate) fn bytes(params: &PsiParams) -> u64 {
    match params.learns() {
        Learns::Receiver => 0,
        Learns::Both => params.sender_len().div_ceil(8) as u64,
    }
}

/// The receiver's side: the set of the sender's tags, for looking up its own. With
/// [`Learns::Both`] the sender is told, in the order of `tags_of_x`, which are among `tags_of_y`.
pub(crate) fn give(
    ctx: &mut Context,
    params: &PsiParams,
    tags_of_x: Vec<Tag>,
    tags_of_y: &[Tag],
) -> Result<TagSet> {
    let len = params.tag_len_bytes();
    if params.learns() == Learns::Both {
        let of_y = ctx.pool().run(|| TagSet::new(tags_of_y.to_vec(), len));
        let bits = pack_bits(tags_of_x.iter().map(|tag| of_y.contains(*tag)));
        ctx.child("answer", |ctx| {
            bits.chunks(BYTES_PER_MESSAGE).try_for_each(|block| ctx.peer()?.send(block))
        })?;
        ctx.finish()?;
    }
    Ok(ctx.pool().run(|| TagSet::new(tags_of_x, len)))
}

/// The sender's side: what it learns of the items it sent in the order of `x`.
pub(crate) fn take(ctx: &mut Context, params: &PsiParams, x: &Shuffled) -> Result<Output> {
    match params.learns() {
        Learns::Receiver => Ok(Output::Nothing),
        Learns::Both => {
            let mut bits = vec![0; params.sender_len().div_ceil(8)];
            ctx.child("answer", |ctx| {
                let mut blocks = bits.chunks_mut(BYTES_PER_MESSAGE);
                blocks.try_for_each(|block| ctx.peer()?.recv_into(block))
            })?;
            Ok(Output::Positions(x.own_positions(|place| bit(&bits, place))))
        }
    }
}
