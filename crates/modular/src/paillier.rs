//! Paillier's encryption: ciphertexts multiply as their plaintexts add.
//!
//! P. Paillier, "Public-key cryptosystems based on composite degree residuosity classes",
//! EUROCRYPT 1999, with g = 1 + N: the ciphertext of m is (1 + m·N)·ρ modulo N², ρ a random N-th
//! power. That it says nothing about m is the decisional composite residuosity assumption.
//!
//! * [`KeyPair`] encrypts and decrypts modulo p² and q² (§7 of the paper).
//! * [`PublicKey`] encrypts, adds, and shifts plaintexts to the left.
//! * [`shuffle`] — the homomorphic shuffle with many values in a ciphertext.
//!
//! Everything is computed by `crypto-bigint`, in a time that does not depend on keys and plaintexts,
//! and is tested against an independent library, whose own arithmetic takes a time that depends on
//! the key.
//!
//! **The owner's powers come from a table.** With its key the owner draws one random N-th power h, and
//! each ρ is h^a for a random a, all a as likely modulo the order of h. This is as safe as independent
//! powers: an h that is a random number modulo N² cannot be told from an N-th power, by the same
//! assumption, and for such an h = (1 + N)^t·h' (a long enough) the factor (1 + N)^(t·a) is uniform and
//! independent of h'^a, ciphertext by ciphertext, and hides m perfectly. h is nowhere published.

mod owner;
pub mod shuffle;

pub use owner::KeyPair;

use crate::rsa::{KeySize, has_small_factor};
use crate::{Exponent, Modulus, Residue};
use crypto_bigint::{BoxedUint, ConcatenatingMul};
use rand::CryptoRng;
use vesica_core::Secret;

/// Bits by which what is reduced is longer than what it is reduced by: it is uniform within 2^-128.
const UNIFORM_EXTRA_BYTES: usize = 16;

/// What came is no public key of the agreed form: the modulus is even, not of the agreed length, or
/// has a small factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a public key of the agreed form")]
pub struct InvalidPublicKey;

/// What came is no list of ciphertexts: it has another length, or one of them is 0, not below N², or
/// has a factor in common with N.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not ciphertexts of this key")]
pub struct InvalidCiphertext;

/// Length of a ciphertext in bytes: twice that of the modulus.
pub const fn ciphertext_len(size: KeySize) -> usize {
    2 * size.len_bytes()
}

/// An integer, taken modulo N by who encrypts; wiped when dropped.
pub struct Plaintext(Secret<BoxedUint>);

impl Plaintext {
    /// The integer with these words, the lowest first. No words are 0.
    pub fn from_words(words: &[u64]) -> Self {
        Self(Secret::new(match words {
            [] => BoxedUint::zero(),
            words => BoxedUint::from_words(words.iter().copied()),
        }))
    }

    /// Its words, the lowest first. After decryption, as many as N has.
    pub fn words(&self) -> &[u64] {
        self.0.expose().as_words()
    }
}

/// A ciphertext under one key, coprime to N.
#[derive(Clone)]
pub struct Ciphertext(Residue);

impl Ciphertext {
    /// Appends [`ciphertext_len`] bytes to `out`, big-endian.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }
}

/// N, for who encrypts and computes on ciphertexts.
#[derive(Clone)]
pub struct PublicKey {
    size: KeySize,
    n: Modulus,
    n_squared: Modulus,
    /// N modulo N².
    n_residue: Residue,
}

impl PublicKey {
    /// Reads [`KeySize::len_bytes`] bytes: N, big-endian.
    ///
    /// Whether N is a product of two primes cannot be seen from it. A wrong N tells its maker something
    /// about what was added to its ciphertexts.
    ///
    /// # Errors
    /// [`InvalidPublicKey`].
    pub fn decode(bytes: &[u8], size: KeySize) -> Result<Self, InvalidPublicKey> {
        if bytes.len() != size.len_bytes() || bytes[0] >> 7 == 0 {
            return Err(InvalidPublicKey);
        }
        let n = Modulus::from_be_bytes(bytes).ok_or(InvalidPublicKey)?;
        if has_small_factor(&n) {
            return Err(InvalidPublicKey);
        }
        Self::new(size, n).ok_or(InvalidPublicKey)
    }

    fn new(size: KeySize, n: Modulus) -> Option<Self> {
        let square = n.integer().concatenating_mul(n.integer());
        let n_squared = Modulus::new(square)?;
        let n_residue = n_squared.residue(n.integer());
        Some(Self { size, n, n_squared, n_residue })
    }

    /// N, big-endian, [`KeySize::len_bytes`] long.
    pub fn encode(&self) -> Vec<u8> {
        self.n.to_be_bytes()
    }

    /// Length of N.
    pub fn size(&self) -> KeySize {
        self.size
    }

    /// Length of a ciphertext in bytes.
    pub fn ciphertext_len(&self) -> usize {
        ciphertext_len(self.size)
    }

    /// Reads ciphertexts that follow each other, of [`ciphertext_len`](Self::ciphertext_len) bytes each.
    ///
    /// The more at once the cheaper: one product each, and one inversion for all.
    ///
    /// # Errors
    /// [`InvalidCiphertext`].
    pub fn decode_all(&self, bytes: &[u8]) -> Result<Vec<Ciphertext>, InvalidCiphertext> {
        let encoded = bytes.chunks_exact(self.ciphertext_len());
        if !encoded.remainder().is_empty() {
            return Err(InvalidCiphertext);
        }
        let mut product = self.n_squared.one();
        let mut ciphertexts = Vec::with_capacity(encoded.len());
        for encoded in encoded {
            let c = self.n_squared.decode(encoded).ok_or(InvalidCiphertext)?;
            product = product.mul(&c);
            ciphertexts.push(Ciphertext(c));
        }
        let coprime = self.n.residue(&product.0.retrieve()).invert().is_some();
        if coprime { Ok(ciphertexts) } else { Err(InvalidCiphertext) }
    }

    /// A ciphertext of `m` modulo N, independent of all others.
    pub fn encrypt(&self, m: &Plaintext, rng: &mut impl CryptoRng) -> Ciphertext {
        let random = self.n_squared.reduce(random_bytes(2 * self.size.len_bytes(), rng).expose());
        // An N-th power depends on the number modulo N alone; that it is not coprime does not happen.
        let power = random.pow(&Exponent::new(self.n.integer().clone()));
        Ciphertext(self.one_plus(m).mul(&power))
    }

    /// A ciphertext of the sum.
    ///
    /// Whoever knows those of the summands knows where it comes from: add a fresh one of 0.
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Ciphertext {
        Ciphertext(a.0.mul(&b.0))
    }

    /// A ciphertext of the plaintext times 2^`bits`: one product a bit.
    pub fn shift(&self, c: &Ciphertext, bits: u32) -> Ciphertext {
        Ciphertext((0..bits).fold(c.0.clone(), |power, _| power.square()))
    }

    /// (1 + N)^m = 1 + m·N modulo N².
    fn one_plus(&self, m: &Plaintext) -> Residue {
        let multiple = self.n_squared.residue(m.0.expose()).mul(&self.n_residue);
        Residue(multiple.0.add(&self.n_squared.one().0))
    }
}

/// `len` random bytes, and those that make a number uniform when it is reduced.
fn random_bytes(len: usize, rng: &mut impl CryptoRng) -> Secret<Vec<u8>> {
    let mut bytes = Secret::new(vec![0; len + UNIFORM_EXTRA_BYTES]);
    rng.fill_bytes(bytes.expose_mut());
    bytes
}
