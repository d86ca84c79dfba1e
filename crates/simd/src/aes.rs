//! AES-128 (FIPS 197) over batches of blocks, and the hashes built on it.
//!
//! π is AES under a fixed key. The hashes are those of Guo, Katz, Wang and Yu ("Efficient and
//! secure multiparty computation from fixed-key block ciphers", 2020), secure when π is an ideal
//! permutation:
//!
//! | function | maps x to | is robust against |
//! |---|---|---|
//! | [`Aes128::mmo`] | π(x) ⊕ x | correlation |
//! | [`Aes128::ccr`] | π(σ(x)) ⊕ σ(x) | circular correlation |
//! | [`Aes128::tccr`] | π(π(x) ⊕ t) ⊕ π(x), with a tweak t per block | circular correlation, with tweaks |
//!
//! A [`Block`] is the cipher's 16 bytes in order: its least significant byte comes first.
//!
//! # Timing
//!
//! Depends on the number of blocks and of keys, and on the counters and tweaks, which are public;
//! never on a key or a block. No table is indexed by secret bytes.

use crate::Block;
use crate::backend::dispatch;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
mod bit_sums;
mod four_keys;
mod portable;

pub use bit_sums::ctr_bit_sums;
pub use four_keys::encrypt_under_four;

/// The round constants.
pub(crate) const RCON: [u8; 10] = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];

/// The round keys of one key: the whitening key and ten rounds.
type Schedule = [Block; 11];

/// The operation around the permutation; a const parameter of every kernel.
mod mode {
    pub(super) const ENCRYPT: u8 = 0;
    pub(super) const MMO: u8 = 1;
    pub(super) const CCR: u8 = 2;
    pub(super) const TCCR: u8 = 3;
    pub(super) const CTR: u8 = 4;
}

/// AES-128 under one key, expanded.
///
/// The schedule is wiped on drop; `Debug` does not show it.
#[derive(Clone, zeroize::Zeroize, zeroize::ZeroizeOnDrop)]
pub struct Aes128 {
    schedule: Schedule,
}

impl std::fmt::Debug for Aes128 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Aes128(..)")
    }
}

impl Aes128 {
    /// Expands `key`.
    pub fn new(key: Block) -> Self {
        Self { schedule: dispatch!(expand(key)) }
    }

    /// The round keys, for kernels that combine AES with further operations.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn schedule(&self) -> &[Block; 11] {
        &self.schedule
    }

    /// π(`block`). Single blocks are slow; see [`encrypt`](Aes128::encrypt).
    pub fn encrypt_block(&self, block: Block) -> Block {
        let mut blocks = [block];
        self.encrypt(&mut blocks);
        blocks[0]
    }

    /// Replaces each block x by π(x).
    pub fn encrypt(&self, blocks: &mut [Block]) {
        self.run::<{ mode::ENCRYPT }>(blocks, 0);
    }

    /// Replaces each block x by π(x) ⊕ x.
    ///
    /// Correlation robust; not *circular* correlation robust.
    pub fn mmo(&self, blocks: &mut [Block]) {
        self.run::<{ mode::MMO }>(blocks, 0);
    }

    /// Replaces each block x by π(σ(x)) ⊕ σ(x), where σ(l ‖ r) = (l ⊕ r) ‖ l and l is the more
    /// significant half.
    ///
    /// Circular correlation robust for inputs that do not repeat.
    pub fn ccr(&self, blocks: &mut [Block]) {
        self.run::<{ mode::CCR }>(blocks, 0);
    }

    /// Replaces block i, x, by π(π(x) ⊕ t) ⊕ π(x) with the tweak t = `first_tweak` + i mod 2^128.
    ///
    /// Circular correlation robust with tweaks, even if inputs repeat under different tweaks.
    pub fn tccr(&self, blocks: &mut [Block], first_tweak: u128) {
        self.run_counting::<{ mode::TCCR }>(blocks, first_tweak);
    }

    /// Sets `out[i]` to π(`first` + i mod 2^128): a pseudorandom stream if the key is a seed.
    pub fn ctr(&self, first: u128, out: &mut [Block]) {
        self.run_counting::<{ mode::CTR }>(out, first);
    }

    /// Calls [`run`](Aes128::run) for counters that can wrap: kernels add to their low half only.
    fn run_counting<const MODE: u8>(&self, blocks: &mut [Block], first: u128) {
        let mut blocks = blocks;
        let mut first = first;
        loop {
            let before_carry = (1 << 64) - u128::from(first as u64);
            let n = usize::try_from(before_carry).map_or(blocks.len(), |n| n.min(blocks.len()));
            let (now, later) = blocks.split_at_mut(n);
            self.run::<MODE>(now, first);
            if later.is_empty() {
                return;
            }
            first = first.wrapping_add(n as u128);
            blocks = later;
        }
    }

    fn run<const MODE: u8>(&self, blocks: &mut [Block], first: u128) {
        dispatch!(run::<MODE>(&self.schedule, blocks, first));
    }
}

/// Encrypts `blocks[j * per_key..][..per_key]` in place under `keys[j]`, for each j.
///
/// The keys are expanded on the fly, several at a time, and not kept.
///
/// # Panics
/// If there are not `per_key` blocks for each key.
pub fn encrypt_rekeyed(keys: &[Block], per_key: usize, blocks: &mut [Block]) {
    assert_eq!(Some(blocks.len()), keys.len().checked_mul(per_key), "per_key blocks for each key");
    if per_key == 0 {
        return;
    }
    dispatch!(encrypt_rekeyed(keys, per_key, blocks));
}
