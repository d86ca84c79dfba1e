//! # Salted hashing — insecure
//!
//! The "naive hashing" baseline of Pinkas, Schneider, Segev and Zohner, "Phasing", USENIX
//! Security 2015, §3.1. **The receiver can test guesses** at the sender's items for as long as it
//! likes, so any set from a domain that can be enumerated (phone numbers, e-mail addresses,
//! names) might as well be sent in clear. The protocol is a baseline for measurements. It runs only
//! if the agreement names it and an option of the command allows it.
//!
//! | | |
//! |---|---|
//! | security | insecure |
//! | assumption | none holds: the receiver can test guesses at the sender's items |
//! | receiver learns | every item of the sender it can guess |
//! | sender learns | the size of the receiver's set; when both learn, also which of its own items the receiver has |
//! | flights | 2, for 2^16 items each |
//! | payload bytes | receiver → sender 32, and ⌈n_x/8⌉ with [`Learns::Both`]; sender → receiver ℓ·n_x |
//! | ℓ | ⌈(λ + ⌈log n_x⌉ + ⌈log n_y⌉) / 8⌉ bytes |
//!
//! ```text
//!      sender P_1: X                              receiver P_2: Y
//!
//!   1                               ◀──────────    k ←$ {0,1}^2κ
//!   2  H(k, x) for x ∈ X, shuffled  ──────────▶    y is common iff H(k, y) is among them
//!   3  [both] x is common iff its bit is 1 ◀───    [both] one bit per x, in the order received
//! ```
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

mod catalogue;

pub use catalogue::ROW;
pub use catalogue::bytes;

use rand::Rng;
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_core::tags::{Tag, TagHash, decode_tags, encode_tags};
use vesica_core::{Item, PsiParams, Result, Shuffled, hash};
use vesica_net::Context;
use vesica_party::{Output, answer};

const TAG_LABEL: &str = "vesica v1 naive hash tag";
const SALT_LABEL: &str = "vesica v1 naive hash salt";

/// Length of the salt k in bytes: 2κ bits.
const SALT_LEN: usize = 32;

/// Tags in one message.
const TAGS_PER_MESSAGE: usize = 16 << 10;

/// Tags one CPU thread works on at a time.
const TAGS_PER_TASK: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// P_1: learns n_y, or with [`Learns::Both`](vesica_core::Learns::Both) which of its items the
/// receiver has.
fn run_sender(params: PsiParams, x: Arc<Vec<Item>>, ctx: &mut Context) -> Result<Output> {
    let x = Shuffled::new(x, ctx.rng());
    // 1. k
    let mut k = [0; SALT_LEN];
    ctx.child("salt", |ctx| ctx.peer()?.recv_into(&mut k))?;
    // 2. H(k, x) for x ∈ X, shuffled
    ctx.child("tags", |ctx| send_tags(ctx, &salted(&params, &k), &x))?;
    // 3. [both] x is common iff its bit is 1
    answer::receive(ctx, &params, &x)
}

/// P_2: learns every item of the sender it can guess.
fn run_receiver(params: PsiParams, y: Arc<Vec<Item>>, ctx: &mut Context) -> Result<Output> {
    // 1. k ←$ {0,1}^2κ
    let mut k = [0; SALT_LEN];
    ctx.rng().fill_bytes(&mut k);
    ctx.child("salt", |ctx| {
        ctx.peer()?.send(&k)?;
        ctx.peer()?.flush()
    })?;
    // 2. H(k, y), and H(k, x) from the sender
    let h_y = tags(ctx, &salted(&params, &k), &y);
    let h_x = ctx.child("tags", |ctx| receive_tags(ctx, &params))?;
    // 3. [both] one bit per x, in the order received
    let h_x = answer::send(ctx, &params, h_x, &h_y)?;
    // 2. y is common iff H(k, y) is among them
    Ok(Output::Positions((0..y.len()).filter(|i| h_x.contains(h_y[*i])).collect()))
}

/// H(k, ·).
fn salted(params: &PsiParams, k: &[u8; SALT_LEN]) -> TagHash {
    let session = hash::derive(SALT_LABEL, &[params.session().as_bytes(), k]);
    TagHash::with_key(TAG_LABEL, &session, params.tag_len_bytes())
}

/// H(k, x) for each item x.
fn tags(ctx: &Context, hash: &TagHash, items: &[Item]) -> Vec<Tag> {
    ctx.map(items, TAGS_PER_TASK, |items| {
        items.iter().map(|item| hash.tag(item.as_bytes())).collect::<Vec<Tag>>()
    })
    .concat()
}

fn send_tags(ctx: &mut Context, hash: &TagHash, x: &Shuffled) -> Result<()> {
    let mut message = Vec::new();
    for (first, block) in x.blocks(TAGS_PER_MESSAGE) {
        message.clear();
        encode_tags(&tags(ctx, hash, &block), hash.len_bytes(), &mut message);
        ctx.peer()?.send(&message)?;
        ctx.progress((first + block.len()) as u64, x.len() as u64);
    }
    ctx.finish()
}

fn receive_tags(ctx: &mut Context, params: &PsiParams) -> Result<Vec<Tag>> {
    let (n_x, len) = (params.sender_len(), params.tag_len_bytes());
    let mut h_x = Vec::new();
    while h_x.len() < n_x {
        let count = TAGS_PER_MESSAGE.min(n_x - h_x.len());
        decode_tags(&ctx.peer()?.recv(len * count)?, len, &mut h_x);
        ctx.progress(h_x.len() as u64, n_x as u64);
    }
    Ok(h_x)
}
