//! What the circuit reveals of the matches: bounds, answers to queries, and the common items for
//! the sender.

use vesica_circuit::gadgets::{and, at_least, hamming_weight, sum_of_lanes};
use vesica_circuit::{Computation, Reveal, word};
use vesica_core::{Bounds, Error, Item, Learns, PsiParams, Query, Result, Role};
use vesica_net::Context;
use vesica_ot::Bits;
use vesica_party::{Output, Traffic, answer as tags};

/// The parties that a result is revealed to.
pub(crate) fn reveal_to(params: &PsiParams) -> Reveal {
    match params.learns() {
        Learns::Receiver => Reveal::Receiver,
        Learns::Both => Reveal::Both,
    }
}

/// What a party learns where a set is empty, so that nothing is computed.
pub(super) fn of_empty_set(params: &PsiParams, role: Role) -> Output {
    if !params.bounds().contain(0) {
        return Output::OutsideBounds;
    }
    if !reveal_to(params).includes(role) {
        return Output::Nothing;
    }
    match params.query() {
        Query::Cardinality => Output::Cardinality(0),
        Query::Threshold { min } => Output::AtLeast(min == 0),
        Query::Sum(_) => Output::Sum(0),
        _ => Output::Positions(Vec::new()),
    }
}

/// Whether the number of matches is computed: for the query, or for the bounds.
pub(super) fn needs_count(params: &PsiParams) -> bool {
    let is_counted = matches!(params.query(), Query::Cardinality | Query::Threshold { .. });
    is_counted || !params.bounds().are_none()
}

/// What is revealed of the matches `is_match` but for the matches themselves: whether their number
/// is inside the bounds, then the answer to the query. `None` for the intersection, which the
/// circuit reveals next.
///
/// `values` are the values of the matches and zeros in all other lanes, where values are summed.
pub(crate) fn answer<C: Computation>(
    c: &mut C,
    params: &PsiParams,
    is_match: &C::Wires,
    values: &[C::Wires],
) -> Result<Option<Output>> {
    let count = if needs_count(params) { hamming_weight(c, is_match)? } else { Vec::new() };
    answer_of(c, params, &count, |c| sum_of_lanes(c, values))
}

/// The same of the number of matches, which is used where [`needs_count`] says so, and of what
/// makes the sum of their values, which is called inside the bounds alone.
pub(super) fn answer_of<C: Computation>(
    c: &mut C,
    params: &PsiParams,
    count: &[C::Wires],
    sum: impl FnOnce(&mut C) -> Result<Vec<C::Wires>>,
) -> Result<Option<Output>> {
    if !is_within(c, params.bounds(), count)? {
        return Ok(Some(Output::OutsideBounds));
    }
    let to = reveal_to(params);
    let number = |bits: Option<Vec<Bits>>| {
        bits.map(|bits| word::numbers(&bits).first().copied().unwrap_or(0))
    };
    let output = match params.query() {
        Query::Cardinality => {
            number(c.reveal(count, to)?).map(|count| Output::Cardinality(count as u64))
        }
        Query::Threshold { min } => {
            let is_enough = at_least(c, count, min, 1)?;
            number(c.reveal(&[is_enough], to)?).map(|bit| Output::AtLeast(bit == 1))
        }
        Query::Sum(_) => {
            let sum = sum(c)?;
            number(c.reveal(&sum, to)?).map(Output::Sum)
        }
        _ => return Ok(None),
    };
    Ok(Some(output.filter(|_| to.includes(c.role())).unwrap_or(Output::Nothing)))
}

/// Whether `count` is inside `bounds`, revealed to both parties. If it is not, they learn nothing
/// else.
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

/// Step 3, where both learn the intersection and the receiver has found it: sends the sender tags
/// of the common items. Tags do not reveal where the receiver placed its items in the circuit.
pub(crate) fn send_common(
    ctx: &mut Context,
    params: &PsiParams,
    role: Role,
    items: &[Item],
    output: Output,
) -> Result<Output> {
    let is_sent = params.query() == Query::Intersection && params.learns() == Learns::Both;
    match (role, output) {
        (_, output) if !is_sent || output == Output::OutsideBounds => Ok(output),
        (Role::Sender, _) => tags::receive_items(ctx, params, items),
        (_, output) => {
            let result = match &output {
                Output::Refused { output, .. } => output.as_ref(),
                output => output,
            };
            let Output::Positions(common) = result else {
                return Err(Error::Bug("a circuit gave a result that is none of its query"));
            };
            tags::send_items(ctx, params, items, common)?;
            Ok(output)
        }
    }
}

/// Flights of [`send_common`].
pub(crate) fn send_common_flights(params: &PsiParams) -> u64 {
    u64::from(params.query() == Query::Intersection && params.learns() == Learns::Both)
}

/// Payload bytes of [`send_common`].
pub(crate) fn send_common_bytes(params: &PsiParams) -> Traffic {
    let is_sent = params.query() == Query::Intersection;
    let receiver_to_sender = if is_sent { tags::items_bytes(params) } else { 0 };
    Traffic { sender_to_receiver: 0, receiver_to_sender }
}
