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
use vesica_simd::gf128;
use vesica_simd::lpn::{Word, accumulate};

const LABEL: &str = "vesica ot 2026 silent codes";

/// Outputs made together: their positions and coefficients stay in the first-level cache.
pub(super) const TILE: usize = 128;

/// Seeds in an output.
const WEIGHT: usize = 10;

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
    pub(super) primal: Aes128,
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

    /// Adds x·A to `out`, the outputs of step `step` from number `first` on, x being `table`.
    ///
    /// `first` and the length of the columns are multiples of [`TILE`].
    pub(super) fn add<const C: usize>(
        &self,
        table: &[[Block; C]],
        step: usize,
        first: usize,
        out: [&mut [Block]; C],
    ) {
        if table.len() <= u16::MAX_ROWS && table.len().is_power_of_two() {
            self.add_by_words::<C, u16>(table, step, first, out);
        } else {
            self.add_by_words::<C, u32>(table, step, first, out);
        }
    }

    fn add_by_words<const C: usize, W: Word>(
        &self,
        table: &[[Block; C]],
        step: usize,
        first: usize,
        mut out: [&mut [Block]; C],
    ) {
        let position_blocks = TILE * WEIGHT * size_of::<W>() / Block::LEN;
        let coefficient_blocks = match self.coefficients {
            Coefficients::Binary => 0,
            Coefficients::Subfield16 => TILE * 2 / Block::LEN,
            Coefficients::Field => TILE,
        };
        let mut stream = [Block::ZERO; TILE * WEIGHT * 4 / Block::LEN + TILE];
        let stream = &mut stream[..position_blocks + coefficient_blocks];
        for start in (0..out[0].len()).step_by(TILE) {
            let tile = ((first + start) / TILE * stream.len()) as u128;
            self.primal.ctr((step as u128) << 64 | tile, stream);
            let (positions, coefficients) = stream.split_at(position_blocks);
            let words = W::of_blocks(positions);
            let mut tile = out.each_mut().map(|column| &mut column[start..start + TILE]);
            if self.coefficients == Coefficients::Binary {
                accumulate(table, WEIGHT, words, tile);
                continue;
            }
            let (plain, scaled) = words.split_at(words.len() / 2);
            accumulate(table, WEIGHT / 2, plain, tile.each_mut().map(|column| &mut **column));
            let mut sums = [[Block::ZERO; TILE]; C];
            accumulate(table, WEIGHT / 2, scaled, sums.each_mut().map(|sum| sum.as_mut_slice()));
            let mut lifted = [Block::ZERO; TILE];
            let coefficients = if self.coefficients == Coefficients::Field {
                coefficients
            } else {
                let words = u16::of_blocks(coefficients);
                lifted.iter_mut().zip(words).for_each(|(g, word)| *g = Subfield::public(*word));
                &lifted
            };
            for (column, sum) in tile.iter_mut().zip(&sums) {
                gf128::add_products(column, sum, coefficients);
            }
        }
    }
}
