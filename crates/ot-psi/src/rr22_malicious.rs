//! # RR22 with malicious security
//!
//! S. Raghuraman, P. Rindal, "Blazing fast PSI from improved OKVS and subfield VOLE", ACM CCS
//! 2022 (ePrint 2022/320), the malicious protocol of P. Rindal, P. Schoppmann, "VOLE-PSI",
//! EUROCRYPT 2021 (ePrint 2021/266), on a malicious VOLE.
//!
//! | | |
//! |---|---|
//! | security | malicious |
//! | assumption | regular learning parity with noise over GF(2^128); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | receiver learns | which of its own items the sender has; the size of the sender's set |
//! | sender learns | the size of the receiver's set; when both learn, also which of its own items the receiver has |
//! | flights | 7, for 2^16 items each |
//! | payload bytes | VOLE(m) + 32 + 48 + 16·m + 32 + 32 + tags(n_x, 128), and p·n_x with [`Learns::Both`] |
//! | p | ⌈(λ + ⌈log n_x⌉) / 8⌉ bytes |
//!
//! ```text
//!       sender: X                                       receiver: Y
//!
//!    1  w_s ←$ F;  H(w_s)           ───────────────▶
//!    2  setup of VOLE: Δ            ◀──────────────▶    setup of VOLE
//!    3  b                           ◀──────────────▶    a, c = aΔ + b, checked
//!    4                              ◀───────────────    r ←$ {0,1}^256, w_r ←$ F
//!    5                                                  P = Encode({(y, H_B(y, r))})
//!    6  K = b + AΔ                  ◀───────────────    A = P + a
//!    7  proof right?                ◀───────────────    proof that P holds the shared items
//!    8  w = w_s + w_r;  w_s         ───────────────▶    H(w_s) right?  w = w_s + w_r
//!    9  F(x) = H_o(Decode(K, x) − Δ·H_B(x, r) + w, x)   F(y) = H_o(Decode(c, y) + w, y)
//!   10  {F(x)}, sorted              ───────────────▶    y is common iff F(y) is among them
//!   11  [both] x is common iff proved ◀─────────────    [both] a proof for each common tag
//! ```
//!
//! Steps 2 to 6 and 9 are those of [`vesica_oprf::vole`]. B = F = GF(2^128), both hashes are random oracles, F has all
//! κ = 128 bits and hashes the item too: its row key k = H(x, r), a 128-bit value of a random oracle.
//!
//! **Shared items** are in both sets and known to both parties ([`PsiParams::shared_len`]). They are encoded and
//! compared like all others, and must not give the receiver room for guesses. So the receiver proves that P holds them:
//! it hashes the inputs of H_o, before w, of all of them. If P were wrong at one of them, the sender's input would
//! differ by Δ times the difference. With [`Learns::Both`] the receiver also checks, before it answers, that the
//! sender's tags contain all shared items. If they do not, it fails. This depends on the tags alone and so tells the
//! sender nothing.
//!
//! **What a party that deviates can do.** The sender can choose its set, of at most n_x less the
//! shared items, except that it can find items with equal tags with 2^64 hashes a pair. The
//! receiver can choose a set of more than n_y items, as it may encode P as it likes: m less the
//! shared items without any effort, and at most two to three times as many if it can hash 2^80
//! items ([`usable_set_len`]; RR22 calls it overfitting). The store is the one with the fewest
//! slots that is fast at both sizes: m = n_y while n_y ≤ 32, or n_y ≤ 512 and n_x·n_y ≤ 2^22
//! ([`Plan::malicious`]); neither party gets an additional slot by announcing less. All statements
//! about the receiver's set below hold for that larger set. Either party may stop early. With
//! [`Learns::Both`] the receiver may stop after it knows the result, and may keep matches from the
//! sender, but cannot claim a match that its set does not have.
//!
//! **Where we differ from the papers.** The tags are sent as the Elias–Fano code of their set. The
//! commitment is BLAKE3 of w_s and 128 random bits. The receiver sends r and w_r as soon as the
//! correlations are checked, before A: w_s is committed to and Y fixed by then, and the sender
//! opens w_s only after A. The sender knows w from then on, and computes F while it decodes; it sends nothing of it before
//! it has checked the proof of the shared items. The papers use one store for all sizes, and have no shared items. With [`Learns::Both`] the
//! receiver proves each match by a second hash of the input of H_o, which nobody without the item in its set can
//! compute; a place without a match gets random bytes of the same length.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

mod row;

pub use row::ROW;
pub use row::{bytes, usable_set_len};

use rand::Rng;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;
use vesica_core::elias_fano::Shape;
use vesica_core::hash::derive;
use vesica_core::params::ceil_log2;
use vesica_core::tagged::{Gathered, Tagged};
use vesica_core::{Block, Item, Learns, Malicious, Misbehaviour, PsiParams, Result, SessionId};
use vesica_net::{Context, Pool};
use vesica_oprf::vole::{self, Inputs, Plan, Seed, Shared};
use vesica_party::{Input, Output, Party, answer, check_set_len, sorted_tags};

const COIN_LABEL: &str = "vesica v1 rr22 malicious coin";

/// F has κ bits.
const OUTPUT_BITS: u32 = 128;

/// Length of the proof that P holds the shared items.
const SHARED_PROOF_LEN: usize = 32;

/// Length of a commitment, and of its opening: w_s and 16 random bytes.
const COMMITMENT_LEN: usize = 32;

impl Party for Sender {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Sender { params, x, shared } = *self;
        if params.has_empty_set() {
            return answer::receive_places(ctx, &params, &[]);
        }
        let (session, plan) = (params.session(), plan(&params));
        // 1. w_s ←$ F; H(w_s)
        let opening = Opening::draw(ctx);
        ctx.peer()?.send(&opening.commitment(session))?;
        // 2. Setup of the VOLE: Δ.  3. b  4. r, w_r: this party knows w = w_s + w_r from here on
        let w = Cell::new(opening.w_s());
        let receive = |ctx: &mut Context| {
            let mut coins = [0; Seed::LEN + Block::LEN];
            ctx.peer()?.recv_into(&mut coins)?;
            let (r, w_r) = split(&coins);
            w.set(w.get() ^ w_r);
            Ok(r)
        };
        // 6. K = b + AΔ; q = Decode(K, x) − Δ·H_B(x, r)  9. F(x) = H_o(q + w, x)
        let mut of_shared = Shared::new(shared);
        let mut evaluated = Evaluated::new(&params, sorted_tags::gather(tags(&params)), x.len());
        let x = |_: &mut Context, _: &Seed| Ok(x);
        vole::run_sender::<Malicious, _>(ctx, session, &plan, receive, x, |pool, q| {
            of_shared.keep(&q);
            evaluated.add(pool, q, w.get());
        })?;
        // 7. Proof right? Before w_s is opened and anything of X is sent.
        let mut proof = [0; SHARED_PROOF_LEN];
        ctx.peer()?.recv_into(&mut proof)?;
        if proof != of_shared.proof(session) {
            return Err(Misbehaviour::SharedNotProved.into());
        }
        // 8. w_s
        ctx.peer()?.send(&opening.0)?;
        let Evaluated { f: f_x, proofs } = evaluated;
        // 10. {F(x)}, sorted
        let order = ctx.child("tags", |ctx| sorted_tags::send(ctx, tags(&params), f_x))?;
        // 11. [both] x is common iff proved
        receive_proofs(ctx, &params, &order, &proofs)
    }
}

impl Party for Receiver {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Receiver { params, y, shared } = *self;
        if params.has_empty_set() {
            return Ok(Output::Positions(Vec::new()));
        }
        let (session, plan) = (params.session(), plan(&params));
        // 1. H(w_s)
        let mut commitment = [0; COMMITMENT_LEN];
        ctx.peer()?.recv_into(&mut commitment)?;
        // 2. Setup of the VOLE.  3. a, c = aΔ + b, checked  4. r ←$ {0,1}^256, w_r ←$ F
        // 5. P = Encode({(y, H_B(y, r))})  6. A = P + a; q = Decode(c, y)
        let mut w_r = Block::ZERO;
        let draw = |ctx: &mut Context| {
            let mut coins = [0; Seed::LEN + Block::LEN];
            ctx.rng().fill_bytes(&mut coins);
            ctx.peer()?.send(&coins)?;
            ctx.peer()?.flush()?;
            let (r, drawn) = split(&coins);
            w_r = drawn;
            Ok(r)
        };
        let (y_len, y) = (y.len(), |_: &mut Context, _: &Seed| Ok(y));
        let (mut all_q, mut of_shared) = (Vec::new(), Shared::new(shared.clone()));
        vole::run_receiver::<Malicious, _>(ctx, session, &plan, draw, y, |_, q| {
            of_shared.keep(&q);
            all_q.push(q);
        })?;
        // 7. Proof that P holds the shared items.
        ctx.peer()?.send(&of_shared.proof(session))?;
        ctx.peer()?.flush()?;
        // 8. H(w_s) right? w = w_s + w_r
        let mut opening = Opening([0; COMMITMENT_LEN]);
        ctx.peer()?.recv_into(&mut opening.0)?;
        if opening.commitment(session) != commitment {
            return Err(Misbehaviour::CommitmentBroken.into());
        }
        let w = opening.w_s() ^ w_r;
        let own = sorted_tags::gather_own(tags(&params), y_len + shared.len());
        let mut evaluated = Evaluated::new(&params, own, y_len);
        let matches = ctx.child("tags", |ctx| {
            // 9. F(y) = H_o(q + w, y)
            all_q.into_iter().for_each(|q| evaluated.add(ctx.pool(), q, w));
            // 10. y is common iff F(y) is among the sender's
            sorted_tags::find_checked(ctx, tags(&params), &mut evaluated.f, &shared)
        })?;
        // 11. [both] a proof for each common tag
        send_proofs(ctx, &params, &matches, &evaluated.proofs)?;
        Ok(Output::Positions(sorted_tags::own_positions(&matches, params.receiver_len())))
    }
}

/// Holds Δ; learns n_y, or with [`Learns::Both`] which of its items the receiver has.
pub struct Sender {
    params: PsiParams,
    x: Arc<Vec<Item>>,
    shared: Range<usize>,
}

impl Sender {
    /// The sender of a set `x`, which must hold no item twice.
    ///
    /// # Errors
    /// [`vesica_core::ParameterError::SetLenMismatch`].
    pub fn new(params: PsiParams, x: impl Into<Input>) -> Result<Self> {
        let x = x.into();
        check_set_len(params.sender_len(), x.items().len())?;
        Ok(Self { params, shared: x.shared(), x: x.into_items() })
    }
}

/// Learns which of its items the sender has.
pub struct Receiver {
    params: PsiParams,
    y: Arc<Vec<Item>>,
    shared: Range<usize>,
}

impl Receiver {
    /// The receiver of a set `y`, which must hold no item twice.
    ///
    /// # Errors
    /// [`vesica_core::ParameterError::SetLenMismatch`].
    pub fn new(params: PsiParams, y: impl Into<Input>) -> Result<Self> {
        let y = y.into();
        check_set_len(params.receiver_len(), y.items().len())?;
        Ok(Self { params, shared: y.shared(), y: y.into_items() })
    }
}

/// F at a party's items, and with [`Learns::Both`] the proofs by position.
struct Evaluated {
    f: Gathered<Tagged>,
    proofs: Vec<Block>,
}

impl Evaluated {
    /// For a set of `len` items, with room `f` for their tags.
    fn new(params: &PsiParams, f: Gathered<Tagged>, len: usize) -> Self {
        let proofs = match params.learns() {
            Learns::Receiver => Vec::new(),
            Learns::Both => Block::zeros(len),
        };
        Self { f, proofs }
    }

    /// Adds the items of `q`.
    fn add(&mut self, pool: &Pool, q: Inputs<Malicious>, w: Block) {
        if !self.proofs.is_empty() {
            q.proofs(pool, w, &mut self.proofs);
        }
        q.outputs(pool, w, |tag| self.f.push(tag));
    }
}

/// The shape of the OPRF.
fn plan(params: &PsiParams) -> Plan {
    Plan::malicious(params.receiver_len(), params.sender_len(), params.runs())
}

/// The sender's tags.
fn tags(params: &PsiParams) -> Shape {
    Shape::new(params.sender_len() as u64, OUTPUT_BITS)
}

/// What opens the commitment to w_s: w_s, and 128 random bits that hide it until then.
struct Opening([u8; COMMITMENT_LEN]);

impl Opening {
    fn draw(ctx: &mut Context) -> Self {
        let mut opening = Self([0; COMMITMENT_LEN]);
        ctx.rng().fill_bytes(&mut opening.0);
        opening
    }

    fn w_s(&self) -> Block {
        let mut w_s = [0; Block::LEN];
        w_s.copy_from_slice(&self.0[..Block::LEN]);
        Block::from_le_bytes(w_s)
    }

    /// H(w_s).
    fn commitment(&self, session: &SessionId) -> [u8; COMMITMENT_LEN] {
        derive(COIN_LABEL, &[session.as_bytes(), &self.0])
    }
}

/// r and w_r, as the receiver sends them.
fn split(coins: &[u8; Seed::LEN + Block::LEN]) -> (Seed, Block) {
    let (mut r, mut w_r) = ([0; Seed::LEN], [0; Block::LEN]);
    r.copy_from_slice(&coins[..Seed::LEN]);
    w_r.copy_from_slice(&coins[Seed::LEN..]);
    (Seed::from_bytes(r), Block::from_le_bytes(w_r))
}

/// p: a proof is guessed for any of the sender's items with probability 2^-λ.
fn proof_len(params: &PsiParams) -> usize {
    (params.statistical_bits() + ceil_log2(params.sender_len() as u64)).div_ceil(8) as usize
}

/// The receiver's answer: for each place a proof, or random bytes of the same length.
fn send_proofs(
    ctx: &mut Context,
    params: &PsiParams,
    matches: &[sorted_tags::Match],
    proofs: &[Block],
) -> Result<()> {
    if params.learns() == Learns::Receiver {
        return Ok(());
    }
    let len = proof_len(params);
    let mut bytes = vec![0; params.sender_len() * len];
    ctx.rng().fill_bytes(&mut bytes);
    for found in matches {
        let proof = proofs[found.own as usize].to_le_bytes();
        bytes[found.place as usize * len..][..len].copy_from_slice(&proof[..len]);
    }
    answer::send_bytes(ctx, &bytes)
}

/// The sender's side of [`send_proofs`]; `proofs` are those of its own items by position.
fn receive_proofs(
    ctx: &mut Context,
    params: &PsiParams,
    order: &[u32],
    proofs: &[Block],
) -> Result<Output> {
    if params.learns() == Learns::Receiver {
        return Ok(Output::Nothing);
    }
    let len = proof_len(params);
    let bytes = answer::receive_bytes(ctx, order.len() * len)?;
    Ok(answer::positions_at(order, |place| {
        let proof = proofs[order[place] as usize].to_le_bytes();
        bytes[place * len..][..len] == proof[..len]
    }))
}
