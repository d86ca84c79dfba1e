//! # Protocols that evaluate a circuit
//!
//! Y. Huang, D. Evans, J. Katz, "Private set intersection: are garbled circuits better than custom
//! protocols?", NDSS 2012, §3 and §6. Each module of such a protocol has its circuit, a
//! [`Circuit`]; here are both parties' use of it, the two engines, and the answers to queries.
//!
//! ```text
//!   sender: X                                             receiver: Y
//!
//!   1. prepares X                     ◀── [psty19] ──▶    1. prepares Y
//!   2. [Yao] garbles the circuit      ── gates ──▶        2. [Yao] evaluates it
//!      [Gmw] evaluates it on shares   ◀── shares ──▶         [Gmw] evaluates it on shares
//!      the circuit finds e, which lanes match, and reveals
//!        min ≤ Σ e ≤ max              ◀── to both ──▶     where there are bounds
//!        Σ e, or Σ e ≥ min, or Σ e·v  ── to the receiver [or both] ──▶    other queries than the intersection
//!        e, or the common items       ── to the receiver ──▶              the intersection
//!   3. [both] which of X are common   ◀── tags ──
//! ```
//!
//! In place of step 2's results a run can end with addends of the count and the sum, which are
//! opened later and only in total: see the module `part`.
//!
//! Before, each party evaluates the circuit without input to count its gates, and so the bytes and
//! transfers of the run.

mod audit;
mod circuit;
mod cost;
mod engine;
mod masked;
mod opening;
mod part;
mod query;
#[cfg(test)]
pub(crate) mod spy;

use cost::cost;
use opening::{Opening, opening_bytes, opening_flights};
use std::marker::PhantomData;
use vesica_circuit::{Computation, Lanes, word};
use vesica_core::{PsiParams, Result, Role};
use vesica_net::Context;
use vesica_ot::Bits;
use vesica_party::{Input, Output, Party, check_distinct};

pub(crate) use audit::{
    Audit, Audited, Unaudited, all_lanes, has_len, kept_if, rises, tell, unless_refused,
};
pub(crate) use circuit::{Circuit, check_set};
pub(crate) use cost::{bytes, flights, gates, least_flights};
pub(crate) use engine::{Engine, Gmw, GmwIknp, GuardedYao, IKNP_TRANSFERS, Yao};
pub(crate) use part::{Matches, Matching, addend_runs};
pub(crate) use query::{answer, reveal_to, send_common, send_common_bytes, send_common_flights};

/// A party in `role` of the protocol with the circuit `P`, evaluated by `E`.
struct Evaluation<P, E> {
    params: PsiParams,
    role: Role,
    input: Input,
    of: PhantomData<fn() -> (P, E)>,
}

impl<P: Circuit, E: Engine> Party for Evaluation<P, E> {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Self { params, role, input, .. } = *self;
        if params.has_empty_set() {
            return Ok(P::of_empty_set(&params, role));
        }
        let cost = cost::<P, E>(&params);
        // 1. Prepares X, or Y.
        let circuit = ctx.child("input", |ctx| P::private(ctx, &params, role, input))?;
        // 2. e, which lanes match, and what of it is revealed.
        let output =
            ctx.child("circuit", |ctx| E::evaluate(ctx, params.session(), role, &cost, &circuit))?;
        // 3. [both] Which of X are common.
        let output = circuit.finish(ctx, role, output)?;
        ctx.finish()?;
        Ok(output)
    }
}

/// Makes the sender.
pub(crate) fn sender<P: Circuit, E: Engine>(
    params: PsiParams,
    input: Input,
) -> Result<Box<dyn Party>> {
    Evaluation::<P, E>::boxed(params, Role::Sender, input)
}

/// Makes the receiver.
pub(crate) fn receiver<P: Circuit, E: Engine>(
    params: PsiParams,
    input: Input,
) -> Result<Box<dyn Party>> {
    Evaluation::<P, E>::boxed(params, Role::Receiver, input)
}

impl<P: Circuit, E: Engine> Evaluation<P, E> {
    fn boxed(params: PsiParams, role: Role, input: Input) -> Result<Box<dyn Party>> {
        P::check(&params, role, &input)?;
        check_distinct(input.items())?;
        Ok(Box::new(Self { params, role, input, of: PhantomData }))
    }
}

/// The sum of each `group` consecutive lanes: where at most one is set, whether one is.
pub(crate) fn sums_of_groups<C: Computation>(
    c: &mut C,
    wires: &C::Wires,
    group: usize,
) -> C::Wires {
    let groups = wires.len() / group;
    if c.only_counts() {
        return wires.slice(0, groups);
    }
    let place = |i: usize| (0..groups).map(|k| (k * group + i) as u32).collect::<Vec<_>>();
    let first = wires.gather(&place(0));
    (1..group).fold(first, |sum, i| c.xor(&sum, &wires.gather(&place(i))))
}

/// Private values, bit by bit, in the lanes of their holder's items.
pub(crate) fn value_bits(values: Option<&[u64]>, bits: u32) -> Option<Vec<Bits>> {
    values.map(|values| word::bits_of(values.iter().map(|v| u128::from(*v)), bits as usize))
}
