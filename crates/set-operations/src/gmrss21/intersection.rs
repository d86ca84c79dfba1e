//! Intersection (Figure 8).
//!
//! | | |
//! |---|---|
//! | rows | `gmrss21_intersection`, `gmrss21_intersection_paper` |
//! | security | semi-honest |
//! | assumption, `gmrss21_intersection` | regular learning parity with noise over GF(2) and GF(2^128); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | assumption, `gmrss21_intersection_paper` | gap Diffie–Hellman in Ristretto255; AES is pseudorandom; random oracle, ideal cipher |
//! | receiver learns | which of its own items the sender has; the size of the sender's set |
//! | sender learns | the size of the receiver's set; with bounds, whether the number of common items is inside; when both learn, also which of its own items the receiver has |
//! | flights | 18 (`gmrss21_intersection`), 29 (`gmrss21_intersection_paper`), for 2^16 items each |
//!
//! ```text
//!   sender: π                                         receiver: e
//!
//!   1  x_π(i)                    ◀── transfers ─────  those with e_i = 1
//!   2  [both] x_π(i) is common iff e_i = 1 ◀────────  e
//! ```

use super::form::Form;
use super::plan::CoreRun;
use super::transfers::{self, Payloads};
use vesica_core::{Block, Item, Learns, PsiParams, Result};
use vesica_net::Context;
use vesica_ot::{Bits, Traffic};
use vesica_party::{Output, answer};

/// Payload bytes.
pub(super) fn bytes(form: Form, params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic::default();
    }
    let payloads = Payloads { count: params.sender_len(), len: Item::LEN };
    let mut bytes = transfers::bytes(form, payloads);
    bytes.receiver_to_sender += answer::bytes(params);
    bytes
}

/// The sender's side.
pub(super) fn sender(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    pi: &[u32],
    x: &[Item],
) -> Result<Output> {
    if run.params.has_empty_set() {
        return answer::receive_places(ctx, run.params, &[]);
    }
    // 1.
    transfers::send(ctx, run, Payloads { count: pi.len(), len: Item::LEN }, |i, out| {
        out.copy_from_slice(x[pi[i] as usize].as_bytes());
    })?;
    // 2.
    answer::receive_places(ctx, run.params, pi)
}

/// The receiver's side.
pub(super) fn receiver(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    e: &Bits,
    y: &[Item],
) -> Result<Output> {
    if run.params.has_empty_set() {
        return Ok(Output::Positions(Vec::new()));
    }
    // 1.
    let items = transfers::recv(ctx, run, Item::LEN, &complement(e))?;
    // 2.
    if run.params.learns() == Learns::Both {
        answer::send_bytes(ctx, &e.to_bytes())?;
    }
    Ok(positions_of(y, &items, e))
}

fn complement(bits: &Bits) -> Bits {
    Bits::new(
        bits.blocks().iter().map(|block| *block ^ Block::new(u128::MAX)).collect(),
        bits.len(),
    )
}

/// The positions in `y` of the received `items` that are common.
///
/// Every item is looked up, and the time does not depend on how many are common.
fn positions_of(y: &[Item], items: &[u8], e: &Bits) -> Output {
    let (items, _) = items.as_chunks::<{ Item::LEN }>();
    let mut order: Vec<u32> = (0..y.len() as u32).collect();
    order.sort_unstable_by_key(|position| y[*position as usize]);
    // The last place is for all that is not common.
    let mut found = vec![false; y.len() + 1];
    let mut is_missing = false;
    for (item, is_common) in items.iter().zip(e.iter()) {
        let item = Item::from_bytes(*item);
        let search = order.binary_search_by_key(&item, |position| y[*position as usize]);
        let (Ok(place) | Err(place)) = search;
        let position = order.get(place).map_or(y.len(), |position| *position as usize);
        found[if is_common { position } else { y.len() }] = true;
        is_missing |= is_common && search.is_err();
    }
    found.truncate(y.len());
    // A false match of the comparison has probability 2^-40; only a peer that deviates causes
    // another. The peer must not learn that this happened: it happens only if the item that it
    // replaced is common.
    Output::unless(is_missing, answer::positions_of_flags(&found))
}
