//! [`Form::LowCommunication`](super::form::Form::LowCommunication): steps 7 to 9 of the core in
//! another order. Values are compared in their bins, as B. Pinkas, T. Schneider, O. Tkachenko and
//! A. Yanai (EUROCRYPT 2019) do, and shares of the results are switched: one bit a switch in place
//! of ℓ.
//!
//! ```text
//!   sender: t, π̃                                       receiver: s
//!
//!   9  p_j                        ◀── comparison ───▶   q_j, p_j ⊕ q_j = 1 iff t_j = s_j
//!   7  a_i                        ◀── oblivious ────    b_i = a_i ⊕ q_π̃(i)
//!                                     switching
//!   8  a_i ⊕ p_π̃(i)               ──────────────────▶   e_i = a_i ⊕ p_π̃(i) ⊕ b_i
//! ```

use super::comparison;
use super::plan::{CorePlan, CoreRun};
use super::transfers::{recv_bits, send_bits};
use vesica_core::{Block, Result, Role};
use vesica_net::Context;
use vesica_ot::Bits;
use vesica_switching::oblivious::Rows;
use zeroize::Zeroizing;

/// The sender's side.
pub(super) fn sender(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    core: &CorePlan,
    t: &[Block],
    pi_tilde: &[u32],
) -> Result<()> {
    // 9.
    let p = compare(ctx, run, core, Role::Sender, t)?;
    // 7.
    let a = core.switch_by_order(ctx, run, pi_tilde)?;
    // 8.
    let masked =
        (0..pi_tilde.len()).map(|i| (a.number(i) == 1) ^ p[pi_tilde[i] as usize]).collect::<Bits>();
    ctx.child("equality", |ctx| send_bits(ctx, &masked))
}

/// The receiver's side: e, for the `n_x` items of the sender.
pub(super) fn receiver(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    core: &CorePlan,
    s: &[Block],
    n_x: usize,
) -> Result<Bits> {
    // 9.
    let q = compare(ctx, run, core, Role::Receiver, s)?;
    let q = Zeroizing::new(q.iter().map(|share| u64::from(*share)).collect::<Vec<_>>());
    // 7.
    let b = core.switch_rows(ctx, run, &Rows::from_numbers(&q, 1))?;
    // 8.
    let masked = ctx.child("equality", |ctx| recv_bits(ctx, n_x))?;
    Ok(masked.iter().enumerate().map(|(i, bit)| bit ^ (b.number(i) == 1)).collect())
}

/// Shares of which values are equal.
fn compare(
    ctx: &mut Context,
    run: &CoreRun<'_>,
    core: &CorePlan,
    role: Role,
    values: &[Block],
) -> Result<Zeroizing<Vec<bool>>> {
    ctx.child("comparison", |ctx| {
        comparison::shares(ctx, &run.step("comparison"), role, values, core.compared_bits)
    })
    .map(Zeroizing::new)
}
