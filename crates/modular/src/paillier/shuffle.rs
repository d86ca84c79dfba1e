//! The homomorphic shuffle: one party learns values in an order chosen by the other.
//!
//! Y. Huang, D. Evans, J. Katz, "Private set intersection: Are garbled circuits better than custom
//! protocols?", NDSS 2012, Figure 6. Before the shuffle, the values m_i, of a fixed number of bits,
//! are shared over the integers: Alice has masks r_i, Bob has r'_i = m_i + r_i.
//!
//! ```text
//!   Alice: masks r_1 … r_n            Bob: r'_1 … r'_n, an order π
//!   ──────────────────────            ────────────────────────────
//!   N                        ────────▶
//!   [[−r_i]] for all i       ────────▶
//!                            ◀────────  for each k values that follow each other in his order:
//!                                       Π_j [[−r_π(j)]]^(2^(w·j)) · [[Σ_j r'_π(j)·2^(w·j)]]
//!   decrypts Σ_j m_π(j)·2^(w·j)
//! ```
//!
//! w is the length of a value, k = ⌊(|N| − 1)/w⌋, and j counts from 0 to k − 1 in each ciphertext.
//!
//! A slot holds exactly m_i: r'_i − r_i is never negative and below 2^w, so no slot borrows from
//! the next, and the sum stays below N. Bob's sum is encrypted freshly, so the ciphertext reveals
//! only its plaintext to Alice, although she made the other ciphertexts.
//!
//! **Where we differ from the paper.** Alice encrypts −r_i, so Bob needs no inversions. He packs
//! values, so that each returned ciphertext holds as many as fit; he encrypts one sum per packed
//! ciphertext instead of each r'_i.
//!
//! **Masks.** r'_i reveals something of m_i to Bob if r_i is close to either end of its range.
//! [`mask_bits`] is long enough that this happens with probability 2^-40 for all values together.
//! Masks modulo 2^w would not need this length, but the slots would then show Alice which sums
//! wrapped around and, with her r_i, something of the order.
//!
//! All functions work on parts of a list, so callers can distribute it over threads: they draw the
//! [`Noise`] of all parts before.

use super::{Ciphertext, ciphertext_len};
use super::{InvalidCiphertext, KeyPair, Noise, Plaintext, PublicKey};
use crate::rsa::KeySize;
use rand::CryptoRng;
use vesica_core::Secret;

/// Maximum length of a value in bits.
pub const MAX_VALUE_BITS: u32 = 128;

/// Statistical security of the masks of a list, in bits.
const STATISTICAL_BITS: u32 = 40;

/// Words per share.
pub const SHARE_WORDS: usize = 3;

/// A mask r_i, or r'_i = m_i + r_i: its words, lowest first.
pub type Share = [u64; SHARE_WORDS];

/// Length of the masks of `count` values of `value_bits` bits, at most 191 bits for 2^23 values.
///
/// A masked value has one bit more.
///
/// # Panics
/// If the masked values do not fit into a [`Share`], or `value_bits` is above [`MAX_VALUE_BITS`].
pub fn mask_bits(value_bits: u32, count: usize) -> u32 {
    assert!(value_bits <= MAX_VALUE_BITS, "values have at most 128 bits");
    let bits = value_bits + STATISTICAL_BITS + count.next_power_of_two().ilog2();
    assert!(bits < u64::BITS * SHARE_WORDS as u32, "a masked value fits a share");
    bits
}

/// A mask of `bits` random bits.
///
/// # Panics
/// If the bits do not fit.
pub fn random_mask(bits: u32, rng: &mut impl CryptoRng) -> Share {
    assert!(bits <= u64::BITS * SHARE_WORDS as u32, "a mask fits a share");
    let mut mask = [0; SHARE_WORDS];
    for (word, first_bit) in mask.iter_mut().zip((0..).step_by(u64::BITS as usize)) {
        let wanted = bits.saturating_sub(first_bit).min(u64::BITS);
        *word = rng.next_u64().checked_shr(u64::BITS - wanted).unwrap_or(0);
    }
    mask
}

/// The number and length of values per ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    size: KeySize,
    value_bits: u32,
}

impl Packing {
    /// Slots of `value_bits` bits under keys of `size`.
    ///
    /// # Panics
    /// If `value_bits` is 0 or above [`MAX_VALUE_BITS`].
    pub fn new(size: KeySize, value_bits: u32) -> Self {
        assert!((1..=MAX_VALUE_BITS).contains(&value_bits), "values have 1 to 128 bits");
        Self { size, value_bits }
    }

    /// Values per ciphertext: the sum of this many slots is below N.
    pub fn slots(&self) -> usize {
        ((self.size.bits() - 1) / self.value_bits) as usize
    }

    /// Number of ciphertexts for `count` values. The last can be partly filled.
    pub fn ciphertexts(&self, count: usize) -> usize {
        count.div_ceil(self.slots())
    }

    /// Length of `count` packed values, in bytes.
    pub fn packed_len(&self, count: usize) -> usize {
        self.ciphertexts(count) * ciphertext_len(self.size)
    }

    fn slot(&self, index: usize) -> u32 {
        index as u32 * self.value_bits
    }
}

/// Alice's first step: the ciphertexts of the negated masks, [`ciphertext_len`] bytes each. With
/// each mask comes the [noise](KeyPair::noise) of its encryption.
pub fn encrypt_masks(key: &KeyPair, masks: &[(&Share, Noise)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(masks.len() * key.public().ciphertext_len());
    for (mask, noise) in masks {
        key.encrypt_negated(&Plaintext::from_words(*mask), noise).encode(&mut bytes);
    }
    bytes
}

/// Bob's step: packs the values at the places `order` of the whole list, in that order.
///
/// `order` is the whole permutation or a part of it. Each part starts a new ciphertext, so the
/// length of each part but the last should be a multiple of [`Packing::slots`]. `noise` is the
/// [public key's](PublicKey::noise), for each of the [`Packing::ciphertexts`].
///
/// # Panics
/// If a place has no mask or share, or the numbers of ciphertexts and noises differ.
pub fn subtract_permute_pack(
    key: &PublicKey,
    packing: &Packing,
    masks: &[Ciphertext],
    shares: &[Share],
    order: &[u32],
    noise: &[Noise],
) -> Vec<u8> {
    assert_eq!(packing.ciphertexts(order.len()), noise.len(), "noise for each ciphertext");
    let mut bytes = Vec::with_capacity(packing.packed_len(order.len()));
    for (places, noise) in order.chunks(packing.slots()).zip(noise) {
        let places = || places.iter().map(|place| *place as usize).enumerate();
        let words = (packing.size.bits() / u64::BITS) as usize + SHARE_WORDS;
        let mut sum = Secret::new(vec![0; words]);
        for (slot, place) in places() {
            add_shifted(sum.expose_mut(), &shares[place], packing.slot(slot));
        }
        let mut packed: Option<Ciphertext> = None;
        for (_, place) in places().collect::<Vec<_>>().into_iter().rev() {
            packed = Some(match packed {
                None => masks[place].clone(),
                Some(above) => key.add(&key.shift(&above, packing.value_bits), &masks[place]),
            });
        }
        let fresh = key.encrypt_with(&Plaintext::from_words(sum.expose()), noise);
        let packed = packed.map_or_else(|| fresh.clone(), |packed| key.add(&packed, &fresh));
        packed.encode(&mut bytes);
    }
    bytes
}

/// Alice's last step: the `count` values in the ciphertexts that [`subtract_permute_pack`] made
/// from one part, in the order of that part.
///
/// # Errors
/// [`InvalidCiphertext`] if they are not ciphertexts of her key, have the wrong number, or hold
/// more than `count` values.
pub fn decrypt_unpack(
    key: &KeyPair,
    packing: &Packing,
    bytes: &[u8],
    count: usize,
) -> Result<Vec<u128>, InvalidCiphertext> {
    if bytes.len() != packing.packed_len(count) {
        return Err(InvalidCiphertext);
    }
    let mut values = Vec::with_capacity(count);
    for packed in key.public().decode_all(bytes)? {
        let sum = key.decrypt(&packed);
        let slots = packing.slots().min(count - values.len());
        values.extend(
            (0..slots).map(|slot| bits(sum.words(), packing.slot(slot), packing.value_bits)),
        );
        let first_beyond = packing.slot(slots);
        let beyond = (first_beyond..packing.size.bits()).step_by(MAX_VALUE_BITS as usize);
        if beyond.into_iter().any(|first| bits(sum.words(), first, MAX_VALUE_BITS) != 0) {
            return Err(InvalidCiphertext);
        }
    }
    Ok(values)
}

/// Adds `share`·2^`shift` to `sum`, which must be long enough.
fn add_shifted(sum: &mut [u64], share: &Share, shift: u32) {
    let (first, shift) = ((shift / u64::BITS) as usize, shift % u64::BITS);
    let mut carry = 0;
    let mut below = 0;
    let words = share.iter().copied().chain(std::iter::repeat(0));
    for (to, word) in sum[first..].iter_mut().zip(words) {
        let shifted = (u128::from(word) << 64 | u128::from(below)) << shift >> 64;
        below = word;
        let total = u128::from(*to) + u128::from(shifted as u64) + carry;
        *to = total as u64;
        carry = total >> 64;
    }
}

/// The `len` bits from bit `first` on, at most 128; bits beyond the end are 0.
fn bits(words: &[u64], first: u32, len: u32) -> u128 {
    let word = |i: usize| u128::from(words.get(i).copied().unwrap_or(0));
    let (i, shift) = ((first / u64::BITS) as usize, first % u64::BITS);
    let low = (word(i) | word(i + 1) << 64) >> shift;
    let high = if shift == 0 { 0 } else { word(i + 2) << (128 - shift) };
    (low | high) & (u128::MAX >> (128 - len))
}
