//! # DH-PSI
//!
//! C. Meadows, "A more efficient cryptographic matchmaking protocol for use in the absence of a
//! continuously available third party", IEEE S&P 1986; the form described by Pinkas, Schneider,
//! Segev and Zohner, "Phasing", USENIX Security 2015, §3.3.
//!
//! | | |
//! |---|---|
//! | security | semi-honest |
//! | assumption | decisional Diffie–Hellman in Ristretto255; random oracle |
//! | receiver learns | which of its own items the sender has; the size of the sender's set |
//! | sender learns | the size of the receiver's set; when both learn, also which of its own items the receiver has |
//! | flights | 2, for 2^16 items each |
//! | payload bytes | sender → receiver 32·n_x + ℓ·n_y; receiver → sender 32·n_y, and ⌈n_x/8⌉ with [`Learns::Both`] |
//! | ℓ | ⌈(λ + ⌈log n_x⌉ + ⌈log n_y⌉) / 8⌉ bytes |
//! | cost | two scalar multiplications an item and party |
//!
//! ```text
//!      sender P_1: X                                   receiver P_2: Y
//!
//!   1  α ←$ Z_q                                        β ←$ Z_q
//!   2  H(x)^α for x ∈ X, shuffled      ───────────▶    t_x = tag((H(x)^α)^β)
//!   3                                  ◀───────────    H(y)^β for y ∈ Y, shuffled
//!   4  t_y = tag((H(y)^β)^α), in that order ──────▶    y is common iff t_y is among the t_x
//!   5  [both] x is common iff its bit is 1 ◀──────     [both] one bit per x, in the order received
//! ```
//!
//! Step 2 runs in parallel with steps 3 and 4, on a separate stream. Points are sent in messages of
//! [`POINTS_PER_MESSAGE`], so that computation and transfer overlap.
//!
//! **Where we differ from the paper.** H is the RFC 9380 hash to Ristretto255 and binds the
//! session, so that nothing can be prepared for it or carried over from another run. Points that
//! do not decode, and the identity, are refused as [`Misbehaviour::InvalidPoint`]. Tags are
//! keyed by the session as well. With [`Learns::Both`] the receiver returns one bit per item
//! rather than its own tags: this takes the same trust and fewer bytes.
//!
//! A party that deviates can do two things beyond lying about its input: make the result wrong,
//! and, as the receiver in [`Learns::Both`], choose the result that the sender gets. Under the
//! one-more gap Diffie–Hellman assumption it learns nothing more about the other's set than its own
//! set entitles it to. That is not a proof of malicious security, and none is claimed.
//!
//! [`Learns::Both`]: vesica_core::Learns::Both

mod catalogue;

pub use catalogue::ROW;
pub use catalogue::bytes;

use rand::Rng;
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_core::hash_to_group::ExpandMessage;
use vesica_core::tags::{Tag, TagHash, decode_tags, encode_tags};
use vesica_core::{Item, Misbehaviour, PsiParams, Result, Secret, SessionId, Shuffled};
use vesica_net::Context;
use vesica_party::{Output, answer};
use vesica_simd::ristretto::{self, Scalar};

const HASH_TO_GROUP_DST: &[u8] = b"vesica1-ristretto255_XMD:SHA-512_R255MAP_RO_";
const TAG_LABEL: &str = "vesica v1 dh tag";

/// Length of an encoded point in bytes.
const POINT_LEN: usize = 32;

/// Points in one message: 128 KiB, large enough for the transport to run at full rate.
pub const POINTS_PER_MESSAGE: usize = 4096;

/// Points one CPU thread works on at a time.
const POINTS_PER_TASK: NonZeroUsize = NonZeroUsize::new(512).unwrap();

/// Messages of points the receiver sends before it waits for the first tags: 8 MiB under way,
/// more than the bandwidth–delay product of common links.
const WINDOW_MESSAGES: usize = 64;

/// P_1: learns n_y, or with [`Learns::Both`](vesica_core::Learns::Both) which of its items the
/// receiver has.
fn run_sender(params: PsiParams, x: Arc<Vec<Item>>, ctx: &mut Context) -> Result<Output> {
    // 1. α ←$ Z_q
    let alpha = random_scalar(ctx);
    let x = Shuffled::new(x, ctx.rng());
    ctx.join(
        // 2. H(x)^α for x ∈ X, shuffled
        ("points", |ctx: &mut Context| send_points(ctx, &params, &x, &alpha)),
        // 3. H(y)^β  4. t_y = tag((H(y)^β)^α), in that order
        ("tags", |ctx: &mut Context| return_tags(ctx, &params, &alpha)),
    )?;
    // 5. [both] x is common iff its bit is 1
    answer::receive(ctx, &params, &x)
}

/// P_2: learns which of its items the sender has.
fn run_receiver(params: PsiParams, y: Arc<Vec<Item>>, ctx: &mut Context) -> Result<Output> {
    // 1. β ←$ Z_q
    let beta = random_scalar(ctx);
    let y = Shuffled::new(y, ctx.rng());
    let (t_x, t_y) = ctx.join(
        // 2. t_x = tag((H(x)^α)^β)
        ("points", |ctx: &mut Context| tag_peer_points(ctx, &params, &beta)),
        // 3. H(y)^β for y ∈ Y, shuffled  4. t_y
        ("tags", |ctx: &mut Context| exchange_points_for_tags(ctx, &params, &y, &beta)),
    )?;
    // 5. [both] one bit per x, in the order received
    let t_x = answer::send(ctx, &params, t_x, &t_y)?;
    // 4. y is common iff t_y is among the t_x
    Ok(Output::Positions(y.own_positions(|i| t_x.contains(t_y[i]))))
}

/// Sends H(v)^k for every v, in the order given.
fn send_points(ctx: &mut Context, params: &PsiParams, v: &Shuffled, k: &Scalar) -> Result<()> {
    let hash = GroupHash::new(params.session());
    for (first, items) in v.blocks(POINTS_PER_MESSAGE) {
        let points = hash_and_multiply(ctx, &hash, &items, k);
        ctx.peer()?.send(&points)?;
        ctx.progress((first + items.len()) as u64, v.len() as u64);
    }
    Ok(())
}

/// Receives H(y)^β and returns t_y = tag((H(y)^β)^α), in the order received.
fn return_tags(ctx: &mut Context, params: &PsiParams, alpha: &Scalar) -> Result<()> {
    let hash = TagHash::new(TAG_LABEL, params);
    let n_y = params.receiver_len();
    let mut message = Vec::new();
    for (first, count) in blocks(n_y) {
        let tags = receive_points_and_tag(ctx, &hash, first, count, alpha)?;
        message.clear();
        encode_tags(&tags, hash.len_bytes(), &mut message);
        ctx.peer()?.send(&message)?;
        ctx.progress((first + count) as u64, n_y as u64);
    }
    Ok(())
}

/// Receives H(x)^α and gives t_x = tag((H(x)^α)^β), in the order received.
fn tag_peer_points(ctx: &mut Context, params: &PsiParams, beta: &Scalar) -> Result<Vec<Tag>> {
    let hash = TagHash::new(TAG_LABEL, params);
    let n_x = params.sender_len();
    let mut tags = Vec::new();
    for (first, count) in blocks(n_x) {
        tags.extend(receive_points_and_tag(ctx, &hash, first, count, beta)?);
        ctx.progress((first + count) as u64, n_x as u64);
    }
    Ok(tags)
}

/// Sends H(y)^β and receives t_y = tag((H(y)^β)^α), the tags a window of messages behind the
/// points.
fn exchange_points_for_tags(
    ctx: &mut Context,
    params: &PsiParams,
    y: &Shuffled,
    beta: &Scalar,
) -> Result<Vec<Tag>> {
    let hash = GroupHash::new(params.session());
    let len = params.tag_len_bytes();
    let mut tags = Vec::with_capacity(y.len());
    let mut due = blocks(y.len());
    for (c, (first, items)) in y.blocks(POINTS_PER_MESSAGE).enumerate() {
        let points = hash_and_multiply(ctx, &hash, &items, beta);
        ctx.peer()?.send(&points)?;
        ctx.progress((first + items.len()) as u64, y.len() as u64);
        if c >= WINDOW_MESSAGES
            && let Some((_, count)) = due.next()
        {
            decode_tags(&ctx.peer()?.recv(len * count)?, len, &mut tags);
        }
    }
    for (_, count) in due {
        decode_tags(&ctx.peer()?.recv(len * count)?, len, &mut tags);
    }
    Ok(tags)
}

/// (first item, item count) of each message for a list of `n`.
fn blocks(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).step_by(POINTS_PER_MESSAGE).map(move |first| (first, POINTS_PER_MESSAGE.min(n - first)))
}

fn hash_and_multiply(ctx: &Context, hash: &GroupHash, items: &[Item], k: &Scalar) -> Vec<u8> {
    let tasks = ctx.map(items, POINTS_PER_TASK, |items| {
        let uniform: Vec<_> = items.iter().map(|item| hash.uniform(item)).collect();
        let mut points = vec![[0; POINT_LEN]; items.len()];
        ristretto::hash_mul(&uniform, k, &mut points);
        points
    });
    tasks.into_iter().flatten().flatten().collect()
}

fn receive_points_and_tag(
    ctx: &mut Context,
    hash: &TagHash,
    first: usize,
    count: usize,
    k: &Scalar,
) -> Result<Vec<Tag>> {
    let message = ctx.peer()?.recv(POINT_LEN * count)?;
    let (points, _) = message.as_chunks::<POINT_LEN>();
    let tasks = ctx.map(points, POINTS_PER_TASK, |points| {
        let mut shared = vec![[0; POINT_LEN]; points.len()];
        ristretto::decode_mul(points, k, &mut shared)?;
        Ok(shared.iter().map(|point| hash.tag(point)).collect::<Vec<Tag>>())
    });
    let mut tags = Vec::with_capacity(count);
    for (task, result) in tasks.into_iter().enumerate() {
        match result {
            Ok(of_task) => tags.extend(of_task),
            Err(ristretto::InvalidPoint { index }) => {
                let index = (first + task * POINTS_PER_TASK.get() + index) as u64;
                return Err(Misbehaviour::InvalidPoint { index }.into());
            }
        }
    }
    Ok(tags)
}

/// H: items to the group, bound to the session.
struct GroupHash {
    expand: ExpandMessage,
    session: SessionId,
}

impl GroupHash {
    fn new(session: &SessionId) -> Self {
        Self { expand: ExpandMessage::new(HASH_TO_GROUP_DST), session: *session }
    }

    fn uniform(&self, item: &Item) -> [u8; ExpandMessage::LEN] {
        self.expand.expand(&[self.session.as_bytes(), item.as_bytes()])
    }
}

fn random_scalar(ctx: &mut Context) -> Scalar {
    loop {
        let mut uniform = Secret::new([0; 64]);
        ctx.rng().fill_bytes(uniform.expose_mut());
        if let Some(scalar) = Scalar::from_uniform_bytes(uniform.expose()) {
            return scalar;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_core::Learns;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Recorded values: a change of them is a change of the wire format.
    #[test]
    fn points_and_tags_are_the_recorded_ones() {
        let session = SessionId::from_bytes([1; 32]);
        let params = PsiParams::new(session, 1 << 20, 1 << 20, Learns::Receiver).unwrap();
        let item = Item::from_bytes(*b"0123456789abcdef");
        let (alpha, beta) = (
            Scalar::from_uniform_bytes(&[2; 64]).unwrap(),
            Scalar::from_uniform_bytes(&[3; 64]).unwrap(),
        );
        let uniform = GroupHash::new(&session).uniform(&item);
        let mut blinded = [[0; 32]; 2];
        ristretto::hash_mul(&[uniform], &alpha, &mut blinded[..1]);
        ristretto::hash_mul(&[uniform], &beta, &mut blinded[1..]);
        let mut shared = [[0; 32]; 2];
        ristretto::decode_mul(&blinded[..1], &beta, &mut shared[..1]).unwrap();
        ristretto::decode_mul(&blinded[1..], &alpha, &mut shared[1..]).unwrap();
        assert_eq!(shared[0], shared[1], "(H(x)^α)^β is (H(x)^β)^α");
        assert_eq!(
            hex(&uniform),
            "88ee885df57c1281d25a0b246c37b33f7e7b40814c6fb43ff921002803af3eb1\
             e5e75c7de46572f02c1866d4bcaefa42b8cc68f295fbb01f43e29adb24a4c2f8"
        );
        assert_eq!(
            hex(&blinded[0]),
            "b007b449cbc6c08c0ee8ac7b47bc3b90d54fab3f988546270353cfafe1117907"
        );
        assert_eq!(
            hex(&shared[0]),
            "aed65609fc76e79c54874f24db6b6dc8795104767cacdded82a5ae4df088a24b"
        );
        let tag = TagHash::new(TAG_LABEL, &params).tag(&shared[0]);
        assert_eq!(format!("{tag:020x}"), "8ac1627c9b761e9b0014");
    }
}
