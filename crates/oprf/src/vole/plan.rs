//! The public shape of an evaluation.

use vesica_okvs::{BandOkvs, ClusteredOkvs, Okvs, PolynomialOkvs};
use vesica_ot::silent::vole::Values;

/// Dimensions over GF(2^16) of the values for which LPN parameters are computed.
const MAX_DIM: u32 = 6;

/// Most keys for which [`Plan::malicious`] takes one polynomial: beyond them the sender's evaluation of it, a product
/// for each of the receiver's keys and each of its own, costs more than the band's free slots are worth.
const POLYNOMIAL_MAX: usize = 512;

/// Most keys for which [`Plan::malicious`] takes the random band, which is slower than the clustered store.
const BAND_MAX: usize = 6144;

/// What both parties derive from the receiver's set size and the mode.
pub struct Plan {
    pub(super) okvs: Box<dyn Okvs>,
    pub(super) values: Values,
    pub(super) value_bits: u32,
    pub(super) output_bits: u32,
    products: usize,
}

impl Plan {
    /// Fast: the clustered 3-hash store, values of 128 bits; for `keys_len` items of the receiver
    /// and outputs of `output_bits` ≤ 128 bits.
    pub fn fast(keys_len: usize, output_bits: u32) -> Self {
        let okvs = Box::new(ClusteredOkvs::new(keys_len));
        Self { okvs, values: Values::Full, value_bits: 128, output_bits, products: 0 }
    }

    /// Against a receiver that deviates: the store with the fewest slots that is fast enough, as every slot can hold
    /// one more item; values and outputs of 128 bits.
    ///
    /// Up to 512 keys one polynomial, as many slots as keys; up to 6,144 the random band; beyond, the clustered store.
    pub fn malicious(keys_len: usize) -> Self {
        let okvs: Box<dyn Okvs> = match keys_len {
            0..=POLYNOMIAL_MAX => Box::new(PolynomialOkvs::single(keys_len)),
            len if len <= BAND_MAX => Box::new(BandOkvs::new(keys_len)),
            _ => Box::new(ClusteredOkvs::new(keys_len)),
        };
        let products = if keys_len <= POLYNOMIAL_MAX { keys_len } else { 0 };
        Self { okvs, values: Values::Full, value_bits: 128, output_bits: 128, products }
    }

    /// Low communication: the random-band store, values of `output_bits` rounded up to a multiple
    /// of 16, and of 128 bits above 96.
    ///
    /// An item of the sender that is not the receiver's passes for one with probability 2^-value
    /// bits, as with outputs of that length: `output_bits` ≥ λ + log n_x + log n_y covers both.
    pub fn low_communication(keys_len: usize, output_bits: u32) -> Self {
        let okvs = Box::new(BandOkvs::new(keys_len));
        let (values, value_bits) = match output_bits.div_ceil(16) {
            dim @ 1..=MAX_DIM => (Values::Subfield16 { dim: dim as usize }, 16 * dim),
            _ => (Values::Full, 128),
        };
        Self { okvs, values, value_bits, output_bits, products: 0 }
    }

    /// m, the number of VOLE correlations that an evaluation takes.
    pub fn correlations(&self) -> usize {
        self.okvs.len()
    }

    /// Products in GF(2^128) that a key costs its decoder, where the store is a polynomial.
    pub fn products(&self) -> usize {
        self.products
    }

    /// What the VOLE's receiver values are.
    pub fn values(&self) -> Values {
        self.values
    }

    /// Bits of an output.
    pub fn output_bits(&self) -> u32 {
        self.output_bits
    }

    /// Payload bytes of A.
    pub fn masked_bytes(&self) -> u64 {
        (self.okvs.len() * self.value_bytes()) as u64
    }

    /// Bytes of an element of A on the wire.
    pub(super) fn value_bytes(&self) -> usize {
        self.value_bits as usize / 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn against_deviating_receivers_small_sets_take_stores_with_few_free_slots() {
        let len = |keys_len| Plan::malicious(keys_len).correlations();
        for keys_len in 0..=512 {
            assert_eq!(len(keys_len), keys_len);
        }
        assert_eq!(len(513), BandOkvs::new(513).len());
        assert_eq!(len(6144), BandOkvs::new(6144).len());
        assert_eq!(len(6145), ClusteredOkvs::new(6145).len());
        assert_eq!([512, 513].map(|keys_len| Plan::malicious(keys_len).products()), [512, 0]);
    }
}
