//! Cardinality (§4.3): the weight of e.
//!
//! | | |
//! |---|---|
//! | rows | `gmrss21_cardinality`, `gmrss21_cardinality_paper`, `cardinality_low_communication` |
//! | security | semi-honest |
//! | assumption, `gmrss21_cardinality` | regular learning parity with noise over GF(2) and GF(2^128); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | assumption, `gmrss21_cardinality_paper` | gap Diffie–Hellman in Ristretto255; AES is pseudorandom; random oracle, ideal cipher |
//! | assumption, `cardinality_low_communication` | regular learning parity with noise over GF(2) and GF(2^16); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | receiver learns | how many items are common; the size of the sender's set |
//! | sender learns | the size of the receiver's set; with bounds, whether the number of common items is inside; when both learn, also the answer |
//! | flights | 14 (`gmrss21_cardinality`), 27 (`gmrss21_cardinality_paper`), 19 (`cardinality_low_communication`), for 2^16 items each |
//!
//! ```text
//!   sender                                            receiver: e
//!
//!   [both] |e|                ◀──────────────────────  |e|, 8 bytes
//! ```

use vesica_core::{Error, Learns, Misbehaviour, PsiParams, Result};
use vesica_net::Context;
use vesica_ot::Traffic;
use vesica_party::Output;

/// Bytes of a count.
pub(super) const COUNT_LEN: usize = 8;

/// Payload bytes.
pub(super) fn bytes(params: &PsiParams) -> Traffic {
    let is_sent = params.learns() == Learns::Both && !params.has_empty_set();
    Traffic {
        sender_to_receiver: 0,
        receiver_to_sender: if is_sent { COUNT_LEN as u64 } else { 0 },
    }
}

/// The sender's side.
pub(super) fn sender(ctx: &mut Context, params: &PsiParams) -> Result<Output> {
    match params.learns() {
        Learns::Receiver => Ok(Output::Nothing),
        Learns::Both if params.has_empty_set() => Ok(Output::Cardinality(0)),
        Learns::Both => Ok(Output::Cardinality(recv_count(ctx, params)?)),
    }
}

/// The receiver's side; `count` is the weight of e.
pub(super) fn receiver(ctx: &mut Context, params: &PsiParams, count: u64) -> Result<Output> {
    if params.learns() == Learns::Both && !params.has_empty_set() {
        send_count(ctx, count)?;
    }
    Ok(Output::Cardinality(count))
}

pub(super) fn send_count(ctx: &mut Context, count: u64) -> Result<()> {
    ctx.peer()?.send(&count.to_le_bytes())?;
    ctx.peer()?.flush()
}

/// A count of common items: at most the size of the smaller set, and inside the bounds.
pub(super) fn recv_count(ctx: &mut Context, params: &PsiParams) -> Result<u64> {
    let mut bytes = [0; COUNT_LEN];
    ctx.peer()?.recv_into(&mut bytes)?;
    let count = u64::from_le_bytes(bytes);
    let is_possible = count <= params.sender_len().min(params.receiver_len()) as u64
        && params.bounds().contain(count);
    if is_possible { Ok(count) } else { Err(Error::PeerMisbehaved(Misbehaviour::InvalidValue)) }
}
