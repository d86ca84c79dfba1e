//! The run of one part, which ends with addends of its numbers.

use super::masked::masked_sum;
use super::query::needs_count;
use super::{Circuit, Engine, Opening, opening_bytes, opening_flights};
use crate::computed;
use rand::Rng;
use vesica_circuit::{Computation, Reveal};
use vesica_core::{PsiParams, Query, Result, Role};
use vesica_net::Context;
use vesica_ot::Bits;
use vesica_party::{AddendRuns, Addends, Input, Output, Traffic};

/// Length of an addend of a count, in bits.
pub(super) const COUNT_BITS: u32 = u64::BITS;

/// Length of an addend of a sum, in bits.
pub(super) const SUM_BITS: u32 = u128::BITS;

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

/// Uniformly random addends of the numbers that a run with `params` needs.
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
