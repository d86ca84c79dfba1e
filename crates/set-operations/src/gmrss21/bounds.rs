//! Bounds: after the core the receiver's program knows how many items are common, and ends the run
//! where the number is outside. The sender learns that it is inside or outside, and no more.

use vesica_core::{Error, Misbehaviour, PsiParams, Result};
use vesica_net::Context;

/// Payload bytes from the receiver to the sender.
pub(super) fn bytes(params: &PsiParams) -> u64 {
    u64::from(are_sent(params))
}

/// Whether there are bounds, and the sizes alone do not decide.
fn are_sent(params: &PsiParams) -> bool {
    !params.bounds().are_none() && !params.has_empty_set()
}

/// The sender's side: whether there is a result.
pub(super) fn sender(ctx: &mut Context, params: &PsiParams) -> Result<bool> {
    if !are_sent(params) {
        return Ok(!params.has_empty_set() || params.bounds().contain(0));
    }
    match ctx.peer()?.recv(1)?[..] {
        [0] => Ok(false),
        [1] => Ok(true),
        _ => Err(Error::PeerMisbehaved(Misbehaviour::InvalidValue)),
    }
}

/// The receiver's side: whether `count` is inside, and so whether there is a result.
pub(super) fn receiver(ctx: &mut Context, params: &PsiParams, count: u64) -> Result<bool> {
    let is_inside = params.bounds().contain(count);
    if are_sent(params) {
        ctx.peer()?.send(&[u8::from(is_inside)])?;
        ctx.peer()?.flush()?;
    }
    Ok(is_inside)
}
