//! # PSI from one-more Diffie–Hellman
//!
//! E. De Cristofaro, G. Tsudik, "Practical private set intersection protocols with linear
//! complexity", Financial Cryptography 2010 (ePrint 2009/491), the protocol from the one-more gap
//! Diffie–Hellman assumption; the "one-more-DL-based" protocol of Huang, Evans and Katz, NDSS 2012,
//! Table 2 and Figure 11.
//!
//! | | |
//! |---|---|
//! | security | semi-honest; one-more gap Diffie–Hellman and discrete logarithms with short exponents modulo ffdhe2048, random oracle |
//! | receiver learns | which of its items the sender has; n_x |
//! | sender learns | n_y; with [`Learns::Both`] also which of its items the receiver has |
//! | flights | 2; with [`Learns::Both`] 3 |
//! | payload bytes | 512 + 512·n_y + tags(n_x, ℓ), and ⌈n_x/8⌉ with [`Learns::Both`] |
//! | ℓ | λ + ⌈log n_x⌉ + ⌈log n_y⌉ bits |
//! | cost | sender n_x + n_y powers with exponents of 256 bits; receiver 2·n_y such powers of two bases |
//!
//! ```text
//!   sender: X, R_s ←$ even                          receiver: Y; R_c, R_i ←$
//!
//!                                                   PCH = Π H(y) for y ∈ Y
//!                               ◀───────────────    M = PCH·g^R_c
//!                               ◀───────────────    y_i = PCH/H(y)·g^R_i for the i-th y ∈ Y
//!   K_x = (M/H(x))^R_s for x ∈ X
//!   Z = g^R_s, y'_i = y_i^R_s   ───────────────▶    K_y = y'_i·Z^R_c·Z^-R_i
//!   {H'(K_x)}, sorted           ───────────────▶    y is common iff H'(K_y) is among them
//!   [both] x is common iff its bit is 1 ◀──────     [both] one bit for each tag received
//! ```
//!
//! Both keys are (PCH/H(y)·g^R_c)^R_s where x = y. The paper calls M, the masked product of all the
//! receiver's hashes, X.
//!
//! The group is the squares modulo the 2048-bit safe prime of RFC 7919, see
//! [`vesica_modular::modp`]. The y_i leave in messages of [`ELEMENTS_PER_MESSAGE`] and come back as
//! they are raised. Powers of g and Z are looked up in tables.
//!
//! **Where we differ from the paper.** The paper takes a subgroup of order q of 160 bits or more in
//! Z_p^*. To hash into such a subgroup costs a power with an exponent of |p| − |q| bits, more than
//! the rest together; without it (M/y_i)^q = H(y)^q would show y to whoever guesses it. With a safe prime the
//! hash is one square, and exponents stay as short as the paper's: the masks are then not perfect, but
//! hidden by the assumption on short exponents. R_s is even, so that an element outside the group
//! shows nothing of it. H binds the session. The tags are the Elias–Fano code of their set. The R_i
//! come from a seed and i.
//!
//! [`crate::dh`] rests on the same structure in a group that is about a hundred times as fast.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

mod masks;

use self::masks::{Hashes, Masks, Unmasking, receive_elements, tag_shape};
use crate::catalogue::{BoundsKept, Compared, Operation, Parameter, Protocol, Security, Traffic};
use crate::party::check_set_len;
use crate::{Output, Party, answer, sorted_tags};
use rand::Rng;
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_core::tagged::Tagged;
use vesica_core::{Error, Item, PsiParams, Result, Secret};
use vesica_modular::modp::{ELEMENT_LEN, EXPONENT_LEN, Group};
use vesica_modular::{Exponent, Residue};
use vesica_net::Context;

/// Elements in one message: 32 KiB, a tenth of a second of the sender's work.
pub const ELEMENTS_PER_MESSAGE: usize = 128;

/// Items one CPU thread works on at a time; they share an inversion.
const ITEMS_PER_TASK: NonZeroUsize = NonZeroUsize::new(16).unwrap();

/// Messages the receiver sends before it waits for the first that comes back: some seconds of the
/// sender's work.
const WINDOW_MESSAGES: usize = 64;

pub(crate) const ROW: Protocol = Protocol {
    id: "dl_dt10",
    name: "PSI from one-more Diffie–Hellman, 2048 bits",
    source: "De Cristofaro, Tsudik, Financial Cryptography 2010 (ePrint 2009/491), from one-more gap Diffie–Hellman",
    security: Security::SemiHonest,
    assumption: "one-more gap Diffie–Hellman and discrete logarithms with short exponents modulo ffdhe2048, of 112-bit security; random oracle",
    operations: &[Operation::Intersection],
    sender_learns: "the size of the receiver's set",
    receiver_learns: "which of its own items the sender has; the size of the sender's set",
    flights: |_| 2,
    bytes_formula: "512 + 512·n_y + tags(n_x, ℓ), and ⌈n_x/8⌉ when both learn; tags(n, ℓ) = ⌈(n + 2^h + n·(ℓ − h))/8⌉ with h = ⌊log n⌋; ℓ = 40 + ⌈log n_x⌉ + ⌈log n_y⌉",
    bytes,
    seconds,
    usable_set_len: None,
    named_only: true,
    item_bits: 128..=128,
    reserves_zero: false,
    bounds: BoundsKept::No,
    wide_values: false,
    bytes_depend_on_result: false,
    compared: |params| Compared::tags(masks::tag_shape(params).tag_bits()),
    parameters: &[
        Parameter {
            name: "group",
            value: "squares modulo the 2048-bit safe prime ffdhe2048 (112-bit security)",
            source: "RFC 7919, Appendix A.1; NIST SP 800-57, Part 1",
        },
        Parameter {
            name: "exponents",
            value: "256 bits",
            source: "RFC 7919, §5.2, which asks for 225; Koshiba, Kurosawa, PKC 2004",
        },
        Parameter {
            name: "hash to group",
            value: "BLAKE3 to 2176 bits, reduced and squared",
            source: "within 2^-128 of uniform",
        },
        Parameter {
            name: "tag length",
            value: "λ + ⌈log n_x⌉ + ⌈log n_y⌉ bits, λ = 40",
            source: "Pinkas, Schneider, Segev, Zohner 2015, §3.1",
        },
    ],
    sender: |params, input| Ok(Box::new(Sender::new(params, input.into_items())?)),
    receiver: |params, input| Ok(Box::new(Receiver::new(params, input.into_items())?)),
};

/// Exact payload bytes of a run.
pub fn bytes(params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let elements = (ELEMENT_LEN * (1 + params.receiver_len())) as u64;
    Traffic {
        sender_to_receiver: elements + tag_shape(params).bytes(),
        receiver_to_sender: elements + answer::bytes(params),
    }
}

/// A power for each item of both sets, all of it at the sender, after the receiver's product.
fn seconds(params: &PsiParams) -> f64 {
    let (n_x, n_y) = (params.sender_len() as f64, params.receiver_len() as f64);
    0.01 + 0.62e-3 * (n_x + n_y)
}

/// Holds R_s; learns n_y, or with [`Learns::Both`](vesica_core::Learns::Both) which of its items the receiver has.
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
        if params.has_empty_set() {
            return answer::take_places(ctx, &params, &[]);
        }
        let group = Group::ffdhe2048();
        let hash = Hashes::new(&params);
        let r_s = HalfExponent::random(ctx);
        let tags = ctx.child("own powers", |ctx| own_tags(ctx, &group, &hash, &r_s, &x))?;
        drop(x);
        ctx.child("powers", |ctx| return_powers(ctx, &group, &r_s, params.receiver_len()))?;
        let order = ctx.child("tags", |ctx| sorted_tags::send(ctx, hash.shape, tags))?;
        answer::take_places(ctx, &params, &order)
    }
}

/// Learns which of its items the sender has.
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
        if params.has_empty_set() {
            return Ok(Output::Positions(Vec::new()));
        }
        let group = Group::ffdhe2048();
        let hash = Hashes::new(&params);
        let product = ctx.child("product", |ctx| product(ctx, &group, &hash, &y));
        let tags = ctx.child("powers", |ctx| {
            let masks = Masks::new(ctx, &group, &hash, &product);
            exchange_for_powers(ctx, &masks, &y)
        })?;
        let matches = ctx.child("tags", |ctx| sorted_tags::find(ctx, hash.shape, tags))?;
        answer::give_places(ctx, &params, matches.iter().map(|found| found.place as usize))?;
        Ok(Output::Positions(sorted_tags::own_positions(&matches, params.receiver_len())))
    }
}

/// R_s/2: raising to an even exponent takes whatever was sent into the group.
struct HalfExponent(Exponent);

impl HalfExponent {
    fn random(ctx: &mut Context) -> Self {
        let mut bytes = Secret::new([0; EXPONENT_LEN]);
        ctx.rng().fill_bytes(bytes.expose_mut());
        Self(Exponent::from_be_bytes(bytes.expose()))
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
    let masked_product = receive_elements(ctx, group, 0, 1)?.swap_remove(0);
    let mut tags = Vec::with_capacity(x.len());
    for items in x.chunks(ELEMENTS_PER_MESSAGE) {
        let tasks = ctx.map(items, ITEMS_PER_TASK, |items| {
            let inverses = hash.inverses(group, items)?;
            let tag = |inverse| hash.tag(&r_s.raise(&masked_product.mul(inverse)));
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
    let mut z = Vec::with_capacity(ELEMENT_LEN);
    r_s.raise(group.generator()).encode(&mut z);
    ctx.peer()?.send(&z)?;
    for (first, count) in blocks(n_y) {
        let masked = receive_elements(ctx, group, 1 + first, count)?;
        let tasks = ctx.map(&masked, ITEMS_PER_TASK, |masked| {
            let mut bytes = Vec::with_capacity(masked.len() * ELEMENT_LEN);
            masked.iter().for_each(|y| r_s.raise(y).encode(&mut bytes));
            bytes
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

/// Sends M and every y_i and receives the powers, a window of messages behind; gives the tags.
fn exchange_for_powers(ctx: &mut Context, masks: &Masks<'_>, y: &[Item]) -> Result<Vec<Tagged>> {
    ctx.peer()?.send(&masks.masked_product())?;
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
        let masked = masks.mask(ctx, first, &y[first..first + count])?;
        ctx.peer()?.send(&masked)?;
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
