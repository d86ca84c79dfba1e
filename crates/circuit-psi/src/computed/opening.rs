//! The opening of the sum of all parts' addends.

use super::query::{answer_of, needs_count, of_empty_set};
use vesica_circuit::yao::{self, Evaluator, Garbler};
use vesica_circuit::{Computation, Cost, gadgets, word};
use vesica_core::{PsiParams, Query, Result, Role};
use vesica_net::Context;
use vesica_ot::Bits;
use vesica_party::{Addends, Output, Party, Traffic};

/// Length of an addend of a count, in bits.
pub(super) const COUNT_BITS: u32 = u64::BITS;

/// Length of an addend of a sum, in bits.
pub(super) const SUM_BITS: u32 = u128::BITS;

/// A party of the opening.
pub(super) struct Opening {
    params: PsiParams,
    role: Role,
    own: Option<Addends>,
}

impl Party for Opening {
    /// Steps 5 and 6.
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let params = &self.params;
        if params.has_empty_set() {
            return Ok(of_empty_set(params, self.role));
        }
        let (session, cost) = (params.session(), cost(params));
        let output = ctx.child("opening", |ctx| match self.role {
            Role::Sender => self.evaluate(&mut Garbler::new(ctx, session, &cost)?),
            _ => self.evaluate(&mut Evaluator::new(ctx, session, &cost)?),
        })?;
        ctx.finish()?;
        Ok(output)
    }
}

impl Opening {
    /// The party in `role`.
    pub(super) fn boxed(role: Role, params: PsiParams, addends: Addends) -> Result<Box<dyn Party>> {
        Ok(Box::new(Self { params, role, own: Some(addends) }))
    }

    fn evaluate<C: Computation>(&self, c: &mut C) -> Result<Output> {
        let role = c.role();
        let count_bits = if needs_count(&self.params) { COUNT_BITS } else { 0 };
        let sum_bits = if let Query::Sum(_) = self.params.query() { SUM_BITS } else { 0 };
        let own = self.own.as_ref().map(|own| bits_of(own, count_bits, sum_bits));
        // 5. u and v
        let mut input = |of: Role| {
            let own = own.as_deref().filter(|_| of == role);
            c.input(of, own, (count_bits + sum_bits) as usize, 1)
        };
        let (u, v) = (input(Role::Sender)?, input(Role::Receiver)?);
        let (of_count, of_sum) = (0..count_bits as usize, count_bits as usize..u.len());
        let count = if of_count.is_empty() {
            Vec::new()
        } else {
            add(c, &u[of_count.clone()], &v[of_count])?
        };
        // 6. Bounds on the count, and the answer.
        let sum = |c: &mut C| add(c, &u[of_sum.clone()], &v[of_sum]);
        Ok(answer_of(c, &self.params, &count, sum)?.unwrap_or(Output::Nothing))
    }
}

/// u + v, modulo 2^k for words of k bits.
fn add<C: Computation>(c: &mut C, u: &[C::Wires], v: &[C::Wires]) -> Result<Vec<C::Wires>> {
    let mut sum = gadgets::add(c, u, v)?;
    sum.truncate(u.len());
    Ok(sum)
}

/// What a party enters: its addend of the count, then that of the sum.
fn bits_of(own: &Addends, count_bits: u32, sum_bits: u32) -> Vec<Bits> {
    let word = |number: u128, bits: u32| word::bits_of(std::iter::once(number), bits as usize);
    let mut bits = word(own.count.into(), count_bits);
    bits.extend(own.sums.iter().flat_map(|sum| word(*sum, sum_bits)));
    bits
}

fn cost(params: &PsiParams) -> Cost {
    let mut counting = yao::counting();
    // Nothing can fail without a connection.
    let counted =
        Opening { params: *params, role: Role::Helper, own: None }.evaluate(&mut counting);
    debug_assert!(counted.is_ok(), "{counted:?}");
    counting.cost().clone()
}

/// Payload bytes of the opening.
pub(super) fn opening_bytes(params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let bytes = yao::bytes(&cost(params));
    Traffic {
        sender_to_receiver: bytes.sender_to_receiver,
        receiver_to_sender: bytes.receiver_to_sender,
    }
}

/// Flights of the opening.
pub(super) fn opening_flights(params: &PsiParams) -> u64 {
    if params.has_empty_set() { 0 } else { yao::flights(&cost(params)) }
}
