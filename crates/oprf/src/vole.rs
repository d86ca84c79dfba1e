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
//! [`Sender`] and [`Receiver`] have one method for each step. A protocol calls them in this order; it may draw r after
//! step 3 and send it together with values of its own. [`Rows`] are a party's items, hashed under r and grouped by
//! cluster of the key-value store. Steps 4 to 6 work cluster by cluster, so that neither party ever holds all of P, A
//! or K. [`Inputs`] are what H_o is applied to. At malicious security a common coin w is added to them.
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
//! Both hashes are built from one: k = H(x, r) places the item in the store, and H_B(x, r) is a function
//! of k. See [`Hashing`] for the functions of each security level.

mod hashing;
pub mod overfitting;
mod pass;
mod plan;
mod rows;

pub use hashing::{Hashing, Seed};
pub use plan::Plan;
pub use rows::{Inputs, Rows};

use vesica_core::{Item, Result, SessionId};
use vesica_net::Context;
use vesica_ot::Traffic;
use vesica_ot::silent::vole::{self, ReceiverStream, SenderStream};

/// The party that holds the key, Δ and K.
pub struct Sender<S: Hashing> {
    plan: Plan,
    session: SessionId,
    vole: vole::Sender<S>,
}

impl<S: Hashing> Sender<S> {
    /// Step 1: the setup of the VOLE, with a random Δ.
    ///
    /// # Errors
    /// Those of [`vole::Sender::setup`].
    pub fn setup(ctx: &mut Context, session: &SessionId, plan: Plan) -> Result<Self> {
        let vole = vole::Sender::setup(ctx, session)?;
        Ok(Self { plan, session: *session, vole })
    }

    /// After step 2, which is [`Seed::receive`]: the items `y`, hashed under r. 20 bytes an item.
    pub fn rows(&self, ctx: &Context, r: &Seed, y: &[Item]) -> Rows<S> {
        Rows::new(ctx.pool(), &self.plan, &self.session, r, y)
    }

    /// Step 3: m correlations, as a stream of b.
    ///
    /// # Errors
    /// Those of [`vole::Sender::extend`].
    pub fn extend(&mut self, ctx: &mut Context) -> Result<SenderStream> {
        self.vole.extend(ctx, self.plan.correlations(), self.plan.values())
    }

    /// Step 5, and of step 6 what H_o is applied to: receives A and computes Decode(K, y) − Δ·H_B(y, r).
    ///
    /// # Errors
    /// Those of the connection; [`Error::Bug`](vesica_core::Error::Bug) if `b` does not have m correlations.
    pub fn unmask(&self, ctx: &mut Context, rows: Rows<S>, b: SenderStream) -> Result<Inputs<S>> {
        let q = pass::unmask(ctx, &self.plan, &rows, self.vole.delta(), b)?;
        Ok(Inputs::new(&self.session, rows, q))
    }
}

/// The party that learns F at its items.
pub struct Receiver<S: Hashing> {
    plan: Plan,
    session: SessionId,
    vole: vole::Receiver<S>,
}

impl<S: Hashing> Receiver<S> {
    /// Step 1: the setup of the VOLE.
    ///
    /// # Errors
    /// Those of [`vole::Receiver::setup`].
    pub fn setup(ctx: &mut Context, session: &SessionId, plan: Plan) -> Result<Self> {
        let vole = vole::Receiver::setup(ctx, session)?;
        Ok(Self { plan, session: *session, vole })
    }

    /// After step 2, which is [`Seed::draw_and_send`]: the items `x`, hashed under r. 20 bytes an item.
    pub fn rows(&self, ctx: &Context, r: &Seed, x: &[Item]) -> Rows<S> {
        Rows::new(ctx.pool(), &self.plan, &self.session, r, x)
    }

    /// Step 3: m correlations, as a stream of a and c.
    ///
    /// # Errors
    /// Those of [`vole::Receiver::extend`].
    pub fn extend(&mut self, ctx: &mut Context) -> Result<ReceiverStream> {
        self.vole.extend(ctx, self.plan.correlations(), self.plan.values())
    }

    /// Steps 4 and 5, and of step 6 what H_o is applied to: encodes P, sends A, and computes Decode(c, x).
    ///
    /// # Errors
    /// Those of the connection; [`Error::Bug`](vesica_core::Error::Bug) if `ac` does not have m correlations, or if a
    /// cluster cannot be encoded, which happens to an honest set with probability 2^-40.
    pub fn mask(&self, ctx: &mut Context, rows: Rows<S>, ac: ReceiverStream) -> Result<Inputs<S>> {
        let q = pass::mask(ctx, &self.plan, &rows, ac)?;
        Ok(Inputs::new(&self.session, rows, q))
    }
}

/// Exact payload bytes of steps 1 to 5.
pub fn bytes<S: Hashing>(plan: &Plan) -> Traffic {
    let masked = Seed::LEN as u64 + plan.masked_bytes();
    vole::bytes::<S>(plan.correlations(), plan.values())
        + Traffic { sender_to_receiver: 0, receiver_to_sender: masked }
}
