//! # RR22: PSI from subfield VOLE and an oblivious key-value store
//!
//! S. Raghuraman, P. Rindal, "Blazing fast PSI from improved OKVS and subfield VOLE", ACM CCS
//! 2022 (ePrint 2022/320), semi-honest; after P. Rindal, P. Schoppmann, "VOLE-PSI", EUROCRYPT 2021.
//!
//! | | |
//! |---|---|
//! | security | semi-honest |
//! | assumption, `rr22` | regular learning parity with noise over GF(2^128); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | assumption, `rr22_low_communication` | regular learning parity with noise over GF(2^16); gap Diffie–Hellman in Ristretto255; random oracle, ideal cipher |
//! | receiver learns | which of its own items the sender has; the size of the sender's set |
//! | sender learns | the size of the receiver's set; when both learn, also which of its own items the receiver has |
//! | flights | 5, for 2^16 items each |
//! | payload bytes | VOLE(m) + 32 + m·|B| + tags(n_x, ℓ), ⌈n_x/8⌉ with [`Learns::Both`], and n_x payloads if there are any |
//! | ℓ | λ + ⌈log n_x⌉ + ⌈log n_y⌉ bits |
//!
//! ```text
//!      sender: X                                       receiver: Y
//!
//!   1  setup of VOLE: Δ            ◀──────────────▶    setup of VOLE
//!   2                              ◀───────────────    r ←$ {0,1}^256
//!   3  b                           ◀──────────────▶    a, c = aΔ + b
//!   4                                                  P = Encode({(y, H_B(y, r))})
//!   5  K = b + AΔ                  ◀───────────────    A = P + a
//!   6  F(x) = H_o(Decode(K, x) − Δ·H_B(x, r))          F(y) = H_o(Decode(c, y))
//!   7  {F(x)}, sorted              ───────────────▶    y is common iff F(y) is among them
//!   8  [payloads] p(x) ⊕ pad(F'(x)), in the order of the tags ──▶ [payloads] p(y) of common y
//!   9  [both] x is common iff its bit is 1 ◀──────     [both] one bit for each tag received
//! ```
//!
//! Steps 1 to 6 are those of [`vesica_oprf::vole`]. The catalogue has two rows: `rr22`, *fast*,
//! with the clustered 3-hash store and |B| = 128; and `rr22_low_communication`, with the
//! random-band store and |B| = ℓ rounded up to 16 bits.
//!
//! Payloads are no part of the paper: F' is a second hash of what H_o hashes, so that the tags tell
//! nothing about it, and the pad is as many blocks of a cipher of F'(x) as a payload has: [`Pads`].
//!
//! As in the paper, it is the receiver's set that is encoded. The paper calls that set X and its
//! size n_x; here they are Y and n_y.
//!
//! **Where we differ from the paper.** The tags are sent as the Elias–Fano code of their set, which
//! hides their order as a random permutation would and saves about log n_x − 2 bits each. In low
//! communication B is a GF(2)-space instead of a subfield, see [`vesica_oprf::vole`]. All steps
//! work cluster by cluster, so that A is sent while it is computed.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

mod catalogue;

pub use catalogue::bytes;
pub use catalogue::{FAST_ROW, LOW_COMMUNICATION_ROW};

use std::sync::Arc;
use vesica_core::elias_fano::Shape;
use vesica_core::{Block, Error, Item, PayloadLen, PsiParams, Result, SemiHonest};
use vesica_net::{Context, Pool};
use vesica_oprf::vole::{self, Inputs, Pads, Plan, Seed};
use vesica_party::payloads::{self, Pad};
use vesica_party::{Output, answer, sorted_tags};

const PAYLOAD_LABEL: &str = "vesica v1 rr22 payload";

/// Holds Δ; learns n_y, or with [`Learns::Both`](vesica_core::Learns::Both) which of its items the
/// receiver has.
fn run_sender(
    mode: Mode,
    params: PsiParams,
    x: Arc<Vec<Item>>,
    payloads: Option<&[u8]>,
    ctx: &mut Context,
) -> Result<Output> {
    if params.has_empty_set() {
        return answer::receive_places(ctx, &params, &[]);
    }
    let (session, plan, tags) = (params.session(), mode.plan(&params), tags(&params));
    // 1. Setup of the VOLE: Δ. 2. r 3. b 5. K = b + AΔ 6. F(x) = H_o(Decode(K, x) − Δ·H_B(x, r))
    let mut f_x = sorted_tags::gather(tags);
    let mut masks = Masks::new(&params, x.len());
    let (receive, x) = (Seed::receive, |_: &mut Context, _: &Seed| Ok(x));
    vole::run_sender::<SemiHonest, _>(ctx, session, &plan, receive, x, |pool, q| {
        masks.keep(pool, &q);
        q.outputs(pool, tags.tag_bits(), |tag| f_x.push(tag));
    })?;
    // 7. {F(x)}, sorted
    let order = ctx.child("tags", |ctx| sorted_tags::send(ctx, tags, f_x))?;
    if let Some(len) = params.query().payload_len() {
        // 8. [payloads] each under its pad
        let payloads = payloads.ok_or(Error::Bug("a sender has no payloads"))?;
        let pads = pads(&params, len);
        ctx.child("payloads", |ctx| {
            let pad: Pad<'_> = &|masks, payloads| pads.apply(masks, payloads);
            payloads::send(ctx, len, &order, &masks.0, payloads, pad)
        })?;
    }
    // 9. [both] x is common iff its bit is 1
    answer::receive_places(ctx, &params, &order)
}

/// Learns which of its items the sender has.
fn run_receiver(
    mode: Mode,
    params: PsiParams,
    y: Arc<Vec<Item>>,
    ctx: &mut Context,
) -> Result<Output> {
    if params.has_empty_set() {
        return Ok(payloads::nothing_common(&params));
    }
    let (session, plan, tags) = (params.session(), mode.plan(&params), tags(&params));
    // 1. Setup of the VOLE.  2. r ←$ {0,1}^256  3. a, c = aΔ + b  4. P = Encode({(y, H_B(y, r))})
    // 5. A = P + a  6. F(y) = H_o(Decode(c, y))
    let mut f_y = sorted_tags::gather_own(tags, y.len());
    let mut masks = Masks::new(&params, y.len());
    let (draw, y) = (Seed::draw_and_send, |_: &mut Context, _: &Seed| Ok(y));
    vole::run_receiver::<SemiHonest, _>(ctx, session, &plan, draw, y, |pool, q| {
        masks.keep(pool, &q);
        q.outputs(pool, tags.tag_bits(), |tag| f_y.push(tag));
    })?;
    // 7. y is common iff F(y) is among the sender's
    let matches = ctx.child("tags", |ctx| sorted_tags::find(ctx, tags, &f_y))?;
    drop(f_y);
    let output = match params.query().payload_len() {
        Some(len) => {
            // 8. [payloads] those of common items
            let (pads, sender_len) = (pads(&params, len), params.sender_len());
            let (positions, payloads) = ctx.child("payloads", |ctx| {
                let pad: Pad<'_> = &|masks, payloads| pads.apply(masks, payloads);
                payloads::receive(ctx, len, sender_len, &matches, &masks.0, pad)
            })?;
            Output::Payloads { positions, payloads }
        }
        None => Output::Positions(sorted_tags::own_positions(&matches, params.receiver_len())),
    };
    // 9. [both] one bit for each tag received
    answer::send_places(ctx, &params, matches.iter().map(|found| found.place as usize))?;
    Ok(output)
}

/// A second output of the OPRF for each item, from which its pad follows; none without payloads.
struct Masks(Vec<Block>);

impl Masks {
    fn new(params: &PsiParams, len: usize) -> Self {
        Self(Block::zeros(params.query().payload_len().map_or(0, |_| len)))
    }

    /// Keeps those of `inputs`.
    fn keep(&mut self, pool: &Pool, inputs: &Inputs<SemiHonest>) {
        if !self.0.is_empty() {
            inputs.masks(pool, &mut self.0);
        }
    }
}

fn pads(params: &PsiParams, len: PayloadLen) -> Pads {
    Pads::new(PAYLOAD_LABEL, params.session(), Block::ZERO, len)
}

/// Which encoding carries the receiver's set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The clustered 3-hash store, |B| = 128: least computation.
    Fast,
    /// The random-band store, |B| = ℓ: fewest bytes.
    LowCommunication,
}

impl Mode {
    /// The shape of the OPRF.
    fn plan(self, params: &PsiParams) -> Plan {
        let (n_y, tag_bits) = (params.receiver_len(), params.tag_bits());
        match self {
            Mode::Fast => Plan::fast(n_y, tag_bits, params.runs()),
            Mode::LowCommunication => Plan::low_communication(n_y, tag_bits, params.runs()),
        }
    }
}

/// The sender's tags, of ℓ bits each: a false match has probability 2^-λ over all pairs.
fn tags(params: &PsiParams) -> Shape {
    Shape::new(params.sender_len() as u64, params.tag_bits())
}
