use crate::{Lift, Traffic, base, pprf};
use std::sync::LazyLock;
use vesica_core::hash::derive;
use vesica_core::{Block, Security};
use vesica_net::Pool;

const BINDING: &str = "vesica ot 2026 SoftSpoken setup";

static IDENTITY: LazyLock<Lift> = LazyLock::new(Lift::identity);

/// Base transfers of a setup: one per bit of Δ.
pub(super) const BASE_TRANSFERS: usize = 128;

/// Blocks of 128 positions that are processed and sent together: their rows and columns stay in the
/// L2 cache.
pub(super) const TILE: usize = 16;

/// Positions per block.
pub(super) const COLUMNS: usize = 128;

/// VOLE values whose columns are made and combined together, across the bits of a value: a multiple
/// of [`COLUMNS`], so that they start and end at a block.
pub(super) const VOLE_PIECE: usize = 4 * COLUMNS;

/// Points at which the check hashes the rows. With one point, a peer that tries many corrections
/// would come too close to 2^128.
pub(super) const POINTS: usize = 2;

/// Length of the digest of the hashed rows, in bytes.
pub(super) const DIGEST_LEN: usize = 32;

/// Bytes of the response to the check.
pub(super) const RESPONSE_LEN: usize = POINTS * Block::LEN + DIGEST_LEN;

/// k, the bits of Δ per tree. More bits cost fewer bytes and more computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldBits {
    /// 127 bits and 2 AES blocks per position: IKNP.
    One,
    /// 63 bits and 2 AES blocks per position.
    Two,
    /// 31 bits and 4 AES blocks per position.
    Four,
    /// 15 bits and 32 AES blocks per position.
    Eight,
}

impl FieldBits {
    /// All variants.
    pub const ALL: [FieldBits; 4] =
        [FieldBits::One, FieldBits::Two, FieldBits::Four, FieldBits::Eight];

    /// k.
    pub const fn k(self) -> usize {
        match self {
            FieldBits::One => 1,
            FieldBits::Two => 2,
            FieldBits::Four => 4,
            FieldBits::Eight => 8,
        }
    }

    pub(super) const fn sizes(self) -> pprf::Sizes {
        pprf::Sizes { trees: BASE_TRANSFERS / self.k(), depth: self.k() }
    }

    /// Correction blocks per block of positions.
    pub(super) const fn corrections(self) -> usize {
        self.sizes().trees - 1
    }
}

/// The correlations that one extension produces.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Number of correlated transfers.
    pub cots: usize,
    /// Number of VOLE correlations.
    pub voles: usize,
    /// The values of the VOLE.
    pub lift: &'a Lift,
}

impl Request<'static> {
    /// Correlated transfers only.
    pub fn cots(len: usize) -> Self {
        Self { cots: len, voles: 0, lift: &IDENTITY }
    }
}

impl Request<'_> {
    pub(super) fn cot_blocks(&self) -> usize {
        self.cots.div_ceil(COLUMNS)
    }

    pub(super) fn vole_positions(&self) -> usize {
        self.voles * self.lift.width_bits()
    }

    pub(super) fn vole_blocks(&self) -> usize {
        self.vole_positions().div_ceil(COLUMNS)
    }

    /// Number of all blocks of positions: transfers, then VOLEs, then the blocks that the check
    /// consumes.
    pub(super) fn blocks<S: Security>(&self) -> usize {
        let masks = if S::MALICIOUS { POINTS } else { 0 };
        self.cot_blocks() + self.vole_blocks() + masks
    }
}

/// Payload bytes of a setup, including the base transfers.
pub const fn setup_bytes<S: Security>(bits: FieldBits) -> Traffic {
    let base = base::bytes(BASE_TRANSFERS).reversed();
    Traffic {
        sender_to_receiver: base.sender_to_receiver,
        receiver_to_sender: base.receiver_to_sender + bits.sizes().bytes::<S>(),
    }
}

/// Payload bytes of an extension, including its check.
pub fn extend_bytes<S: Security>(bits: FieldBits, request: Request<'_>) -> Traffic {
    let corrections = request.blocks::<S>() * bits.corrections() * Block::LEN;
    let response = if S::MALICIOUS { RESPONSE_LEN } else { 0 };
    Traffic { sender_to_receiver: 0, receiver_to_sender: (corrections + response) as u64 }
}

/// The public value that all keys of a setup are derived from, besides their secrets.
pub(super) fn binding<S: Security>(transcript: &[u8; 32], bits: FieldBits) -> [u8; 32] {
    derive(BINDING, &[transcript, S::NAME.as_bytes(), &[bits.k() as u8]])
}

/// Tiles processed before their messages are sent, or after they are received.
pub(super) fn group_tiles(pool: &Pool) -> usize {
    8 * pool.len()
}
