//! Cardinality and sums (Figure 11).
//!
//! ```text
//!   sender: π, values v                               receiver: e
//!
//!   1  r_i, drawn by the transfer ◀── transfers ─────  r_i where e_i = 0, r_i + v_π(i) where e_i = 1
//!   2  −Σ r_i                    ─────────────────▶   the sum of all that came
//!   3  [both] |e|, the sums      ◀─────────────────
//! ```
//!
//! The paper draws r_i that add up to zero. Here the transfer draws them and the sender sends what they add up to: the
//! receiver's view is the same, and one pass is enough.

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
        return Traffic::default();
    }
    let layout = layout(params, values);
    let mut bytes = additive::bytes(form, layout);
    bytes.sender_to_receiver += (layout.columns * layout.bytes) as u64;
    if params.learns() == Learns::Both {
        bytes.receiver_to_sender += (COUNT_LEN + SUM_LEN * values.columns()) as u64;
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
        let layout = layout(run.params, values);
        let mut totals = vec![0_u128; columns];
        // 1.
        let value =
            |i: usize, column: usize| values.number(v[pi[i] as usize * columns + column]) as u128;
        additive::send(ctx, run, layout, value, |_, column, r| {
            totals[column] = totals[column].wrapping_sub(r);
        })?;
        // 2.
        let len = layout.bytes;
        send_payloads(ctx, Payloads { count: columns, len }, |column, out| {
            out.copy_from_slice(&totals[column].to_le_bytes()[..len]);
        })?;
    }
    // 3.
    match run.params.learns() {
        Learns::Receiver => Ok(Output::Nothing),
        Learns::Both => recv_sums(ctx, run.params, columns),
    }
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
    let layout = layout(run.params, values);
    let mut totals = vec![0_u128; columns];
    // 1.
    additive::recv(ctx, run, layout, e, |_, column, share| {
        totals[column] = totals[column].wrapping_add(share);
    })?;
    // 2.
    recv_payloads(ctx, Payloads { count: columns, len: layout.bytes }, |column, row| {
        let mut number = [0; 16];
        number[..row.len()].copy_from_slice(row);
        totals[column] = totals[column].wrapping_add(u128::from_le_bytes(number));
    })?;
    let sign = 128 - 8 * layout.bytes as u32;
    // One bit more than any sum needs: the highest one is the sign.
    let sums: Vec<i128> = totals.into_iter().map(|total| (total << sign) as i128 >> sign).collect();
    // 3.
    if run.params.learns() == Learns::Both {
        send_count(ctx, count)?;
        send_payloads(ctx, Payloads { count: columns, len: SUM_LEN }, |i, out| {
            out.copy_from_slice(&sums[i].to_le_bytes());
        })?;
    }
    Ok(Output::CountedSums { count, sums })
}

fn recv_sums(ctx: &mut Context, params: &PsiParams, columns: usize) -> Result<Output> {
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
