//! Paillier's encryption: multiplying ciphertexts adds their plaintexts.
//!
//! P. Paillier, "Public-key cryptosystems based on composite degree residuosity classes", EUROCRYPT
//! 1999, with g = 1 + N: the ciphertext of m is (1 + m·N)·ρ modulo N², where ρ is a random N-th
//! power. The decisional composite residuosity assumption says that it reveals nothing about m.
//!
//! * [`KeyPair`] encrypts and decrypts modulo p² and q² (§7 of the paper).
//! * [`PublicKey`] encrypts, adds, and shifts plaintexts to the left.
//! * [`shuffle`] — the homomorphic shuffle with several values per ciphertext.
//!
//! `crypto-bigint` does all computations, in a time that does not depend on keys or plaintexts.
//! Tests compare with an independent library, whose own arithmetic is not constant time.
//!
//! **The owner's powers come from a table.** With its key the owner draws one random N-th power h;
//! each ρ is h^a for a random a, uniform modulo the order of h. This is as safe as independent
//! powers. By the same assumption, h is indistinguishable from a random number modulo N². For such
//! an h = (1 + N)^t·h' (and a long enough) the factor (1 + N)^(t·a) is uniform and independent of
//! h'^a, for each ciphertext, and hides m perfectly. h is never published.

mod owner;
pub mod shuffle;

pub use owner::KeyPair;

use crate::rsa::{KeySize, has_small_factor};
use crate::{Exponent, Modulus, Residue};
use crypto_bigint::{BoxedUint, ConcatenatingMul};
use rand::CryptoRng;
use vesica_core::Secret;

/// Extra bytes of the input of a reduction, so that the result is uniform within 2^-128.
const UNIFORM_EXTRA_BYTES: usize = 16;

/// The bytes are not a public key of the agreed form: the modulus is even, does not have the agreed
/// length, or has a small factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a public key of the agreed form")]
pub struct InvalidPublicKey;

/// The bytes are not a list of ciphertexts: the length is wrong, or an element is 0, not below N²,
/// or shares a factor with N.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not ciphertexts of this key")]
pub struct InvalidCiphertext;

/// Length of a ciphertext in bytes: twice that of the modulus.
pub const fn ciphertext_len(size: KeySize) -> usize {
    2 * size.len_bytes()
}

/// The random bytes of one encryption; wiped when dropped. They are drawn separately, so that
/// threads can share encryptions and the sent bytes still depend on the generator alone.
pub struct Noise(Secret<Vec<u8>>);

/// An integer, which encryption reduces modulo N; wiped when dropped.
pub struct Plaintext(Secret<BoxedUint>);

impl Plaintext {
    /// The integer with these words, lowest first. An empty list is 0.
    pub fn from_words(words: &[u64]) -> Self {
        Self(Secret::new(match words {
            [] => BoxedUint::zero(),
            words => BoxedUint::from_words(words.iter().copied()),
        }))
    }

    /// The words, lowest first. After decryption, as many words as N has.
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

/// N, for encryption and computation on ciphertexts.
#[derive(Clone)]
pub struct PublicKey {
    size: KeySize,
    n: Modulus,
    n_squared: Modulus,
    /// N modulo N².
    n_residue: Residue,
}

impl PublicKey {
    /// Decodes [`KeySize::len_bytes`] bytes: N, big-endian.
    ///
    /// The bytes do not show whether N is a product of two primes. A wrong N lets its maker learn
    /// something about the values added to its ciphertexts.
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

    /// Decodes consecutive ciphertexts of [`ciphertext_len`](Self::ciphertext_len) bytes each.
    ///
    /// Larger batches are cheaper: one product per ciphertext, and one inversion for all.
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
        self.encrypt_with(m, &self.noise(rng))
    }

    /// The random bytes of an encryption with this key.
    pub fn noise(&self, rng: &mut impl CryptoRng) -> Noise {
        random_bytes(2 * self.size.len_bytes(), rng)
    }

    /// [`encrypt`](Self::encrypt) with the [`noise`](Self::noise) of this key, which no other
    /// encryption may use.
    pub fn encrypt_with(&self, m: &Plaintext, noise: &Noise) -> Ciphertext {
        let random = self.n_squared.reduce(noise.0.expose());
        // The N-th power depends only on the number modulo N, which is coprime to N with
        // overwhelming probability.
        let power = random.pow(&Exponent::new(self.n.integer().clone()));
        Ciphertext(self.one_plus(m).mul(&power))
    }

    /// A ciphertext of the sum.
    ///
    /// It is linkable to its summands: anyone who has them can compute it. Add a fresh ciphertext
    /// of 0 to prevent that.
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Ciphertext {
        Ciphertext(a.0.mul(&b.0))
    }

    /// A ciphertext of the plaintext times 2^`bits`: one product per bit.
    pub fn shift(&self, c: &Ciphertext, bits: u32) -> Ciphertext {
        Ciphertext((0..bits).fold(c.0.clone(), |power, _| power.square()))
    }

    /// (1 + N)^m = 1 + m·N modulo N².
    fn one_plus(&self, m: &Plaintext) -> Residue {
        let multiple = self.n_squared.residue(m.0.expose()).mul(&self.n_residue);
        Residue(multiple.0.add(&self.n_squared.one().0))
    }
}

/// `len` random bytes plus the extra bytes for a uniform reduction.
fn random_bytes(len: usize, rng: &mut impl CryptoRng) -> Noise {
    let mut bytes = Secret::new(vec![0; len + UNIFORM_EXTRA_BYTES]);
    rng.fill_bytes(bytes.expose_mut());
    Noise(bytes)
}
