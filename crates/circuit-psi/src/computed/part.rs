//! # One number about sets that are split into parts
//!
//! Both parties split their sets alike, so that equal items are in the same part. A count of each
//! part would tell more than the count of all. So a part's run ends with *addends*: additive shares
//! of its numbers, the count of common items where the query or the bounds need it, and the sum of
//! their values. One party draws a mask, and the circuit shows the other what is left: a conversion
//! from circuits to additive shares of D. Demmler, T. Schneider, M. Zohner, "ABY – a framework for
//! efficient mixed-protocol secure two-party computation", NDSS 2015. How few rounds it takes here,
//! the module `masked` says.
//!
//! | | |
//! |---|---|
//! | security | that of the part's circuit; of the opening, that of [`vesica_circuit::yao`]; semi-honest |
//! | receiver learns | the answer about the whole; the sizes of the sender's parts |
//! | sender learns | the sizes of the receiver's parts; with bounds, whether the whole count is inside; when both learn, also the answer |
//! | flights | of a part, those of its circuit; of the opening 3, one more when both learn, and 2 more with bounds |
//!
//! ```text
//!   sender: X_1 … X_P                                 receiver: Y_1 … Y_P
//!
//!   for each part i, in a session of its own:
//!   1. prepares X_i                                   1. prepares Y_i
//!   2. u_i, random
//!   3. the circuit finds the number c_i and reveals
//!                      v_i = c_i − u_i  ── to the receiver ──▶
//!   4. u = Σ u_i                                      4. v = Σ v_i
//!
//!   in one more session, once:
//!   5. u                                              5. v
//!      the garbled circuit finds c = u + v = Σ c_i and reveals
//!   6.   min ≤ c ≤ max              ◀── to both ──▶                    where there are bounds
//!        c, or c ≥ min, or the sum  ── to the receiver [or both] ──▶   inside them
//! ```
//!
//! Step 4 is done where the parts are run, with [`Addends::add`]; the opening is in the module
//! `opening`.
//!
//! **Why no party ever knows the count of a part.** The sender drew u_i before the circuit, and
//! gets nothing from it. The receiver gets c_i − u_i modulo 2^k, and as u_i is uniform, so is that:
//! for any c_i the receiver sees the same distribution, and parts draw independently. In the
//! opening u and v enter a circuit that reveals what one run of the whole sets reveals, and nothing
//! else of the addends. The mask has all k bits: one that is only longer than a count would tell
//! large counts from small ones.
//!
//! **Why no number wraps around.** Counts are modulo 2^64 and sums modulo 2^128. A count is at most
//! the number of items of a set, below 2^32 in the whole; a value is unsigned and below 2^64, so a
//! sum is below 2^96. Where a party does not follow the protocol, at most all bins of a part match,
//! below 2^25, and at most that is added for each part.
//!
//! The opened number has all 64 or 128 bits. So one that was damaged on its way is most likely
//! larger than any possible one, and who learns it can tell.

use super::masked::masked_sum;
use super::opening::{COUNT_BITS, SUM_BITS};
use super::query::needs_count;
use super::{Circuit, Engine, Opening, opening_bytes, opening_flights};
use crate::computed;
use rand::Rng;
use vesica_circuit::{Computation, Reveal};
use vesica_core::{PsiParams, Query, Result, Role};
use vesica_net::Context;
use vesica_ot::Bits;
use vesica_party::{AddendRuns, Addends, Input, Output, Traffic};

/// What a circuit finds before anything is revealed.
pub(crate) struct Matches<W> {
    /// Which lanes match.
    pub(crate) e: W,
    /// The values of those that match and zeros, where values are summed.
    pub(crate) values: Vec<W>,
}

/// A circuit that finds the matches on wires.
pub(crate) trait Matching: Circuit {
    /// The first part of [`evaluate`](Circuit::evaluate), which reveals nothing.
    fn matches<C: Computation>(&self, c: &mut C) -> Result<Matches<C::Wires>>;
}

/// The circuit `P` for one part.
pub(crate) struct Part<P> {
    params: PsiParams,
    circuit: P,
    /// The sender's addends.
    own: Option<Addends>,
}

/// The runs of the catalogue's row whose circuit is `P`.
pub(crate) const fn addend_runs<P: Matching, E: Engine>() -> AddendRuns {
    AddendRuns {
        part_flights: computed::flights::<Part<P>, E>,
        part_bytes: computed::bytes::<Part<P>, E>,
        part_sender: computed::sender::<Part<P>, E>,
        part_receiver: computed::receiver::<Part<P>, E>,
        opening_flights,
        opening_bytes,
        opening: Opening::boxed,
    }
}

impl<P: Matching> Circuit for Part<P> {
    const CHOOSER: Role = P::CHOOSER;

    /// Step 1, and 2 at the sender.
    fn private(ctx: &mut Context, params: &PsiParams, role: Role, input: Input) -> Result<Self> {
        let circuit = P::private(ctx, params, role, input)?;
        // 2. u ←$
        let own = (role == Role::Sender).then(|| random_addends(ctx, params));
        Ok(Self { params: *params, circuit, own })
    }

    /// Step 3.
    fn evaluate<C: Computation>(&self, c: &mut C) -> Result<Output> {
        let Matches { e, values } = self.circuit.matches(c)?;
        let mut masked = Vec::new();
        if needs_count(&self.params) {
            let r = self.own.as_ref().map(|own| u128::from(own.count.wrapping_neg()));
            masked.extend(masked_sum(c, std::slice::from_ref(&e), r, COUNT_BITS)?);
        }
        if let Query::Sum(_) = self.params.query() {
            let r = self.own.as_ref().and_then(|own| own.sums.first());
            masked.extend(masked_sum(c, &values, r.map(|u| u.wrapping_neg()), SUM_BITS)?);
        }
        let revealed = c.reveal(&masked, Reveal::Receiver)?;
        Ok(match (revealed, &self.own) {
            (_, Some(own)) => Output::Addends(own.clone()),
            (Some(bits), None) => Output::Addends(addends_of(&self.params, &bits)),
            (None, None) => Output::Nothing,
        })
    }

    fn of_empty_set(params: &PsiParams, _: Role) -> Output {
        Output::Addends(Addends::zeros(params))
    }

    fn public(params: &PsiParams) -> Self {
        Self { params: *params, circuit: P::public(params), own: None }
    }

    fn check(params: &PsiParams, role: Role, input: &Input) -> Result<()> {
        P::check(params, role, input)
    }

    fn private_bytes(params: &PsiParams) -> Traffic {
        P::private_bytes(params)
    }

    fn private_flights(params: &PsiParams) -> u64 {
        P::private_flights(params)
    }
}

/// Step 2: uniformly random addends of the numbers that a run with `params` needs.
fn random_addends(ctx: &mut Context, params: &PsiParams) -> Addends {
    let mut own = Addends::zeros(params);
    if needs_count(params) {
        own.count = ctx.rng().next_u64();
    }
    for sum in &mut own.sums {
        let mut bytes = [0; 16];
        ctx.rng().fill_bytes(&mut bytes);
        *sum = u128::from_le_bytes(bytes);
    }
    own
}

/// The receiver's addends: the numbers under their masks.
fn addends_of(params: &PsiParams, revealed: &[Bits]) -> Addends {
    let mut bits = revealed.iter().flat_map(Bits::iter);
    let mut number = |len: u32| {
        let place = |(i, bit): (u32, bool)| u128::from(bit) << i;
        (0..len).zip(bits.by_ref()).map(place).fold(0, |number, bit| number | bit)
    };
    let mut addends = Addends::zeros(params);
    if needs_count(params) {
        addends.count = number(COUNT_BITS) as u64;
    }
    addends.sums.iter_mut().for_each(|sum| *sum = number(SUM_BITS));
    addends
}
