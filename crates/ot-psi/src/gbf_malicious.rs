//! # Bloom filters with malicious security
//!
//! P. Rindal, M. Rosulek, "Improved private set intersection against malicious adversaries",
//! EUROCRYPT 2017 (ePrint 2016/746): the repair of C. Dong, L. Chen, Z. Wen, ACM CCS 2013, §5.
//!
//! | | |
//! |---|---|
//! | security | malicious |
//! | assumption | regular learning parity with noise over GF(2); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | receiver learns | which of its own items the sender has; the size of the sender's set |
//! | sender learns | the size of the receiver's set; when both learn, also which of its own items the receiver has |
//! | flights | 9, for 2^16 items each |
//! | payload bytes | COT(2^b·N) + 128 + 2^b·(⌈N/8⌉ + ⌈c/8⌉ + ⌈m·⌈log N⌉/8⌉ + 16) + tags(n_x, 128), and p·n_x with [`Learns::Both`] |
//! | p | ⌈(λ + ⌈log n_x⌉) / 8⌉ bytes |
//!
//! ```text
//!   sender: X                                           receiver: Y
//!
//!   1   s ←$ {0,1}^256;  H(s)        ─────────────▶
//!   2   setup of the transfers       ◀────────────▶     setup of the transfers
//!   3   N transfers: m_{i,0}, m_{i,1} ◀───────────▶     b ←$ {0,1}^N with M ones; m_{i,b_i}, checked
//!   4                                ◀─────────────     r
//!   5   C ⊂ [N], |C| = c;  C, s      ─────────────▶     H(s) right?
//!   6   |C| − |R| ≤ τ?               ◀─────────────     R = {i ∈ C: b_i = 0}, r* = Σ_{i ∈ R} m_{i,b_i}
//!       r* = Σ_{i ∈ R} m_{i,0}?
//!   7   π injective, outside C?      ◀─────────────     B = Bloom_{s,r}(Y)
//!                                                       π: [m] → [N] ∖ C with b_{π(i)} = 1 where B_i = 1
//!   8   K_x = H(x, Σ_{i ∈ h*(x)} m_{π(i),1})            K_y = H(y, Σ_{i ∈ h*(y)} m_{π(i),b_{π(i)}})
//!   9   {K_x}, sorted                ─────────────▶     y is common iff K_y is among them
//!   10  [both] x is common iff proved ◀────────────     [both] a proof for each common tag
//! ```
//!
//! Steps 3, 6 and 7, and the sums of step 8, run block by block.
//!
//! h*(x) is the *set* of the k = 96 indices of x. All hashes are random oracles; K has all κ = 128
//! bits.
//!
//! **What a party that deviates can do.** The sender can choose its set, no larger than n_x except
//! for items that share a tag, which take 2^64 hashes a pair. It sends nothing that the receiver
//! could refuse because of its bits b, except for the transfers' own check, which does not depend
//! on Y. The receiver can choose a set of more items than n_y, [`usable_set_len`] at most. Its
//! filter has more than the share (1/16)^(1/3) of ones with probability below 2^-40, so that an
//! item it had not hashed before it sent π is tested with probability below 2^-128. With
//! [`Learns::Both`] either can stop early, and the receiver can keep matches from the sender, but
//! cannot claim one that its set does not have.
//!
//! **Where we differ from the paper.** The seed of the hash functions is revealed with the
//! challenge C, when the choices are fixed already. C has a fixed size and is sent as a seed, so
//! that no choice of it can leave the receiver too few ones. A slot that is zero may go to a
//! transfer whose bit is one, once all others are used up: the sender's view of π is uniform either
//! way. The [`Sizes`] follow from the number of ones that a filter has, not from k·n, and λ = 40 is
//! in bits; k is the same for all sizes. The tags are sent as the Elias–Fano code of their set.
//! With [`Learns::Both`] each match is proved by a second hash of the input of K.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

mod catalogue;
mod cut;
mod hashing;
mod injection;
mod plan;
mod proofs;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use catalogue::ROW;
pub use catalogue::bytes;
pub use plan::{MAX_RECEIVER_LEN, Sizes, usable_set_len};

use cut::{Opening, cut};
use hashing::Hashing;
use injection::draw;
use plan::{PER_MESSAGE, Plan, SEED_LEN, TAG_BITS, check_lens};
use rand::Rng;
use receiver::{send_choices, send_opening, send_places};
use sender::{Pads, recv_corrections, recv_opening, recv_places};
use std::ops::Range;
use std::sync::Arc;
#[cfg(test)]
use tests::Deviation;
use vesica_core::elias_fano::Shape;
use vesica_core::hash::derive;
use vesica_core::tagged::Tagged;
use vesica_core::{
    Block, Error, Item, Learns, Malicious, Misbehaviour, ParameterError, PsiParams, Result,
    SessionId,
};
use vesica_net::Context;
use vesica_okvs::bloom::Bloom;
use vesica_ot::adapters::random::Hash;
use vesica_ot::silent::cot;
use vesica_party::{Input, Output, Party, answer, sorted_tags};
use zeroize::Zeroizing;

const COIN_LABEL: &str = "vesica v1 gbf malicious coin";

/// H(s), the commitment to s, which is itself random.
fn commit(session: &SessionId, s: &[u8; SEED_LEN]) -> [u8; 32] {
    derive(COIN_LABEL, &[session.as_bytes(), s])
}

/// Challenges the receiver's choices; learns n_y, or with [`Learns::Both`] which of its items the
/// receiver has.
pub struct Sender {
    params: PsiParams,
    x: Arc<Vec<Item>>,
    /// A transfer whose message this party spoils, when it deviates.
    #[cfg(test)]
    spoils: Option<usize>,
}

/// Learns which of its items the sender has.
pub struct Receiver {
    params: PsiParams,
    y: Arc<Vec<Item>>,
    shared: Range<usize>,
    /// How this party deviates.
    #[cfg(test)]
    deviation: Deviation,
}

impl Party for Sender {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let (params, x) = (self.params, &self.x);
        let session = params.session();
        if params.has_empty_set() {
            return answer::receive_places(ctx, &params, &[]);
        }
        let plan = Plan::new(&params);
        // C is sent as a seed.
        let (mut s, mut c_seed) = ([0; SEED_LEN], [0; SEED_LEN]);
        ctx.rng().fill_bytes(&mut s);
        ctx.rng().fill_bytes(&mut c_seed);
        // 1. s ←$ {0,1}^256; H(s)
        ctx.peer()?.send(&commit(session, &s))?;
        // 2. Setup of the transfers.
        let mut transfers =
            ctx.child("setup", |ctx| cot::Sender::<Malicious>::setup(ctx, session))?;
        // 3. N transfers a block: m_{i,0}, m_{i,1}
        let (keys, corrections) = ctx.child("choosing", |ctx| {
            let keys = transfers.extend(ctx, plan.sizes.blocks() * plan.sizes.transfers)?;
            Ok::<_, Error>((keys, recv_corrections(ctx, &plan)?))
        })?;
        let pads = Pads { hash: Hash::new(session), delta: transfers.delta(), plan: &plan };
        // 4. r
        let mut r = [0; SEED_LEN];
        ctx.peer()?.recv_into(&mut r)?;
        // 5. C ⊂ [N], |C| = c, as its seed; s
        ctx.peer()?.send(&c_seed)?;
        ctx.peer()?.send(&s)?;
        ctx.peer()?.flush()?;
        // 6. R, r* right?  7. π  8. Σ_{i ∈ h*(x)} m_{π(i),1}
        let hashing = Hashing::new(&plan, session, &s, &r);
        let sums = ctx.child("filter", |ctx| {
            self.sums(ctx, &plan, &hashing, &c_seed, Sent { pads, keys, corrections })
        })?;
        let proofs = match params.learns() {
            Learns::Receiver => Vec::new(),
            Learns::Both => hashing.proofs(ctx.pool(), x, &sums),
        };
        // 8. K_x = H(x, that sum)  9. {K_x}, sorted
        let order = ctx.child("tags", |ctx| {
            let k = hashing.tags(ctx.pool(), x, &sums);
            let shape = Shape::new(params.sender_len() as u64, TAG_BITS);
            sorted_tags::send(ctx, shape, sorted_tags::gathered(shape, k))
        })?;
        // 10. [both] x is common iff proved
        proofs::recv(ctx, &params, &order, &proofs)
    }
}

impl Party for Receiver {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let (params, y) = (self.params, &self.y);
        let session = params.session();
        if params.has_empty_set() {
            return Ok(Output::Positions(Vec::new()));
        }
        let plan = Plan::new(&params);
        // 1. H(s)
        let mut commitment = [0; SEED_LEN];
        ctx.peer()?.recv_into(&mut commitment)?;
        // 2. Setup of the transfers.
        let mut transfers =
            ctx.child("setup", |ctx| cot::Receiver::<Malicious>::setup(ctx, session))?;
        // 3. b ←$ {0,1}^N with M ones in each block; m_{i,b_i}, checked
        let chosen = ctx.child("choosing", |ctx| {
            let len = plan.sizes.blocks() * plan.sizes.transfers;
            let [first, second] = transfers.extend_readers(ctx, len)?;
            Ok::<_, Error>(Chosen { b: self.choose(ctx, &plan, first)?, messages: second })
        })?;
        // 4. r ←$ {0,1}^256
        let mut r = [0; SEED_LEN];
        ctx.rng().fill_bytes(&mut r);
        ctx.peer()?.send(&r)?;
        // 5. C, s; H(s) right?
        let (mut c_seed, mut s) = ([0; SEED_LEN], [0; SEED_LEN]);
        ctx.peer()?.recv_into(&mut c_seed)?;
        ctx.peer()?.recv_into(&mut s)?;
        if commit(session, &s) != commitment {
            return Err(Misbehaviour::CommitmentBroken.into());
        }
        // 6. R, r*  7. B, π  8. Σ_{i ∈ h*(y)} m_{π(i),b_{π(i)}}
        let hashing = Hashing::new(&plan, session, &s, &r);
        let sums = ctx.child("filter", |ctx| self.sums(ctx, &plan, &hashing, &c_seed, chosen))?;
        let proofs = match params.learns() {
            Learns::Receiver => Vec::new(),
            Learns::Both => hashing.proofs(ctx.pool(), y, &sums),
        };
        // 8. K_y = H(y, that sum)  9. y is common iff K_y is among the sender's
        let matches = ctx.child("tags", |ctx| {
            let k = hashing.tags(ctx.pool(), y, &sums);
            let shape = Shape::new(params.sender_len() as u64, TAG_BITS);
            sorted_tags::find_checked(
                ctx,
                shape,
                &mut sorted_tags::gathered(shape, k),
                &self.shared,
            )
        })?;
        // 10. [both] a proof for each common tag
        proofs::send(ctx, &params, &matches, &proofs)?;
        Ok(Output::Positions(sorted_tags::own_positions(&matches, params.receiver_len())))
    }
}

/// The sender's side of the transfers.
struct Sent<'a> {
    pads: Pads<'a>,
    keys: cot::SenderStream,
    corrections: Vec<u8>,
}

/// The receiver's side of the transfers, and b of each block.
struct Chosen {
    b: Zeroizing<Vec<Vec<u64>>>,
    messages: cot::ReceiverStream,
}

impl Sender {
    /// Steps 6 to 8, block by block: Σ m_{π(i),1} of each item, by position.
    fn sums(
        &self,
        ctx: &mut Context,
        plan: &Plan,
        hashing: &Hashing,
        c_seed: &[u8; SEED_LEN],
        sent: Sent<'_>,
    ) -> Result<Zeroizing<Vec<Block>>> {
        let Sent { pads, mut keys, corrections } = sent;
        let blocks = hashing.by_block(ctx.pool(), plan, &self.x);
        let mut sums = Zeroizing::new(vec![Block::ZERO; self.x.len()]);
        let mut one = Zeroizing::new(Block::zeros(plan.sizes.transfers));
        let mut pi = vec![0; plan.sizes.slots];
        for (block, corrections) in corrections.chunks(plan.corrections_len()).enumerate() {
            let items = blocks.bucket(block);
            let cut = cut(&plan.sizes, self.params.session(), c_seed, block);
            keys.fill(ctx.pool(), &mut one)?;
            let zero = pads.apply(ctx.pool(), block, &cut, &mut one, corrections);
            #[cfg(test)]
            self.spoils.iter().for_each(|i| one[*i] ^= Block::ONE);
            // 6. |C| − |R| ≤ τ? r* = Σ_{i ∈ R} m_{i,0}?
            recv_opening(ctx, plan)?.check(plan, &zero)?;
            // 7. π injective, outside C?
            recv_places(ctx, plan, &cut, &mut pi)?;
            // 8. Σ_{i ∈ h*(x)} m_{π(i),1}
            let of_block = hashing.sums(ctx.pool(), &self.x, items, &pi, &one);
            let positions = items.iter().map(Tagged::position);
            positions.zip(of_block).for_each(|(i, sum)| sums[i as usize] = sum);
            ctx.progress(block as u64 + 1, plan.sizes.blocks() as u64);
        }
        Ok(sums)
    }
}

impl Receiver {
    /// Step 3: draws b of each block and sends the corrections.
    fn choose(
        &self,
        ctx: &mut Context,
        plan: &Plan,
        mut stream: cot::ReceiverStream,
    ) -> Result<Zeroizing<Vec<Vec<u64>>>> {
        let blocks = plan.sizes.blocks();
        let mut all = Zeroizing::new(Vec::with_capacity(blocks));
        let mut transfers = Zeroizing::new(Block::zeros(plan.sizes.transfers));
        for block in 0..blocks {
            let b = cut::choices(&plan.sizes, ctx.rng());
            #[cfg(test)]
            let b = self.deviation.choices(b, plan);
            stream.fill(ctx.pool(), &mut transfers)?;
            send_choices(ctx, plan, &transfers, &b)?;
            all.push(b);
            ctx.progress(block as u64 + 1, blocks as u64);
        }
        Ok(all)
    }

    /// Steps 6 to 8, block by block: Σ m_{π(i),b_π(i)} of each item, by position.
    fn sums(
        &self,
        ctx: &mut Context,
        plan: &Plan,
        hashing: &Hashing,
        c_seed: &[u8; SEED_LEN],
        chosen: Chosen,
    ) -> Result<Zeroizing<Vec<Block>>> {
        let Chosen { b, messages: mut stream } = chosen;
        let session = self.params.session();
        let hash = Hash::new(session);
        let blocks = hashing.by_block(ctx.pool(), plan, &self.y);
        let mut sums = Zeroizing::new(vec![Block::ZERO; self.y.len()]);
        let mut m = Zeroizing::new(Block::zeros(plan.sizes.transfers));
        for (block, b) in b.iter().enumerate() {
            let items = blocks.bucket(block);
            if items.len() > plan.sizes.load {
                return Err(ParameterError::HashingFailed.into());
            }
            stream.fill(ctx.pool(), &mut m)?;
            let first = block * plan.sizes.transfers;
            let pieces = m.chunks_mut(PER_MESSAGE).enumerate();
            ctx.pool().for_each(pieces.collect(), |(i, piece)| {
                hash.apply((first + i * PER_MESSAGE) as u64, piece);
            });
            // 6. R = {i ∈ C: b_i = 0}, r* = Σ_{i ∈ R} m_{i,b_i}
            let cut = cut(&plan.sizes, session, c_seed, block);
            let opening = Opening::new(&cut, b, &m, &plan.sizes);
            #[cfg(test)]
            let opening = self.deviation.opening(opening, plan);
            send_opening(ctx, &opening)?;
            // 7. B = Bloom_{s,r}(Y); π: [m] → [N] ∖ C with b_{π(i)} = 1 where B_i = 1
            let mut filter = Bloom::new(plan.sizes.slots);
            hashing.each(&self.y, items, |indices| filter.insert(indices));
            let pool = ctx.pool().clone();
            let pi = draw(&pool, ctx.rng(), plan, &cut, b, &filter)?;
            let sent = &pi;
            #[cfg(test)]
            let sent = &self.deviation.places(sent, &cut, plan);
            send_places(ctx, plan, sent)?;
            // The sender works on this block while this party works on the next.
            ctx.peer()?.flush()?;
            // 8. Σ_{i ∈ h*(y)} m_{π(i),b_{π(i)}}
            let of_block = hashing.sums(&pool, &self.y, items, &pi, &m);
            let positions = items.iter().map(Tagged::position);
            positions.zip(of_block).for_each(|(i, sum)| sums[i as usize] = sum);
            ctx.progress(block as u64 + 1, plan.sizes.blocks() as u64);
        }
        Ok(sums)
    }
}

impl Sender {
    /// The sender of the set `x`, which must hold no item twice.
    ///
    /// # Errors
    /// [`ParameterError::SetLenMismatch`]; [`ParameterError::SetTooLarge`] for a receiver's set
    /// above [`MAX_RECEIVER_LEN`].
    pub fn new(params: PsiParams, x: Arc<Vec<Item>>) -> Result<Self> {
        check_lens(&params, params.sender_len(), x.len())?;
        Ok(Self {
            params,
            x,
            #[cfg(test)]
            spoils: None,
        })
    }
}

impl Receiver {
    /// The receiver of a set `y`, which must hold no item twice.
    ///
    /// # Errors
    /// [`ParameterError::SetLenMismatch`]; [`ParameterError::SetTooLarge`] above
    /// [`MAX_RECEIVER_LEN`].
    pub fn new(params: PsiParams, y: impl Into<Input>) -> Result<Self> {
        let y = y.into();
        check_lens(&params, params.receiver_len(), y.items().len())?;
        Ok(Self {
            params,
            shared: y.shared(),
            y: y.into_items(),
            #[cfg(test)]
            deviation: Deviation::default(),
        })
    }
}
