//! RSA as a trapdoor permutation, without padding.
//!
//! R. Rivest, A. Shamir, L. Adleman, "A method for obtaining digital signatures and public-key
//! cryptosystems", CACM 1978; RFC 8017, §5.2.1 for the root by the Chinese remainder theorem.

use crate::{Exponent, Modulus, Residue};
use crypto_bigint::{BoxedUint, ConcatenatingMul, Limb, NonZero, Resize};
use crypto_primes::hazmat::{SetBits, SmallFactorsSieveFactory};
use crypto_primes::{Flavor, is_prime, sieve_and_find};
use rand::CryptoRng;
use vesica_core::Secret;
use vesica_core::group_operations::{self, GroupOperation};

/// e, the exponent of every public key.
pub const PUBLIC_EXPONENT: u32 = 65537;

/// Length of the encoded exponent in bytes.
const EXPONENT_LEN: usize = 4;

/// Moduli with a prime factor below this are rejected.
const SMALL_PRIMES_END: usize = 1 << 12;

/// Length of a modulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySize {
    /// 2048 bits: 112-bit security (NIST SP 800-57, Part 1).
    Bits2048,
    /// 3072 bits: 128-bit security.
    Bits3072,
}

impl KeySize {
    /// Length of the modulus in bits.
    pub const fn bits(self) -> u32 {
        match self {
            KeySize::Bits2048 => 2048,
            KeySize::Bits3072 => 3072,
        }
    }

    /// Length of the modulus, and of an encoded residue, in bytes.
    pub const fn len_bytes(self) -> usize {
        self.bits() as usize / 8
    }

    /// Length of an encoded public key in bytes: the modulus, then the exponent.
    pub const fn public_key_len(self) -> usize {
        self.len_bytes() + EXPONENT_LEN
    }
}

/// The bytes are not a public key for this protocol: the modulus is even, does not have the agreed
/// length or has a small factor, or the exponent is not [`PUBLIC_EXPONENT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a public key of the agreed form")]
pub struct InvalidPublicKey;

/// A root failed its check: memory or processor is faulty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a root failed its check")]
pub struct FaultyRoot;

/// n and e.
#[derive(Clone)]
pub struct PublicKey {
    n: Modulus,
}

impl PublicKey {
    /// Decodes [`KeySize::public_key_len`] bytes: n and e, big-endian.
    ///
    /// The bytes do not show whether n is a product of two primes and e is prime to φ(n). If
    /// raising is not a permutation, the key's maker learns something about the raised values.
    ///
    /// # Errors
    /// [`InvalidPublicKey`].
    pub fn decode(bytes: &[u8], size: KeySize) -> Result<Self, InvalidPublicKey> {
        let (n, e) = bytes.split_at_checked(size.len_bytes()).ok_or(InvalidPublicKey)?;
        let top_bit = n[0] >> 7;
        if e != PUBLIC_EXPONENT.to_be_bytes() || top_bit == 0 {
            return Err(InvalidPublicKey);
        }
        let n = Modulus::from_be_bytes(n).ok_or(InvalidPublicKey)?;
        if has_small_factor(&n) { Err(InvalidPublicKey) } else { Ok(Self { n }) }
    }

    /// n and e as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = self.n.to_be_bytes();
        bytes.extend_from_slice(&PUBLIC_EXPONENT.to_be_bytes());
        bytes
    }

    /// n.
    pub fn modulus(&self) -> &Modulus {
        &self.n
    }

    /// x^e: 17 products.
    pub fn raise(&self, x: &Residue) -> Residue {
        group_operations::add(GroupOperation::ShortPower, 1);
        let power = (0..PUBLIC_EXPONENT.ilog2()).fold(x.clone(), |power, _| power.square());
        power.mul(x)
    }
}

/// Whether n has a prime factor from 3 up to [`SMALL_PRIMES_END`].
pub(crate) fn has_small_factor(n: &Modulus) -> bool {
    small_primes().any(|prime| {
        NonZero::new(Limb::from(prime))
            .into_option()
            .is_some_and(|prime| n.integer().rem_limb(prime) == Limb::ZERO)
    })
}

/// The primes from 3 up to [`SMALL_PRIMES_END`].
fn small_primes() -> impl Iterator<Item = u16> {
    let mut composite = vec![false; SMALL_PRIMES_END];
    for i in 2..SMALL_PRIMES_END {
        if !composite[i] {
            (i * i..SMALL_PRIMES_END).step_by(i).for_each(|multiple| composite[multiple] = true);
        }
    }
    (3..SMALL_PRIMES_END).filter(move |i| !composite[*i]).map(|i| i as u16)
}

/// A prime factor for a modulus; wiped when dropped.
pub struct Prime(pub(crate) Secret<BoxedUint>);

impl Prime {
    /// A random prime of half the length of a modulus. Its two highest bits are set, and e is prime
    /// to p − 1.
    ///
    /// Tested by Miller–Rabin to base 2 and a strong Lucas test (R. Baillie, A. Fiori, S. Wagstaff,
    /// "Strengthening the Baillie–PSW primality test", Mathematics of Computation 2021). No
    /// composite is known to pass both, and a random one fails with overwhelming probability.
    pub fn random(size: KeySize, rng: &mut impl CryptoRng) -> Self {
        let sieve = SmallFactorsSieveFactory::<BoxedUint>::new(
            Flavor::Any,
            size.bits() / 2,
            SetBits::TwoMsb,
        )
        .expect("the length is a constant above the sieve's minimum");
        let found = sieve_and_find(rng, sieve, |_, candidate: &BoxedUint| {
            let e = NonZero::new(Limb::from(PUBLIC_EXPONENT)).expect("e is not 0");
            candidate.rem_limb(e) != Limb::ONE && is_prime(Flavor::Any, candidate)
        });
        let prime = found.ok().flatten().expect("the sieve of random numbers is endless");
        Self(Secret::new(prime))
    }
}

/// A key pair. It takes roots modulo each prime, in constant time, and checks them before it
/// returns them: a wrong root would reveal the primes (D. Boneh, R. DeMillo, R. Lipton, "On the
/// importance of checking cryptographic protocols for faults", EUROCRYPT 1997).
pub struct PrivateKey {
    public: PublicKey,
    p: Factor,
    q: Factor,
    /// q^-1 modulo p.
    q_inverse: Residue,
}

/// A prime, and the exponent that takes roots modulo it.
struct Factor {
    modulus: Modulus,
    d: Exponent,
}

impl Factor {
    fn new(prime: &Prime) -> Option<Self> {
        let prime = prime.0.expose();
        let order = NonZero::new(prime.wrapping_sub(BoxedUint::one())).into_option()?;
        let e = BoxedUint::from(PUBLIC_EXPONENT).resize(prime.bits_precision());
        let d = e.invert_mod(&order).into_option()?;
        Some(Self { modulus: Modulus::new(prime.clone())?, d: Exponent::new(d) })
    }

    fn root(&self, y: &BoxedUint) -> Residue {
        self.modulus.residue(y).pow(&self.d)
    }
}

impl PrivateKey {
    /// The key with two primes for the same size; `None` if they are equal.
    pub fn new(p: &Prime, q: &Prime) -> Option<Self> {
        let n = p.0.expose().concatenating_mul(q.0.expose());
        let (p, q) = (Factor::new(p)?, Factor::new(q)?);
        let q_inverse = p.modulus.residue(q.modulus.integer()).invert()?;
        Some(Self { public: PublicKey { n: Modulus::new(n)? }, p, q, q_inverse })
    }

    /// The public part.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The x with x^e = y.
    ///
    /// # Errors
    /// [`FaultyRoot`] if the result fails its check, which no y can cause.
    pub fn root(&self, y: &Residue) -> Result<Residue, FaultyRoot> {
        group_operations::add(GroupOperation::Root, 1);
        let (p, q) = (&self.p, &self.q);
        let integer = Secret::new(y.0.retrieve());
        let x_p = p.root(integer.expose());
        let x_q = Secret::new(q.root(integer.expose()).0.retrieve());
        // Garner: x = x_q + q·((x_p − x_q)/q mod p).
        let difference = Residue(x_p.0.sub(&p.modulus.residue(x_q.expose()).0));
        let h = Secret::new(difference.mul(&self.q_inverse).0.retrieve());
        let multiple = Secret::new(q.modulus.integer().concatenating_mul(h.expose()));
        let x = Secret::new(multiple.expose().wrapping_add(x_q.expose()));
        let x = self.public.n.residue(x.expose());
        if self.public.raise(&x).equals(y) { Ok(x) } else { Err(FaultyRoot) }
    }
}
