//! Shares of the values of common items, and of a default for all others (§4.3, the general case).
//!
//! | | |
//! |---|---|
//! | rows | `gmrss21_values` |
//! | security | semi-honest |
//! | assumption | regular learning parity with noise over GF(2) and GF(2^128); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | receiver learns | how many items are common, and which entries of the shared list are theirs; the size of the sender's set |
//! | sender learns | the size of the receiver's set; with bounds, whether the number of common items is inside |
//! | flights | 18, for 2^16 items each |
//!
//! ```text
//!   sender: π, values v, default d                    receiver: e, default d
//!
//!   1  −r_i, r_i drawn by the    ◀── transfers ─────  d + r_i where e_i = 0, v_π(i) + r_i where e_i = 1
//!      transfer
//! ```
//!
//! The output has what each party knows of the order: the sender π, and so which of its items each
//! entry is of; the receiver e, and so which entries are common.

use super::additive::{self, Layout};
use super::form::Form;
use super::plan::CoreRun;
use vesica_core::{PsiParams, Result, Values};
use vesica_net::Context;
use vesica_ot::{Bits, Traffic};
use vesica_party::{Order, Output, Shares};

/// Shares are modulo 2^64.
fn layout(params: &PsiParams, columns: usize) -> Layout {
    Layout { rows: params.sender_len(), columns, bytes: 8 }
}

/// Payload bytes.
pub(super) fn bytes(form: Form, params: &PsiParams, values: Values) -> Traffic {
    additive::bytes(form, layout(params, values.columns()))
}

/// The sender's side; `v` has its values in the order of its items.
pub(super) fn sender(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    values: Values,
    default: u64,
    pi: &[u32],
    v: &[u64],
) -> Result<Output> {
    let columns = values.columns();
    let layout = layout(run.params, columns);
    let mut shares = vec![0_u64; layout.rows * columns];
    // 1.
    let value = |i: usize, column: usize| {
        let value = v[pi[i] as usize * columns + column];
        u128::from(value.wrapping_sub(default))
    };
    additive::send(ctx, run, layout, value, |i, column, r| {
        shares[i * columns + column] = (r as u64).wrapping_neg();
    })?;
    let order = Order::Items(pi.to_vec());
    Ok(Output::Shares(Shares { len: layout.rows, items: Vec::new(), values: shares, order }))
}

/// The receiver's side.
pub(super) fn receiver(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    values: Values,
    default: u64,
    e: &Bits,
) -> Result<Output> {
    let columns = values.columns();
    let layout = layout(run.params, columns);
    let mut shares = vec![0_u64; layout.rows * columns];
    // 1.
    additive::recv(ctx, run, layout, e, |i, column, share| {
        shares[i * columns + column] = (share as u64).wrapping_add(default);
    })?;
    let order = Order::Common(e.iter().collect());
    Ok(Output::Shares(Shares { len: layout.rows, items: Vec::new(), values: shares, order }))
}
