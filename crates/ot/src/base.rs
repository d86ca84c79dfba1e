//! # Base oblivious transfer
//!
//! D. Masny, P. Rindal, "Endemic oblivious transfer", ACM CCS 2019 (ePrint 2019/706), the
//! construction from key agreement with a group element as the only message, on Ristretto255.
//!
//! | | |
//! |---|---|
//! | security | malicious, random-oracle model, gap Diffie–Hellman on Ristretto255 |
//! | sender learns | two random keys per transfer |
//! | receiver learns | its chosen key of each transfer |
//! | flights | 2 |
//! | bytes for n | receiver 64 n, sender 32 |
//!
//! ```text
//!   sender                                       receiver: c ∈ {0,1}
//!
//!                                                a, r ← Z*_ℓ;  P_{1−c} = r·G
//!               ◀────────   P_0, P_1   ────────  P_c = a·G − H(i, c, P_{1−c})
//!   b ← Z*_ℓ;  B = b·G
//!               ────────       B       ───────▶
//!   Q_j = P_j + H(i, j, P_{1−j})                 (Q_c = a·G)
//!   k_j = KDF(i, j, b·Q_j)                       k_c = KDF(i, c, a·B)
//! ```
//!
//! H also takes the session and the role of the sender, so that a reflected message is useless. H
//! is 2 · MAP of `expand_message_xmd` (RFC 9380 with SHA-512). KDF takes a digest of the same and
//! of the whole transcript.
//!
//! **Why it is sound.** *Against the sender:* P_{1−c} is uniform and a·G hides H(i, c, P_{1−c}), so
//! (P_0, P_1) is a uniform pair for either c. A simulator that programs H can know both discrete
//! logarithms, and so both keys of a deviating sender. The receiver's output is always defined, so
//! no abort depends on c. *Against the receiver:* consider the queries H(i, 0, P_1) and H(i, 1,
//! P_0) for one pair. The answer to the later one is uniform given everything else in its sum Q_j,
//! so computing b·Q_j means solving Diffie–Hellman with B. A simulator that knows b sees from the
//! queries to KDF which key was computed. One B serves all transfers: KDF separates them by index
//! and transcript, and the reduction finds the right queries to KDF with a decision oracle for the
//! fixed B (hence *gap* Diffie–Hellman). The functionality is *endemic*: a deviating party may
//! choose its own keys, which the extensions built on it tolerate.
//!
//! **Where we differ from the paper.** One B serves all transfers. The hash to the group is twice
//! the standard map; doubling is a bijection of the group. Non-canonical encodings and the identity
//! are rejected.

use crate::Traffic;
use rand::Rng;
use rand_chacha::ChaCha20Rng;
use subtle::{Choice, ConditionallySelectable};
use vesica_core::group_operations::{self, GroupOperation};
use vesica_core::hash::{derive, derive_into};
use vesica_core::hash_to_group::ExpandMessage;
use vesica_core::{Block, Error, Misbehaviour, Result, Role, Secret, SessionId};
use vesica_net::Context;
use vesica_simd::ristretto::{
    InvalidPoint, Scalar, base_mul, base_mul_sub_hash, decode_add_hash_mul, point_mul,
};
use zeroize::{Zeroize, Zeroizing};

const HASH_TO_GROUP: &[u8] = b"vesica ot 2026 base OT hash to group";
const TRANSCRIPT: &str = "vesica ot 2026 base OT transcript";
const KEY: &str = "vesica ot 2026 base OT key";

/// Length of an encoded group element, in bytes.
const POINT_LEN: usize = 32;

type Point = [u8; POINT_LEN];

/// The keys of the transfers.
pub struct Output<K: Zeroize> {
    /// One entry per transfer: both keys at the sender, the chosen one at the receiver.
    pub keys: Zeroizing<Vec<K>>,
    /// A digest of the session, the direction and all messages; public, equal at both parties.
    pub transcript: [u8; 32],
}

/// Payload bytes of `count` transfers.
pub const fn bytes(count: usize) -> Traffic {
    Traffic {
        sender_to_receiver: POINT_LEN as u64,
        receiver_to_sender: (2 * POINT_LEN * count) as u64,
    }
}

/// The sender of `count` transfers. Returns both keys of each.
///
/// Receives first, so that the sender's next message leaves together with its only message here.
///
/// # Errors
/// [`Error::Transport`]; [`Misbehaviour::InvalidPoint`] with the position of the point, two per
/// transfer.
pub fn send(ctx: &mut Context, session: &SessionId, count: usize) -> Result<Output<[Block; 2]>> {
    let place = Place::new(session, ctx.with(Role::Sender).is_err());
    let mut message = vec![0; 2 * POINT_LEN * count];
    ctx.peer()?.recv_into(&mut message)?;
    let (points, _) = message.as_chunks::<POINT_LEN>();

    let b = [random_scalar(ctx.rng())];
    let mut public = [[0; POINT_LEN]];
    base_mul(&b, &mut public);
    group_operations::add(GroupOperation::PowerFromTable, 1);
    ctx.peer()?.send(&public[0])?;

    let hash = HashToGroup::new(place);
    let hashes: Vec<_> =
        (0..2 * count).map(|n| hash.uniform(n / 2, (n % 2) as u8, &points[n ^ 1])).collect();
    let mut shared = Secret::new(vec![[0; POINT_LEN]; 2 * count]);
    group_operations::add(GroupOperation::HashToGroup, hashes.len());
    group_operations::add(GroupOperation::Power, points.len());
    decode_add_hash_mul(points, &hashes, &b[0], shared.expose_mut()).map_err(invalid)?;

    let kdf = KeyDerivation::new(&place, &message, &public[0]);
    let (pairs, _) = shared.expose().as_chunks::<2>();
    let pairs = pairs.iter().enumerate();
    let keys = pairs.map(|(i, [zero, one])| [kdf.key(i, 0, zero), kdf.key(i, 1, one)]);
    Ok(Output { keys: Zeroizing::new(keys.collect()), transcript: kdf.transcript })
}

/// The receiver, after it has sent its message.
pub struct Receiver {
    place: Place,
    choices: Secret<Vec<u8>>,
    secrets: Vec<Scalar>,
    message: Vec<u8>,
}

impl Receiver {
    /// Sends the receiver's message, with one transfer for each of `choices`.
    ///
    /// # Errors
    /// [`Error::Transport`].
    pub fn send(
        ctx: &mut Context,
        session: &SessionId,
        choices: impl Iterator<Item = bool>,
    ) -> Result<Self> {
        let place = Place::new(session, ctx.with(Role::Sender).is_ok());
        let choices = Secret::new(choices.map(u8::from).collect::<Vec<_>>());
        let count = choices.expose().len();
        let decoys: Vec<_> = (0..count).map(|_| random_scalar(ctx.rng())).collect();
        let secrets: Vec<_> = (0..count).map(|_| random_scalar(ctx.rng())).collect();

        let mut other = vec![[0; POINT_LEN]; count];
        base_mul(&decoys, &mut other);
        group_operations::add(GroupOperation::PowerFromTable, 2 * count);
        group_operations::add(GroupOperation::HashToGroup, count);
        let hash = HashToGroup::new(place);
        let hashes: Vec<_> = (choices.expose().iter().zip(&other).enumerate())
            .map(|(i, (choice, other))| hash.uniform(i, *choice, other))
            .collect();
        let mut chosen = vec![[0; POINT_LEN]; count];
        base_mul_sub_hash(&secrets, &hashes, &mut chosen);

        let mut message = Vec::with_capacity(2 * POINT_LEN * count);
        for ((choice, mut first), mut second) in choices.expose().iter().zip(chosen).zip(other) {
            <Point>::conditional_swap(&mut first, &mut second, Choice::from(*choice));
            message.extend_from_slice(&first);
            message.extend_from_slice(&second);
        }
        ctx.peer()?.send(&message)?;
        Ok(Self { place, choices, secrets, message })
    }

    /// Receives the sender's message. Returns the chosen key of each transfer.
    ///
    /// # Errors
    /// [`Error::Transport`]; [`Misbehaviour::InvalidPoint`].
    pub fn receive(self, ctx: &mut Context) -> Result<Output<Block>> {
        let mut public = [0; POINT_LEN];
        ctx.peer()?.recv_into(&mut public)?;
        group_operations::add(GroupOperation::Power, self.secrets.len());
        let mut shared = Secret::new(vec![[0; POINT_LEN]; self.secrets.len()]);
        point_mul(&public, &self.secrets, shared.expose_mut()).map_err(invalid)?;
        let kdf = KeyDerivation::new(&self.place, &self.message, &public);
        let chosen = self.choices.expose().iter().zip(shared.expose()).enumerate();
        let keys = chosen.map(|(i, (choice, shared))| kdf.key(i, *choice, shared));
        Ok(Output { keys: Zeroizing::new(keys.collect()), transcript: kdf.transcript })
    }
}

fn random_scalar(rng: &mut ChaCha20Rng) -> Scalar {
    let mut uniform = [0; 64];
    loop {
        rng.fill_bytes(&mut uniform);
        if let Some(scalar) = Scalar::from_uniform_bytes(&uniform) {
            uniform.zeroize();
            return scalar;
        }
    }
}

fn invalid(error: InvalidPoint) -> Error {
    Misbehaviour::InvalidPoint { index: error.index as u64 }.into()
}

/// The context of the transfers: the session, and whether their sender is the protocol's sender.
#[derive(Clone, Copy)]
struct Place {
    session: SessionId,
    direction: [u8; 1],
}

impl Place {
    fn new(session: &SessionId, from_sender: bool) -> Self {
        Self { session: *session, direction: [from_sender.into()] }
    }
}

/// H(i, j, P) of the figure, before the map to the group.
struct HashToGroup {
    place: Place,
    expand: ExpandMessage,
}

impl HashToGroup {
    fn new(place: Place) -> Self {
        Self { place, expand: ExpandMessage::new(HASH_TO_GROUP) }
    }

    fn uniform(&self, i: usize, j: u8, other: &Point) -> [u8; 64] {
        let Place { session, direction } = &self.place;
        let i = (i as u64).to_le_bytes();
        self.expand.expand(&[session.as_bytes(), direction, &i, &[j], other])
    }
}

/// KDF(i, j, Q) of the figure.
struct KeyDerivation {
    transcript: [u8; 32],
}

impl KeyDerivation {
    fn new(place: &Place, message: &[u8], public: &Point) -> Self {
        let Place { session, direction } = place;
        let parts: [&[u8]; 4] = [session.as_bytes(), direction, message, public];
        Self { transcript: derive(TRANSCRIPT, &parts) }
    }

    fn key(&self, i: usize, j: u8, shared: &Point) -> Block {
        let mut key = [0; Block::LEN];
        let place = (2 * i as u64 + u64::from(j)).to_le_bytes();
        derive_into(KEY, &[&self.transcript, &place, shared], &mut key);
        Block::from_le_bytes(key)
    }
}
