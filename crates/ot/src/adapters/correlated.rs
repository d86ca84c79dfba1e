//! Correlated oblivious transfer with chosen bits: with the fixed difference Δ, or with chosen differences.
//!
//! ```text
//!   sender                                    receiver: c
//!   K, Δ             correlated transfer      r, M = K + r·Δ
//!                ◀────   d = c + r   ────
//!   K + d·Δ                                   M = (K + d·Δ) + c·Δ
//!
//!   with a difference δ of the sender's:
//!   x = H(K + d·Δ)
//!            ─ t = x + H(K + d·Δ + Δ) + δ ─▶   H(M) + c·t = x + c·δ
//! ```

use super::random::{self, receive_corrections, send_corrections};
use crate::{Bits, CotReceiver, CotSender, Traffic};
use vesica_core::{Block, Result};
use vesica_net::Context;

/// Transfers per message of differences.
const PER_MESSAGE: usize = 1 << 17;

/// Payload bytes of `len` transfers with the difference Δ, without those of the correlated transfers with random
/// choices.
pub const fn bytes(len: usize) -> Traffic {
    Traffic { sender_to_receiver: 0, receiver_to_sender: Bits::bytes_len(len) as u64 }
}

/// Payload bytes of `len` transfers with chosen differences, without those of the correlated transfers with random
/// choices.
pub const fn difference_bytes(len: usize) -> Traffic {
    Traffic {
        sender_to_receiver: (Block::LEN * len) as u64,
        receiver_to_sender: Bits::bytes_len(len) as u64,
    }
}

/// K_i of `len` transfers for which the receiver chooses the bits.
///
/// # Errors
/// Errors of the connection and of the correlated transfers.
pub fn send(cots: &mut impl CotSender, ctx: &mut Context, len: usize) -> Result<Vec<Block>> {
    let mut blocks = cots.extend(ctx, len)?;
    let corrections = receive_corrections(ctx, len)?;
    let delta = cots.delta();
    let corrected = blocks.iter_mut().zip(corrections.iter());
    corrected.for_each(|(k, d)| *k ^= *delta.expose() & Block::mask(d));
    Ok(blocks)
}

/// M_i = K_i + c_i·Δ for the bits `choices`.
///
/// # Errors
/// Errors of the connection and of the correlated transfers.
pub fn receive(
    cots: &mut impl CotReceiver,
    ctx: &mut Context,
    choices: &Bits,
) -> Result<Vec<Block>> {
    let mut cots = cots.extend(ctx, choices.len())?;
    send_corrections(ctx, choices, &cots.choices)?;
    Ok(std::mem::take(&mut cots.blocks))
}

/// Random x_i, one transfer for each of `differences`.
///
/// # Errors
/// Errors of the connection and of the correlated transfers.
pub fn send_differences<C: CotSender>(
    transfers: &mut random::Sender<C>,
    ctx: &mut Context,
    differences: &[Block],
) -> Result<Vec<Block>> {
    let mut pads = transfers.extend(ctx, differences.len())?;
    let corrections = receive_corrections(ctx, differences.len())?;
    for ([p0, p1], d) in pads.iter_mut().zip(corrections.iter()) {
        let swap = (*p0 ^ *p1) & Block::mask(d);
        *p0 ^= swap;
        *p1 ^= swap;
    }
    let masked: Vec<_> =
        pads.iter().zip(differences).map(|([p0, p1], delta)| *p0 ^ *p1 ^ *delta).collect();
    for part in masked.chunks(PER_MESSAGE) {
        ctx.peer()?.send(Block::as_bytes(part))?;
    }
    Ok(pads.into_iter().map(|[x, _]| x).collect())
}

/// x_i + c_i·δ_i for the bits `choices`.
///
/// # Errors
/// Errors of the connection and of the correlated transfers.
pub fn receive_differences<C: CotReceiver>(
    transfers: &mut random::Receiver<C>,
    ctx: &mut Context,
    choices: &Bits,
) -> Result<Vec<Block>> {
    let random::Received { choices: random, mut messages } =
        transfers.extend(ctx, choices.len())?;
    send_corrections(ctx, choices, &random)?;
    let mut masked = Vec::new();
    let mut bits = choices.iter();
    for part in messages.chunks_mut(PER_MESSAGE) {
        masked.resize(part.len(), Block::ZERO);
        ctx.peer()?.recv_into(Block::as_bytes_mut(&mut masked))?;
        for ((x, t), c) in part.iter_mut().zip(&masked).zip(&mut bits) {
            *x ^= *t & Block::mask(c);
        }
    }
    Ok(messages)
}
