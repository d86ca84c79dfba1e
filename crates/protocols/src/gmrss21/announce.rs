//! What the receiver tells the sender of the result.

use super::transfers::{recv_rows, reserve, send_rows};
use crate::Output;
use vesica_core::{Error, Misbehaviour, PsiParams, Result, Values};
use vesica_net::Context;

/// Bytes of a number that is told.
const NUMBER_LEN: usize = 16;

/// Bytes of a count.
pub(super) const COUNT_LEN: usize = 8;

/// Payload bytes of [`tell`].
pub(super) fn bounds_bytes(params: &PsiParams) -> u64 {
    u64::from(asks(params))
}

/// Payload bytes of [`send_sums`].
pub(super) fn sums_bytes(params: &PsiParams, values: Values) -> u64 {
    match params.has_empty_set() {
        true => 0,
        false => (COUNT_LEN + NUMBER_LEN * values.columns()) as u64,
    }
}

/// Whether there are bounds that need more than the sizes to decide.
fn asks(params: &PsiParams) -> bool {
    !params.bounds().are_none() && !params.has_empty_set()
}

/// The receiver's side: whether `count` is inside the bounds, and so whether there is an answer.
pub(super) fn tell(ctx: &mut Context, params: &PsiParams, count: u64) -> Result<bool> {
    let is_inside = params.bounds().contain(count);
    if asks(params) {
        ctx.peer()?.send(&[u8::from(is_inside)])?;
        ctx.peer()?.flush()?;
    }
    Ok(is_inside)
}

/// The sender's side.
pub(super) fn hear(ctx: &mut Context, params: &PsiParams) -> Result<bool> {
    if !asks(params) {
        return Ok(!params.has_empty_set() || params.bounds().contain(0));
    }
    match ctx.peer()?.recv(1)?[..] {
        [0] => Ok(false),
        [1] => Ok(true),
        _ => Err(Error::PeerMisbehaved(Misbehaviour::InvalidValue)),
    }
}

pub(super) fn send_count(ctx: &mut Context, count: u64) -> Result<()> {
    ctx.peer()?.send(&count.to_le_bytes())?;
    ctx.peer()?.flush()
}

/// A count of common items: not more than the smaller set has.
pub(super) fn recv_count(ctx: &mut Context, params: &PsiParams) -> Result<u64> {
    let mut bytes = [0; COUNT_LEN];
    ctx.peer()?.recv_into(&mut bytes)?;
    let count = u64::from_le_bytes(bytes);
    let is_possible = count <= params.sender_len().min(params.receiver_len()) as u64
        && params.bounds().contain(count);
    match is_possible {
        true => Ok(count),
        false => Err(Error::PeerMisbehaved(Misbehaviour::InvalidValue)),
    }
}

pub(super) fn send_sums(
    ctx: &mut Context,
    params: &PsiParams,
    count: u64,
    sums: &[i128],
) -> Result<()> {
    if params.has_empty_set() {
        return Ok(());
    }
    send_count(ctx, count)?;
    send_rows(ctx, sums.len(), NUMBER_LEN, |i, out| out.copy_from_slice(&sums[i].to_le_bytes()))
}

pub(super) fn recv_sums(ctx: &mut Context, params: &PsiParams, values: Values) -> Result<Output> {
    let mut sums = vec![0; values.columns()];
    if params.has_empty_set() {
        return Ok(Output::CountedSums { count: 0, sums });
    }
    let count = recv_count(ctx, params)?;
    recv_rows(ctx, sums.len(), NUMBER_LEN, |i, row| {
        let mut number = [0; NUMBER_LEN];
        number.copy_from_slice(row);
        sums[i] = i128::from_le_bytes(number);
    })?;
    Ok(Output::CountedSums { count, sums })
}

/// The receiver's side: the number of `texts`, then they, of `len` bytes each.
pub(super) fn send_union(ctx: &mut Context, len: usize, texts: &[&[u8]]) -> Result<()> {
    send_count(ctx, texts.len() as u64)?;
    send_rows(ctx, texts.len(), len, |i, out| out.copy_from_slice(texts[i]))
}

/// The sender's side: the texts, as many as a union can have.
pub(super) fn recv_union(ctx: &mut Context, params: &PsiParams, len: usize) -> Result<Vec<u8>> {
    let mut bytes = [0; COUNT_LEN];
    ctx.peer()?.recv_into(&mut bytes)?;
    let count = u64::from_le_bytes(bytes);
    let (n_x, n_y) = (params.sender_len() as u64, params.receiver_len() as u64);
    if !(n_x.max(n_y)..=n_x + n_y).contains(&count) {
        return Err(Error::PeerMisbehaved(Misbehaviour::InvalidValue));
    }
    let mut union = Vec::new();
    reserve(&mut union, count as usize, len)?;
    recv_rows(ctx, count as usize, len, |_, row| union.extend_from_slice(row))?;
    Ok(union)
}

/// Most payload bytes of [`send_union`].
pub(super) fn union_bytes(params: &PsiParams, len: usize) -> u64 {
    (COUNT_LEN + (params.sender_len() + params.receiver_len()) * len) as u64
}
