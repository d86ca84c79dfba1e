//! The code of a step of primal LPN: y = x·A + e for k seeds x and errors e.
//!
//! Every output is the sum of ten pseudo-randomly chosen seeds. Where the errors are
//! in a space V over a field K larger than GF(2), five of the ten are multiplied by one
//! uniformly random element of K, another for each output: with a binary matrix every GF(2)-linear
//! function of the values would be an instance of its own with half of the errors gone, and the
//! functions share the errors' positions.

use super::subfield::Subfield;
use vesica_core::Block;
use vesica_core::hash::derive_into;
use vesica_simd::aes::Aes128;
use vesica_simd::lpn;

const LABEL: &str = "vesica ot 2026 silent codes";

/// Where the coefficients of a code lie.
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

    /// Adds x·A to `out`, all outputs of tree number `tree` of step `step`, x being `table`.
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
        // More than any tree takes of the stream.
        let first = (step as u128) << 64 | (tree as u128) << 32;
        lpn::samples(&self.primal, first, coefficients, table, out);
    }
}
