//! Correlated oblivious transfer with chosen bits.
//!
//! ```text
//!   sender                                    receiver: c
//!   K, Δ             correlated transfer      r, M = K + r·Δ
//!                ◀────   d = c + r   ────
//!   K + d·Δ                                   M = (K + d·Δ) + c·Δ
//! ```

use super::random::{receive_corrections, send_corrections};
use crate::{Bits, CotReceiver, CotSender, Traffic};
use vesica_core::{Block, Result};
use vesica_net::Context;

/// Payload bytes of `len` transfers with the difference Δ, without those of the correlated
/// transfers with random choices.
pub const fn bytes(len: usize) -> Traffic {
    Traffic { sender_to_receiver: 0, receiver_to_sender: Bits::bytes_len(len) as u64 }
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
