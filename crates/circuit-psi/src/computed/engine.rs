//! The two engines: garbled circuits, and shares.

use super::Circuit;
use vesica_circuit::yao::{self, Evaluator, Garbler};
use vesica_circuit::{Cost, Counting, gmw};
use vesica_core::{Result, Role, SessionId};
use vesica_net::Context;
use vesica_party::Output;

/// How a circuit is evaluated. A type, as rows of the catalogue hold plain functions.
pub(crate) trait Engine: Send + 'static {
    /// A counter of what this engine does.
    fn counting() -> Counting;
    /// Payload bytes of an evaluation of this cost.
    fn bytes(cost: &Cost, chooser: Role) -> vesica_ot::Traffic;
    /// Flights of an evaluation of this cost, without public messages.
    fn flights(cost: &Cost, chooser: Role) -> u64;
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

    fn flights(cost: &Cost, _: Role) -> u64 {
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

    fn flights(cost: &Cost, chooser: Role) -> u64 {
        gmw::flights(cost, chooser)
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
