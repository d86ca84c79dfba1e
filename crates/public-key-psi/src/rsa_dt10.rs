//! # Blind-RSA PSI
//!
//! E. De Cristofaro, G. Tsudik, "Practical private set intersection protocols with linear
//! complexity", Financial Cryptography 2010 (ePrint 2009/491), the protocol from blind RSA
//! signatures; the "De Cristofaro–Tsudik" of Dong, Chen and Wen, ACM CCS 2013, Table 3.
//!
//! | | |
//! |---|---|
//! | security | semi-honest |
//! | assumption, `rsa_dt10` | one-more RSA inversion for 2048 bits, of 112-bit security; random oracle |
//! | assumption, `rsa_dt10_3072` | one-more RSA inversion for 3072 bits; random oracle |
//! | receiver learns | which of its own items the sender has; the size of the sender's set |
//! | sender learns | the size of the receiver's set; when both learn, also which of its own items the receiver has |
//! | flights | 3, for 2^16 items each |
//! | payload bytes | \|n\| + 4 + 2·\|n\|·n_y + tags(n_x, ℓ), and ⌈n_x/8⌉ with [`Learns::Both`] |
//! | ℓ | λ + ⌈log n_x⌉ + ⌈log n_y⌉ bits |
//! | cost | sender n_x + n_y roots modulo n, receiver some 25 products modulo n an item |
//!
//! ```text
//!      sender: X                                       receiver: Y
//!
//!   1  p, q prime, n = pq, d = 1/e mod φ(n)
//!   2  n, e                        ───────────────▶    refused if n is even, short or has a small factor
//!   3  K_x = H(x)^d for x ∈ X                          r_i ←$ Z_n
//!   4                              ◀───────────────    y_i = H(y)·r_i^e for the i-th y ∈ Y
//!   5  y'_i = y_i^d                ───────────────▶    K_y = y'_i / r_i
//!   6  {H'(K_x)}, sorted           ───────────────▶    y is common iff H'(K_y) is among them
//!   7  [both] x is common iff its bit is 1 ◀──────     [both] one bit for each tag received
//! ```
//!
//! The catalogue has two rows: `rsa_dt10` with n of 2048 bits, and `rsa_dt10_3072` with 3072. e
//! = 65537.
//!
//! The sender computes its own roots while the receiver blinds. The y_i are sent in messages of
//! [`ELEMENTS_PER_MESSAGE`]; each is answered as soon as it is signed.
//!
//! **Where we differ from the paper.** H is BLAKE3 to 128 bits more than n has, reduced, and binds
//! session and n. Each run has a fresh key: the paper lets a server keep its key and its tags, but
//! then the tags of two runs can be compared. The tags are the Elias–Fano code of their set instead
//! of a random permutation. r_i is derived from a seed and i, so that the receiver stores none of
//! them; many inverses are computed together. The sender checks every root before it sends it.
//!
//! A sender that deviates can choose n so that e divides φ(n). Then y_i reveals in which class
//! modulo the e-th powers H(y) lies, and the sender can test guesses of y. Nothing in the paper's
//! protocol prevents this.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

mod blinding;
mod catalogue;

pub use catalogue::bytes;
pub use catalogue::{ROW, ROW_3072};

use self::blinding::{Blinding, Hashes, receive_residues};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_core::tagged::Tagged;
use vesica_core::{Error, Item, Misbehaviour, PsiParams, Result};
use vesica_modular::rsa::{FaultyRoot, KeySize, Prime, PrivateKey, PublicKey};
use vesica_net::Context;
use vesica_party::{Output, answer, sorted_tags};

/// Residues in one message: 16 KiB at 2048 bits, a tenth of a second of the sender's work.
pub const ELEMENTS_PER_MESSAGE: usize = 64;

/// Roots one CPU thread takes at a time.
const ROOTS_PER_TASK: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// Messages the receiver sends before it waits for the first answer: some seconds of the sender's
/// work.
const WINDOW_MESSAGES: usize = 64;

/// Holds the private key; learns n_y, or with [`Learns::Both`](vesica_core::Learns::Both) which of
/// its items the receiver has.
fn run_sender(
    size: KeySize,
    params: PsiParams,
    x: Arc<Vec<Item>>,
    ctx: &mut Context,
) -> Result<Output> {
    if params.has_empty_set() {
        return answer::receive_places(ctx, &params, &[]);
    }
    let key = ctx.child("key", |ctx| {
        // 1. p, q prime, n = pq, d = 1/e mod φ(n)
        let key = make_key(ctx, size)?;
        // 2. n, e
        ctx.peer()?.send(&key.public().encode())?;
        ctx.peer()?.flush()?;
        Ok::<_, Error>(key)
    })?;
    let hash = Hashes::new(&params, key.public());
    // 3. K_x = H(x)^d for x ∈ X
    let tags = ctx.child("own roots", |ctx| own_tags(ctx, &key, &hash, &x))?;
    drop(x);
    // 4. y_i  5. y'_i = y_i^d
    ctx.child("roots", |ctx| return_roots(ctx, &key, params.receiver_len()))?;
    // 6. {H'(K_x)}, sorted
    let order = ctx.child("tags", |ctx| {
        sorted_tags::send(ctx, hash.shape, sorted_tags::gathered(hash.shape, tags))
    })?;
    // 7. [both] x is common iff its bit is 1
    answer::receive_places(ctx, &params, &order)
}

/// Learns which of its items the sender has.
fn run_receiver(
    size: KeySize,
    params: PsiParams,
    y: Arc<Vec<Item>>,
    ctx: &mut Context,
) -> Result<Output> {
    if params.has_empty_set() {
        return Ok(Output::Positions(Vec::new()));
    }
    // 2. n, e: refused if n is even, short or has a small factor
    let key = ctx.child("key", |ctx| {
        let key = ctx.peer()?.recv(size.public_key_len())?;
        PublicKey::decode(&key, size).map_err(|_| Misbehaviour::InvalidPublicKey.into())
            as Result<_>
    })?;
    let hash = Hashes::new(&params, &key);
    let tags = ctx.child("roots", |ctx| {
        // 3. r_i ←$ Z_n
        let blinding = Blinding::new(ctx, &key);
        // 4. y_i = H(y)·r_i^e for the i-th y ∈ Y  5. K_y = y'_i / r_i
        exchange_for_roots(ctx, &blinding, &hash, &y)
    })?;
    // 6. y is common iff H'(K_y) is among the sender's
    let matches = ctx.child("tags", |ctx| {
        sorted_tags::find(ctx, hash.shape, &sorted_tags::gathered(hash.shape, tags))
    })?;
    // 7. [both] one bit for each tag received
    answer::send_places(ctx, &params, matches.iter().map(|found| found.place as usize))?;
    Ok(Output::Positions(sorted_tags::own_positions(&matches, params.receiver_len())))
}

/// A fresh key; its two primes are searched in parallel.
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

/// H'(K_x) with K_x = H(x)^d, for each x.
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

/// Receives every y_i and returns y'_i = y_i^d.
fn return_roots(ctx: &mut Context, key: &PrivateKey, n_y: usize) -> Result<()> {
    let n = key.public().modulus();
    for (first, count) in blocks(n_y) {
        let y = receive_residues(ctx, n, first, count)?;
        let tasks = ctx.map(&y, ROOTS_PER_TASK, |y| {
            let mut roots = Vec::with_capacity(y.len() * n.len_bytes());
            y.iter().try_for_each(|y_i| key.root(y_i).map(|root| root.encode(&mut roots)))?;
            Ok(roots)
        });
        let roots = tasks.into_iter().collect::<Result<Vec<_>, _>>().map_err(faulty)?.concat();
        ctx.peer()?.send(&roots)?;
        ctx.peer()?.flush()?;
        ctx.progress((first + count) as u64, n_y as u64);
    }
    Ok(())
}

/// Sends every y_i, receives every y'_i, a window of messages behind, and gives H'(K_y) for each y.
fn exchange_for_roots(
    ctx: &mut Context,
    blinding: &Blinding<'_>,
    hash: &Hashes,
    y: &[Item],
) -> Result<Vec<Tagged>> {
    let mut tags = Vec::with_capacity(y.len());
    let mut due = blocks(y.len());
    for (c, (first, count)) in blocks(y.len()).enumerate() {
        let y_i = blinding.y_i(ctx, hash, first, &y[first..first + count]);
        ctx.peer()?.send(&y_i)?;
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
