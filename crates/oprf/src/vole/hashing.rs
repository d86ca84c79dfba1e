//! The hashes of the OPRF at each security level.

use rand::Rng;
use vesica_core::hash::derive;
use vesica_core::{Block, Item, Malicious, PayloadLen, Result, Security, SemiHonest, SessionId};
use vesica_net::Context;
use vesica_simd::aes::Aes128;
use vesica_simd::short_hash::{BLOCK_LEN, INPUTS, keyed_hash_16};

const ROW_LABEL: &str = "vesica v1 vole oprf row";
const VALUE_LABEL: &str = "vesica v1 vole oprf value";
const OUTPUT_LABEL: &str = "vesica v1 vole oprf output";
const SHARED_LABEL: &str = "vesica v1 vole oprf shared items";
const MASK_LABEL: &str = "vesica v1 vole oprf mask";
const FILL_LABEL: &str = "vesica v1 vole oprf fill";

/// r: public, drawn by the receiver after its set is fixed.
#[derive(Clone, Copy)]
pub struct Seed([u8; 32]);

impl Seed {
    /// Length in bytes.
    pub const LEN: usize = 32;

    /// Step 2 of the OPRF at the receiver: draws r and sends it.
    ///
    /// # Errors
    /// Those of the connection.
    pub fn draw_and_send(ctx: &mut Context) -> Result<Self> {
        let mut seed = Self([0; Self::LEN]);
        ctx.rng().fill_bytes(&mut seed.0);
        ctx.peer()?.send(&seed.0)?;
        ctx.peer()?.flush()?;
        Ok(seed)
    }

    /// Step 2 of the OPRF at the sender: receives r.
    ///
    /// # Errors
    /// Those of the connection.
    pub fn receive(ctx: &mut Context) -> Result<Self> {
        let mut seed = Self([0; Self::LEN]);
        ctx.peer()?.recv_into(&mut seed.0)?;
        Ok(seed)
    }

    /// The seed of these bytes, for a protocol that sends r together with values of its own.
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    fn key(&self, label: &'static str, session: &SessionId) -> [u8; 32] {
        derive(label, &[session.as_bytes(), &self.0])
    }

    /// The public permutation behind H_B: H_B(x, r) = π(k) ⊕ k, k being the item's row key.
    pub(super) fn value_hash(&self, session: &SessionId) -> Aes128 {
        Aes128::new(first_block(&self.key(VALUE_LABEL, session)))
    }
}

/// The cipher that fills the unused slots of the store; `secret` is the receiver's own randomness.
pub(super) fn fill(secret: &[u8; 32]) -> Aes128 {
    Aes128::new(first_block(&derive(FILL_LABEL, &[secret])))
}

fn first_block(key: &[u8; 32]) -> Block {
    let mut block = [0; Block::LEN];
    block.copy_from_slice(&key[..Block::LEN]);
    Block::from_le_bytes(block)
}

/// The row hash and H_o.
///
/// | | row key k = H(x, r) | output H_o |
/// |---|---|---|
/// | [`SemiHonest`] | π_r(x) ⊕ x, AES-128 in the ideal-cipher model | π(q) ⊕ q, correlation robust (Guo, Katz, Wang, Yu, IEEE S&P 2020) |
/// | [`Malicious`] | BLAKE3 keyed by r and the session, a random oracle | BLAKE3 of q and k: 128 bits, a random oracle with the item inside |
pub trait Hashing: Security {
    /// Whether r is drawn after the correlations of the VOLE, when they are checked.
    const SEED_AFTER_VOLE: bool;

    /// The row keys of `items`.
    fn rows(session: &SessionId, seed: &Seed, items: &[Item], keys: &mut [Block]);

    /// Replaces each q by H_o(q); `keys` are the row keys of the same items.
    fn outputs(session: &SessionId, keys: &[Block], q: &mut [Block]);
}

impl Hashing for SemiHonest {
    const SEED_AFTER_VOLE: bool = false;

    fn rows(session: &SessionId, seed: &Seed, items: &[Item], keys: &mut [Block]) {
        for (key, item) in keys.iter_mut().zip(items) {
            *key = Block::from_le_bytes(*item.as_bytes());
        }
        Aes128::new(first_block(&seed.key(ROW_LABEL, session))).mmo(keys);
    }

    fn outputs(session: &SessionId, _: &[Block], q: &mut [Block]) {
        Aes128::new(first_block(&derive(OUTPUT_LABEL, &[session.as_bytes()]))).mmo(q);
    }
}

impl Hashing for Malicious {
    const SEED_AFTER_VOLE: bool = true;

    fn rows(session: &SessionId, seed: &Seed, items: &[Item], keys: &mut [Block]) {
        let hash_key = seed.key(ROW_LABEL, session);
        let parts = items.chunks(INPUTS).zip(keys.chunks_mut(INPUTS));
        for (items, keys) in parts {
            let mut inputs = [[0; BLOCK_LEN]; INPUTS];
            for (input, item) in inputs.iter_mut().zip(items) {
                input[..Item::LEN].copy_from_slice(item.as_bytes());
            }
            let digests = keyed_hash_16(&hash_key, &inputs, &[Item::LEN as u8; INPUTS]);
            for (key, digest) in keys.iter_mut().zip(digests) {
                *key = Block::from_le_bytes(digest);
            }
        }
    }

    fn outputs(session: &SessionId, keys: &[Block], q: &mut [Block]) {
        hash_with_key(OUTPUT_LABEL, session, keys, q);
    }
}

/// Replaces each q by another hash of it than [`SemiHonest`]'s output: π(q) ⊕ q for another π.
pub(super) fn masks(session: &SessionId, q: &mut [Block]) {
    Aes128::new(first_block(&derive(MASK_LABEL, &[session.as_bytes()]))).mmo(q);
}

/// Another random oracle of these inputs, `(k, q)` of some items, all of them in one call.
pub(super) fn shared(session: &SessionId, inputs: &[(Block, Block)]) -> [u8; 32] {
    let mut bytes = Vec::with_capacity(2 * Block::LEN * inputs.len());
    for (key, q) in inputs {
        bytes.extend_from_slice(&key.to_le_bytes());
        bytes.extend_from_slice(&q.to_le_bytes());
    }
    derive(SHARED_LABEL, &[session.as_bytes(), &bytes])
}

/// Replaces each q by BLAKE3(q ‖ k), keyed by the session under `label`.
fn hash_with_key(label: &'static str, session: &SessionId, keys: &[Block], q: &mut [Block]) {
    let hash_key = derive(label, &[session.as_bytes()]);
    for (keys, q) in keys.chunks(INPUTS).zip(q.chunks_mut(INPUTS)) {
        let mut inputs = [[0; BLOCK_LEN]; INPUTS];
        for ((input, key), q) in inputs.iter_mut().zip(keys).zip(q.iter()) {
            input[..16].copy_from_slice(&q.to_le_bytes());
            input[16..32].copy_from_slice(&key.to_le_bytes());
        }
        let digests = keyed_hash_16(&hash_key, &inputs, &[32; INPUTS]);
        for (q, digest) in q.iter_mut().zip(digests) {
            *q = Block::from_le_bytes(digest);
        }
    }
}

/// A hash of outputs of F and a common coin w: what a party reveals of its items once w is known.
/// It is π(z) ⊕ z of z = F(x) ⊕ w, AES-128 under a key of the session and of a label, in the
/// ideal-cipher model.
pub struct WithCoin {
    cipher: Aes128,
    w: Block,
}

impl WithCoin {
    /// The hash of this `label`, which is the caller's own, in this session.
    pub fn new(label: &'static str, session: &SessionId, w: Block) -> Self {
        Self { cipher: Aes128::new(first_block(&derive(label, &[session.as_bytes()]))), w }
    }

    /// The hash of each output.
    pub fn hash(&self, outputs: &[Block]) -> Vec<Block> {
        let mut hashed: Vec<Block> = outputs.iter().map(|output| *output ^ self.w).collect();
        self.cipher.mmo(&mut hashed);
        hashed
    }
}

/// Pads for payloads: for each output of F, or hash of one, as many bytes as a payload has.
///
/// Block i of a pad is π_i(z) ⊕ z of z = F(x) ⊕ w, AES-128 under keys of the session, of a label
/// and of i, in the ideal-cipher model. A party that cannot compute F(x) cannot tell the pad from
/// random bytes, even if it has [other hashes](WithCoin) of F(x).
pub struct Pads {
    ciphers: Vec<Aes128>,
    w: Block,
    len: usize,
}

impl Pads {
    /// The pads of this `label`, which is the caller's own, in this session, of `len` each.
    pub fn new(label: &'static str, session: &SessionId, w: Block, len: PayloadLen) -> Self {
        let len = len.bytes();
        let blocks = len.div_ceil(Block::LEN) as u64;
        let cipher = |i: u64| {
            Aes128::new(first_block(&derive(label, &[session.as_bytes(), &i.to_le_bytes()])))
        };
        Self { ciphers: (0..blocks).map(cipher).collect(), w, len }
    }

    /// Adds the pad of each of `outputs` to its payload, bit by bit.
    pub fn apply(&self, outputs: &[Block], payloads: &mut [u8]) {
        let inputs: Vec<Block> = outputs.iter().map(|output| *output ^ self.w).collect();
        for (i, cipher) in self.ciphers.iter().enumerate() {
            let mut pads = inputs.clone();
            cipher.mmo(&mut pads);
            for (pad, payload) in pads.iter().zip(payloads.chunks_mut(self.len)) {
                let of_block = payload[i * Block::LEN..].iter_mut();
                of_block.zip(pad.to_le_bytes()).for_each(|(byte, pad)| *byte ^= pad);
            }
        }
    }
}
