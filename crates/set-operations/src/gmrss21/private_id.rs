//! Private ids (Figure 15): both parties learn an identifier R(z) of each of their items, and those
//! of the union.
//!
//! | | |
//! |---|---|
//! | rows | `gmrss21_private_id`, `gmrss21_private_id_paper`, `private_id_oprf`, `private_id_low_communication` |
//! | security | semi-honest |
//! | assumption, `gmrss21_private_id`, `private_id_low_communication` | regular learning parity with noise over GF(2), GF(2^16) and GF(2^128); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | assumption, `gmrss21_private_id_paper` | gap Diffie–Hellman in Ristretto255; AES is pseudorandom; random oracle, ideal cipher |
//! | assumption, `private_id_oprf` | regular learning parity with noise over GF(2) and GF(2^128); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | receiver learns | a random identifier of each of its items and those of the union, and so how many items are common; the size of the sender's set |
//! | sender learns | a random identifier of each of its items and those of the union, and so how many items are common; the size of the receiver's set |
//! | flights | 29 (`gmrss21_private_id`), 36 (`gmrss21_private_id_paper`), 25 (`private_id_oprf`), 30 (`private_id_low_communication`), for 2^16 items each |
//!
//! ```text
//!   sender: X                                         receiver: Y
//!
//!   1–4  R(x) for x ∈ X          ◀── OPRF ──────────  its function's key
//!   5–8  its function's key      ─── OPRF ─────────▶  R(y) for y ∈ Y
//!   9    order π of R(X)         ◀── the core ──────  e, e_i = 1 iff R(x)_π(i) ∈ R(Y)
//!        R(x)_π(i)               ◀── transfers ─────  those with e_i = 0
//!        R(X ∪ Y)                ◀──────────────────  its size; the identifiers, sorted
//! ```

use super::characteristic::{ReceiverCore, SenderCore, receiver_core, sender_core};
use super::form::{Form, Identifiers};
use super::identifiers;
use super::plan::{CoreRun, step};
use super::transfers::{self, Payloads};
use super::union::{recv_union, send_union, union_bytes};
use vesica_core::{Block, Error, Item, Misbehaviour, PsiParams, Result, Role};
use vesica_net::Context;
use vesica_ot::Traffic;
use vesica_party::{Ids, Output};
use zeroize::Zeroizing;

/// Payload bytes besides the core, at most.
pub(super) fn bytes(form: Form, identifiers: Identifiers, params: &PsiParams) -> Traffic {
    let payloads = Payloads { count: params.sender_len(), len: Item::LEN };
    let mut bytes = identifiers::bytes(identifiers, params) + transfers::bytes(form, payloads);
    bytes.receiver_to_sender += union_bytes(params, Item::LEN);
    bytes
}

/// The sender's side.
pub(super) fn sender(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    identifiers: Identifiers,
    x: &[Item],
) -> Result<Output> {
    // 1 to 8.
    let r_x = identifiers::of_items(ctx, run, identifiers, Role::Sender, x)?;
    let r_x = as_items(&r_x);
    // 9.
    let run = union_of(run);
    let SenderCore { pi, .. } = sender_core(ctx, &run, &r_x)?;
    let all = ctx.child("result", |ctx| {
        transfers::send(ctx, &run, Payloads { count: pi.len(), len: Item::LEN }, |i, out| {
            out.copy_from_slice(r_x[pi[i] as usize].as_bytes());
        })?;
        recv_union(ctx, run.params, Item::LEN)
    })?;
    let (all, _) = all.as_chunks::<{ Item::LEN }>();
    let ids = Ids { own: r_x.iter().map(|id| *id.as_bytes()).collect(), all: all.to_vec() };
    // The receiver must not learn that one of them is missing: it does not know which of its own
    // are common.
    Ok(Output::unless(!is_union(&ids), Output::Ids(ids)))
}

/// The receiver's side.
pub(super) fn receiver(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    identifiers: Identifiers,
    y: &[Item],
) -> Result<Output> {
    // 1 to 8.
    let r_y = identifiers::of_items(ctx, run, identifiers, Role::Receiver, y)?;
    let r_y = as_items(&r_y);
    // 9.
    let run = union_of(run);
    let ReceiverCore { e, .. } = receiver_core(ctx, &run, &r_y, &[])?;
    ctx.child("result", |ctx| {
        let theirs = transfers::recv(ctx, &run, Item::LEN, &e)?;
        let theirs = transfers::chosen(theirs, Item::LEN, &e);
        let own: Vec<[u8; Item::LEN]> = r_y.iter().map(|id| *id.as_bytes()).collect();
        let (theirs, _) = theirs.as_chunks::<{ Item::LEN }>();
        let mut all = [&own[..], theirs].concat();
        all.sort_unstable();
        // The sender gets the list, and would see an identifier that is there twice.
        if !all.is_sorted_by(|a, b| a < b) {
            return Err(Error::PeerMisbehaved(Misbehaviour::InvalidValue));
        }
        let texts: Vec<&[u8]> = all.iter().map(|id| &id[..]).collect();
        send_union(ctx, Item::LEN, &texts)?;
        Ok(Output::Ids(Ids { own, all }))
    })
}

/// The run of step 9.
fn union_of<'a>(run: &CoreRun<'a>) -> CoreRun<'a> {
    CoreRun { session: step(&run.session, "union"), ..*run }
}

fn as_items(ids: &[Block]) -> Vec<Item> {
    ids.iter().map(|id| Item::from_bytes(id.to_le_bytes())).collect()
}

/// Whether the identifiers of the union are sorted, each there once, and this party's own are among
/// them.
fn is_union(ids: &Ids) -> bool {
    let mut own = Zeroizing::new(ids.own.clone());
    own.sort_unstable();
    let mut rest = ids.all.iter();
    let has_own = own.iter().all(|id| rest.any(|other| other == id));
    has_own && ids.all.is_sorted_by(|a, b| a < b)
}
