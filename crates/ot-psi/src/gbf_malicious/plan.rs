//! The sizes of a run, which both parties compute from public figures.
//!
//! Floating point here is sums, products, quotients and square roots alone, which IEEE 754 rounds
//! alike everywhere, so that both parties get the same sizes.

use std::f64::consts::LN_2;
use vesica_core::params::{STATISTICAL_SECURITY_BITS, ceil_log2};
use vesica_core::{Error, ParameterError, PsiParams, Result};
use vesica_okvs::bloom::BloomShape;
use vesica_party::{UsableSetLen, check_set_len};

/// The largest set of the receiver: one extension gives 2^32 transfers.
pub const MAX_RECEIVER_LEN: u64 = 1 << 24;

/// Items of the receiver in a block on average, at most: the more, the fewer transfers an item, the
/// fewer, the less memory.
const ITEMS_PER_BLOCK: u64 = 1 << 13;

/// Length in bytes of s, r and the seed of C.
pub(super) const SEED_LEN: usize = 32;

/// K has κ bits.
pub(super) const TAG_BITS: u32 = 128;

/// Transfers that are worked on, and whose corrections are sent, together; places of π that are
/// sent together.
pub(super) const PER_MESSAGE: usize = 1 << 16;

/// Bytes of R in one message.
pub(super) const BYTES_PER_MESSAGE: usize = 1 << 18;

/// k.
const HASHES: usize = 96;

/// λ = 40.
const LAMBDA: f64 = STATISTICAL_SECURITY_BITS as f64;

/// c/m in units of 2^-16 for blocks of 2^(2i) items and more: what makes N least; parameters/gbf
/// searches.
const OPENED: [u16; 7] = [26214, 19661, 19661, 13107, 9830, 7209, 3670];

/// The sizes of cut and choose, of each of 2^b blocks.
///
/// The leading b bits of an item's hash choose its block, and each block is a run of the protocol
/// of its own on the items in it. n is the most items of the receiver in a block, Λ = (λ + b)·ln 2,
/// so that each line holds for all blocks but for 2^-40:
///
/// | | | because of |
/// |---|---|---|
/// | every block has n items at most | n = μ + (Λ + √(Λ² + 8Λμ))/2, μ = n_y/2^b | Chernoff |
/// | the honest filter has Z ones at most | Z = m·(1 − e^(−kn/(m−1))) + √(Λ·kn/2) | McDiarmid |
/// | of M = Z + τ ones at most τ are opened | τ = μ + (Λ + √(Λ² + 8Λμ))/2, μ = c·M/N | Chernoff |
/// | a party with more than M′ ones has more than τ of them opened | M′ = (τ + Λ + √(Λ² + 2Λτ))·N/c | Chernoff |
/// | a party with M′ ones has L of them left at most | L = M′·(1 − c/N) + √(2Λ·c·M′/N) | Chernoff |
///
/// m is the least with (L/m)^k ≤ 2^-128, which is 16·L³ ≤ m³. Drawing c of N without replacement
/// has tails no heavier than drawing with (Hoeffding 1963).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// b: leading bits of an item's hash that choose its block.
    pub block_bits: u32,
    /// n, the most items of the receiver in a block.
    pub load: usize,
    /// N, the number of transfers of a block.
    pub transfers: usize,
    /// M, how many of the receiver's choices for a block are ones.
    pub ones: usize,
    /// c, the number of transfers of a block that are opened.
    pub opened: usize,
    /// τ, how many of the opened may be ones.
    pub threshold: usize,
    /// m = N − c, the slots of a block of the filter.
    pub slots: usize,
    /// L, how many ones of a block a receiver that deviates has left at most.
    pub ones_left: usize,
}

impl Sizes {
    /// The sizes for `len` items, at least one, of the receiver.
    pub fn new(len: u64) -> Self {
        let len = len.max(1);
        let block_bits = ceil_log2(len.div_ceil(ITEMS_PER_BLOCK));
        let tail = (LAMBDA + f64::from(block_bits)) * LN_2;
        let load = match block_bits {
            0 => len,
            bits => upper_tail(len as f64 / (1u64 << bits) as f64, tail).ceil() as u64,
        };
        let mut slots = HASHES as u64 * load + 2;
        loop {
            let sizes = Self::with_slots(block_bits, load, slots, tail);
            // Fewer slots have fewer ones left, so that the first that holds is the least but for
            // rounding.
            let cube = |x: u64| u128::from(x).pow(3);
            if 16 * cube(sizes.ones_left as u64) <= cube(slots) {
                return sizes;
            }
            // (1/16)^(1/3), rounded up.
            slots = slots.max((sizes.ones_left as f64 / 0.396_850_263) as u64) + 1;
        }
    }

    /// Number of blocks, 2^b.
    pub fn blocks(&self) -> usize {
        1 << self.block_bits
    }

    fn with_slots(block_bits: u32, load: u64, slots: u64, tail: f64) -> Self {
        let row = (load.ilog2() as usize / 2).min(OPENED.len() - 1);
        let opened = (slots * u64::from(OPENED[row])).div_ceil(1 << 16);
        let transfers = slots + opened;
        let share = opened as f64 / transfers as f64;

        let throws = (HASHES as u64 * load) as f64;
        let taken = 1.0 - exp_minus(throws / (slots - 1) as f64);
        let filter_ones = slots as f64 * taken + (tail * throws / 2.0).sqrt();
        // One more than enough, for rounding.
        let filter_ones = (filter_ones.ceil() as u64 + 1).min(HASHES as u64 * load);

        let mut ones = filter_ones;
        let threshold = loop {
            let threshold = upper_tail(share * ones as f64, tail).floor() as u64;
            if filter_ones + threshold <= ones {
                break threshold;
            }
            ones = filter_ones + threshold;
        };

        let tau = threshold as f64;
        let most = (tau + tail + (tail * tail + 2.0 * tail * tau).sqrt()) / share;
        let left = (1.0 - share) * most + (2.0 * tail * share * most).sqrt();
        Self {
            block_bits,
            load: load as usize,
            transfers: transfers as usize,
            ones: ones as usize,
            opened: opened as usize,
            threshold: threshold as usize,
            slots: slots as usize,
            ones_left: left.ceil() as usize + 1,
        }
    }
}

/// What a sum of mean `mean` is above with probability e^-`tail` at most: e^(−d²/(2·mean + d)) for
/// an excess of d.
fn upper_tail(mean: f64, tail: f64) -> f64 {
    mean + (tail + (tail * tail + 8.0 * tail * mean).sqrt()) / 2.0
}

/// e^-x for 0 ≤ x ≤ 2, by its series.
fn exp_minus(x: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for i in 1..40 {
        term *= x / f64::from(i);
        sum += term;
    }
    1.0 / sum
}

/// What both parties derive from the public sizes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) sizes: Sizes,
    pub(super) shape: BloomShape,
    /// Bits of a place of π.
    pub(super) place_bits: u32,
}

impl Plan {
    /// The plan for sets that are not empty.
    pub(super) fn new(params: &PsiParams) -> Self {
        let sizes = Sizes::new(params.receiver_len() as u64);
        Self {
            sizes,
            shape: BloomShape::new(HASHES, sizes.slots as u64, 1 << 32),
            place_bits: ceil_log2(sizes.transfers as u64),
        }
    }

    /// Bytes of d of a block.
    pub(super) fn corrections_len(&self) -> usize {
        self.sizes.transfers.div_ceil(8)
    }

    /// Bytes of `len` places of π.
    pub(super) fn places_len(&self, len: usize) -> usize {
        (len * self.place_bits as usize).div_ceil(8)
    }
}

/// Refuses sets of another size than the parameters say, and those too large for the protocol.
pub(super) fn check_lens(params: &PsiParams, expected: usize, actual: usize) -> Result<()> {
    let (len, max) = (params.receiver_len() as u64, MAX_RECEIVER_LEN);
    if len > max {
        return Err(Error::Parameter(ParameterError::SetTooLarge { len, max }));
    }
    check_set_len(expected, actual)
}

/// Evaluations of the hash functions that [`usable_set_len`] grants a receiver, as a power of two.
const GRINDING_BITS: f64 = 80.0;

/// Items that a receiver which deviates can have compared, instead of n_y: without effort about as
/// many as a filter of as many ones holds, and with 2^80 evaluations of the hash functions no more
/// than follows.
///
/// But for 2^-40 each block of its filter has L ones of m at most, where it likes. All indices of
/// n′ items lie in such slots with probability at most C(m, L)^(2^b)·(L/m)^(k·n′); however it
/// chooses n′ of q items, C(q, n′) times that. This is the least n′ for which it is below 2^-40,
/// with C(q, n′) ≤ (e·q/n′)^n′ and C(m, L) ≤ 2^(m·h(L/m)).
pub fn usable_set_len(params: &PsiParams) -> UsableSetLen {
    if params.has_empty_set() {
        return UsableSetLen { free: 0, most: 0 };
    }
    let sizes = Sizes::new(params.receiver_len() as u64);
    let m = (sizes.blocks() * sizes.slots) as f64;
    let share = sizes.ones_left as f64 / sizes.slots as f64;
    let entropy = -share * share.log2() - (1.0 - share) * (1.0 - share).log2();
    let needed = m * entropy + LAMBDA;
    let of_item = -(HASHES as f64) * share.log2();
    let mut len = m;
    // The right side falls as the length grows, so that this closes in on the fixed point.
    for _ in 0..64 {
        let gained = of_item - GRINDING_BITS - std::f64::consts::LOG2_E + len.max(1.0).log2();
        len = needed / gained;
    }
    // n items leave (1 − 1/m)^(k·n) of the slots without a one.
    let free = -(1.0 - share).ln() * m / HASHES as f64;
    UsableSetLen { free: free as u64, most: len.ceil() as u64 }
}
