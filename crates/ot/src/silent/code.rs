//! The code of a step of primal LPN: y = x·A + e for k seeds x and errors e.
//!
//! Every output is the sum of ten pseudorandomly chosen seeds. If the errors are in a space V over
//! a field K larger than GF(2), five of the ten are multiplied by a uniformly random element of K,
//! a different one for each output. With a binary matrix every GF(2)-linear function of the values
//! would be an instance of its own with half of the errors gone, and these instances would share
//! the positions of the errors.

use super::subfield::Subfield;
use vesica_core::Block;
use vesica_core::hash::derive_into;
use vesica_simd::aes::Aes128;
use vesica_simd::lpn;

const LABEL: &str = "vesica ot 2026 silent codes";

/// The field of a code's coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coefficients {
    /// GF(2).
    Binary,
    /// GF(2^16).
    Subfield16,
    /// GF(2^128).
    Field,
}

/// The public seed of all codes of an extension.
pub(super) struct Codes {
    primal: Aes128,
    pub(super) convolution: Aes128,
    pub(super) expander: Aes128,
    pub(super) coefficients: Coefficients,
}

impl Codes {
    pub(super) fn new(seed: Block, coefficients: Coefficients) -> Self {
        let mut keys = [Block::ZERO; 3];
        derive_into(LABEL, &[&seed.to_le_bytes()], Block::as_bytes_mut(&mut keys));
        let [primal, convolution, expander] = keys.map(Aes128::new);
        Self { primal, convolution, expander, coefficients }
    }

    /// Adds x·A to `out`, which holds all outputs of tree `tree` of step `step`; x is `table`.
    pub(super) fn add<const C: usize>(
        &self,
        table: &[[Block; C]],
        step: usize,
        tree: usize,
        out: [&mut [Block]; C],
    ) {
        let coefficients = match self.coefficients {
            Coefficients::Binary => lpn::Coefficients::One,
            Coefficients::Subfield16 => lpn::Coefficients::Subfield(Subfield::public_tables()),
            Coefficients::Field => lpn::Coefficients::Field,
        };
        // The spacing exceeds what any tree takes from the stream.
        let first = (step as u128) << 64 | (tree as u128) << 32;
        lpn::samples(&self.primal, first, coefficients, table, out);
    }
}
