//! # The VOLE OPRF
//!
//! P. Rindal, P. Schoppmann, "VOLE-PSI: fast OPRF and circuit-PSI from vector-OLE", EUROCRYPT
//! 2021; S. Raghuraman, P. Rindal, "Blazing fast PSI from improved OKVS and subfield VOLE", ACM
//! CCS 2022 (RR22), Figures 4 and 5 of ePrint 2022/320.
//!
//! | | |
//! |---|---|
//! | security | semi-honest or malicious by type, see [`Hashing`] |
//! | receiver learns | F(x) for each of its items x |
//! | sender learns | Δ and K, and so F everywhere |
//! | payload bytes | [`bytes`] |
//!
//! ```text
//!      sender: Y                                       receiver: X
//!
//!   1  setup of VOLE: Δ ∈ F        ◀──────────────▶    setup of VOLE
//!   2                              ◀───────────────    r ←$ {0,1}^256
//!   3  b ∈ F^m                     ◀──────────────▶    a ∈ B^m, c = aΔ + b
//!   4                                                  P = Encode({(x, H_B(x, r))})
//!   5  K = b + AΔ                  ◀───────────────    A = P + a
//!   6  F(y) = H_o(Decode(K, y) − Δ·H_B(y, r))          F(x) = H_o(Decode(c, x))
//! ```
//!
//! [`run_sender`] and [`run_receiver`] are steps 1 to 5 and give what H_o is applied to,
//! [`Inputs`], some clusters at a time; their `outputs` are step 6. At malicious security step 2
//! comes after step 3, so that r is drawn when the correlations are checked, and with values of the
//! caller's own; the caller then hashes F with a common coin w, [`WithCoin`]. A party's items are
//! hashed under r and grouped by cluster of the key-value store. Steps 4 to 6 work cluster by
//! cluster, so that neither party ever holds all of P, A or K.
//!
//! [`Plan`] is the public shape. [`overfitting`] bounds the set of a receiver that deviates.
//!
//! **Where we differ from the paper.** B is a GF(2)-subspace of F = GF(2^128), in fast mode all of
//! it. The paper's low-communication mode takes a field B and an extension of it with at least
//! 2^128 elements; but nothing in the protocol multiplies two elements of B. Decode is
//! GF(2)-linear there, so Decode(K, y) − Δ·H_B(y) = Decode(c, y) + Δ·(Decode(P, y) − H_B(y)), and
//! for y ∉ X the last factor is a nonzero element of F except with probability 2^-dim B: the
//! argument is the paper's.
//!
//! Both hashes are built from one: k = H(x, r) places the item in the store, and H_B(x, r) is a
//! function of k. See [`Hashing`] for the functions of each security level.

mod hashing;
mod inputs;
pub mod overfitting;
mod pass;
mod plan;
mod rows;

pub use hashing::{Hashing, Pads, Seed, WithCoin};
pub use inputs::{Inputs, Shared};
pub use plan::Plan;

use rows::Rows;
use std::ops::Deref;
use vesica_core::{Item, Result, SessionId};
use vesica_net::{Context, Pool};
use vesica_ot::Traffic;
use vesica_ot::silent::vole;

/// Steps 1 to 5 of the party that holds the key, Δ and K, and of step 6 what H_o is applied to.
///
/// `draw_r` is step 2, such as [`Seed::receive`]. `items` gives this party's items once r is known;
/// they are dropped as soon as they are hashed, to 20 bytes each. `evaluate` takes every item's
/// input once; it owns the only memory of the item that is left.
///
/// # Errors
/// Those of `draw_r`, of `items`, of the [setup](vole::Sender::setup), of the
/// [VOLE](vole::Sender::extend) and of the connection.
pub fn run_sender<S: Hashing, I: Deref<Target: AsRef<[Item]>>>(
    ctx: &mut Context,
    session: &SessionId,
    plan: &Plan,
    draw_r: impl FnOnce(&mut Context) -> Result<Seed>,
    items: impl FnOnce(&mut Context, &Seed) -> Result<I>,
    evaluate: impl FnMut(&Pool, Inputs<S>),
) -> Result<()> {
    // 1. Setup of the VOLE: Δ ∈ F.
    let mut vole = ctx.child("setup", |ctx| vole::Sender::<S>::setup(ctx, session))?;
    // 2. r  3. b ∈ F^m
    let (rows, b) = in_order::<S, _, _>(
        ctx,
        |ctx| hash(ctx, session, plan, draw_r, items),
        |ctx| vole.extend(ctx, plan.correlations(), plan.values()),
    )?;
    // 5. K = b + AΔ  6. q = Decode(K, y) − Δ·H_B(y, r)
    let delta = vole.delta();
    ctx.child("encoding", |ctx| pass::unmask(ctx, plan, rows, delta, b, evaluate))
}

/// Steps 1 to 5 of the party that learns F at its items, and of step 6 what H_o is applied to.
///
/// `draw_r` is step 2, such as [`Seed::draw_and_send`]. `items` gives this party's items once r is
/// known; they are dropped as soon as they are hashed, to 20 bytes each. `evaluate` takes every
/// item's input once; it owns the only memory of the item that is left.
///
/// # Errors
/// Those of `draw_r`, of `items`, of the [setup](vole::Receiver::setup), of the
/// [VOLE](vole::Receiver::extend) and of the connection; [`Error::Bug`](vesica_core::Error::Bug) if
/// a cluster cannot be encoded, which happens to an honest set with probability 2^-40.
pub fn run_receiver<S: Hashing, I: Deref<Target: AsRef<[Item]>>>(
    ctx: &mut Context,
    session: &SessionId,
    plan: &Plan,
    draw_r: impl FnOnce(&mut Context) -> Result<Seed>,
    items: impl FnOnce(&mut Context, &Seed) -> Result<I>,
    evaluate: impl FnMut(&Pool, Inputs<S>),
) -> Result<()> {
    // 1. Setup of the VOLE.
    let mut vole = ctx.child("setup", |ctx| vole::Receiver::<S>::setup(ctx, session))?;
    // 2. r ←$ {0,1}^256  3. a ∈ B^m, c = aΔ + b
    let (rows, ac) = in_order::<S, _, _>(
        ctx,
        |ctx| hash(ctx, session, plan, draw_r, items),
        |ctx| vole.extend(ctx, plan.correlations(), plan.values()),
    )?;
    // 4. P = Encode({(x, H_B(x, r))})  5. A = P + a  6. q = Decode(c, x)
    ctx.child("encoding", |ctx| pass::mask(ctx, plan, rows, ac, evaluate))
}

/// Steps 2 and 3 in the order of the security level.
fn in_order<S: Hashing, R, V>(
    ctx: &mut Context,
    rows: impl FnOnce(&mut Context) -> Result<R>,
    extend: impl FnOnce(&mut Context) -> Result<V>,
) -> Result<(R, V)> {
    let extend = |ctx: &mut Context| ctx.child("vole", extend);
    if S::SEED_AFTER_VOLE {
        let vole = extend(ctx)?;
        return Ok((rows(ctx)?, vole));
    }
    Ok((rows(ctx)?, extend(ctx)?))
}

/// Step 2, and the items hashed under r.
fn hash<S: Hashing, I: Deref<Target: AsRef<[Item]>>>(
    ctx: &mut Context,
    session: &SessionId,
    plan: &Plan,
    draw_r: impl FnOnce(&mut Context) -> Result<Seed>,
    items: impl FnOnce(&mut Context, &Seed) -> Result<I>,
) -> Result<Rows<S>> {
    let r = draw_r(ctx)?;
    ctx.child("hashing", |ctx| {
        let items = items(ctx, &r)?;
        Ok(Rows::new(ctx.pool(), plan, session, &r, (*items).as_ref()))
    })
}

/// Exact payload bytes of steps 1 to 5.
pub fn bytes<S: Hashing>(plan: &Plan) -> Traffic {
    let masked = Seed::LEN as u64 + plan.masked_bytes();
    vole::bytes::<S>(plan.correlations(), plan.values())
        + Traffic { sender_to_receiver: 0, receiver_to_sender: masked }
}

/// Flights of steps 1 to 5, the last of them from the receiver: A follows what it sent last, or
/// answers the sender.
pub fn flights<S: Hashing>(plan: &Plan) -> u64 {
    vole::flights::<S>(plan.correlations(), plan.values()).next_multiple_of(2)
}
