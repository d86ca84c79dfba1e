//! Union (Figure 8).
//!
//! | | |
//! |---|---|
//! | rows | `gmrss21_union`, `gmrss21_union_paper`, `union_low_communication` |
//! | security | semi-honest |
//! | assumption, `gmrss21_union` | regular learning parity with noise over GF(2) and GF(2^128); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | assumption, `gmrss21_union_paper` | gap Diffie–Hellman in Ristretto255; AES is pseudorandom; random oracle, ideal cipher |
//! | assumption, `union_low_communication` | regular learning parity with noise over GF(2) and GF(2^16); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | receiver learns | the items that only the sender has, and so how many are common; the size of the sender's set |
//! | sender learns | the size of the receiver's set; with a result of its own, the items that only the receiver has |
//! | flights | 18 (`gmrss21_union`), 29 (`gmrss21_union_paper`), 23 (`union_low_communication`), for 2^16 items each |
//!
//! ```text
//!   sender: π, texts of X                             receiver: e, texts of Y
//!
//!   1  texts of x_π(i)           ◀── transfers ─────  those with e_i = 0
//!   2  [both] X ∪ Y              ◀──────────────────  its size; the texts of Y and what came, shuffled
//! ```

use super::count::{COUNT_LEN, send_count};
use super::form::Form;
use super::plan::CoreRun;
use super::transfers::{self, Payloads, recv_payloads, reserve, send_payloads};
use rand::seq::SliceRandom;
use std::collections::HashMap;
use vesica_core::{Error, Learns, Misbehaviour, PsiParams, Result, TextLen};
use vesica_net::Context;
use vesica_ot::{Bits, Traffic};
use vesica_party::{Input, Output};

/// Payload bytes, at most.
pub(super) fn bytes(form: Form, params: &PsiParams, len: TextLen) -> Traffic {
    let payloads = Payloads { count: params.sender_len(), len: len.bytes() };
    let mut bytes = transfers::bytes(form, payloads);
    if params.learns() == Learns::Both {
        bytes.receiver_to_sender += union_bytes(params, len.bytes());
    }
    bytes
}

/// The sender's side.
pub(super) fn sender(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    len: TextLen,
    pi: &[u32],
    input: &Input,
) -> Result<Output> {
    let (len, texts) = (len.bytes(), texts_of(input)?);
    // 1.
    transfers::send(ctx, run, Payloads { count: pi.len(), len }, |i, out| {
        out.copy_from_slice(&texts[pi[i] as usize * len..][..len]);
    })?;
    // 2.
    match run.params.learns() {
        Learns::Receiver => Ok(Output::Nothing),
        Learns::Both => {
            let union = recv_union(ctx, run.params, len)?;
            Ok(others_of_union(&union, texts, len))
        }
    }
}

/// The receiver's side.
pub(super) fn receiver(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    len: TextLen,
    e: &Bits,
    input: &Input,
) -> Result<Output> {
    let len = len.bytes();
    // 1.
    let theirs = transfers::recv(ctx, run, len, e)?;
    let theirs = transfers::chosen(theirs, len, e);
    // 2.
    if run.params.learns() == Learns::Both {
        let texts = texts_of(input)?;
        let mut union: Vec<&[u8]> =
            texts.chunks_exact(len).chain(theirs.chunks_exact(len)).collect();
        // This party's own order would show which texts are whose.
        union.shuffle(ctx.rng());
        send_union(ctx, len, &union)?;
    }
    Ok(Output::OnlyTheirs(theirs))
}

fn texts_of(input: &Input) -> Result<&[u8]> {
    input.texts().map(|texts| texts.as_slice()).ok_or(Error::Bug("a union without texts"))
}

/// The texts of the union without this party's own, each of which counts for one item: other items
/// may have the same text. Refused when one of its own is missing. The receiver must not learn
/// that: it does not know which texts are whose.
fn others_of_union(union: &[u8], own: &[u8], len: usize) -> Output {
    let mut left: HashMap<&[u8], usize> = HashMap::with_capacity(own.len() / len);
    own.chunks_exact(len).for_each(|text| *left.entry(text).or_default() += 1);
    let mut others = Vec::new();
    for text in union.chunks_exact(len) {
        match left.get_mut(text) {
            Some(count) if *count > 0 => *count -= 1,
            _ => others.extend_from_slice(text),
        }
    }
    let is_missing = left.values().any(|count| *count > 0);
    // As many as the receiver expects.
    others.truncate(union.len().saturating_sub(own.len()));
    Output::unless(is_missing, Output::OnlyTheirs(others))
}

/// The receiver's side of step 2: the number of `texts`, then the texts, of `len` bytes each.
pub(super) fn send_union(ctx: &mut Context, len: usize, texts: &[&[u8]]) -> Result<()> {
    send_count(ctx, texts.len() as u64)?;
    send_payloads(ctx, Payloads { count: texts.len(), len }, |i, out| out.copy_from_slice(texts[i]))
}

/// The sender's side of step 2: the texts, as many as a union can have.
pub(super) fn recv_union(ctx: &mut Context, params: &PsiParams, len: usize) -> Result<Vec<u8>> {
    let mut bytes = [0; COUNT_LEN];
    ctx.peer()?.recv_into(&mut bytes)?;
    let count = u64::from_le_bytes(bytes);
    let (n_x, n_y) = (params.sender_len() as u64, params.receiver_len() as u64);
    if !(n_x.max(n_y)..=n_x + n_y).contains(&count) {
        return Err(Error::PeerMisbehaved(Misbehaviour::InvalidValue));
    }
    let texts = Payloads { count: count as usize, len };
    let mut union = Vec::new();
    reserve(&mut union, texts)?;
    recv_payloads(ctx, texts, |_, text| union.extend_from_slice(text))?;
    Ok(union)
}

/// Payload bytes of [`send_union`], at most.
pub(super) fn union_bytes(params: &PsiParams, len: usize) -> u64 {
    (COUNT_LEN + (params.sender_len() + params.receiver_len()) * len) as u64
}
