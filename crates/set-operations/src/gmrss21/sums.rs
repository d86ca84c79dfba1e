//! Cardinality and sums (Figure 11).
//!
//! | | |
//! |---|---|
//! | rows | `gmrss21_cardinality_sum`, `gmrss21_cardinality_sum_paper` |
//! | security | semi-honest |
//! | assumption, `gmrss21_cardinality_sum` | regular learning parity with noise over GF(2) and GF(2^128); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | assumption, `gmrss21_cardinality_sum_paper` | gap Diffie–Hellman in Ristretto255; AES is pseudorandom; random oracle, ideal cipher |
//! | receiver learns | how many items are common and the sum of their values; the size of the sender's set |
//! | sender learns | the size of the receiver's set; with bounds, whether the number of common items is inside; when both learn, also the answer |
//! | flights | 18 (`gmrss21_cardinality_sum`), 29 (`gmrss21_cardinality_sum_paper`), for 2^16 items each |
//!
//! ```text
//!   sender: π, values v                               receiver: e
//!
//!   1  r_i, drawn by the transfer ◀── transfers ─────  r_i where e_i = 0, r_i + v_π(i) where e_i = 1
//!   2  −Σ r_i                    ─────────────────▶   the sum of all that came
//!   3  [both] |e|, the sums      ◀─────────────────
//! ```
//!
//! The paper draws r_i that add up to zero. Here the transfer draws them and the sender sends what
//! they add up to: the receiver's view is the same, and one pass is enough.

use super::additive::{self, Layout};
use super::count::{COUNT_LEN, recv_count, send_count};
use super::form::Form;
use super::plan::CoreRun;
use super::transfers::{Payloads, recv_payloads, send_payloads};
use vesica_core::params::ceil_log2;
use vesica_core::{Learns, PsiParams, Result, Values};
use vesica_net::Context;
use vesica_ot::{Bits, Traffic};
use vesica_party::Output;

/// Bytes of a sum that the receiver sends.
const SUM_LEN: usize = 16;

/// A share has a bit more than any sum needs, for the sign.
fn layout(params: &PsiParams, values: Values) -> Layout {
    let bits = values.bits() + ceil_log2(params.sender_len() as u64) + 1;
    Layout {
        rows: params.sender_len(),
        columns: values.columns(),
        bytes: bits.div_ceil(8) as usize,
    }
}

/// Payload bytes.
pub(super) fn bytes(form: Form, params: &PsiParams, values: Values) -> Traffic {
    if params.has_empty_set() {
        Traffic::default()
    } else {
        bytes_of(form, params, layout(params, values))
    }
}

/// Payload bytes of sums of this layout.
pub(super) fn bytes_of(form: Form, params: &PsiParams, layout: Layout) -> Traffic {
    let mut bytes = additive::bytes(form, layout);
    bytes.sender_to_receiver += (layout.columns * layout.bytes) as u64;
    if params.learns() == Learns::Both {
        bytes.receiver_to_sender += (COUNT_LEN + SUM_LEN * layout.columns) as u64;
    }
    bytes
}

/// The sender's side; `v` has its values in the order of its items.
pub(super) fn sender(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    values: Values,
    pi: &[u32],
    v: &[u64],
) -> Result<Output> {
    let columns = values.columns();
    if !run.params.has_empty_set() {
        // 1, 2.
        let value =
            |i: usize, column: usize| values.number(v[pi[i] as usize * columns + column]) as u128;
        send_totals(ctx, run, layout(run.params, values), value)?;
    }
    // 3.
    receive(ctx, run.params, columns)
}

/// The receiver's side.
pub(super) fn receiver(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    values: Values,
    e: &Bits,
    count: u64,
) -> Result<Output> {
    let columns = values.columns();
    if run.params.has_empty_set() {
        return Ok(Output::CountedSums { count, sums: vec![0; columns] });
    }
    // 1, 2.
    let sums = recv_totals(ctx, run, layout(run.params, values), e)?;
    // 3.
    tell(ctx, run.params, count, &sums)?;
    Ok(Output::CountedSums { count, sums })
}

/// Transfers a share of `value` in each row and column, and then what is left of the sum of each
/// column.
pub(super) fn send_totals(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    layout: Layout,
    value: impl Fn(usize, usize) -> u128,
) -> Result<()> {
    let mut totals = vec![0_u128; layout.columns];
    additive::send(ctx, run, layout, value, |_, column, r| {
        totals[column] = totals[column].wrapping_sub(r);
    })?;
    let len = layout.bytes;
    send_payloads(ctx, Payloads { count: layout.columns, len }, |column, out| {
        out.copy_from_slice(&totals[column].to_le_bytes()[..len]);
    })
}

/// The other side of [`send_totals`]: the sum of each column over the rows with choice 1.
pub(super) fn recv_totals(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    layout: Layout,
    choices: &Bits,
) -> Result<Vec<i128>> {
    let mut totals = vec![0_u128; layout.columns];
    additive::recv(ctx, run, layout, choices, |_, column, share| {
        totals[column] = totals[column].wrapping_add(share);
    })?;
    recv_payloads(ctx, Payloads { count: layout.columns, len: layout.bytes }, |column, row| {
        let mut number = [0; 16];
        number[..row.len()].copy_from_slice(row);
        totals[column] = totals[column].wrapping_add(u128::from_le_bytes(number));
    })?;
    let sign = 128 - 8 * layout.bytes as u32;
    // One bit more than any sum needs: the highest one is the sign.
    Ok(totals.into_iter().map(|total| (total << sign) as i128 >> sign).collect())
}

/// The receiver tells the sender the answer, if both learn.
pub(super) fn tell(ctx: &mut Context, params: &PsiParams, count: u64, sums: &[i128]) -> Result<()> {
    if params.learns() == Learns::Receiver {
        return Ok(());
    }
    send_count(ctx, count)?;
    send_payloads(ctx, Payloads { count: sums.len(), len: SUM_LEN }, |i, out| {
        out.copy_from_slice(&sums[i].to_le_bytes());
    })
}

/// The other side of [`tell`].
pub(super) fn receive(ctx: &mut Context, params: &PsiParams, columns: usize) -> Result<Output> {
    if params.learns() == Learns::Receiver {
        return Ok(Output::Nothing);
    }
    let mut sums = vec![0; columns];
    if params.has_empty_set() {
        return Ok(Output::CountedSums { count: 0, sums });
    }
    let count = recv_count(ctx, params)?;
    recv_payloads(ctx, Payloads { count: columns, len: SUM_LEN }, |i, row| {
        let mut number = [0; SUM_LEN];
        number.copy_from_slice(row);
        sums[i] = i128::from_le_bytes(number);
    })?;
    Ok(Output::CountedSums { count, sums })
}
