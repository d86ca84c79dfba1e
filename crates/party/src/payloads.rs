//! The last step of intersections with payloads: after its tags the sender sends the payload of
//! each item, encrypted under a pad that follows from the item, in the order of the tags; the
//! receiver decrypts those of the common items.
//!
//! The receiver cannot tell the others from random bytes. No payload is checked here: whether one
//! is of the agreed form can depend on which items are common, so that an error at this point would
//! reveal an item of the receiver to a sender that deviates.

use crate::Output;
use crate::sorted_tags::{Match, own_positions};
use vesica_core::{Block, Error, PayloadLen, PsiParams, Result};
use vesica_net::Context;

/// Bytes of payloads in one message, unless a single one is longer.
const BYTES_PER_MESSAGE: usize = 1 << 18;

/// Bytes of payloads that one CPU thread encrypts at a time.
const BYTES_PER_TASK: usize = 1 << 16;

/// Encrypts or decrypts payloads: adds the pad of each mask to its payload, bit by bit. There is
/// one payload for each mask, all of the same length, one after the other.
pub type Pad<'a> = &'a (dyn Fn(&[Block], &mut [u8]) + Sync);

/// Sends the payload of each of the sender's items: `order` has the positions in the order of the
/// tags, `masks` and `payloads` follow the positions.
///
/// # Errors
/// [`Error::Bug`] unless there is a payload for each mask; the errors of the connection.
pub fn send(
    ctx: &mut Context,
    len: PayloadLen,
    order: &[u32],
    masks: &[Block],
    payloads: &[u8],
    pad: Pad<'_>,
) -> Result<()> {
    let len = len.bytes();
    if order.len() != masks.len() || payloads.len() != masks.len() * len {
        return Err(Error::Bug("there is not one payload for each item"));
    }
    let mut done = 0;
    for places in order.chunks(per_message(len)) {
        let mut masks_sent = Vec::with_capacity(places.len());
        let mut message = Vec::with_capacity(places.len() * len);
        for position in places {
            let position = *position as usize;
            masks_sent.push(masks[position]);
            message.extend_from_slice(&payloads[position * len..][..len]);
        }
        apply(ctx, pad, &masks_sent, &mut message, len);
        ctx.peer()?.send(&message)?;
        done += places.len() as u64;
        ctx.progress(done, order.len() as u64);
    }
    ctx.finish()
}

/// Receives the payloads of `sender_len` items and keeps those of the common ones, decrypted:
/// `masks` follow this party's own positions. Returns the positions, ascending, and the payloads in
/// their order.
///
/// A payload that is not of a common item is decrypted as well, to random bytes: otherwise the time
/// would say how many items are common.
///
/// # Errors
/// The errors of the connection.
pub fn receive(
    ctx: &mut Context,
    len: PayloadLen,
    sender_len: usize,
    matches: &[Match],
    masks: &[Block],
    pad: Pad<'_>,
) -> Result<(Vec<usize>, Vec<u8>)> {
    let len = len.bytes();
    let positions = own_positions(matches, masks.len());
    let mut by_place: Vec<(u32, u32)> =
        matches.iter().map(|found| (found.place, found.own)).collect();
    by_place.sort_unstable();
    let mut payloads = vec![0; positions.len() * len];
    let (mut first, mut next) = (0, by_place.iter().peekable());
    while first < sender_len {
        let places = per_message(len).min(sender_len - first);
        let mut message = ctx.peer()?.recv(places * len)?;
        let mut masks_here = vec![Block::default(); places];
        let mut found = Vec::new();
        while let Some((place, own)) = next.next_if(|(place, _)| (*place as usize) < first + places)
        {
            masks_here[*place as usize - first] = masks[*own as usize];
            found.push((*place as usize - first, *own as usize));
        }
        apply(ctx, pad, &masks_here, &mut message, len);
        for (place, own) in found {
            let to = positions.binary_search(&own);
            let to = to.map_err(|_| Error::Bug("a match has no position"))?;
            payloads[to * len..][..len].copy_from_slice(&message[place * len..][..len]);
        }
        first += places;
        ctx.progress(first as u64, sender_len as u64);
    }
    Ok((positions, payloads))
}

/// The receiver's output if no item is common.
pub fn nothing_common(params: &PsiParams) -> Output {
    match params.query().payload_len() {
        Some(_) => Output::Payloads { positions: Vec::new(), payloads: Vec::new() },
        None => Output::Positions(Vec::new()),
    }
}

/// Bytes of the payloads of `sender_len` items.
pub fn bytes(len: Option<PayloadLen>, sender_len: usize) -> u64 {
    len.map_or(0, |len| (sender_len * len.bytes()) as u64)
}

fn per_message(len: usize) -> usize {
    (BYTES_PER_MESSAGE / len).max(1)
}

/// Applies `pad` on all threads.
fn apply(ctx: &Context, pad: Pad<'_>, masks: &[Block], payloads: &mut [u8], len: usize) {
    let at_once = (BYTES_PER_TASK / len).max(1);
    let tasks = masks.chunks(at_once).zip(payloads.chunks_mut(at_once * len)).collect();
    ctx.pool().for_each(tasks, |(masks, payloads)| pad(masks, payloads));
}
