//! What protocols that evaluate a circuit share: the two engines, and what is told of the matches.

#[cfg(test)]
pub(crate) mod spy;

use crate::party::{check_distinct, check_item_bits, check_set_len};
use crate::{Input, Output, Party, Traffic, answer};
use std::marker::PhantomData;
use vesica_circuit::gadgets::{and, at_least, hamming_weight, sum_of_lanes};
use vesica_circuit::yao::{self, Evaluator, Garbler};
use vesica_circuit::{Computation, Cost, Counting, Lanes, Reveal, gmw, word};
use vesica_core::{Bounds, Error, Item, Learns, PsiParams, Query, Result, Role, SessionId};
use vesica_net::Context;
use vesica_ot::Bits;

/// Who evaluates the circuit of a protocol, as a type: rows of the catalogue hold plain functions.
pub(crate) trait Engine: Send + 'static {
    /// Counts like it.
    fn counting() -> Counting;
    /// Payload bytes of what was counted.
    fn bytes(cost: &Cost, chooser: Role) -> vesica_ot::Traffic;
    /// Flights of what was counted.
    fn flights(cost: &Cost) -> u64;
    /// Evaluates `circuit` as the party in `role`.
    fn evaluate<P: Circuit>(
        ctx: &mut Context,
        session: &SessionId,
        role: Role,
        cost: &Cost,
        circuit: &P,
    ) -> Result<Output>;
}

/// Garbled by the sender, evaluated by the receiver.
pub(crate) struct Yao;

/// On shares.
pub(crate) struct Gmw;

impl Engine for Yao {
    fn counting() -> Counting {
        yao::counting()
    }

    fn bytes(cost: &Cost, _: Role) -> vesica_ot::Traffic {
        yao::bytes(cost)
    }

    fn flights(cost: &Cost) -> u64 {
        yao::flights(cost)
    }

    fn evaluate<P: Circuit>(
        ctx: &mut Context,
        session: &SessionId,
        role: Role,
        cost: &Cost,
        circuit: &P,
    ) -> Result<Output> {
        match role {
            Role::Sender => circuit.evaluate(&mut Garbler::new(ctx, session, cost)?),
            _ => circuit.evaluate(&mut Evaluator::new(ctx, session, cost)?),
        }
    }
}

impl Engine for Gmw {
    fn counting() -> Counting {
        gmw::counting()
    }

    fn bytes(cost: &Cost, chooser: Role) -> vesica_ot::Traffic {
        gmw::bytes(cost, chooser)
    }

    fn flights(cost: &Cost) -> u64 {
        gmw::flights(cost)
    }

    fn evaluate<P: Circuit>(
        ctx: &mut Context,
        session: &SessionId,
        role: Role,
        cost: &Cost,
        circuit: &P,
    ) -> Result<Output> {
        circuit.evaluate(&mut gmw::Gmw::new(ctx, session, role, P::CHOOSER, cost)?)
    }
}

/// A protocol that is the evaluation of a circuit.
pub(crate) trait Circuit: Sized + Send + 'static {
    /// Who chooses in the transfers of [`Gmw`].
    const CHOOSER: Role;

    /// What everybody knows: enough to count what it costs.
    fn public(params: &PsiParams) -> Self;

    /// Refuses parameters and input that the protocol does not take.
    fn check(params: &PsiParams, role: Role, input: &Input) -> Result<()> {
        check_set(params, role, input)
    }

    /// With the private input of the party in `role`.
    fn private(ctx: &mut Context, params: &PsiParams, role: Role, input: Input) -> Result<Self>;

    /// Payload bytes of [`private`](Circuit::private).
    fn private_bytes(_params: &PsiParams) -> Traffic {
        Traffic { sender_to_receiver: 0, receiver_to_sender: 0 }
    }

    /// Flights of [`private`](Circuit::private).
    fn private_flights(_params: &PsiParams) -> u64 {
        0
    }

    /// Evaluates the circuit to what this party learns; without private input, to nothing.
    fn evaluate<C: Computation>(&self, c: &mut C) -> Result<Output>;

    /// What follows the evaluation.
    fn finish(self, _ctx: &mut Context, _role: Role, output: Output) -> Result<Output> {
        Ok(output)
    }

    /// Payload bytes of [`finish`](Circuit::finish).
    fn finish_bytes(_params: &PsiParams) -> Traffic {
        Traffic { sender_to_receiver: 0, receiver_to_sender: 0 }
    }
}

/// Refuses a set that is not the one of the parameters.
pub(crate) fn check_set(params: &PsiParams, role: Role, input: &Input) -> Result<()> {
    let len = if role == Role::Sender { params.sender_len() } else { params.receiver_len() };
    check_set_len(len, input.items().len())?;
    check_item_bits(params, input.items())
}

/// What an evaluation costs.
fn cost<P: Circuit, E: Engine>(params: &PsiParams) -> Cost {
    let mut counting = E::counting();
    // Nothing can fail where nobody is talked to.
    let counted = P::public(params).evaluate(&mut counting);
    debug_assert!(counted.is_ok(), "{counted:?}");
    counting.cost().clone()
}

/// Payload bytes of a run.
pub(crate) fn bytes<P: Circuit, E: Engine>(params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let cost = cost::<P, E>(params);
    let bytes = E::bytes(&cost, P::CHOOSER);
    let (private, finish) = (P::private_bytes(params), P::finish_bytes(params));
    Traffic {
        sender_to_receiver: private.sender_to_receiver
            + bytes.sender_to_receiver
            + finish.sender_to_receiver,
        receiver_to_sender: private.receiver_to_sender
            + bytes.receiver_to_sender
            + finish.receiver_to_sender
            + cost.public_bytes(),
    }
}

/// Flights of a run.
pub(crate) fn flights<P: Circuit, E: Engine>(params: &PsiParams) -> u64 {
    if params.has_empty_set() {
        return 0;
    }
    let cost = cost::<P, E>(params);
    P::private_flights(params) + E::flights(&cost) + 2 * cost.public_messages.len() as u64
}

/// Gates of a run, where `seconds` of a row are made of them.
pub(crate) fn gates<P: Circuit, E: Engine>(params: &PsiParams) -> f64 {
    if params.has_empty_set() {
        return 0.0;
    }
    let count = cost::<P, E>(params).count;
    count.ands as f64 + 0.5 * count.one_sided as f64
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

/// A party of a protocol that is the evaluation of a circuit.
struct Evaluation<P, E> {
    params: PsiParams,
    role: Role,
    input: Input,
    of: PhantomData<fn() -> (P, E)>,
}

impl<P: Circuit, E: Engine> Evaluation<P, E> {
    fn boxed(params: PsiParams, role: Role, input: Input) -> Result<Box<dyn Party>> {
        P::check(&params, role, &input)?;
        check_distinct(input.items())?;
        Ok(Box::new(Self { params, role, input, of: PhantomData }))
    }
}

impl<P: Circuit, E: Engine> Party for Evaluation<P, E> {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Self { params, role, input, .. } = *self;
        if params.has_empty_set() {
            return Ok(of_nothing(&params, role));
        }
        let cost = cost::<P, E>(&params);
        let circuit = ctx.child("input", |ctx| P::private(ctx, &params, role, input))?;
        let output =
            ctx.child("circuit", |ctx| E::evaluate(ctx, params.session(), role, &cost, &circuit))?;
        let output = circuit.finish(ctx, role, output)?;
        ctx.finish()?;
        Ok(output)
    }
}

/// Who is told a result.
pub(crate) fn told(params: &PsiParams) -> Reveal {
    match params.learns() {
        Learns::Receiver => Reveal::Receiver,
        Learns::Both => Reveal::Both,
    }
}

/// What a party learns where a set is empty, so that nothing is computed.
pub(crate) fn of_nothing(params: &PsiParams, role: Role) -> Output {
    if !params.bounds().contain(0) {
        return Output::OutsideBounds;
    }
    if !told(params).includes(role) {
        return Output::Nothing;
    }
    match params.query() {
        Query::Cardinality => Output::Cardinality(0),
        Query::Threshold { min } => Output::AtLeast(min == 0),
        Query::Sum(_) => Output::Sum(0),
        _ => Output::Positions(Vec::new()),
    }
}

/// What is told of the matches without saying which they are: nothing more where their number is outside the
/// bounds, and the answer to every query but the intersection. `None` where the matches themselves are next.
///
/// `values` are the values of the matches and zeros in all other lanes, where they are summed.
pub(crate) fn answer<C: Computation>(
    c: &mut C,
    params: &PsiParams,
    is_match: &C::Wires,
    values: &[C::Wires],
) -> Result<Option<Output>> {
    let (query, bounds) = (params.query(), params.bounds());
    let is_counted = matches!(query, Query::Cardinality | Query::Threshold { .. });
    let mut count = Vec::new();
    if is_counted || !bounds.are_none() {
        count = hamming_weight(c, is_match)?;
    }
    if !is_within(c, bounds, &count)? {
        return Ok(Some(Output::OutsideBounds));
    }
    let to = told(params);
    let number = |bits: Option<Vec<Bits>>| {
        bits.map(|bits| word::numbers(&bits).first().copied().unwrap_or(0))
    };
    let output = match query {
        Query::Cardinality => {
            number(c.reveal(&count, to)?).map(|count| Output::Cardinality(count as u64))
        }
        Query::Threshold { min } => {
            let is_enough = at_least(c, &count, min, 1)?;
            number(c.reveal(&[is_enough], to)?).map(|bit| Output::AtLeast(bit == 1))
        }
        Query::Sum(_) => {
            let sum = sum_of_lanes(c, values)?;
            number(c.reveal(&sum, to)?).map(Output::Sum)
        }
        _ => return Ok(None),
    };
    Ok(Some(output.filter(|_| to.includes(c.role())).unwrap_or(Output::Nothing)))
}

/// Whether `count` is inside `bounds`: told both parties, and the only thing they learn if it is not.
fn is_within<C: Computation>(c: &mut C, bounds: Bounds, count: &[C::Wires]) -> Result<bool> {
    if bounds.are_none() {
        return Ok(true);
    }
    let mut within = at_least(c, count, bounds.min(), 1)?;
    if let Some(beyond) = bounds.max().checked_add(1) {
        let is_beyond = at_least(c, count, beyond, 1)?;
        within = and(c, &within, &c.not(&is_beyond))?;
    }
    let within = c.reveal_checked(&[within])?;
    Ok(within.first().is_some_and(|bits| bits.len() == 1 && bits.get(0)))
}

/// Where both learn the intersection and the receiver has found it, tells the sender which of its items are common:
/// by their tags, so that places of the circuit stay the receiver's.
pub(crate) fn tell_common(
    ctx: &mut Context,
    params: &PsiParams,
    role: Role,
    items: &[Item],
    output: Output,
) -> Result<Output> {
    let is_told = params.query() == Query::Intersection && params.learns() == Learns::Both;
    match (role, output) {
        (_, output) if !is_told || output == Output::OutsideBounds => Ok(output),
        (Role::Sender, _) => answer::take_items(ctx, params, items),
        (_, output) => {
            let said = match &output {
                Output::Refused { said, .. } => said.as_ref(),
                output => output,
            };
            let Output::Positions(common) = said else {
                return Err(Error::Bug("a circuit gave a result that is none of its query"));
            };
            answer::give_items(ctx, params, items, common)?;
            Ok(output)
        }
    }
}

/// Payload bytes of [`tell_common`].
pub(crate) fn tell_common_bytes(params: &PsiParams) -> Traffic {
    let is_told = params.query() == Query::Intersection;
    let receiver_to_sender = if is_told { answer::items_bytes(params) } else { 0 };
    Traffic { sender_to_receiver: 0, receiver_to_sender }
}

/// The sums of each `group` lanes that follow each other: where at most one is set, whether one is.
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

/// The positions that are set, ascending: the same work whatever they are.
pub(crate) fn positions_of_flags(is_common: &[bool]) -> Output {
    let positions = is_common.iter().enumerate().filter(|(_, is)| **is).map(|(i, _)| i);
    Output::Positions(positions.collect())
}

/// Private values, bit by bit, in the lanes of their holder's items.
pub(crate) fn value_bits(values: Option<&[u64]>, bits: u32) -> Option<Vec<Bits>> {
    values.map(|values| word::bits_of(values.iter().map(|v| u128::from(*v)), bits as usize))
}
