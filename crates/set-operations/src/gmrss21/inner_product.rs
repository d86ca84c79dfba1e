//! Cardinality and inner products: both parties have values (Figure 9, g the sum of products).
//!
//! | | |
//! |---|---|
//! | rows | `gmrss21_inner_product` |
//! | security | semi-honest |
//! | assumption | regular learning parity with noise over GF(2) and GF(2^128); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | receiver learns | how many items are common and the sum of the products of their values; the size of the sender's set |
//! | sender learns | the size of the receiver's set; with bounds, whether the number of common items is inside; when both learn, also the answer |
//! | flights | 18, for 2^16 items each |
//!
//! The core gives both parties shares of the receiver's value of each item, the *factor* w: the
//! receiver programs w_y ⊕ m_j behind s_j, m_j random, and the m_j go through the network behind
//! the s_j. So α_i ⊕ β_i = w at a common item, and both are random at any other.
//!
//! ```text
//!   sender: π, values v, α                            receiver: e, β
//!
//!   1  r_i, drawn by the transfer ◀── transfers ─────  r_i where e_i = 0, r_i + v_π(i)·α_i where e_i = 1
//!   2  r_ib, for each bit b of w  ◀── transfers ─────  r_ib where e_i·β_ib = 0, r_ib + v_π(i)·2^b·(1 − 2·α_ib) where it is 1
//!   3  −Σ r                       ─────────────────▶   the sum of all that came
//!   4  [both] |e|, the sums       ◀─────────────────
//! ```
//!
//! Bit b of w is α_ib + β_ib·(1 − 2·α_ib), so the sum is that of v·w over the common items. Steps 1
//! and 2 are the multiplication of N. Gilboa, CRYPTO 1999, with e_i in the choices. The paper
//! leaves g to generic two-party computation.

use super::additive::Layout;
use super::form::Form;
use super::plan::CoreRun;
use super::sums;
use vesica_core::params::ceil_log2;
use vesica_core::{Error, PsiParams, Result, Values};
use vesica_net::Context;
use vesica_ot::{Bits, Traffic};
use vesica_party::Output;

/// One transfer for each item of the sender, and one more for each bit of the factors.
pub(super) fn transfers(params: &PsiParams, factors: Values) -> usize {
    params.sender_len() * (1 + factors.bits() as usize)
}

/// A share has a bit more than any sum needs, for the sign: at most 64 + 32 + 31 + 1 bits.
fn layout(params: &PsiParams, values: Values, factors: Values) -> Layout {
    let bits = values.bits() + factors.bits() + ceil_log2(params.sender_len() as u64) + 1;
    Layout {
        rows: transfers(params, factors),
        columns: values.columns(),
        bytes: bits.div_ceil(8) as usize,
    }
}

/// Payload bytes.
pub(super) fn bytes(form: Form, params: &PsiParams, values: Values, factors: Values) -> Traffic {
    if params.has_empty_set() {
        Traffic::default()
    } else {
        sums::bytes_of(form, params, layout(params, values, factors))
    }
}

/// What a party has after the core, in addition to π or e.
pub(super) struct Multiplied<'a> {
    /// The sender's values.
    pub(super) values: Values,
    /// The receiver's.
    pub(super) factors: Values,
    /// This party's shares of the factors: α or β.
    pub(super) shares: &'a [u64],
}

/// The sender's side; `v` has its values in the order of its items.
pub(super) fn sender(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    multiplied: &Multiplied<'_>,
    pi: &[u32],
    v: &[u64],
) -> Result<Output> {
    let Multiplied { values, factors, shares: alpha } = *multiplied;
    let (columns, n_x) = (values.columns(), pi.len());
    if !run.params.has_empty_set() {
        check_len(alpha, n_x)?;
        let layout = layout(run.params, values, factors);
        // 1, 2, 3.
        sums::send_totals(ctx, run, layout, |row, column| {
            let (step, i) = (row / n_x, row % n_x);
            let value = values.number(v[pi[i] as usize * columns + column]) as u128;
            if step == 0 {
                return value.wrapping_mul(alpha[i].into());
            }
            let bit = step as u32 - 1;
            // Without a branch: minus where the bit is set.
            let minus = 0_u128.wrapping_sub((alpha[i] >> bit & 1).into());
            ((value << bit) ^ minus).wrapping_sub(minus)
        })?;
    }
    // 4.
    sums::receive(ctx, run.params, columns)
}

/// The receiver's side.
pub(super) fn receiver(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    multiplied: &Multiplied<'_>,
    e: &Bits,
    count: u64,
) -> Result<Output> {
    let Multiplied { values, factors, shares: beta } = *multiplied;
    let columns = values.columns();
    if run.params.has_empty_set() {
        return Ok(Output::CountedSums { count, sums: vec![0; columns] });
    }
    check_len(beta, e.len())?;
    let layout = layout(run.params, values, factors);
    // The choices of step 1, then those of step 2 for each bit.
    let of_bit =
        |bit| e.iter().zip(beta).map(move |(is_common, b)| is_common & (b >> bit & 1 == 1));
    let choices = e.iter().chain((0..factors.bits()).flat_map(of_bit)).collect();
    // 1, 2, 3.
    let sums = sums::recv_totals(ctx, run, layout, &choices)?;
    // 4.
    sums::tell(ctx, run.params, count, &sums)?;
    Ok(Output::CountedSums { count, sums })
}

fn check_len(shares: &[u64], len: usize) -> Result<()> {
    if shares.len() == len {
        Ok(())
    } else {
        Err(Error::Bug("another number of shares than items"))
    }
}
