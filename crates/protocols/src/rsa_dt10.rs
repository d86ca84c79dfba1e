//! # Blind-RSA PSI
//!
//! E. De Cristofaro, G. Tsudik, "Practical private set intersection protocols with linear
//! complexity", Financial Cryptography 2010 (ePrint 2009/491), the protocol from blind RSA
//! signatures; the "De Cristofaro–Tsudik" of Dong, Chen and Wen, ACM CCS 2013, Table 3.
//!
//! | | |
//! |---|---|
//! | security | semi-honest; one-more RSA inversion, random oracle |
//! | receiver learns | which of its items the sender has; n_x |
//! | sender learns | n_y; with [`Learns::Both`] also which of its items the receiver has |
//! | flights | 3; with [`Learns::Both`] 4 |
//! | payload bytes | \|n\| + 4 + 2·\|n\|·n_y + tags(n_x, ℓ), and ⌈n_x/8⌉ with [`Learns::Both`] |
//! | ℓ | λ + ⌈log n_x⌉ + ⌈log n_y⌉ bits |
//! | cost | sender n_x + n_y roots modulo n, receiver some 25 products modulo n an item |
//!
//! ```text
//!   sender: X                                       receiver: Y
//!
//!   p, q prime, n = pq, d = 1/e mod φ(n)
//!   n, e                        ───────────────▶    refused if n is even, short or has a small factor
//!   K_x = H(x)^d for x ∈ X                          r_i ←$ Z_n
//!                               ◀───────────────    y_i = H(y)·r_i^e for the i-th y ∈ Y
//!   y'_i = y_i^d                ───────────────▶    K_y = y'_i / r_i
//!   {H'(K_x)}, sorted           ───────────────▶    y is common iff H'(K_y) is among them
//!   [both] x is common iff its bit is 1 ◀──────     [both] one bit for each tag received
//! ```
//!
//! Two rows of the catalogue: `rsa_dt10` with n of 2048 bits, `rsa_dt10_3072` with 3072. e = 65537.
//!
//! The sender's own roots are taken while the receiver blinds; the y_i leave in messages of
//! [`ELEMENTS_PER_MESSAGE`] and come back as they are signed.
//!
//! **Where we differ from the paper.** H is BLAKE3 to 128 bits more than n has, reduced, and binds
//! session and n. The key is made for the run: the paper lets a server keep its key and its tags,
//! but then the tags of two runs can be compared. The tags are the Elias–Fano code of their set in
//! place of a random permutation. r_i comes from a seed and i, so that the receiver stores none;
//! inverses are taken many at a time. The sender checks every root before it leaves.
//!
//! A sender that deviates can choose n so that e divides φ(n). Then y_i shows in which class modulo
//! the e-th powers H(y) lies: guesses of y can be tested. Nothing in the paper's protocol prevents
//! it.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

mod blinding;

use self::blinding::{Blinding, Hashes, receive_residues, tag_shape};
use crate::catalogue::{BoundsKept, Compared, Operation, Parameter, Protocol, Security, Traffic};
use crate::party::check_set_len;
use crate::{Output, Party, answer, sorted_tags};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_core::tagged::Tagged;
use vesica_core::{Error, Item, Misbehaviour, PsiParams, Result};
use vesica_modular::rsa::{FaultyRoot, KeySize, Prime, PrivateKey, PublicKey};
use vesica_net::Context;

/// Residues in one message: 16 KiB at 2048 bits, a tenth of a second of the sender's work.
pub const ELEMENTS_PER_MESSAGE: usize = 64;

/// Roots one CPU thread takes at a time.
const ROOTS_PER_TASK: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// Messages the receiver sends before it waits for the first that comes back: some seconds
/// of the sender's work.
const WINDOW_MESSAGES: usize = 64;

pub(crate) const ROW: Protocol = Protocol {
    id: "rsa_dt10",
    name: "Blind-RSA PSI, 2048 bits",
    source: "De Cristofaro, Tsudik, Financial Cryptography 2010 (ePrint 2009/491), from blind RSA signatures",
    security: Security::SemiHonest,
    assumption: "one-more RSA inversion for 2048 bits, of 112-bit security; random oracle",
    operations: &[Operation::Intersection],
    sender_learns: "the size of the receiver's set",
    receiver_learns: "which of its own items the sender has; the size of the sender's set",
    flights: |_| 3,
    bytes_formula: "260 + 512·n_y + tags(n_x, ℓ), and ⌈n_x/8⌉ when both learn; tags(n, ℓ) = ⌈(n + 2^h + n·(ℓ − h))/8⌉ with h = ⌊log n⌋; ℓ = 40 + ⌈log n_x⌉ + ⌈log n_y⌉",
    bytes: |params| bytes(KeySize::Bits2048, params),
    seconds: |params| seconds(KeySize::Bits2048, params),
    usable_set_len: None,
    named_only: true,
    item_bits: 128..=128,
    reserves_zero: false,
    bounds: BoundsKept::No,
    wide_values: false,
    bytes_depend_on_result: false,
    compared: |params| Compared::tags(blinding::tag_shape(params).tag_bits()),
    parameters: &[
        Parameter {
            name: "modulus",
            value: "2048 bits, fresh for every run (112-bit security)",
            source: "NIST SP 800-57, Part 1",
        },
        EXPONENT,
        FULL_DOMAIN_HASH,
        TAGS,
    ],
    sender: |params, input| {
        Ok(Box::new(Sender::new(KeySize::Bits2048, params, input.into_items())?))
    },
    receiver: |params, input| {
        Ok(Box::new(Receiver::new(KeySize::Bits2048, params, input.into_items())?))
    },
};

pub(crate) const ROW_3072: Protocol = Protocol {
    id: "rsa_dt10_3072",
    name: "Blind-RSA PSI, 3072 bits",
    assumption: "one-more RSA inversion for 3072 bits; random oracle",
    bytes_formula: "388 + 768·n_y + tags(n_x, ℓ), and ⌈n_x/8⌉ when both learn; tags and ℓ as in rsa_dt10",
    bytes: |params| bytes(KeySize::Bits3072, params),
    seconds: |params| seconds(KeySize::Bits3072, params),
    parameters: &[
        Parameter {
            name: "modulus",
            value: "3072 bits, fresh for every run (128-bit security)",
            source: "NIST SP 800-57, Part 1",
        },
        EXPONENT,
        FULL_DOMAIN_HASH,
        TAGS,
    ],
    sender: |params, input| {
        Ok(Box::new(Sender::new(KeySize::Bits3072, params, input.into_items())?))
    },
    receiver: |params, input| {
        Ok(Box::new(Receiver::new(KeySize::Bits3072, params, input.into_items())?))
    },
    ..ROW
};

const EXPONENT: Parameter = Parameter {
    name: "public exponent",
    value: "65537",
    source: "RFC 8017; NIST FIPS 186-5, A.1.1",
};

const FULL_DOMAIN_HASH: Parameter = Parameter {
    name: "full-domain hash",
    value: "BLAKE3 to 128 bits more than the modulus has, reduced",
    source: "Bellare, Rogaway, ACM CCS 1993; within 2^-128 of uniform",
};

const TAGS: Parameter = Parameter {
    name: "tag length",
    value: "λ + ⌈log n_x⌉ + ⌈log n_y⌉ bits, λ = 40",
    source: "Pinkas, Schneider, Segev, Zohner 2015, §3.1",
};

/// Exact payload bytes of a run.
pub fn bytes(size: KeySize, params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let elements = (size.len_bytes() * params.receiver_len()) as u64;
    Traffic {
        sender_to_receiver: size.public_key_len() as u64 + elements + tag_shape(params).bytes(),
        receiver_to_sender: elements + answer::bytes(params),
    }
}

/// The key, and a root for each item of both sets: all of it at the sender.
fn seconds(size: KeySize, params: &PsiParams) -> f64 {
    let roots = params.sender_len() as f64 + params.receiver_len() as f64;
    match size {
        KeySize::Bits2048 => 0.05 + 1.3e-3 * roots,
        KeySize::Bits3072 => 0.26 + 4.15e-3 * roots,
    }
}

/// Holds the private key; learns n_y, or with [`Learns::Both`](vesica_core::Learns::Both) which of its items the receiver has.
pub struct Sender {
    size: KeySize,
    params: PsiParams,
    x: Arc<Vec<Item>>,
}

impl Sender {
    /// The sender of the set `x`, which must hold no item twice.
    ///
    /// # Errors
    /// [`vesica_core::ParameterError::SetLenMismatch`].
    pub fn new(size: KeySize, params: PsiParams, x: Arc<Vec<Item>>) -> Result<Self> {
        check_set_len(params.sender_len(), x.len())?;
        Ok(Self { size, params, x })
    }
}

impl Party for Sender {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Sender { size, params, x } = *self;
        if params.has_empty_set() {
            return answer::take_places(ctx, &params, &[]);
        }
        let key = ctx.child("key", |ctx| {
            let key = make_key(ctx, size)?;
            ctx.peer()?.send(&key.public().encode())?;
            ctx.peer()?.flush()?;
            Ok::<_, Error>(key)
        })?;
        let hash = Hashes::new(&params, key.public());
        let tags = ctx.child("own roots", |ctx| own_tags(ctx, &key, &hash, &x))?;
        drop(x);
        ctx.child("roots", |ctx| return_roots(ctx, &key, params.receiver_len()))?;
        let order = ctx.child("tags", |ctx| sorted_tags::send(ctx, hash.shape, tags))?;
        answer::take_places(ctx, &params, &order)
    }
}

/// Learns which of its items the sender has.
pub struct Receiver {
    size: KeySize,
    params: PsiParams,
    y: Arc<Vec<Item>>,
}

impl Receiver {
    /// The receiver of the set `y`, which must hold no item twice.
    ///
    /// # Errors
    /// [`vesica_core::ParameterError::SetLenMismatch`].
    pub fn new(size: KeySize, params: PsiParams, y: Arc<Vec<Item>>) -> Result<Self> {
        check_set_len(params.receiver_len(), y.len())?;
        Ok(Self { size, params, y })
    }
}

impl Party for Receiver {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        let Receiver { size, params, y } = *self;
        if params.has_empty_set() {
            return Ok(Output::Positions(Vec::new()));
        }
        let key = ctx.child("key", |ctx| {
            let bytes = ctx.peer()?.recv(size.public_key_len())?;
            PublicKey::decode(&bytes, size).map_err(|_| Misbehaviour::InvalidPublicKey.into())
                as Result<_>
        })?;
        let hash = Hashes::new(&params, &key);
        let tags = ctx.child("roots", |ctx| {
            let blinding = Blinding::new(ctx, &key);
            exchange_for_roots(ctx, &blinding, &hash, &y)
        })?;
        let matches = ctx.child("tags", |ctx| sorted_tags::find(ctx, hash.shape, tags))?;
        answer::give_places(ctx, &params, matches.iter().map(|found| found.place as usize))?;
        Ok(Output::Positions(sorted_tags::own_positions(&matches, params.receiver_len())))
    }
}

/// A fresh key; its primes are searched side by side.
fn make_key(ctx: &mut Context, size: KeySize) -> Result<PrivateKey> {
    loop {
        let rngs = [(); 2].map(|()| ChaCha20Rng::from_rng(ctx.rng()));
        let primes =
            ctx.map(&rngs, NonZeroUsize::MIN, |rng| Prime::random(size, &mut rng[0].clone()));
        if let [p, q] = &primes[..]
            && let Some(key) = PrivateKey::new(p, q)
        {
            return Ok(key);
        }
    }
}

/// H'(H(x)^d) for each x.
fn own_tags(ctx: &Context, key: &PrivateKey, hash: &Hashes, x: &[Item]) -> Result<Vec<Tagged>> {
    let mut tags = Vec::with_capacity(x.len());
    for items in x.chunks(ELEMENTS_PER_MESSAGE) {
        let tasks = ctx.map(items, ROOTS_PER_TASK, |items| {
            let root = |item| key.root(&hash.item(key.public().modulus(), item));
            items.iter().map(|item| Ok(hash.tag(&root(item)?))).collect::<Result<Vec<u128>, _>>()
        });
        for task in tasks {
            for tag in task.map_err(faulty)? {
                tags.push(Tagged::new(tag, tags.len() as u32));
            }
        }
        ctx.progress(tags.len() as u64, x.len() as u64);
    }
    Ok(tags)
}

/// Receives every y_i and returns y_i^d.
fn return_roots(ctx: &mut Context, key: &PrivateKey, n_y: usize) -> Result<()> {
    let n = key.public().modulus();
    for (first, count) in blocks(n_y) {
        let blinded = receive_residues(ctx, n, first, count)?;
        let tasks = ctx.map(&blinded, ROOTS_PER_TASK, |blinded| {
            let mut bytes = Vec::with_capacity(blinded.len() * n.len_bytes());
            blinded.iter().try_for_each(|y| key.root(y).map(|root| root.encode(&mut bytes)))?;
            Ok(bytes)
        });
        let bytes = tasks.into_iter().collect::<Result<Vec<_>, _>>().map_err(faulty)?.concat();
        ctx.peer()?.send(&bytes)?;
        ctx.peer()?.flush()?;
        ctx.progress((first + count) as u64, n_y as u64);
    }
    Ok(())
}

/// Sends H(y)·r^e for each y and receives the roots, a window of messages behind; gives the tags.
fn exchange_for_roots(
    ctx: &mut Context,
    blinding: &Blinding<'_>,
    hash: &Hashes,
    y: &[Item],
) -> Result<Vec<Tagged>> {
    let mut tags = Vec::with_capacity(y.len());
    let mut due = blocks(y.len());
    for (c, (first, count)) in blocks(y.len()).enumerate() {
        let blinded = blinding.blind(ctx, hash, first, &y[first..first + count]);
        ctx.peer()?.send(&blinded)?;
        ctx.peer()?.flush()?;
        if c >= WINDOW_MESSAGES
            && let Some((first, count)) = due.next()
        {
            blinding.receive_tags(ctx, hash, first, count, &mut tags)?;
            ctx.progress(tags.len() as u64, y.len() as u64);
        }
    }
    for (first, count) in due {
        blinding.receive_tags(ctx, hash, first, count, &mut tags)?;
        ctx.progress(tags.len() as u64, y.len() as u64);
    }
    Ok(tags)
}

/// (first item, item count) of each message for a list of `n`.
fn blocks(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n)
        .step_by(ELEMENTS_PER_MESSAGE)
        .map(move |first| (first, ELEMENTS_PER_MESSAGE.min(n - first)))
}

fn faulty(_: FaultyRoot) -> Error {
    Error::Bug("a root failed its check: memory or processor is broken")
}
