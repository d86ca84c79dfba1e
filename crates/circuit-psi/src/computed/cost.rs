//! The cost of a run, counted by evaluating the circuit without input.

use super::circuit::Circuit;
use super::engine::Engine;
use vesica_circuit::Cost;
use vesica_core::PsiParams;
use vesica_party::Traffic;

/// The cost of an evaluation.
pub(super) fn cost<P: Circuit, E: Engine>(params: &PsiParams) -> Cost {
    let mut counting = E::counting();
    // Nothing can fail without a connection.
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
    let bytes = E::bytes(&cost, P::CHOOSER) + cost.public_bytes();
    let (private, finish) = (P::private_bytes(params), P::finish_bytes(params));
    Traffic {
        sender_to_receiver: private.sender_to_receiver
            + bytes.sender_to_receiver
            + finish.sender_to_receiver,
        receiver_to_sender: private.receiver_to_sender
            + bytes.receiver_to_sender
            + finish.receiver_to_sender,
    }
}

/// Flights of a run: exact, or the most where they depend on the result.
pub(crate) fn flights<P: Circuit, E: Engine>(params: &PsiParams) -> u64 {
    if params.has_empty_set() {
        return 0;
    }
    flights_of::<P, E>(params, &cost::<P, E>(params))
}

/// Flights of a run with as few public messages as possible.
pub(crate) fn least_flights<P: Circuit, E: Engine>(params: &PsiParams) -> u64 {
    if params.has_empty_set() {
        return 0;
    }
    let mut cost = cost::<P, E>(params);
    let most = cost.public_messages.len() as u64;
    if most > 0 {
        // The gates and the results between two messages are the same for all.
        let least = P::least_public_messages(params, most);
        cost.count.rounds = cost.count.rounds / most * least;
        cost.results.truncate(cost.results.len() / most as usize * least as usize);
        cost.public_messages.truncate(least as usize);
    }
    flights_of::<P, E>(params, &cost)
}

fn flights_of<P: Circuit, E: Engine>(params: &PsiParams, cost: &Cost) -> u64 {
    P::private_flights(params)
        + E::flights(cost, P::CHOOSER)
        + P::public_flights(cost.public_messages.len() as u64)
        + P::finish_flights(params)
}

/// Gates of a run, for the rows that estimate seconds from them; a one-sided gate counts half.
pub(crate) fn gates<P: Circuit, E: Engine>(params: &PsiParams) -> f64 {
    if params.has_empty_set() {
        return 0.0;
    }
    let count = cost::<P, E>(params).count;
    count.ands as f64 + 0.5 * count.one_sided as f64
}
