//! The code of dual LPN: many pseudorandom values from few errors, as the seeds of the primal steps.
//!
//! An expand-convolute code in systematic form (S. Raghuraman, P. Rindal, T. Tanguy,
//! "Expand-Convolute Codes for Pseudorandom Correlation Generators from LPN", CRYPTO 2023), over K: for errors e of length N and n
//! outputs, u is the convolution of the last N − n errors, u_i = e_{n+i} + ρ_i·u_{i−1}, and
//! y_i = e_i plus the sum of 21 pseudo-randomly chosen u.
//!
//! The multipliers ρ are uniform in K. Over GF(2^16) the convolution looks two places back, so that
//! its state is too large to vanish by chance.

use super::code::{Codes, Coefficients};
use super::parameters::EXPANDER_WEIGHT;
use super::subfield::Subfield;
use vesica_core::Block;
use vesica_simd::gf128;
use vesica_simd::lpn::{Table, Word, accumulate};

/// Outputs whose positions are made together.
const CHUNK: usize = 256;

/// The first `len` values from the errors `noise`, of which there are at least twice as many.
pub(super) fn compress<const C: usize>(
    codes: &Codes,
    mut noise: [Vec<Block>; C],
    len: usize,
) -> [Vec<Block>; C] {
    for column in &mut noise {
        convolve(codes, &mut column[len..]);
    }
    let table = Table::new(noise.each_ref().map(|column| &column[len..]));
    for column in &mut noise {
        column.truncate(len);
    }
    let mut stream = [Block::ZERO; CHUNK * EXPANDER_WEIGHT * 4 / Block::LEN];
    for start in (0..len).step_by(CHUNK) {
        let end = len.min(start + CHUNK);
        codes.expander.ctr((start / CHUNK * stream.len()) as u128, &mut stream);
        let words = &u32::of_blocks(&stream)[..(end - start) * EXPANDER_WEIGHT];
        let out = noise.each_mut().map(|column| &mut column[start..end]);
        accumulate(&table, EXPANDER_WEIGHT, words, out);
    }
    noise
}

fn convolve(codes: &Codes, column: &mut [Block]) {
    let mut stream = [Block::ZERO; CHUNK];
    let (mut last, mut before_last) = (Block::ZERO, Block::ZERO);
    for (i, chunk) in column.chunks_mut(CHUNK).enumerate() {
        codes.convolution.ctr((i * CHUNK) as u128, &mut stream);
        for (value, multiplier) in chunk.iter_mut().zip(&stream) {
            *value ^= match codes.coefficients {
                Coefficients::Binary => last,
                Coefficients::Field => gf128::mul(last, *multiplier),
                Coefficients::Subfield16 => {
                    let coordinates = multiplier.get() as u32;
                    gf128::mul(last, Subfield::public(coordinates as u16))
                        ^ gf128::mul(before_last, Subfield::public((coordinates >> 16) as u16))
                }
            };
            (before_last, last) = (last, *value);
        }
    }
}
