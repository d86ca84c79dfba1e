//! The public shape of an evaluation.

use vesica_okvs::{BandOkvs, ClusteredOkvs, Okvs};
use vesica_ot::silent::vole::Values;

/// Dimensions over GF(2^16) of the values for which LPN parameters are computed.
const MAX_DIM: u32 = 6;

/// What both parties derive from the receiver's set size and the mode.
pub struct Plan {
    pub(super) okvs: Box<dyn Okvs>,
    pub(super) values: Values,
    pub(super) value_bits: u32,
    pub(super) output_bits: u32,
}

impl Plan {
    /// Fast: the clustered 3-hash store, values of 128 bits; for `keys_len` items of the receiver
    /// and outputs of `output_bits` ≤ 128 bits.
    pub fn fast(keys_len: usize, output_bits: u32) -> Self {
        let okvs = Box::new(ClusteredOkvs::new(keys_len));
        Self { okvs, values: Values::Full, value_bits: 128, output_bits }
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
        Self { okvs, values, value_bits, output_bits }
    }

    /// m, the number of VOLE correlations that an evaluation takes.
    pub fn correlations(&self) -> usize {
        self.okvs.len()
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
