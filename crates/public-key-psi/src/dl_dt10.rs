//! # PSI from one-more Diffie–Hellman
//!
//! E. De Cristofaro, G. Tsudik, "Practical private set intersection protocols with linear
//! complexity", Financial Cryptography 2010 (ePrint 2009/491), the protocol from the one-more gap
//! Diffie–Hellman assumption; the "one-more-DL-based" protocol of Huang, Evans and Katz, NDSS 2012,
//! Table 2 and Figure 11.
//!
//! | | |
//! |---|---|
//! | security | semi-honest |
//! | assumption, `dl_dt10` | one-more gap Diffie–Hellman and discrete logarithms with short exponents modulo ffdhe2048, of 112-bit security; random oracle |
//! | assumption, `dl_dt10_3072` | one-more gap Diffie–Hellman and discrete logarithms with short exponents modulo ffdhe3072; random oracle |
//! | receiver learns | which of its own items the sender has; the size of the sender's set |
//! | sender learns | the size of the receiver's set; when both learn, also which of its own items the receiver has |
//! | flights | 2, for 2^16 items each |
//! | payload bytes, `dl_dt10` | 512 + 512·n_y + tags(n_x, ℓ), and ⌈n_x/8⌉ with [`Learns::Both`] |
//! | payload bytes, `dl_dt10_3072` | 768 + 768·n_y + tags(n_x, ℓ), and ⌈n_x/8⌉ with [`Learns::Both`] |
//! | ℓ | λ + ⌈log n_x⌉ + ⌈log n_y⌉ bits |
//! | cost | sender n_x + n_y powers with exponents of 256 bits, modulo ffdhe3072 of 288; receiver 2·n_y such powers of two bases |
//!
//! ```text
//!      sender: X                                       receiver: Y
//!
//!   1  R_s ←$ even                                     R_c, R_i ←$;  PCH = Π H(y) for y ∈ Y
//!   2                              ◀───────────────    M = PCH·g^R_c
//!   3  K_x = (M/H(x))^R_s for x ∈ X
//!   4                              ◀───────────────    y_i = PCH/H(y)·g^R_i for the i-th y ∈ Y
//!   5  Z = g^R_s, y'_i = y_i^R_s   ───────────────▶    K_y = y'_i·Z^R_c·Z^-R_i
//!   6  {H'(K_x)}, sorted           ───────────────▶    y is common iff H'(K_y) is among them
//!   7  [both] x is common iff its bit is 1 ◀──────     [both] one bit for each tag received
//! ```
//!
//! If x = y, both keys are (PCH/H(y)·g^R_c)^R_s. M is the masked product of all the receiver's
//! hashes; the paper calls it X.
//!
//! The group is the squares modulo a safe prime of RFC 7919 of 2048 or 3072 bits, see
//! [`vesica_modular::modp`]. The y_i are sent in messages of [`ELEMENTS_PER_MESSAGE`]; each is
//! answered as soon as it is raised. Powers of g and Z are looked up in tables.
//!
//! **Where we differ from the paper.** The paper uses a subgroup of Z_p^* of order q of 160 bits or
//! more. Hashing into such a subgroup takes a power with an exponent of |p| − |q| bits, more than
//! all other steps together. Without that power, (M/y_i)^q = H(y)^q would let a sender test guesses
//! of y. With a safe prime the hash is one square, and exponents stay as short as the paper's: the
//! masks are then not perfect, but hidden under the assumption on short exponents. R_s is even, so
//! that raising an element outside the group reveals nothing about R_s. H binds the session. The
//! tags are the Elias–Fano code of their set. The R_i are derived from a seed and i.
//!
//! [`crate::dh`] has the same structure in a group that is about a hundred times faster.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

mod catalogue;
mod masks;

pub use catalogue::{ROW, ROW_3072, bytes};

use self::masks::{Hashes, ITEMS_PER_TASK, Masks, Unmasking, receive_elements};
use rand::Rng;
use std::sync::Arc;
use vesica_core::tagged::Tagged;
use vesica_core::{Error, Item, PsiParams, Result, Secret};
use vesica_modular::modp::{Group, Prime};
use vesica_modular::{Exponent, Residue};
use vesica_net::Context;
use vesica_party::{Output, answer, sorted_tags};

/// Elements in one message: 32 KiB and a tenth of a second of the sender's work, or 48 KiB and a
/// quarter of a second.
pub const ELEMENTS_PER_MESSAGE: usize = 128;

/// Messages the receiver sends before it waits for the first answer: some seconds of the sender's
/// work.
const WINDOW_MESSAGES: usize = 64;

/// Holds R_s; learns n_y, or with [`Learns::Both`](vesica_core::Learns::Both) which of its items
/// the receiver has.
fn run_sender(
    prime: Prime,
    params: PsiParams,
    x: Arc<Vec<Item>>,
    ctx: &mut Context,
) -> Result<Output> {
    if params.has_empty_set() {
        return answer::receive_places(ctx, &params, &[]);
    }
    let (group, hash) = (Group::new(prime), Hashes::new(&params));
    // 1. R_s ←$ even
    let r_s = HalfExponent::random(prime, ctx);
    // 2. M  3. K_x = (M/H(x))^R_s for x ∈ X
    let tags = ctx.child("own powers", |ctx| own_tags(ctx, &group, &hash, &r_s, &x))?;
    drop(x);
    // 4. y_i  5. Z = g^R_s, y'_i = y_i^R_s
    ctx.child("powers", |ctx| return_powers(ctx, &group, &r_s, params.receiver_len()))?;
    // 6. {H'(K_x)}, sorted
    let order = ctx.child("tags", |ctx| {
        sorted_tags::send(ctx, hash.shape, sorted_tags::gathered(hash.shape, tags))
    })?;
    // 7. [both] x is common iff its bit is 1
    answer::receive_places(ctx, &params, &order)
}

/// Learns which of its items the sender has.
fn run_receiver(
    prime: Prime,
    params: PsiParams,
    y: Arc<Vec<Item>>,
    ctx: &mut Context,
) -> Result<Output> {
    if params.has_empty_set() {
        return Ok(Output::Positions(Vec::new()));
    }
    let (group, hash) = (Group::new(prime), Hashes::new(&params));
    // 1. PCH = Π H(y) for y ∈ Y
    let pch = ctx.child("product", |ctx| product(ctx, &group, &hash, &y));
    let tags = ctx.child("powers", |ctx| {
        // 1. R_c, R_i ←$
        let masks = Masks::new(ctx, &group, &hash, &pch);
        // 2. M = PCH·g^R_c  4. y_i = PCH/H(y)·g^R_i  5. K_y = y'_i·Z^R_c·Z^-R_i
        exchange_for_powers(ctx, &masks, &y)
    })?;
    // 6. y is common iff H'(K_y) is among the sender's
    let matches = ctx.child("tags", |ctx| {
        sorted_tags::find(ctx, hash.shape, &sorted_tags::gathered(hash.shape, tags))
    })?;
    // 7. [both] one bit for each tag received
    answer::send_places(ctx, &params, matches.iter().map(|found| found.place as usize))?;
    Ok(Output::Positions(sorted_tags::own_positions(&matches, params.receiver_len())))
}

/// R_s/2. Raising to an even exponent takes any element into the group.
struct HalfExponent(Exponent);

impl HalfExponent {
    fn random(prime: Prime, ctx: &mut Context) -> Self {
        let mut uniform = Secret::new(vec![0; prime.exponent_len()]);
        ctx.rng().fill_bytes(uniform.expose_mut());
        Self(Exponent::from_be_bytes(uniform.expose()))
    }

    /// base^R_s.
    fn raise(&self, base: &Residue) -> Residue {
        base.square().pow(&self.0)
    }
}

/// Receives M and gives H'((M/H(x))^R_s) for each x.
fn own_tags(
    ctx: &mut Context,
    group: &Group,
    hash: &Hashes,
    r_s: &HalfExponent,
    x: &[Item],
) -> Result<Vec<Tagged>> {
    let m = receive_elements(ctx, group, 0, 1)?.swap_remove(0);
    let mut tags = Vec::with_capacity(x.len());
    for items in x.chunks(ELEMENTS_PER_MESSAGE) {
        let tasks = ctx.map(items, ITEMS_PER_TASK, |items| {
            let inverses = hash.inverses(group, items)?;
            let tag = |inverse| hash.tag(&r_s.raise(&m.mul(inverse)));
            Ok(inverses.iter().map(tag).collect::<Vec<u128>>())
        });
        for task in tasks {
            for tag in task.map_err(|error: Error| error)? {
                tags.push(Tagged::new(tag, tags.len() as u32));
            }
        }
        ctx.progress(tags.len() as u64, x.len() as u64);
    }
    Ok(tags)
}

/// Sends Z, then receives every y_i and returns y_i^R_s.
fn return_powers(ctx: &mut Context, group: &Group, r_s: &HalfExponent, n_y: usize) -> Result<()> {
    let element_len = group.prime().element_len();
    let mut z = Vec::with_capacity(element_len);
    r_s.raise(group.generator()).encode(&mut z);
    ctx.peer()?.send(&z)?;
    for (first, count) in blocks(n_y) {
        let y = receive_elements(ctx, group, 1 + first, count)?;
        let tasks = ctx.map(&y, ITEMS_PER_TASK, |y| {
            let mut powers = Vec::with_capacity(y.len() * element_len);
            y.iter().for_each(|y_i| r_s.raise(y_i).encode(&mut powers));
            powers
        });
        ctx.peer()?.send(&tasks.concat())?;
        ctx.peer()?.flush()?;
        ctx.progress((first + count) as u64, n_y as u64);
    }
    Ok(())
}

/// PCH: the product of all hashes.
fn product(ctx: &Context, group: &Group, hash: &Hashes, y: &[Item]) -> Residue {
    let one = group.modulus().one();
    let partial = ctx.map(y, ITEMS_PER_TASK, |items| {
        items.iter().fold(one.clone(), |product, item| product.mul(&hash.item(group, item)))
    });
    partial.iter().fold(one, |product, part| product.mul(part))
}

/// Sends M and every y_i, receives Z and every y'_i, a window of messages behind, and gives H'(K_y)
/// for each y.
fn exchange_for_powers(ctx: &mut Context, masks: &Masks<'_>, y: &[Item]) -> Result<Vec<Tagged>> {
    ctx.peer()?.send(&masks.m())?;
    ctx.peer()?.flush()?;
    let mut unmasking: Option<Unmasking<'_>> = None;
    let mut tags = Vec::with_capacity(y.len());
    let mut receive = |ctx: &mut Context, (first, count)| {
        let unmasking = match &mut unmasking {
            Some(unmasking) => unmasking,
            None => unmasking.insert(masks.receive_unmasking(ctx)?),
        };
        tags.append(&mut unmasking.receive_tags(ctx, first, count)?);
        ctx.progress((first + count) as u64, y.len() as u64);
        Ok::<_, Error>(())
    };
    let mut due = blocks(y.len());
    for (c, (first, count)) in blocks(y.len()).enumerate() {
        let y_i = masks.y_i(ctx, first, &y[first..first + count])?;
        ctx.peer()?.send(&y_i)?;
        ctx.peer()?.flush()?;
        if c >= WINDOW_MESSAGES
            && let Some(block) = due.next()
        {
            receive(ctx, block)?;
        }
    }
    due.try_for_each(|block| receive(ctx, block))?;
    Ok(tags)
}

/// (first item, item count) of each message for a list of `n`.
fn blocks(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n)
        .step_by(ELEMENTS_PER_MESSAGE)
        .map(move |first| (first, ELEMENTS_PER_MESSAGE.min(n - first)))
}
