//! With `Learns::Both`: the receiver sends tags of the common items, and random ones besides, so
//! that their number says nothing.

use super::hashing::Hashing;
use crate::{Output, sorted_tags};
use rand::Rng;
use vesica_core::elias_fano::Shape;
use vesica_core::params::{STATISTICAL_SECURITY_BITS, ceil_log2};
use vesica_core::tagged::Tagged;
use vesica_core::{Item, Learns, PsiParams, Result};
use vesica_net::Context;

/// As many tags as items can be common; of a length that a random one is among the sender's with
/// probability 2^-λ over all.
fn shape(params: &PsiParams) -> Shape {
    let (n_x, n_y) = (params.sender_len() as u64, params.receiver_len() as u64);
    let bits = STATISTICAL_SECURITY_BITS + ceil_log2(n_x) + ceil_log2(n_y);
    Shape::new(n_x.min(n_y), bits)
}

/// Payload bytes from the receiver to the sender.
pub(super) fn bytes(params: &PsiParams) -> u64 {
    match params.learns() {
        Learns::Receiver => 0,
        Learns::Both => shape(params).bytes(),
    }
}

/// The receiver's side; `common` are the positions in `y`.
pub(super) fn give(
    ctx: &mut Context,
    params: &PsiParams,
    hashing: &Hashing,
    y: &[Item],
    common: &[usize],
) -> Result<()> {
    if params.learns() == Learns::Receiver {
        return Ok(());
    }
    let shape = shape(params);
    let len = shape.len() as usize;
    let items: Vec<Item> = common.iter().take(len).map(|i| y[*i]).collect();
    let mut tags = hashing.answers(ctx.pool(), &items, shape.tag_bits());
    let mask = u128::MAX >> (128 - shape.tag_bits());
    let mut random = [0; 16];
    while tags.len() < len {
        ctx.rng().fill_bytes(&mut random);
        tags.push(Tagged::new(u128::from_le_bytes(random) & mask, 0));
    }
    ctx.child("answer", |ctx| sorted_tags::send(ctx, shape, tags))?;
    Ok(())
}

/// The sender's side.
pub(super) fn take(
    ctx: &mut Context,
    params: &PsiParams,
    hashing: &Hashing,
    x: &[Item],
) -> Result<Output> {
    if params.learns() == Learns::Receiver {
        return Ok(Output::Nothing);
    }
    let shape = shape(params);
    let own = hashing.answers(ctx.pool(), x, shape.tag_bits());
    let matches = ctx.child("answer", |ctx| sorted_tags::find(ctx, shape, own))?;
    Ok(Output::Positions(sorted_tags::own_positions(&matches, params.sender_len())))
}
