//! Polynomials in mega-bins.
//!
//! B. Pinkas, T. Schneider, O. Tkachenko, A. Yanai, "Efficient circuit-based PSI with linear
//! communication", EUROCRYPT 2019, section 5; G. Garimella, P. Mohassel, M. Rosulek, S. Sadeghian,
//! J. Singh, "Private set operations from oblivious switching", PKC 2021, section 3.5. Keys are
//! hashed to bins, dummies fill each bin to the same load, and each bin gets a polynomial over
//! GF(2^128). Its coefficients are the slots of a cluster, the lowest first.
//!
//! The bins allow comparison with those papers: [`BandOkvs`](crate::BandOkvs) has half the slots
//! and is faster.
//!
//! **Interpolation** of L points (x_i, y_i) takes 2.5·L² products, in vectorised loops:
//!
//! ```text
//!   M(X) = Π (X + x_i) = Σ m_k·X^k
//!   c_i  = y_i / M'(x_i)             M'(x) = Σ m_(2k+1)·(x²)^k: half of the terms vanish
//!   s_j  = Σ_i c_i·x_i^j             Σ_i c_i / (X + x_i) = Σ_j s_j·X^(−j−1)
//!   p_k  = Σ_j m_(k+1+j)·s_j         P(X) = M(X)·Σ_i c_i / (X + x_i)
//! ```
//!
//! [`PolynomialOkvs::single`] is the oldest form, one polynomial for all keys. It is the only store
//! without a free slot. That matters for few keys, where a party could fill free slots with extra
//! keys.
//!
//! Where we differ from the papers: the load of a bin follows from the binomial distribution, with
//! a union bound over the bins; and a bin holds keys of all of the caller's hash functions.

mod interpolate;

use crate::encoding::Fill;
use crate::{EncodeError, Okvs, Scratch};
use vesica_core::params::ceil_log2;
use vesica_core::{Block, Runs};
use vesica_hashing::max_load;
use vesica_simd::gf128;

pub(crate) use interpolate::Buffers;

/// Keys per item: the papers' n is a third of ours.
const FUNCTIONS: usize = 3;

/// Points evaluated together: they stay in the first-level cache and fill the multiplier's
/// pipeline.
const BATCH: usize = 128;

/// Polynomials over GF(2^128) for n keys in about n / (3·log(n/3)) bins: about 2.3 slots per key
/// for 3·2^20 keys.
///
/// Linear over GF(2^128). A cluster is a bin, and its slots are coefficients. A bin with more keys
/// than slots fails with [`EncodeError::Overfull`]; for random keys the probability that any bin
/// does is below 2^-40.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolynomialOkvs {
    bins: usize,
    load: usize,
}

impl PolynomialOkvs {
    /// The store for `n` keys.
    pub fn new(n: usize) -> Self {
        Self::of_runs(n, Runs::ONE)
    }

    /// The store for `n` keys in each of `runs` that make one result: no bin of all of them
    /// overflows but with probability 2^-40.
    pub fn of_runs(n: usize, runs: Runs) -> Self {
        let mean = FUNCTIONS * ceil_log2((n / FUNCTIONS).max(2) as u64) as usize;
        let bins = n.div_ceil(mean).max(1);
        // A constant polynomial would give every key the same value.
        let least = if n == 1 { 2 } else { 0 };
        Self { bins, load: max_load(n, bins, runs).max(least) }
    }

    /// One polynomial of degree below n through all `n` points: as many slots as keys, none of them
    /// free.
    ///
    /// The polynomial of a single key is constant, so every key decodes to the same value; use it
    /// for values that depend on the key, such as those of the VOLE OPRF. Encoding takes 2.5·n²
    /// products, decoding n per key.
    pub fn single(n: usize) -> Self {
        Self { bins: 1, load: n }
    }
}

impl Okvs for PolynomialOkvs {
    fn cluster_count(&self) -> usize {
        self.bins
    }

    fn cluster_len(&self) -> usize {
        self.load
    }

    fn solve(
        &self,
        [keys, values]: [&[Block]; 2],
        slots: &mut [Block],
        scratch: &mut Scratch,
        fill: Fill<'_>,
    ) -> Result<(), EncodeError> {
        let buffers = &mut scratch.polynomial;
        let dummies = self.load - keys.len();
        let mut padding = vec![Block::ZERO; 2 * dummies];
        fill.stream(0, &mut padding);
        let (more_keys, more_values) = padding.split_at(dummies);
        buffers.set_points(&[keys, more_keys], &[values, more_values]);
        interpolate::interpolate(buffers, slots).ok_or(EncodeError::DuplicateKey)?;

        let mut met = true;
        let mut out = [Block::ZERO; BATCH];
        for (keys, values) in keys.chunks(BATCH).zip(values.chunks(BATCH)) {
            evaluate(keys, slots, &mut out[..keys.len()]);
            met &= out[..keys.len()] == *values;
        }
        if met { Ok(()) } else { Err(EncodeError::Unsolvable) }
    }

    fn sums(&self, keys: &[Block], slots: &[Block], out: &mut [Block], _: &mut Scratch) {
        for (keys, out) in keys.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
            evaluate(keys, slots, out);
        }
    }
}

/// Evaluates the polynomial with these coefficients at `points`, by Horner's rule.
fn evaluate(points: &[Block], coefficients: &[Block], out: &mut [Block]) {
    out.fill(Block::ZERO);
    for coefficient in coefficients.iter().rev() {
        gf128::mul_each(out, points);
        out.iter_mut().for_each(|value| *value ^= *coefficient);
    }
}
