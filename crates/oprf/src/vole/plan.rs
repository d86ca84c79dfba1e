//! The public parameters of an evaluation.

use vesica_core::Runs;
use vesica_okvs::{BandOkvs, ClusteredOkvs, Okvs, PolynomialOkvs};
use vesica_ot::silent::vole::Values;

/// Maximum dimension over GF(2^16) of the values for which LPN parameters were computed.
const MAX_DIM: u32 = 6;

/// Most keys for which [`Plan::malicious`] uses one polynomial: interpolation takes 2.5 products
/// for each pair of them.
const POLYNOMIAL_MAX: usize = 512;

/// Maximum number of products for which the sender evaluates a polynomial, one for each pair of a
/// receiver's key and a sender's key: 40 ms with AVX2.
const PRODUCTS_MAX: u64 = 1 << 22;

/// Most keys for which it does so for any number of products. The random band is slower up to 17
/// keys and a fifth faster at 32, but its free slots matter most here.
const POLYNOMIAL_ALWAYS: usize = 32;

/// Most keys for which [`Plan::malicious`] uses the random band, which is slower than the clustered
/// store.
const BAND_MAX: usize = 6144;

/// What both parties derive from the public sizes and the mode.
pub struct Plan {
    pub(super) okvs: Box<dyn Okvs>,
    pub(super) values: Values,
    pub(super) value_bits: u32,
    pub(super) output_bits: u32,
    products: usize,
}

impl Plan {
    /// Fast mode: the clustered 3-hash store with values of 128 bits, for `keys_len` items of the
    /// receiver and outputs of `output_bits` ≤ 128 bits. Encoding fails with probability 2^-40 in
    /// all of the `runs` that make one result.
    pub fn fast(keys_len: usize, output_bits: u32, runs: Runs) -> Self {
        let okvs = Box::new(ClusteredOkvs::of_runs(keys_len, runs));
        Self { okvs, values: Values::Full, value_bits: 128, output_bits, products: 0 }
    }

    /// Against a deviating receiver: the store with the fewest slots that is fast enough, because
    /// every slot can hold one more item; values and outputs of 128 bits.
    ///
    /// Takes the numbers of keys that both parties have announced: `keys_len` of the receiver,
    /// which encodes them, and `decoded_len` of the sender. Up to 32 keys, and up to 512 while the
    /// product of the two is at most 2^22, the store is one polynomial with as many slots as keys;
    /// otherwise the random band up to 6,144 keys, and the clustered store above. More keys of
    /// either party never give fewer slots, except that far above 6,144 rounding in each cluster
    /// may save 2 in 10^5 of them.
    pub fn malicious(keys_len: usize, decoded_len: usize, runs: Runs) -> Self {
        let products = (keys_len as u64).saturating_mul(decoded_len as u64);
        let is_polynomial =
            keys_len <= POLYNOMIAL_ALWAYS || keys_len <= POLYNOMIAL_MAX && products <= PRODUCTS_MAX;
        let okvs: Box<dyn Okvs> = if is_polynomial {
            Box::new(PolynomialOkvs::single(keys_len))
        } else if keys_len <= BAND_MAX {
            Box::new(BandOkvs::of_runs(keys_len, runs))
        } else {
            Box::new(ClusteredOkvs::of_runs(keys_len, runs))
        };
        let products = if is_polynomial { keys_len } else { 0 };
        Self { okvs, values: Values::Full, value_bits: 128, output_bits: 128, products }
    }

    /// Low-communication mode: the random-band store with values of `output_bits`, rounded up to a
    /// multiple of 16, or of 128 bits above 96.
    ///
    /// An item of the sender that the receiver does not have counts as common with probability
    /// 2^-v, where v is the length of a value in bits, as with outputs of that length:
    /// `output_bits` ≥ λ + log n_x + log n_y covers both.
    pub fn low_communication(keys_len: usize, output_bits: u32, runs: Runs) -> Self {
        let okvs = Box::new(BandOkvs::of_runs(keys_len, runs));
        let (values, value_bits) = match output_bits.div_ceil(16) {
            dim @ 1..=MAX_DIM => (Values::Subfield16 { dim: dim as usize }, 16 * dim),
            _ => (Values::Full, 128),
        };
        Self { okvs, values, value_bits, output_bits, products: 0 }
    }

    /// m, the number of VOLE correlations that an evaluation uses.
    pub fn correlations(&self) -> usize {
        self.okvs.len()
    }

    /// Products in GF(2^128) that decoding a key takes, if the store is a polynomial; otherwise 0.
    pub fn products(&self) -> usize {
        self.products
    }

    /// B, the space of the VOLE's receiver values a.
    pub fn values(&self) -> Values {
        self.values
    }

    /// Bits per output.
    pub fn output_bits(&self) -> u32 {
        self.output_bits
    }

    /// Payload bytes of A.
    pub fn masked_bytes(&self) -> u64 {
        (self.okvs.len() * self.value_bytes()) as u64
    }

    /// Bytes per element of A on the wire.
    pub(super) fn value_bytes(&self) -> usize {
        self.value_bits as usize / 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn against_deviating_receivers_small_sets_take_stores_with_few_free_slots() {
        let len = |keys_len| Plan::malicious(keys_len, 1000, Runs::ONE).correlations();
        for keys_len in 0..=512 {
            assert_eq!(len(keys_len), keys_len);
        }
        assert_eq!(len(513), BandOkvs::new(513).len());
        assert_eq!(len(6144), BandOkvs::new(6144).len());
        assert_eq!(len(6145), ClusteredOkvs::new(6145).len());
        assert_eq!(
            [512, 513].map(|keys_len| Plan::malicious(keys_len, 1000, Runs::ONE).products()),
            [512, 0]
        );
    }

    #[test]
    fn a_polynomial_is_evaluated_at_few_points_unless_it_is_short() {
        let products =
            |keys_len, decoded_len| Plan::malicious(keys_len, decoded_len, Runs::ONE).products();
        for (keys_len, most) in [(512, 8192), (400, 10_485), (33, 127_100)] {
            assert_eq!(products(keys_len, most), keys_len, "{keys_len} keys");
            assert_eq!(products(keys_len, most + 1), 0, "{keys_len} keys");
            let band = Plan::malicious(keys_len, most + 1, Runs::ONE).correlations();
            assert_eq!(band, BandOkvs::new(keys_len).len(), "{keys_len} keys");
        }
        let free =
            (33..=512).map(|len| Plan::malicious(len, 1 << 20, Runs::ONE).correlations() - len);
        assert_eq!((free.clone().min(), free.max()), (Some(43), Some(49)));
        for decoded_len in [1 << 18, 1 << 24, u32::MAX as usize, usize::MAX] {
            assert_eq!(products(32, decoded_len), 32);
            assert_eq!(products(33, decoded_len), 0);
        }
    }

    #[test]
    fn announcing_fewer_keys_never_leads_to_more_slots() {
        let decoded = [0, 1, 8191, 8192, 8193, 10_486, 127_100, 127_101, 1 << 20, usize::MAX];
        for runs in [Runs::ONE, Runs::MAX] {
            let len =
                |keys_len, decoded_len| Plan::malicious(keys_len, decoded_len, runs).correlations();
            for keys_len in 0..7000 {
                for (i, &decoded_len) in decoded.iter().enumerate() {
                    let slots = len(keys_len, decoded_len);
                    assert!(slots <= len(keys_len + 1, decoded_len), "{keys_len}, {decoded_len}");
                    let more = decoded.get(i + 1).map_or(slots, |more| len(keys_len, *more));
                    assert!(slots <= more, "{keys_len}, {decoded_len}");
                }
            }
        }
    }
}
