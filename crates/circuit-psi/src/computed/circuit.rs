//! What a protocol states of its circuit.

use super::query;
use vesica_circuit::Computation;
use vesica_core::{PsiParams, Result, Role};
use vesica_net::Context;
use vesica_party::{Input, Output, Traffic, check_item_bits, check_set_len};

/// A protocol that is the evaluation of a circuit.
pub(crate) trait Circuit: Sized + Send + 'static {
    /// Who chooses in the transfers of [`Gmw`](super::Gmw).
    const CHOOSER: Role;

    /// Step 1: the circuit with the private input of the party in `role`.
    fn private(ctx: &mut Context, params: &PsiParams, role: Role, input: Input) -> Result<Self>;

    /// Step 2: evaluates the circuit to this party's output; without private input, to nothing.
    fn evaluate<C: Computation>(&self, c: &mut C) -> Result<Output>;

    /// What a party learns where a set is empty, so that nothing is computed.
    fn of_empty_set(params: &PsiParams, role: Role) -> Output {
        query::of_empty_set(params, role)
    }

    /// Step 3: what follows the evaluation.
    fn finish(self, _ctx: &mut Context, _role: Role, output: Output) -> Result<Output> {
        Ok(output)
    }

    /// The circuit without private input, made of public figures: enough to count its cost.
    fn public(params: &PsiParams) -> Self;

    /// Refuses parameters and input that the protocol does not accept.
    fn check(params: &PsiParams, role: Role, input: &Input) -> Result<()> {
        check_set(params, role, input)
    }

    /// Payload bytes of [`private`](Circuit::private).
    fn private_bytes(_params: &PsiParams) -> Traffic {
        Traffic { sender_to_receiver: 0, receiver_to_sender: 0 }
    }

    /// Flights of [`private`](Circuit::private).
    fn private_flights(_params: &PsiParams) -> u64 {
        0
    }

    /// Flights that `messages` public messages of the receiver add, each about what was just
    /// revealed to it.
    fn public_flights(messages: u64) -> u64 {
        messages
    }

    /// The fewest public messages of a run that has `messages` at most.
    fn least_public_messages(_params: &PsiParams, messages: u64) -> u64 {
        messages
    }

    /// Flights of [`finish`](Circuit::finish).
    fn finish_flights(_params: &PsiParams) -> u64 {
        0
    }

    /// Payload bytes of [`finish`](Circuit::finish).
    fn finish_bytes(_params: &PsiParams) -> Traffic {
        Traffic { sender_to_receiver: 0, receiver_to_sender: 0 }
    }
}

/// Refuses a set whose length or items do not fit the parameters.
pub(crate) fn check_set(params: &PsiParams, role: Role, input: &Input) -> Result<()> {
    let len = if role == Role::Sender { params.sender_len() } else { params.receiver_len() };
    check_set_len(len, input.items().len())?;
    check_item_bits(params, input.items())
}
