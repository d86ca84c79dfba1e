//! # RR22: PSI from subfield VOLE and an oblivious key-value store
//!
//! S. Raghuraman, P. Rindal, "Blazing fast PSI from improved OKVS and subfield VOLE", ACM CCS
//! 2022 (ePrint 2022/320), semi-honest; after P. Rindal, P. Schoppmann, "VOLE-PSI", EUROCRYPT 2021.
//!
//! | | |
//! |---|---|
//! | security | semi-honest; learning parity with noise, random oracle and ideal cipher |
//! | receiver learns | which of its items the sender has; n_x |
//! | sender learns | n_y; with [`Learns::Both`] also which of its items the receiver has |
//! | flights | 5; with [`Learns::Both`] 6 |
//! | payload bytes | VOLE(m) + 32 + m·|B| + tags(n_x, ℓ), and ⌈n_x/8⌉ with [`Learns::Both`] |
//! | ℓ | λ + ⌈log n_x⌉ + ⌈log n_y⌉ bits |
//!
//! ```text
//!   sender: X                                       receiver: Y
//!
//!   setup of VOLE               ◀──────────────▶    setup of VOLE
//!                               ◀───────────────    r ←$ {0,1}^256
//!   Δ, b                        ◀──────────────▶    a, c = aΔ + b
//!                                                   P = Encode({(y, H_B(y, r))})
//!   K = b + AΔ                  ◀───────────────    A = P + a
//!   F(x) = H_o(Decode(K, x) − Δ·H_B(x, r))          F(y) = H_o(Decode(c, y))
//!   {F(x)}, sorted              ───────────────▶    y is common iff F(y) is among them
//!   [both] x is common iff its bit is 1 ◀──────    [both] one bit for each tag received
//! ```
//!
//! Two rows of the catalogue: `rr22`, *fast*, with the clustered 3-hash store and |B| = 128; and
//! `rr22_low_communication`, with the random-band store and |B| = ℓ rounded up to 16 bits.
//!
//! As in the paper it is the receiver's set that is encoded; the paper calls that set X and its size
//! n_x, here it is Y and n_y.
//!
//! **Where we differ from the paper.** The tags are sent as the Elias–Fano code of their set, which hides their
//! order as a random permutation would and saves about log n_x − 2 bits each. B is a GF(2)-space
//! instead of a subfield in low communication, see [`vesica_oprf::vole`]. Everything is done
//! cluster by cluster, so that A is on its way while it is made.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

use crate::assumptions;
use crate::catalogue::{BoundsKept, Compared, Operation, Parameter, Protocol, Security, Traffic};
use crate::party::check_set_len;
use crate::{Output, Party, answer, sorted_tags};
use rand::Rng;
use std::sync::Arc;
use vesica_core::elias_fano::Shape;
use vesica_core::params::{STATISTICAL_SECURITY_BITS, ceil_log2};
use vesica_core::{Block, Item, PsiParams, Result, SemiHonest};
use vesica_net::Context;
use vesica_oprf::vole::{self, Plan, Rows, Seed};
use vesica_ot::silent;

const LEARNED_BY_SENDER: &str = "the size of the receiver's set";
const LEARNED_BY_RECEIVER: &str =
    "which of its own items the sender has; the size of the sender's set";

pub(crate) const FAST_ROW: Protocol = Protocol {
    id: "rr22",
    name: "VOLE-PSI, fast",
    source: "Raghuraman, Rindal, ACM CCS 2022 (ePrint 2022/320), semi-honest, fast mode",
    security: Security::SemiHonest,
    assumption: assumptions::VOLE,
    operations: &[Operation::Intersection],
    sender_learns: LEARNED_BY_SENDER,
    receiver_learns: LEARNED_BY_RECEIVER,
    flights: |_| 5,
    bytes_formula: "VOLE(m) + 32 + 16·m + tags(n_x, ℓ), and ⌈n_x/8⌉ when both learn; m ≈ 1.28·n_y slots of the 3-hash store; tags(n, ℓ) = ⌈(n + 2^h + n·(ℓ − h))/8⌉ with h = ⌊log n⌋; ℓ = 40 + ⌈log n_x⌉ + ⌈log n_y⌉",
    bytes: |params| bytes(Mode::Fast, params),
    seconds: |params| seconds(Mode::Fast, params),
    usable_set_len: None,
    named_only: false,
    item_bits: 128..=128,
    reserves_zero: false,
    bounds: BoundsKept::No,
    wide_values: false,
    bytes_depend_on_result: false,
    compared: |params| Compared::tags(tag_bits(params)),
    parameters: &[
        Parameter {
            name: "key-value store",
            value: "3-hash binary, clustered, dense columns over GF(2^128); failure below 2^-40",
            source: "Raghuraman, Rindal 2022, §4; parameters/okvs",
        },
        FIELD,
        LPN,
        TAGS,
    ],
    sender: |params, input| Ok(Box::new(Sender::new(Mode::Fast, params, input.into_items())?)),
    receiver: |params, input| Ok(Box::new(Receiver::new(Mode::Fast, params, input.into_items())?)),
};

pub(crate) const LOW_COMMUNICATION_ROW: Protocol = Protocol {
    id: "rr22_low_communication",
    name: "VOLE-PSI, low communication",
    source: "Raghuraman, Rindal, ACM CCS 2022 (ePrint 2022/320), semi-honest, with the store of Bienstock, Patel, Seo, Yeo, USENIX Security 2023",
    assumption: assumptions::SUBFIELD_VOLE,
    bytes_formula: "VOLE(m) + 32 + ⌈ℓ/16⌉·2·m + tags(n_x, ℓ), and ⌈n_x/8⌉ when both learn; m ≈ 1.04·n_y slots of the random-band store; tags and ℓ as in rr22",
    bytes: |params| bytes(Mode::LowCommunication, params),
    seconds: |params| seconds(Mode::LowCommunication, params),
    parameters: &[
        Parameter {
            name: "key-value store",
            value: "random band of at most 512 bits; failure below 2^-40",
            source: "Bienstock, Patel, Seo, Yeo 2023; parameters/okvs",
        },
        FIELD,
        LPN,
        TAGS,
    ],
    sender: |params, input| {
        Ok(Box::new(Sender::new(Mode::LowCommunication, params, input.into_items())?))
    },
    receiver: |params, input| {
        Ok(Box::new(Receiver::new(Mode::LowCommunication, params, input.into_items())?))
    },
    ..FAST_ROW
};

const FIELD: Parameter = Parameter {
    name: "field",
    value: "GF(2^128); Δ uniform in it",
    source: "Raghuraman, Rindal 2022, §5",
};

const LPN: Parameter = Parameter {
    name: "learning parity with noise",
    value: "regular noise, at least 128 bits against every attack of docs/lpn.md",
    source: "docs/lpn.md, computed by parameters/lpn",
};

const TAGS: Parameter = Parameter {
    name: "tag length",
    value: "λ + ⌈log n_x⌉ + ⌈log n_y⌉ bits, λ = 40",
    source: "Raghuraman, Rindal 2022, §5",
};

/// Which encoding carries the receiver's set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The clustered 3-hash store, |B| = 128: least computation.
    Fast,
    /// The random-band store, |B| = ℓ: fewest bytes.
    LowCommunication,
}

impl Mode {
    fn plan(self, params: &PsiParams) -> Plan {
        match self {
            Mode::Fast => Plan::fast(params.receiver_len(), tag_bits(params)),
            Mode::LowCommunication => {
                Plan::low_communication(params.receiver_len(), tag_bits(params))
            }
        }
    }
}

/// ℓ: a false match has probability 2^-λ over all pairs.
fn tag_bits(params: &PsiParams) -> u32 {
    STATISTICAL_SECURITY_BITS
        + ceil_log2(params.sender_len() as u64)
        + ceil_log2(params.receiver_len() as u64)
}

/// Exact payload bytes of a run.
pub fn bytes(mode: Mode, params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let plan = mode.plan(params);
    let correlations = silent::vole::bytes::<SemiHonest>(plan.correlations(), plan.values());
    let tags = Shape::new(params.sender_len() as u64, tag_bits(params)).bytes();
    Traffic {
        sender_to_receiver: correlations.sender_to_receiver + tags,
        receiver_to_sender: correlations.receiver_to_sender
            + Seed::LEN as u64
            + plan.masked_bytes()
            + answer::bytes(params),
    }
}

/// Estimated seconds of computation, fitted to measurements.
fn seconds(mode: Mode, params: &PsiParams) -> f64 {
    let (n_x, n_y) = (params.sender_len() as f64, params.receiver_len() as f64);
    match mode {
        Mode::Fast => 0.012 + 80e-9 * n_x + 140e-9 * n_y,
        Mode::LowCommunication => 0.013 + 80e-9 * n_x + 290e-9 * n_y,
    }
}

/// Holds Δ; learns n_y, or with [`Learns::Both`](vesica_core::Learns::Both) which of its items the receiver has.
pub struct Sender {
    mode: Mode,
    params: PsiParams,
    x: Arc<Vec<Item>>,
}

impl Sender {
    /// The sender of the set `x`, which must hold no item twice.
    ///
    /// # Errors
    /// [`vesica_core::ParameterError::SetLenMismatch`].
    pub fn new(mode: Mode, params: PsiParams, x: Arc<Vec<Item>>) -> Result<Self> {
        check_set_len(params.sender_len(), x.len())?;
        Ok(Self { mode, params, x })
    }
}

impl Party for Sender {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Sender { mode, params, x } = *self;
        let session = params.session();
        if params.has_empty_set() {
            return answer::take_places(ctx, &params, &[]);
        }
        let plan = mode.plan(&params);

        let mut vole =
            ctx.child("setup", |ctx| silent::vole::Sender::<SemiHonest>::setup(ctx, session))?;
        let delta = vole.delta();
        let mut seed = [0; Seed::LEN];
        ctx.peer()?.recv_into(&mut seed)?;
        let rows = ctx.child("hashing", |ctx| {
            Rows::new::<SemiHonest>(ctx.pool(), &plan, session, &Seed::from_bytes(seed), &x)
        });
        drop(x);
        let mut b =
            ctx.child("vole", |ctx| vole.extend(ctx, plan.correlations(), plan.values()))?;
        let inputs = ctx.child("encoding", |ctx| {
            vole::unmask(ctx, &plan, rows, delta, |pool, part| b.fill(pool, part))
        })?;
        drop(b);
        let order = ctx.child("tags", |ctx| {
            let f_x =
                inputs.outputs::<SemiHonest>(ctx.pool(), session, Block::ZERO, plan.output_bits());
            sorted_tags::send(ctx, Shape::new(params.sender_len() as u64, plan.output_bits()), f_x)
        })?;
        answer::take_places(ctx, &params, &order)
    }
}

/// Learns which of its items the sender has.
pub struct Receiver {
    mode: Mode,
    params: PsiParams,
    y: Arc<Vec<Item>>,
}

impl Receiver {
    /// The receiver of the set `y`, which must hold no item twice.
    ///
    /// # Errors
    /// [`vesica_core::ParameterError::SetLenMismatch`].
    pub fn new(mode: Mode, params: PsiParams, y: Arc<Vec<Item>>) -> Result<Self> {
        check_set_len(params.receiver_len(), y.len())?;
        Ok(Self { mode, params, y })
    }
}

impl Party for Receiver {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Receiver { mode, params, y } = *self;
        let session = params.session();
        if params.has_empty_set() {
            return Ok(Output::Positions(Vec::new()));
        }
        let plan = mode.plan(&params);

        let mut vole =
            ctx.child("setup", |ctx| silent::vole::Receiver::<SemiHonest>::setup(ctx, session))?;
        let mut seed = [0; Seed::LEN];
        ctx.rng().fill_bytes(&mut seed);
        ctx.peer()?.send(&seed)?;
        ctx.peer()?.flush()?;
        let rows = ctx.child("hashing", |ctx| {
            Rows::new::<SemiHonest>(ctx.pool(), &plan, session, &Seed::from_bytes(seed), &y)
        });
        drop(y);
        let mut ac =
            ctx.child("vole", |ctx| vole.extend(ctx, plan.correlations(), plan.values()))?;
        let inputs = ctx.child("encoding", |ctx| {
            vole::mask(ctx, &plan, rows, |pool, a, c| ac.fill(pool, a, c))
        })?;
        drop(ac);
        let matches = ctx.child("tags", |ctx| {
            let f_y =
                inputs.outputs::<SemiHonest>(ctx.pool(), session, Block::ZERO, plan.output_bits());
            let shape = Shape::new(params.sender_len() as u64, plan.output_bits());
            sorted_tags::find(ctx, shape, f_y)
        })?;
        answer::give_places(ctx, &params, matches.iter().map(|found| found.place as usize))?;
        Ok(Output::Positions(sorted_tags::own_positions(&matches, params.receiver_len())))
    }
}
