//! # RR22 with malicious security
//!
//! S. Raghuraman, P. Rindal, "Blazing fast PSI from improved OKVS and subfield VOLE", ACM CCS
//! 2022 (ePrint 2022/320), the malicious protocol of P. Rindal, P. Schoppmann, "VOLE-PSI",
//! EUROCRYPT 2021 (ePrint 2021/266), on a malicious VOLE.
//!
//! | | |
//! |---|---|
//! | security | malicious; learning parity with noise, random oracle and ideal cipher |
//! | receiver learns | which of its items the sender has; n_x |
//! | sender learns | n_y; with [`Learns::Both`] also which of its items the receiver has |
//! | flights | 7; with [`Learns::Both`] 8 |
//! | payload bytes | VOLE(m) + 32 + 48 + 16·m + 32 + 32 + tags(n_x, 128), and p·n_x with [`Learns::Both`] |
//! | p | ⌈(λ + ⌈log n_x⌉) / 8⌉ bytes |
//!
//! ```text
//!   sender: X                                       receiver: Y
//!
//!   w_s ←$ F;  H(w_s)           ───────────────▶
//!   setup of VOLE               ◀──────────────▶    setup of VOLE
//!   Δ, b                        ◀──────────────▶    a, c = aΔ + b, checked
//!                               ◀───────────────    r, w_r ←$ F
//!                                                   P = Encode({(y, H_B(y, r))})
//!   K = b + AΔ                  ◀───────────────    A = P + a;  proof that P holds the shared items
//!   proof right?
//!   w = w_s + w_r;  w_s         ───────────────▶    H(w_s) right?  w = w_s + w_r
//!   F(x) = H_o(Decode(K, x) − Δ·H_B(x, r) + w, x)   F(y) = H_o(Decode(c, y) + w, y)
//!   {F(x)}, sorted              ───────────────▶    y is common iff F(y) is among them
//!   [both] x is common iff proved ◀─────────────    [both] a proof for each common tag
//! ```
//!
//! B = F = GF(2^128), both hashes are random oracles, F has all κ = 128 bits and the item inside: as
//! its row key k = H(x, r), a random oracle's value of 128 bits.
//!
//! **Shared items** are in both sets and known to both parties ([`PsiParams::shared_len`]). They are encoded and
//! compared as any others, and must not be places for guesses. So the receiver proves that P holds them: with q as
//! in F, before w, it hashes q of all of them. Were P wrong at one, the sender's q would differ by Δ times the
//! difference. And before it answers with [`Learns::Both`] it sees that the sender's tags hold them all: it fails
//! where they do not, which depends on these tags alone and so tells the sender nothing.
//!
//! **What a party that deviates can do.** The sender: choose its set, no larger than n_x less the shared items, but
//! for items that share a tag, which take 2^64 hashes a pair. The
//! receiver: choose a set of more items than n_y, for it may encode P as it likes: m less the shared items without any
//! effort, two to three times as many at most if it can hash 2^80 items ([`usable_set_len`]; RR22 calls it
//! overfitting). The store is the one with the fewest slots that is fast at both sizes: m = n_y while n_y ≤ 32, or
//! n_y ≤ 512 and n_x·n_y ≤ 2^22 ([`Plan::malicious`]); neither party gets a slot more by announcing less. What follows of
//! its set is said of that larger set. Either may stop early; with [`Learns::Both`]
//! the receiver may do so after it knows the result, and may keep matches from the sender, but
//! cannot claim one that its set does not have.
//!
//! **Where we differ from the papers.** The tags are sent as the Elias–Fano code of their set. The
//! commitment is BLAKE3 of w_s and 128 random bits. The receiver sends r and w_r as soon as the
//! correlations are checked, before A: w_s is committed to and Y fixed by then, and the sender
//! opens w_s only after A. The papers take one store for all sizes, and know no shared items. With [`Learns::Both`] the receiver proves each match by a second hash
//! of the input of H_o, which nobody without the item in its set can compute; a place without a
//! match gets as many random bytes.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

use crate::assumptions;
use crate::catalogue::{
    BoundsKept, Compared, Operation, Parameter, Protocol, Security, Traffic, UsableSetLen,
};
use crate::party::check_set_len;
use crate::{Input, Output, Party, answer, sorted_tags};
use rand::Rng;
use std::ops::Range;
use std::sync::Arc;
use vesica_core::elias_fano::Shape;
use vesica_core::hash::derive;
use vesica_core::params::{STATISTICAL_SECURITY_BITS, ceil_log2};
use vesica_core::{Block, Item, Learns, Malicious, Misbehaviour, PsiParams, Result, SessionId};
use vesica_net::Context;
use vesica_oprf::vole::overfitting::usable_items;
use vesica_oprf::vole::{self, Plan, Rows, Seed};
use vesica_ot::silent;

const COIN_LABEL: &str = "vesica v1 rr22 malicious coin";

/// F has κ bits.
const OUTPUT_BITS: u32 = 128;

/// Length of the proof that P holds the shared items.
const SHARED_PROOF_LEN: usize = 32;

/// Length of a commitment, and of its opening: w_s and 16 random bytes.
const COMMITMENT_LEN: usize = 32;

pub(crate) const ROW: Protocol = Protocol {
    id: "rr22_malicious",
    name: "VOLE-PSI, malicious",
    source: "Raghuraman, Rindal, ACM CCS 2022 (ePrint 2022/320); Rindal, Schoppmann, EUROCRYPT 2021, Figure 4",
    security: Security::Malicious,
    assumption: assumptions::VOLE,
    operations: &[Operation::Intersection],
    sender_learns: "the size of the receiver's set",
    receiver_learns: "which of its own items the sender has; the size of the sender's set",
    flights: |_| 7,
    bytes_formula: "VOLE(m) + 32 + 48 + 16·m + 32 + 32 + tags(n_x, 128), and p·n_x when both learn; m = n_y slots of one polynomial where n_y ≤ 32, or n_y ≤ 512 and n_x·n_y ≤ 2^22; else up to n_y = 6,144 those of the random band, n_y + 43 up to 469 and ≈ 1.04·n_y; ≈ 1.28·n_y of the 3-hash store beyond; tags(n, ℓ) = ⌈(n + 2^h + n·(ℓ − h))/8⌉ with h = ⌊log n⌋; p = ⌈(40 + ⌈log n_x⌉)/8⌉",
    bytes,
    seconds,
    usable_set_len: Some(usable_set_len),
    named_only: false,
    item_bits: 128..=128,
    reserves_zero: false,
    bounds: BoundsKept::No,
    wide_values: false,
    bytes_depend_on_result: false,
    compared: |_| Compared::outputs(OUTPUT_BITS),
    parameters: &[
        Parameter {
            name: "key-value store",
            value: "one polynomial up to 32 items, and up to 512 while the items of both sides multiply to 2^22 at most; else the random band up to 6,144, 3-hash binary, clustered, with dense columns over GF(2^128) beyond; failure below 2^-40",
            source: "Bienstock and others 2023; Raghuraman, Rindal 2022, §4; parameters/okvs",
        },
        Parameter {
            name: "field",
            value: "GF(2^128); Δ uniform in it",
            source: "Raghuraman, Rindal 2022, §5",
        },
        Parameter {
            name: "learning parity with noise",
            value: "regular noise, at least 128 bits against every attack of docs/lpn.md",
            source: "docs/lpn.md, computed by parameters/lpn",
        },
        Parameter {
            name: "output length",
            value: "128 bits",
            source: "Rindal, Schoppmann 2021, Theorem 3",
        },
    ],
    sender: |params, input| Ok(Box::new(Sender::new(params, input)?)),
    receiver: |params, input| Ok(Box::new(Receiver::new(params, input)?)),
};

fn plan(params: &PsiParams) -> Plan {
    Plan::malicious(params.receiver_len(), params.sender_len())
}

/// p: a proof is guessed for any of the sender's items with probability 2^-λ.
fn proof_len(params: &PsiParams) -> usize {
    (STATISTICAL_SECURITY_BITS + ceil_log2(params.sender_len() as u64)).div_ceil(8) as usize
}

/// Items beside the shared ones that a receiver which deviates can have compared: without effort as many as P has slots
/// for, and with 2^80 evaluations of the row hash no more than [`usable_items`].
pub fn usable_set_len(params: &PsiParams) -> UsableSetLen {
    if params.has_empty_set() {
        return UsableSetLen { free: 0, most: 0 };
    }
    // Each shared item that P is proved to hold takes a dimension of it.
    let free = (plan(params).correlations() - params.shared_len()) as u64;
    UsableSetLen { free, most: usable_items(free) }
}

/// Exact payload bytes of a run.
pub fn bytes(params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let plan = plan(params);
    let correlations = silent::vole::bytes::<Malicious>(plan.correlations(), plan.values());
    let tags = Shape::new(params.sender_len() as u64, OUTPUT_BITS).bytes();
    let proofs = match params.learns() {
        Learns::Receiver => 0,
        Learns::Both => params.sender_len() * proof_len(params),
    };
    Traffic {
        sender_to_receiver: correlations.sender_to_receiver + 2 * COMMITMENT_LEN as u64 + tags,
        receiver_to_sender: correlations.receiver_to_sender
            + (Seed::LEN + Block::LEN) as u64
            + plan.masked_bytes()
            + SHARED_PROOF_LEN as u64
            + proofs as u64,
    }
}

/// Estimated seconds of computation, fitted to measurements.
fn seconds(params: &PsiParams) -> f64 {
    let (n_x, n_y) = (params.sender_len() as f64, params.receiver_len() as f64);
    // A polynomial is evaluated with so many products an item; one is estimated here, and takes 8.5 ns with AVX2.
    let products = plan(params).products() as f64;
    0.015 + (105e-9 + 1e-9 * products) * n_x + 190e-9 * n_y
}

fn commit(session: &SessionId, opening: &[u8; COMMITMENT_LEN]) -> [u8; 32] {
    derive(COIN_LABEL, &[session.as_bytes(), opening])
}

/// w_s, the first half of an opening.
fn coin(opening: &[u8; COMMITMENT_LEN]) -> Block {
    let mut share = [0; Block::LEN];
    share.copy_from_slice(&opening[..Block::LEN]);
    Block::from_le_bytes(share)
}

/// r and w_r, as the receiver sends them.
fn split_coins(coins: &[u8; Seed::LEN + Block::LEN]) -> (Seed, Block) {
    let (mut seed, mut w_r) = ([0; Seed::LEN], [0; Block::LEN]);
    seed.copy_from_slice(&coins[..Seed::LEN]);
    w_r.copy_from_slice(&coins[Seed::LEN..]);
    (Seed::from_bytes(seed), Block::from_le_bytes(w_r))
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

impl Party for Sender {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Sender { params, x, shared } = *self;
        let session = params.session();
        if params.has_empty_set() {
            return answer::take_places(ctx, &params, &[]);
        }
        let plan = plan(&params);

        let mut opening = [0; COMMITMENT_LEN];
        ctx.rng().fill_bytes(&mut opening);
        ctx.peer()?.send(&commit(session, &opening))?;
        let mut vole =
            ctx.child("setup", |ctx| silent::vole::Sender::<Malicious>::setup(ctx, session))?;
        let delta = vole.delta();
        let mut b =
            ctx.child("vole", |ctx| vole.extend(ctx, plan.correlations(), plan.values()))?;

        let mut coins = [0; Seed::LEN + Block::LEN];
        ctx.peer()?.recv_into(&mut coins)?;
        let (seed, w_r) = split_coins(&coins);
        let rows = ctx
            .child("hashing", |ctx| Rows::new::<Malicious>(ctx.pool(), &plan, session, &seed, &x));
        drop(x);
        let inputs = ctx.child("encoding", |ctx| {
            vole::unmask(ctx, &plan, rows, delta, |pool, part| b.fill(pool, part))
        })?;
        drop(b);
        let mut proof = [0; SHARED_PROOF_LEN];
        ctx.peer()?.recv_into(&mut proof)?;
        // Before w_s is opened and anything of x is sent.
        if proof != inputs.proof_of_shared(session, &shared) {
            return Err(Misbehaviour::SharedNotProved.into());
        }

        ctx.peer()?.send(&opening)?;
        let w = coin(&opening) ^ w_r;
        let proofs = match params.learns() {
            Learns::Receiver => Vec::new(),
            Learns::Both => inputs.proofs(ctx.pool(), session, w),
        };
        let order = ctx.child("tags", |ctx| {
            let f_x = inputs.outputs::<Malicious>(ctx.pool(), session, w, OUTPUT_BITS);
            sorted_tags::send(ctx, Shape::new(params.sender_len() as u64, OUTPUT_BITS), f_x)
        })?;
        take_proofs(ctx, &params, &order, &proofs)
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

impl Party for Receiver {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Receiver { params, y, shared } = *self;
        let session = params.session();
        if params.has_empty_set() {
            return Ok(Output::Positions(Vec::new()));
        }
        let plan = plan(&params);

        let mut commitment = [0; COMMITMENT_LEN];
        ctx.peer()?.recv_into(&mut commitment)?;
        let mut vole =
            ctx.child("setup", |ctx| silent::vole::Receiver::<Malicious>::setup(ctx, session))?;
        let mut ac =
            ctx.child("vole", |ctx| vole.extend(ctx, plan.correlations(), plan.values()))?;

        let mut coins = [0; Seed::LEN + Block::LEN];
        ctx.rng().fill_bytes(&mut coins);
        let (seed, w_r) = split_coins(&coins);
        ctx.peer()?.send(&coins)?;
        ctx.peer()?.flush()?;
        let rows = ctx
            .child("hashing", |ctx| Rows::new::<Malicious>(ctx.pool(), &plan, session, &seed, &y));
        drop(y);
        let inputs = ctx.child("encoding", |ctx| {
            vole::mask(ctx, &plan, rows, |pool, a, c| ac.fill(pool, a, c))
        })?;
        drop(ac);
        ctx.peer()?.send(&inputs.proof_of_shared(session, &shared))?;
        ctx.peer()?.flush()?;

        let mut opening = [0; COMMITMENT_LEN];
        ctx.peer()?.recv_into(&mut opening)?;
        if commit(session, &opening) != commitment {
            return Err(Misbehaviour::CommitmentBroken.into());
        }
        let w = coin(&opening) ^ w_r;
        let proofs = match params.learns() {
            Learns::Receiver => Vec::new(),
            Learns::Both => inputs.proofs(ctx.pool(), session, w),
        };
        let matches = ctx.child("tags", |ctx| {
            let f_y = inputs.outputs::<Malicious>(ctx.pool(), session, w, OUTPUT_BITS);
            let shape = Shape::new(params.sender_len() as u64, OUTPUT_BITS);
            sorted_tags::find_checked(ctx, shape, f_y, &shared)
        })?;
        give_proofs(ctx, &params, &matches, &proofs)?;
        Ok(Output::Positions(sorted_tags::own_positions(&matches, params.receiver_len())))
    }
}

/// The receiver's answer: for each place a proof, or as many random bytes.
fn give_proofs(
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
    answer::send(ctx, &bytes)
}

/// The sender's side of [`give_proofs`]; `proofs` are those of its own items by position.
fn take_proofs(
    ctx: &mut Context,
    params: &PsiParams,
    order: &[u32],
    proofs: &[Block],
) -> Result<Output> {
    if params.learns() == Learns::Receiver {
        return Ok(Output::Nothing);
    }
    let len = proof_len(params);
    let bytes = answer::recv(ctx, order.len() * len)?;
    Ok(answer::positions_at(order, |place| {
        let proof = proofs[order[place] as usize].to_le_bytes();
        bytes[place * len..][..len] == proof[..len]
    }))
}
