//! Oblivious transfer of chosen messages by chosen bits.
//!
//! ```text
//!   sender: m_0, m_1                         receiver: c
//!   p_0, p_1          random transfer        r, p_r
//!                ◀────   d = c + r   ────
//!                ─ y_b = m_b + p_{b+d} ──▶    m_c = y_c + p_r
//! ```

use super::random::{self, receive_corrections, send_corrections};
use crate::{Bits, CotReceiver, CotSender, Traffic};
use vesica_core::{Block, Result};
use vesica_net::Context;
use vesica_simd::xor::xor;

/// Transfers per message.
const PER_MESSAGE: usize = 1 << 16;

/// Payload bytes of `len` transfers, without those of the correlated transfers.
pub const fn bytes(len: usize) -> Traffic {
    Traffic {
        sender_to_receiver: (2 * Block::LEN * len) as u64,
        receiver_to_sender: Bits::bytes_len(len) as u64,
    }
}

/// Sends the pairs: the receiver gets one block of each.
///
/// # Errors
/// Errors of the connection and of the correlated transfers.
pub fn send<C: CotSender>(
    transfers: &mut random::Sender<C>,
    ctx: &mut Context,
    messages: &[[Block; 2]],
) -> Result<()> {
    let pads = transfers.extend(ctx, messages.len())?;
    let corrections = receive_corrections(ctx, messages.len())?;
    let mut masked: Vec<[Block; 2]> = Vec::with_capacity(messages.len());
    for (([p0, p1], [m0, m1]), d) in pads.iter().zip(messages).zip(corrections.iter()) {
        let swap = (*p0 ^ *p1) & Block::mask(d);
        masked.push([*m0 ^ *p0 ^ swap, *m1 ^ *p1 ^ swap]);
    }
    for part in masked.chunks(PER_MESSAGE) {
        ctx.peer()?.send(Block::as_bytes(part.as_flattened()))?;
    }
    Ok(())
}

/// The chosen block of each pair.
///
/// # Errors
/// Errors of the connection and of the correlated transfers.
pub fn receive<C: CotReceiver>(
    transfers: &mut random::Receiver<C>,
    ctx: &mut Context,
    choices: &Bits,
) -> Result<Vec<Block>> {
    let random::Received { choices: random, mut messages } =
        transfers.extend(ctx, choices.len())?;
    send_corrections(ctx, choices, &random)?;
    let mut masked = Vec::new();
    let mut chosen = Vec::new();
    let mut bits = choices.iter();
    for part in messages.chunks_mut(PER_MESSAGE) {
        masked.resize(2 * part.len(), Block::ZERO);
        ctx.peer()?.recv_into(Block::as_bytes_mut(&mut masked))?;
        let (pairs, _) = masked.as_chunks::<2>();
        chosen.clear();
        chosen.extend(
            pairs.iter().zip(&mut bits).map(|([y0, y1], c)| *y0 ^ ((*y0 ^ *y1) & Block::mask(c))),
        );
        xor(part, &chosen);
    }
    Ok(messages)
}
