//! Step 10, with `Learns::Both`: the receiver proves each match, as in `rr22_malicious`.

use rand::Rng;
use vesica_core::params::{STATISTICAL_SECURITY_BITS, ceil_log2};
use vesica_core::{Block, Learns, PsiParams, Result};
use vesica_net::Context;
use vesica_party::{Output, answer, sorted_tags};

/// p: a proof is guessed for any of the sender's items with probability 2^-λ.
fn proof_len(params: &PsiParams) -> usize {
    (STATISTICAL_SECURITY_BITS + ceil_log2(params.sender_len() as u64)).div_ceil(8) as usize
}

/// Payload bytes from the receiver to the sender.
pub(super) fn bytes(params: &PsiParams) -> u64 {
    match params.learns() {
        Learns::Receiver => 0,
        Learns::Both => (params.sender_len() * proof_len(params)) as u64,
    }
}

/// The receiver's side: for each place a proof, or random bytes of the same length. `proofs` are
/// those of its own items by position.
pub(super) fn send(
    ctx: &mut Context,
    params: &PsiParams,
    matches: &[sorted_tags::Match],
    proofs: &[Block],
) -> Result<()> {
    if params.learns() == Learns::Receiver {
        return Ok(());
    }
    let len = proof_len(params);
    let mut bytes = vec![0; params.sender_len() * len];
    ctx.rng().fill_bytes(&mut bytes);
    for found in matches {
        let proof = proofs[found.own as usize].to_le_bytes();
        bytes[found.place as usize * len..][..len].copy_from_slice(&proof[..len]);
    }
    answer::send_bytes(ctx, &bytes)
}

/// The sender's side of [`send`]; `order` has the position of the item at each place.
pub(super) fn recv(
    ctx: &mut Context,
    params: &PsiParams,
    order: &[u32],
    proofs: &[Block],
) -> Result<Output> {
    if params.learns() == Learns::Receiver {
        return Ok(Output::Nothing);
    }
    let len = proof_len(params);
    let bytes = answer::receive_bytes(ctx, order.len() * len)?;
    Ok(answer::positions_at(order, |place| {
        let proof = proofs[order[place] as usize].to_le_bytes();
        bytes[place * len..][..len] == proof[..len]
    }))
}
