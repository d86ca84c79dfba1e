//! The cost of a run, counted by evaluating the circuit without input.

use super::{Circuit, Engine};
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

/// Gates of a run, for the rows that estimate seconds from them; a one-sided gate counts half.
pub(crate) fn gates<P: Circuit, E: Engine>(params: &PsiParams) -> f64 {
    if params.has_empty_set() {
        return 0.0;
    }
    let count = cost::<P, E>(params).count;
    count.ands as f64 + 0.5 * count.one_sided as f64
}
