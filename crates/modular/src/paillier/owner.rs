use super::{Ciphertext, Noise, Plaintext, PublicKey, random_bytes};
use crate::rsa::{KeySize, Prime};
use crate::{Exponent, FixedBase, Modulus, Residue};
use crypto_bigint::{BoxedUint, ConcatenatingMul, NonZero, Resize};
use rand::CryptoRng;
use vesica_core::Secret;

/// A key pair.
///
/// The time of its powers depends only on the length of the key.
pub struct KeyPair {
    public: PublicKey,
    p: Factor,
    q: Factor,
    /// q^-1 modulo p.
    q_inverse: Residue,
    /// q^-2 modulo p².
    q_squared_inverse: Residue,
}

/// A prime and its square, with values modulo them.
struct Factor {
    prime: Secret<NonZero<BoxedUint>>,
    modulus: Modulus,
    square: Modulus,
    /// p − 1, as a modulus and as an exponent.
    order: Secret<NonZero<BoxedUint>>,
    exponent: Exponent,
    /// N modulo p².
    n: Residue,
    /// The factor that turns the logarithm of a power to p − 1 into the plaintext modulo p.
    scale: Residue,
    /// Powers of h modulo p².
    noise: FixedBase,
}

impl Factor {
    fn new(prime: &Prime, other: &Prime, rng: &mut impl CryptoRng) -> Option<Self> {
        let (p, q) = (prime.0.expose(), other.0.expose());
        let modulus = Modulus::new(p.clone())?;
        let square = Modulus::new(p.concatenating_mul(p))?;
        let n = square.residue(&p.concatenating_mul(q));
        // The logarithm of (1 + N)^(p − 1) to the base 1 + p is (p − 1)·q, or −q modulo p.
        let minus_q = Residue(-&modulus.residue(q).0);
        // The p-th power of a random number is also a random N-th power: q is prime to p − 1.
        let random = square.reduce(random_bytes(square.len_bytes(), rng).0.expose());
        let h = random.pow(&Exponent::new(p.clone()));
        let order = p.wrapping_sub(BoxedUint::one());
        Some(Self {
            prime: Secret::new(NonZero::new(p.clone()).into_option()?),
            exponent: Exponent::new(order.clone()),
            order: Secret::new(NonZero::new(order).into_option()?),
            n,
            scale: minus_q.invert()?,
            noise: FixedBase::new(&square, &h, p.bits_precision()),
            modulus,
            square,
        })
    }

    /// (1 + N)^m·h^a modulo p².
    fn encrypt(&self, m: &Residue, a: &BoxedUint) -> Residue {
        let reduced = a.rem(self.order.expose());
        let a = Exponent::new(reduced.resize(self.exponent.bits()));
        let multiple = m.mul(&self.n);
        let power = Residue(multiple.0.add(&self.square.one().0));
        power.mul(&self.noise.pow(&a))
    }

    /// The plaintext modulo p.
    fn decrypt(&self, c: &BoxedUint) -> Residue {
        let power = Secret::new(self.square.residue(c).pow(&self.exponent).0.retrieve());
        // 1 + p·logarithm. If `c` is not a ciphertext, the result is some other plaintext.
        let multiple = Secret::new(power.expose().wrapping_sub(BoxedUint::one()));
        let logarithm = Secret::new(multiple.expose().wrapping_div(self.prime.expose()));
        self.modulus.residue(logarithm.expose()).mul(&self.scale)
    }
}

/// x_q + q·((x_p − x_q)/q modulo p), for p and q or their squares (Garner).
fn recombine(p: &Modulus, q: &Modulus, q_inverse: &Residue, x: [&Residue; 2]) -> Secret<BoxedUint> {
    let x_q = Secret::new(x[1].0.retrieve());
    let difference = Residue(x[0].0.sub(&p.residue(x_q.expose()).0));
    let h = Secret::new(difference.mul(q_inverse).0.retrieve());
    let multiple = Secret::new(q.integer().concatenating_mul(h.expose()));
    Secret::new(multiple.expose().wrapping_add(x_q.expose()))
}

impl KeyPair {
    /// A new key. Finding the primes takes most of the time; see [`KeyPair::new`] for using two
    /// threads.
    pub fn generate(size: KeySize, rng: &mut impl CryptoRng) -> Self {
        loop {
            let (p, q) = (Prime::random(size, rng), Prime::random(size, rng));
            if let Some(key) = Self::new(size, &p, &q, rng) {
                return key;
            }
        }
    }

    /// The key with two primes for `size`; `None` if they are equal or have a different size.
    pub fn new(size: KeySize, p: &Prime, q: &Prime, rng: &mut impl CryptoRng) -> Option<Self> {
        let n = Modulus::new(p.0.expose().concatenating_mul(q.0.expose()))?;
        if n.len_bytes() != size.len_bytes() {
            return None;
        }
        let (p, q) = (Factor::new(p, q, rng)?, Factor::new(q, p, rng)?);
        let q_inverse = p.modulus.residue(q.modulus.integer()).invert()?;
        let q_squared_inverse = p.square.residue(q.square.integer()).invert()?;
        Some(Self { public: PublicKey::new(size, n)?, p, q, q_inverse, q_squared_inverse })
    }

    /// The public part.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// A ciphertext of `m` modulo N, independent of all others. Several times faster than with the
    /// public key.
    pub fn encrypt(&self, m: &Plaintext, rng: &mut impl CryptoRng) -> Ciphertext {
        self.encrypt_residues(&self.noise(rng), |prime| prime.square.residue(m.0.expose()))
    }

    /// The random bytes of an encryption by the key's owner.
    pub fn noise(&self, rng: &mut impl CryptoRng) -> Noise {
        random_bytes(self.public.size.len_bytes(), rng)
    }

    /// A ciphertext of −`m` modulo N, with the [`noise`](Self::noise) of this key, which no other
    /// encryption may use.
    pub fn encrypt_negated(&self, m: &Plaintext, noise: &Noise) -> Ciphertext {
        self.encrypt_residues(noise, |prime| Residue(-&prime.square.residue(m.0.expose()).0))
    }

    /// A ciphertext of the plaintext with these residues modulo p² and q².
    fn encrypt_residues(&self, noise: &Noise, m: impl Fn(&Factor) -> Residue) -> Ciphertext {
        let bytes = noise.0.expose();
        let bits = 8 * bytes.len() as u32;
        let a = Secret::new(BoxedUint::from_be_slice_truncated(bytes, bits));
        let [c_p, c_q] = [&self.p, &self.q].map(|prime| prime.encrypt(&m(prime), a.expose()));
        let (p, q) = (&self.p.square, &self.q.square);
        let c = recombine(p, q, &self.q_squared_inverse, [&c_p, &c_q]);
        Ciphertext(self.public.n_squared.residue(c.expose()))
    }

    /// The plaintext, from 0 to N − 1.
    pub fn decrypt(&self, c: &Ciphertext) -> Plaintext {
        let c = c.0.0.retrieve();
        let [m_p, m_q] = [&self.p, &self.q].map(|prime| prime.decrypt(&c));
        let (p, q) = (&self.p.modulus, &self.q.modulus);
        Plaintext(recombine(p, q, &self.q_inverse, [&m_p, &m_q]))
    }
}
