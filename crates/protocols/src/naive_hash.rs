//! # Salted hashing — insecure
//!
//! The "naive hashing" baseline of Pinkas, Schneider, Segev and Zohner, "Phasing", USENIX
//! Security 2015, §3.1. **The receiver can test guesses** at the sender's items for as long as it
//! likes, so any set from a domain that can be enumerated (phone numbers, e-mail addresses,
//! names) is as good as sent in clear. It is here to measure the others against, and runs only
//! when both the agreement names it and the command line insists.
//!
//! | | |
//! |---|---|
//! | security | **insecure** |
//! | receiver learns | the sender's set, by guessing |
//! | sender learns | n_y; with [`Learns::Both`] also which of its items the receiver has |
//! | flights | 2; with [`Learns::Both`] 3 |
//! | payload bytes | receiver → sender 32, and ⌈n_x/8⌉ with [`Learns::Both`]; sender → receiver ℓ·n_x |
//! | ℓ | ⌈(λ + ⌈log n_x⌉ + ⌈log n_y⌉) / 8⌉ bytes |
//!
//! ```text
//!   sender P_1: X                               receiver P_2: Y, k ←$ {0,1}^2κ
//!                                 ◀────────     k
//!        H(k, x) for x ∈ X, shuffled ─────▶     y is common iff H(k, y) is among them
//!  [both] x is common iff its bit is 1 ◀──────  [both] one bit per x, in the order received
//! ```
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

use crate::catalogue::{BoundsKept, Compared, Operation, Parameter, Protocol, Security, Traffic};
use crate::party::check_set_len;
use crate::{Output, Party, answer};
use rand::Rng;
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_core::tags::{Tag, TagHash, decode_tags, encode_tags};
use vesica_core::{Item, PsiParams, Result, Shuffled, hash};
use vesica_net::Context;

const TAG_LABEL: &str = "vesica v1 naive hash tag";
const SALT_LABEL: &str = "vesica v1 naive hash salt";

/// Length of the salt k in bytes: 2κ bits.
const SALT_LEN: usize = 32;

/// Tags in one message.
const TAGS_PER_MESSAGE: usize = 16 << 10;

/// Tags one CPU thread works on at a time.
const TAGS_PER_TASK: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

pub(crate) const ROW: Protocol = Protocol {
    id: "naive_hash",
    name: "salted hashing (insecure baseline)",
    source: "Pinkas, Schneider, Segev, Zohner, USENIX Security 2015, §3.1",
    security: Security::Insecure,
    assumption: "none holds: the receiver can test guesses at the sender's items",
    operations: &[Operation::Intersection],
    sender_learns: "the size of the receiver's set",
    receiver_learns: "every item of the sender it can guess",
    flights: |_| 2,
    bytes_formula: "32 + ℓ·n_x, and ⌈n_x/8⌉ when both learn; ℓ = ⌈(40 + ⌈log n_x⌉ + ⌈log n_y⌉)/8⌉",
    bytes,
    seconds,
    usable_set_len: None,
    named_only: false,
    item_bits: 128..=128,
    reserves_zero: false,
    bounds: BoundsKept::No,
    wide_values: false,
    bytes_depend_on_result: false,
    compared: |params| Compared::tags(8 * params.tag_len_bytes() as u32),
    parameters: &[
        Parameter {
            name: "salt",
            value: "256 bits",
            source: "Pinkas, Schneider, Segev, Zohner 2015, §3.1",
        },
        Parameter {
            name: "tag length",
            value: "λ + log n_x + log n_y bits, λ = 40, rounded up to bytes",
            source: "Pinkas, Schneider, Segev, Zohner 2015, §3.1",
        },
    ],
    sender: |params, input| Ok(Box::new(Sender::new(params, input.into_items())?)),
    receiver: |params, input| Ok(Box::new(Receiver::new(params, input.into_items())?)),
};

/// Exact payload bytes of a run.
pub fn bytes(params: &PsiParams) -> Traffic {
    let n_x = params.sender_len() as u64;
    Traffic {
        sender_to_receiver: params.tag_len_bytes() as u64 * n_x,
        receiver_to_sender: SALT_LEN as u64 + answer::bytes(params),
    }
}

/// One hash an item, and a look-up for each of the receiver's.
fn seconds(params: &PsiParams) -> f64 {
    0.001 + 1.2e-7 * params.sender_len() as f64 + 1.2e-7 * params.receiver_len() as f64
}

/// P_1: learns n_y, or with [`Learns::Both`](vesica_core::Learns::Both) which of its items the receiver has.
pub struct Sender {
    params: PsiParams,
    x: Arc<Vec<Item>>,
}

impl Sender {
    /// The sender of the set `x`, which must hold no item twice.
    ///
    /// # Errors
    /// [`vesica_core::ParameterError::SetLenMismatch`].
    pub fn new(params: PsiParams, x: Arc<Vec<Item>>) -> Result<Self> {
        check_set_len(params.sender_len(), x.len())?;
        Ok(Self { params, x })
    }
}

impl Party for Sender {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Sender { params, x } = *self;
        let x = Shuffled::new(x, ctx.rng());
        let mut salt = [0; SALT_LEN];
        ctx.child("salt", |ctx| ctx.peer()?.recv_into(&mut salt))?;

        ctx.child("tags", |ctx| {
            let hash = salted(&params, &salt);
            let mut bytes = Vec::new();
            for (first, block) in x.blocks(TAGS_PER_MESSAGE) {
                bytes.clear();
                encode_tags(&tags(ctx, &hash, &block), hash.len_bytes(), &mut bytes);
                ctx.peer()?.send(&bytes)?;
                ctx.progress((first + block.len()) as u64, x.len() as u64);
            }
            ctx.finish()
        })?;

        answer::take(ctx, &params, &x)
    }
}

/// P_2: learns every item of the sender it can guess.
pub struct Receiver {
    params: PsiParams,
    y: Arc<Vec<Item>>,
}

impl Receiver {
    /// The receiver of the set `y`, which must hold no item twice.
    ///
    /// # Errors
    /// [`vesica_core::ParameterError::SetLenMismatch`].
    pub fn new(params: PsiParams, y: Arc<Vec<Item>>) -> Result<Self> {
        check_set_len(params.receiver_len(), y.len())?;
        Ok(Self { params, y })
    }
}

impl Party for Receiver {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Receiver { params, y } = *self;
        let mut salt = [0; SALT_LEN];
        ctx.rng().fill_bytes(&mut salt);
        ctx.child("salt", |ctx| {
            ctx.peer()?.send(&salt)?;
            ctx.peer()?.flush()
        })?;
        let hash = salted(&params, &salt);
        let len = hash.len_bytes();
        let tags_of_y = tags(ctx, &hash, &y);

        let tags_of_x = ctx.child("tags", |ctx| {
            let n_x = params.sender_len();
            let mut tags_of_x = Vec::new();
            while tags_of_x.len() < n_x {
                let count = TAGS_PER_MESSAGE.min(n_x - tags_of_x.len());
                decode_tags(&ctx.peer()?.recv(len * count)?, len, &mut tags_of_x);
                ctx.progress(tags_of_x.len() as u64, n_x as u64);
            }
            Ok::<_, vesica_core::Error>(tags_of_x)
        })?;

        let of_x = answer::give(ctx, &params, tags_of_x, &tags_of_y)?;
        let common = (0..y.len()).filter(|i| of_x.contains(tags_of_y[*i])).collect();
        Ok(Output::Positions(common))
    }
}

fn salted(params: &PsiParams, salt: &[u8; SALT_LEN]) -> TagHash {
    let session = hash::derive(SALT_LABEL, &[params.session().as_bytes(), salt]);
    TagHash::with_key(TAG_LABEL, &session, params.tag_len_bytes())
}

fn tags(ctx: &Context, hash: &TagHash, items: &[Item]) -> Vec<Tag> {
    ctx.map(items, TAGS_PER_TASK, |items| {
        items.iter().map(|item| hash.tag(item.as_bytes())).collect::<Vec<Tag>>()
    })
    .concat()
}
