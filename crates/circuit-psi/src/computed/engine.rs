//! The engines: garbled circuits, and shares with either transfers.

use super::circuit::Circuit;
use std::marker::PhantomData;
use vesica_circuit::yao::{self, Evaluator, Garbler};
use vesica_circuit::{Cost, Counting, gmw};
use vesica_core::{Malicious, Result, Role, Security, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_party::{Output, Parameter};

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

/// Garbled by the sender, evaluated by the receiver, over transfers against the adversary `S`.
pub(crate) struct YaoOver<S>(PhantomData<fn() -> S>);

/// Between parties that follow the protocol.
pub(crate) type Yao = YaoOver<SemiHonest>;

/// Against an evaluator that deviates, where only it learns.
pub(crate) type GuardedYao = YaoOver<Malicious>;

/// On shares.
pub(crate) struct Gmw;

/// On shares, with triples from IKNP as published.
pub(crate) struct GmwIknp;

/// What rows over [`GmwIknp`] state of their transfers.
pub(crate) const IKNP_TRANSFERS: Parameter = Parameter {
    name: "transfers",
    value: "IKNP in both directions: SoftSpoken with one bit, 128 base transfers each; two for a \
            gate, all before the circuit",
    source: "Asharov, Lindell, Schneider, Zohner, ACM CCS 2013; Roy, CRYPTO 2022",
};

impl<S: Security> Engine for YaoOver<S> {
    fn counting() -> Counting {
        yao::counting()
    }

    fn bytes(cost: &Cost, _: Role) -> vesica_ot::Traffic {
        yao::bytes_over::<S>(cost)
    }

    fn flights(cost: &Cost, _: Role) -> u64 {
        yao::flights_over::<S>(cost)
    }

    fn evaluate<P: Circuit>(
        ctx: &mut Context,
        session: &SessionId,
        role: Role,
        cost: &Cost,
        circuit: &P,
    ) -> Result<Output> {
        match role {
            Role::Sender => circuit.evaluate(&mut Garbler::over::<S>(ctx, session, cost)?),
            _ => circuit.evaluate(&mut Evaluator::over::<S>(ctx, session, cost)?),
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

impl Engine for GmwIknp {
    fn counting() -> Counting {
        gmw::counting()
    }

    fn bytes(cost: &Cost, _: Role) -> vesica_ot::Traffic {
        gmw::iknp::bytes(cost)
    }

    fn flights(cost: &Cost, _: Role) -> u64 {
        gmw::iknp::flights(cost)
    }

    fn evaluate<P: Circuit>(
        ctx: &mut Context,
        session: &SessionId,
        role: Role,
        cost: &Cost,
        circuit: &P,
    ) -> Result<Output> {
        circuit.evaluate(&mut gmw::Gmw::over_iknp(ctx, session, role, cost)?)
    }
}
