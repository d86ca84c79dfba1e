//! Shares of the intersection (Figure 13), and of the values of its items.
//!
//! | | |
//! |---|---|
//! | rows | `gmrss21_secret_shared_intersection`, `gmrss21_secret_shared_intersection_paper` |
//! | security | semi-honest |
//! | assumption, `gmrss21_secret_shared_intersection` | regular learning parity with noise over GF(2) and GF(2^128); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | assumption, `gmrss21_secret_shared_intersection_paper` | gap Diffie–Hellman in Ristretto255; AES is pseudorandom; random oracle, ideal cipher |
//! | receiver learns | how many items are common; the size of the sender's set |
//! | sender learns | how many items are common; the size of the receiver's set |
//! | flights | 20 (`gmrss21_secret_shared_intersection`), 45 (`gmrss21_secret_shared_intersection_paper`), for 2^16 items each |
//!
//! ```text
//!   sender: π, values v                               receiver: e
//!
//!   2  c                         ◀──────────────────  c = |e|, 8 bytes
//!   3                                                 ρ: the places with e_i = 1 in random order
//!   4  (x, v)_π(i)               ◀── oblivious ─────  ρ
//!                                    switching
//!      a_1 … a_c                                      b_1 … b_c, a_k ⊕ b_k = (x, v)_π(ρ(k))
//! ```
//!
//! Step 1 of the figure is the core. The output has what each party knows of the order: the sender
//! π, the receiver ρ. The sender must not learn ρ, which would say which of its items are common;
//! so it cannot assign its rows to the entries by itself. A further computation on shares can, with
//! π as the input of one party and ρ as that of the other.

use super::count::{COUNT_LEN, recv_count, send_count};
use super::form::Form;
use super::input::values_of;
use super::plan::CoreRun;
use rand::seq::SliceRandom;
use vesica_core::{Item, PsiParams, Result, Values};
use vesica_net::Context;
use vesica_ot::{Bits, Traffic};
use vesica_party::{Input, Order, Output, Shares};
use vesica_switching::oblivious::{self, Rows, Sizes};
use zeroize::Zeroizing;

/// Bits of an item and its values.
fn row_bits(columns: usize) -> u32 {
    Item::BITS + u64::BITS * columns as u32
}

/// The network that shares `common` items.
fn shape(params: &PsiParams, columns: usize, common: usize) -> Sizes {
    Sizes { inputs: params.sender_len(), outputs: common, bits: row_bits(columns) }
}

/// The network where as many items are common as can be.
fn largest_shape(params: &PsiParams, values: Option<Values>) -> Sizes {
    shape(params, columns_of(values), params.sender_len().min(params.receiver_len()))
}

fn columns_of(values: Option<Values>) -> usize {
    values.map_or(0, |values| values.columns())
}

/// Payload bytes, at most.
pub(super) fn bytes(form: Form, params: &PsiParams, values: Option<Values>) -> Traffic {
    if params.has_empty_set() {
        return Traffic::default();
    }
    let mut bytes = oblivious::bytes(form.switching(), &largest_shape(params, values));
    bytes.receiver_to_sender += COUNT_LEN as u64;
    bytes
}

/// Messages in a row that wait for each other, where as many items are common as can be.
pub(super) fn flights(form: Form, params: &PsiParams, values: Option<Values>) -> u64 {
    1 + oblivious::flights(form.switching(), &largest_shape(params, values))
}

/// The same where as few are common as the bounds allow.
pub(super) fn least_flights(form: Form, params: &PsiParams, values: Option<Values>) -> u64 {
    let most = params.sender_len().min(params.receiver_len());
    let least = usize::try_from(params.bounds().min()).unwrap_or(most).min(most);
    1 + oblivious::flights(form.switching(), &shape(params, columns_of(values), least))
}

/// The sender's side.
pub(super) fn sender(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    values: Option<Values>,
    pi: &[u32],
    input: &Input,
) -> Result<Output> {
    let order = Order::Items(pi.to_vec());
    if run.params.has_empty_set() {
        return Ok(Output::Shares(Shares { order, ..Shares::default() }));
    }
    let columns = columns_of(values);
    let v = match values {
        Some(_) => values_of(input)?,
        None => &[],
    };
    // 2.
    let c = recv_count(ctx, run.params)? as usize;
    // 4.
    let mut rows = Rows::zeros(pi.len(), row_bits(columns));
    for (i, position) in pi.iter().enumerate() {
        let position = *position as usize;
        let item = input.items()[position].integer();
        let row = rows.row_mut(i);
        row[0] = item as u64;
        row[1] = (item >> 64) as u64;
        row[2..].copy_from_slice(&v[position * columns..][..columns]);
    }
    let session = run.payload_session();
    let a = oblivious::hold(ctx, &session, run.form.switching(), &rows, c)?;
    Ok(Output::Shares(shares_of_rows(&a, order)))
}

/// The receiver's side.
pub(super) fn receiver(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    values: Option<Values>,
    e: &Bits,
) -> Result<Output> {
    if run.params.has_empty_set() {
        let order = Order::Places(Vec::new());
        return Ok(Output::Shares(Shares { order, ..Shares::default() }));
    }
    let places = e.iter().enumerate().filter(|(_, is_common)| *is_common);
    let mut rho = Zeroizing::new(places.map(|(place, _)| place as u32).collect::<Vec<u32>>());
    // 3.
    rho.shuffle(ctx.rng());
    // 2.
    send_count(ctx, rho.len() as u64)?;
    // 4.
    let shape = shape(run.params, columns_of(values), rho.len());
    let session = run.payload_session();
    let b = oblivious::route(ctx, &session, run.form.switching(), &rho, &shape)?;
    Ok(Output::Shares(shares_of_rows(&b, Order::Places(rho.to_vec()))))
}

fn shares_of_rows(rows: &Rows, order: Order) -> Shares {
    let mut shares = Shares { len: rows.len(), order, ..Shares::default() };
    for i in 0..rows.len() {
        let row = rows.row(i);
        let mut item = [0; Item::LEN];
        item[..8].copy_from_slice(&row[0].to_le_bytes());
        item[8..].copy_from_slice(&row[1].to_le_bytes());
        shares.items.push(item);
        shares.values.extend_from_slice(&row[2..]);
    }
    shares
}
