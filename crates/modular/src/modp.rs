//! The groups of squares modulo the primes *ffdhe2048* and *ffdhe3072*.
//!
//! RFC 7919, Appendix A: p = 2^2048 − 2^1984 + (⌊2^1918·e⌋ + 560316)·2^64 − 1, and p = 2^3072 −
//! 2^3008 + (⌊2^2942·e⌋ + 2625351)·2^64 − 1, safe primes; their digits come from e, so no one could
//! choose them. q = (p − 1)/2 is the order of the group, and 2 generates it. Logarithms take about
//! 2^112 and 2^128 steps (NIST SP 800-57, Part 1; the RFC itself estimates 2^103 and 2^125).
//!
//! Exponents have 256 and 288 bits instead of 2047 and 3071, more than the 225 and 275 that the RFC
//! asks for (§5.2, Appendices A.1 and A.2). That g^r for such r looks like a random element of the
//! group is the assumption on discrete logarithms with short exponents (T. Koshiba, K. Kurosawa,
//! "Short exponent Diffie–Hellman problems", PKC 2004).

use crate::{Modulus, Residue};

/// A prime of RFC 7919.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prime {
    /// ffdhe2048: 112-bit security.
    Bits2048,
    /// ffdhe3072: 128-bit security.
    Bits3072,
}

impl Prime {
    /// Length of an encoded element in bytes.
    pub const fn element_len(self) -> usize {
        match self {
            Self::Bits2048 => 256,
            Self::Bits3072 => 384,
        }
    }

    /// Length of an exponent in bytes.
    pub const fn exponent_len(self) -> usize {
        match self {
            Self::Bits2048 => 32,
            Self::Bits3072 => 36,
        }
    }

    /// Length of an exponent in bits.
    pub const fn exponent_bits(self) -> u32 {
        8 * self.exponent_len() as u32
    }

    /// The last words of p, highest first, after [`BOTH`].
    const fn last_words(self) -> &'static [u64] {
        match self {
            Self::Bits2048 => &[0x886b423861285c97, 0xffffffffffffffff],
            Self::Bits3072 => &[
                0x886b4238611fcfdc,
                0xde355b3b6519035b,
                0xbc34f4def99c0238,
                0x61b46fc9d6e6c907,
                0x7ad91d2691f7f7ee,
                0x598cb0fac186d91c,
                0xaefe130985139270,
                0xb4130c93bc437944,
                0xf4fd4452e2d74dd3,
                0x64f2e21e71f54bff,
                0x5cae82ab9c9df69e,
                0xe86d2bc522363a0d,
                0xabc521979b0deada,
                0x1dbf9a42d5c4484e,
                0x0abcd06bfa53ddef,
                0x3c1b20ee3fd59d7c,
                0x25e41d2b66c62e37,
                0xffffffffffffffff,
            ],
        }
    }
}

/// The first words of both primes, highest first: ones, and the first digits of e.
const BOTH: [u64; 30] = [
    0xffffffffffffffff,
    0xadf85458a2bb4a9a,
    0xafdc5620273d3cf1,
    0xd8b9c583ce2d3695,
    0xa9e13641146433fb,
    0xcc939dce249b3ef9,
    0x7d2fe363630c75d8,
    0xf681b202aec4617a,
    0xd3df1ed5d5fd6561,
    0x2433f51f5f066ed0,
    0x856365553ded1af3,
    0xb557135e7f57c935,
    0x984f0c70e0e68b77,
    0xe2a689daf3efe872,
    0x1df158a136ade735,
    0x30acca4f483a797a,
    0xbc0ab182b324fb61,
    0xd108a94bb2c8e3fb,
    0xb96adab760d7f468,
    0x1d4f42a3de394df4,
    0xae56ede76372bb19,
    0x0b07a7c8ee0a6d70,
    0x9e02fce1cdf7e2ec,
    0xc03404cd28342f61,
    0x9172fe9ce98583ff,
    0x8e4f1232eef28183,
    0xc3fe3b1b4c6fad73,
    0x3bb5fcbc2ec22005,
    0xc58ef1837d1683b2,
    0xc6f34a26c1b2effa,
];

/// The group; its elements are [`Residue`]s.
#[derive(Clone)]
pub struct Group {
    prime: Prime,
    modulus: Modulus,
    generator: Residue,
}

impl Group {
    /// The squares modulo `prime`, with the generator 2.
    pub fn new(prime: Prime) -> Self {
        let words = BOTH.iter().chain(prime.last_words());
        let p: Vec<u8> = words.flat_map(|word| word.to_be_bytes()).collect();
        let modulus = Modulus::from_be_bytes(&p).expect("the prime is odd");
        let generator = modulus.reduce(&[2]);
        Self { prime, modulus, generator }
    }

    /// p.
    pub fn prime(&self) -> Prime {
        self.prime
    }

    /// The integers modulo p, which contain the group.
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// g, the generator.
    pub fn generator(&self) -> &Residue {
        &self.generator
    }

    /// Hashes to the group: the square of [`Modulus::hash`].
    ///
    /// Without squaring, each mask g^r would reveal whether the hash is a square.
    pub fn hash(&self, label: &'static str, parts: &[&[u8]]) -> Residue {
        self.modulus.hash(label, parts).square()
    }

    /// The residue with these [`Prime::element_len`] bytes; `None` unless it is above 1 and below p
    /// − 1.
    ///
    /// It can lie outside the group; its square is always inside.
    pub fn decode(&self, bytes: &[u8]) -> Option<Residue> {
        let residue = self.modulus.decode(bytes)?;
        (!residue.square().equals(&self.modulus.one())).then_some(residue)
    }
}
