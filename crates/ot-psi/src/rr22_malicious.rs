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
//! | payload bytes | VOLE(m) + 32 + 48 + 16·m + 32 + 32 + tags(n_x, 128), p·n_x with [`Learns::Both`], and n_x payloads if there are any |
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
//!       G(x) = H_o(Decode(K, x) − Δ·H_B(x, r), x)       G(y) = H_o(Decode(c, y), y)
//!    7  proof right?                ◀───────────────    proof that P holds the shared items
//!    ── the receiver's set is fixed: in partitions, the sender waits here for all of them ──
//!    8  w = w_s + w_r;  w_s         ───────────────▶    H(w_s) right?  w = w_s + w_r
//!    9  F(x) = H_t(G(x), w)                             F(y) = H_t(G(y), w)
//!   10  {F(x)}, sorted              ───────────────▶    y is common iff F(y) is among them
//!   11  [payloads] p(x) ⊕ pad(G(x), w), in the order of the tags ──▶ [payloads] p(y) of common y
//!    ── the sender's set is fixed: in partitions, the receiver waits here for all of them ──
//!   12  [both] x is common iff proved ◀─────────────    [both] a proof for each common tag
//! ```
//!
//! Steps 2 to 6 are those of [`vesica_oprf::vole`], whose output is G here. B = F = GF(2^128), H_o
//! and the row hash are random oracles, F has all κ = 128 bits, and G hashes the item too: its row
//! key k = H(x, r), a 128-bit value of a random oracle. H_t(g, w) = π(g ⊕ w) ⊕ g ⊕ w for an ideal
//! cipher π ([`WithCoin`]). Between steps 7 and 8 a party keeps G, 16 bytes an item, and needs the
//! items no longer.
//!
//! **Shared items** are in both sets and known to both parties ([`PsiParams::shared_len`]). They
//! are encoded and compared like all others, and must not give the receiver room for guesses. So
//! the receiver proves that P holds them: it hashes the inputs of H_o of all of them. If P were
//! wrong at one of them, the sender's input would differ by Δ times the difference. With
//! [`Learns::Both`] the receiver also checks, before it answers, that the sender's tags contain all
//! shared items. If they do not, it fails. This depends on the tags alone and so tells the sender
//! nothing.
//!
//! **Payloads.** The pad of an item is an output of the pseudorandom function as F is: more blocks
//! of H_t under labels of their own ([`Pads`]), which do not follow from F(x). So a receiver can
//! decrypt the payload of an item exactly if it can recognise its tag: the bounds below on its set
//! hold for payloads too. A sender that deviates can give each of its items any payload, also one
//! that is not of the agreed form; the receiver learns nothing from that before its last message,
//! and so cannot show it.
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
//! opens w_s only after A. The papers hash once, F(x) = H_o(q + w, x); here w enters in a second
//! hash, so that the input of the second is all that is kept of an item until w is known. The
//! papers use one store for all sizes, and have no shared items. With [`Learns::Both`] the receiver
//! proves each match by another hash of G and w, which a party without the item in its set cannot
//! compute; a place without a match gets random bytes of the same length.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

mod catalogue;
mod claim;

pub use catalogue::ROW;
pub use catalogue::{bytes, usable_set_len};

use self::claim::Claim;
use rand::{Rng, RngExt};
use std::num::NonZeroUsize;
use vesica_core::elias_fano::Shape;
use vesica_core::hash::derive;
use vesica_core::params::ceil_log2;
use vesica_core::tagged::{Gathered, Tagged};
use vesica_core::{
    Block, Error, Learns, Malicious, Misbehaviour, PayloadLen, PsiParams, Result, Role, Secret,
    SessionId,
};
use vesica_net::Context;
use vesica_oprf::vole::{self, Pads, Plan, Seed, Shared, WithCoin};
use vesica_party::payloads::{self, Pad};
use vesica_party::{
    COINS_LEN, Committed, Comparison, Input, Output, Party, Steps, answer, check_set_len,
    sorted_tags,
};

const COIN_LABEL: &str = "vesica v1 rr22 malicious coin";
const TAG_LABEL: &str = "vesica v1 rr22 malicious tag";
const PAYLOAD_LABEL: &str = "vesica v1 rr22 malicious payload";
const PROOF_LABEL: &str = "vesica v1 rr22 malicious proof";

/// F has κ bits.
const OUTPUT_BITS: u32 = 128;

/// Length of the proof that P holds the shared items.
const SHARED_PROOF_LEN: usize = 32;

/// Length of a commitment, and of its opening: w_s and 16 random bytes.
const COMMITMENT_LEN: usize = 32;

/// Masks that one CPU thread hashes at a time.
const MASKS_PER_TASK: NonZeroUsize = NonZeroUsize::new(1 << 14).unwrap();

/// The steps of both parties.
pub const STEPS: Steps = Steps {
    commit: |role, params, input, ctx| match role {
        Role::Sender => commit_sender(params, input, ctx),
        _ => commit_receiver(params, input, ctx),
    },
    compare: |role, params, committed, ctx| match role {
        Role::Sender => send_tags(params, committed, ctx),
        _ => find_tags(params, committed, ctx),
    },
    answer: |role, params, claims, ctx| match role {
        _ if params.learns() == Learns::Receiver => Ok(Output::Nothing),
        Role::Sender => receive_proofs(params, claims, ctx),
        _ => send_proofs(params, claims, ctx),
    },
};

/// Steps 1 to 7 of the sender.
fn commit_sender(params: &PsiParams, input: Input, ctx: &mut Context) -> Result<Committed> {
    let (session, plan) = (params.session(), plan(params));
    // 1. w_s ←$ F; H(w_s)
    let opening = Opening::draw(ctx);
    ctx.peer()?.send(&opening.commitment(session))?;
    // 2. Setup of the VOLE: Δ.  3. b  4. r, w_r
    let mut w_r = Block::ZERO;
    let receive = |ctx: &mut Context| {
        let mut coins = [0; Seed::LEN + Block::LEN];
        ctx.peer()?.recv_into(&mut coins)?;
        let (r, received) = split(&coins);
        w_r = received;
        Ok(r)
    };
    // 6. K = b + AΔ; G(x) = H_o(Decode(K, x) − Δ·H_B(x, r), x)
    let shared = input.shared();
    let payloads = input.payloads().cloned();
    let (mut of_shared, mut masks) =
        (Shared::new(shared.clone()), Block::zeros(input.items().len()));
    let x = |_: &mut Context, _: &Seed| Ok(input.into_items());
    vole::run_sender::<Malicious, _>(ctx, session, &plan, receive, x, |pool, q| {
        of_shared.keep(&q);
        q.outputs(pool, &mut masks);
    })?;
    // 7. Proof right? Before w_s is opened and anything of X is sent.
    let mut proof = [0; SHARED_PROOF_LEN];
    ctx.peer()?.recv_into(&mut proof)?;
    if proof != of_shared.proof(session) {
        return Err(Misbehaviour::SharedNotProved.into());
    }
    Ok(Committed { masks, shared, payloads, coins: coins_of(&opening.0, w_r) })
}

/// Steps 1 to 7 of the receiver.
fn commit_receiver(params: &PsiParams, input: Input, ctx: &mut Context) -> Result<Committed> {
    let (session, plan) = (params.session(), plan(params));
    // 1. H(w_s)
    let mut commitment = [0; COMMITMENT_LEN];
    ctx.peer()?.recv_into(&mut commitment)?;
    // 2. Setup of the VOLE.  3. a, c = aΔ + b, checked  4. r ←$ {0,1}^256, w_r ←$ F
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
    // 5. P = Encode({(y, H_B(y, r))})  6. A = P + a; G(y) = H_o(Decode(c, y), y)
    let shared = input.shared();
    let (mut of_shared, mut masks) =
        (Shared::new(shared.clone()), Block::zeros(input.items().len()));
    let y = |_: &mut Context, _: &Seed| Ok(input.into_items());
    vole::run_receiver::<Malicious, _>(ctx, session, &plan, draw, y, |pool, q| {
        of_shared.keep(&q);
        q.outputs(pool, &mut masks);
    })?;
    // 7. Proof that P holds the shared items.
    ctx.peer()?.send(&of_shared.proof(session))?;
    ctx.peer()?.flush()?;
    Ok(Committed { masks, shared, payloads: None, coins: coins_of(&commitment, w_r) })
}

/// Steps 8 to 11 of the sender.
fn send_tags(params: &PsiParams, committed: Committed, ctx: &mut Context) -> Result<Comparison> {
    let Committed { masks, payloads, coins, .. } = committed;
    let (opening, w_r) = of_coins(&coins);
    let (opening, own_len) = (Opening(opening), masks.len());
    // 8. w_s
    ctx.peer()?.send(&opening.0)?;
    let coin = Coin::new(params, opening.w_s() ^ w_r);
    // 9. F(x) = H_t(G(x), w)  10. {F(x)}, sorted
    let masks = filled(ctx, masks, params.sender_len())?;
    let mut f_x = sorted_tags::gather(tags(params));
    coin.tags(ctx, &masks, &mut f_x);
    let order = ctx.child("tags", |ctx| sorted_tags::send(ctx, tags(params), f_x))?;
    if let Some(len) = params.query().payload_len() {
        // 11. Each payload, under its pad
        let payloads = payloads.ok_or(Error::Bug("a sender has no payloads"))?;
        let pads = coin.pads(len);
        ctx.child("payloads", |ctx| {
            let pad: Pad<'_> = &|masks, payloads| pads.apply(masks, payloads);
            payloads::send(ctx, len, &order, &masks, &payloads, pad)
        })?;
    }
    let claims = match params.learns() {
        Learns::Receiver => Vec::new(),
        Learns::Both => {
            let mut claims = coin.proofs(ctx, &masks[..own_len]);
            for (place, position) in (0..).zip(order) {
                if let Some(claim) = claims.get_mut(position as usize) {
                    *claim = Claim::at(Claim::none(*claim), place);
                }
            }
            claims
        }
    };
    Ok(Comparison { output: Output::Nothing, claims })
}

/// Steps 8 to 11 of the receiver.
fn find_tags(params: &PsiParams, committed: Committed, ctx: &mut Context) -> Result<Comparison> {
    let Committed { masks, shared, coins, .. } = committed;
    let (commitment, w_r) = of_coins(&coins);
    // 8. H(w_s) right? w = w_s + w_r
    let mut opening = Opening([0; COMMITMENT_LEN]);
    ctx.peer()?.recv_into(&mut opening.0)?;
    if opening.commitment(params.session()) != commitment {
        return Err(Misbehaviour::CommitmentBroken.into());
    }
    let coin = Coin::new(params, opening.w_s() ^ w_r);
    let own_len = masks.len();
    let masks = filled(ctx, masks, params.receiver_len())?;
    let mut f_y = sorted_tags::gather_own(tags(params), masks.len() + shared.len());
    let matches = ctx.child("tags", |ctx| {
        // 9. F(y) = H_t(G(y), w)
        coin.tags(ctx, &masks, &mut f_y);
        // 10. y is common iff F(y) is among the sender's
        sorted_tags::find_checked(ctx, tags(params), &mut f_y, &shared)
    })?;
    let claims = match params.learns() {
        Learns::Receiver => Vec::new(),
        Learns::Both => {
            let mut claims = coin.proofs(ctx, &masks[..own_len]);
            claims.iter_mut().for_each(|claim| *claim = Claim::none(*claim));
            for found in &matches {
                if let Some(claim) = claims.get_mut(found.own as usize) {
                    *claim = Claim::at(*claim, found.place);
                }
            }
            claims
        }
    };
    let output = match params.query().payload_len() {
        Some(len) => {
            // 11. The payloads of common items
            let (pads, sender_len) = (coin.pads(len), params.sender_len());
            let (positions, payloads) = ctx.child("payloads", |ctx| {
                let pad: Pad<'_> = &|masks, payloads| pads.apply(masks, payloads);
                payloads::receive(ctx, len, sender_len, &matches, &masks, pad)
            })?;
            Output::Payloads { positions, payloads }
        }
        None => Output::Positions(sorted_tags::own_positions(&matches, params.receiver_len())),
    };
    Ok(Comparison { output, claims })
}

/// Step 12 of the sender: x is common iff proved.
fn receive_proofs(params: &PsiParams, claims: &[Block], ctx: &mut Context) -> Result<Output> {
    let len = proof_len(params);
    let proofs = answer::receive_bytes(ctx, params.sender_len() * len)?;
    let is_proved = |claim: &Block| {
        Claim::of_block(*claim).is_some_and(|Claim { place, proof }| {
            let proved = proofs.get(place as usize * len..).and_then(|rest| rest.get(..len));
            proved == Some(&proof.to_le_bytes()[..len])
        })
    };
    let is_common: Vec<bool> = claims.iter().map(is_proved).collect();
    Ok(answer::positions_of_flags(&is_common))
}

/// Step 12 of the receiver: for each place a proof, or random bytes of the same length.
fn send_proofs(params: &PsiParams, claims: &[Block], ctx: &mut Context) -> Result<Output> {
    let len = proof_len(params);
    let mut proofs = vec![0; params.sender_len() * len];
    ctx.rng().fill_bytes(&mut proofs);
    let mut is_common = vec![false; claims.len()];
    for (claim, is_common) in claims.iter().zip(&mut is_common) {
        let Some(Claim { place, proof }) = Claim::of_block(*claim) else { continue };
        let to = proofs
            .get_mut(place as usize * len..)
            .and_then(|rest| rest.get_mut(..len))
            .ok_or(Error::Bug("a match at a place that no tag has"))?;
        to.copy_from_slice(&proof.to_le_bytes()[..len]);
        *is_common = true;
    }
    answer::send_bytes(ctx, &proofs)?;
    Ok(answer::positions_of_flags(&is_common))
}

/// The sender of a set, which must hold no item twice: holds Δ; learns n_y, or with
/// [`Learns::Both`] which of its items the receiver has.
///
/// # Errors
/// [`vesica_core::ParameterError::SetLenMismatch`].
pub fn sender(params: PsiParams, x: impl Into<Input>) -> Result<Box<dyn Party>> {
    Whole::boxed(Role::Sender, params, x.into())
}

/// The receiver of a set, which must hold no item twice: learns which of its items the sender has.
///
/// # Errors
/// [`vesica_core::ParameterError::SetLenMismatch`].
pub fn receiver(params: PsiParams, y: impl Into<Input>) -> Result<Box<dyn Party>> {
    Whole::boxed(Role::Receiver, params, y.into())
}

/// A party that makes all steps one after the other.
struct Whole {
    role: Role,
    params: PsiParams,
    input: Input,
}

impl Whole {
    fn boxed(role: Role, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
        let len = match role {
            Role::Sender => params.sender_len(),
            _ => params.receiver_len(),
        };
        check_set_len(len, input.items().len())?;
        Ok(Box::new(Self { role, params, input }))
    }
}

impl Party for Whole {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Self { role, params, input } = *self;
        match role {
            _ if !params.has_empty_set() => STEPS.run(role, &params, input, ctx),
            Role::Sender => answer::receive_places(ctx, &params, &[]),
            _ => Ok(payloads::nothing_common(&params)),
        }
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

/// The hashes of masks under w.
struct Coin {
    tag: WithCoin,
    proof: WithCoin,
    session: SessionId,
    w: Block,
}

impl Coin {
    fn new(params: &PsiParams, w: Block) -> Self {
        let session = *params.session();
        let of = |label| WithCoin::new(label, &session, w);
        Self { tag: of(TAG_LABEL), proof: of(PROOF_LABEL), session, w }
    }

    /// The pads of payloads.
    fn pads(&self, len: PayloadLen) -> Pads {
        Pads::new(PAYLOAD_LABEL, &self.session, self.w, len)
    }

    /// F of each mask, with its position.
    fn tags(&self, ctx: &Context, masks: &[Block], f: &mut Gathered<Tagged>) {
        // Some tasks at a time, so that the tags are not in memory twice.
        let at_once = MASKS_PER_TASK.get() * ctx.pool().len();
        let mut position = 0;
        for masks in masks.chunks(at_once) {
            for tag in hashed(ctx, &self.tag, masks) {
                f.push(Tagged::new(tag.get(), position));
                position += 1;
            }
        }
    }

    /// What proves each mask's item.
    fn proofs(&self, ctx: &Context, masks: &[Block]) -> Vec<Block> {
        hashed(ctx, &self.proof, masks)
    }
}

fn hashed(ctx: &Context, hash: &WithCoin, masks: &[Block]) -> Vec<Block> {
    ctx.map(masks, MASKS_PER_TASK, |masks| hash.hash(masks)).concat()
}

/// The masks, and random ones until there are `len`.
fn filled(ctx: &mut Context, mut masks: Vec<Block>, len: usize) -> Result<Vec<Block>> {
    if masks.len() > len {
        return Err(Error::Bug("there are more masks than items"));
    }
    let missing = len - masks.len();
    masks.extend((0..missing).map(|_| Block::new(ctx.rng().random())));
    Ok(masks)
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

/// The sender's opening or the receiver's commitment, and w_r.
fn coins_of(of_w_s: &[u8; COMMITMENT_LEN], w_r: Block) -> Secret<[u8; COINS_LEN]> {
    let mut coins = [0; COINS_LEN];
    coins[..COMMITMENT_LEN].copy_from_slice(of_w_s);
    coins[COMMITMENT_LEN..].copy_from_slice(&w_r.to_le_bytes());
    Secret::new(coins)
}

/// What [`coins_of`] was given.
fn of_coins(coins: &Secret<[u8; COINS_LEN]>) -> ([u8; COMMITMENT_LEN], Block) {
    let (mut of_w_s, mut w_r) = ([0; COMMITMENT_LEN], [0; Block::LEN]);
    of_w_s.copy_from_slice(&coins.expose()[..COMMITMENT_LEN]);
    w_r.copy_from_slice(&coins.expose()[COMMITMENT_LEN..]);
    (of_w_s, Block::from_le_bytes(w_r))
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
