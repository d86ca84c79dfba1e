//! The code of dual LPN: many pseudorandom values from few errors, which seed the primal steps.
//!
//! An expand-convolute code in systematic form (S. Raghuraman, P. Rindal, T. Tanguy,
//! "Expand-Convolute Codes for Pseudorandom Correlation Generators from LPN", CRYPTO 2023), over K:
//! for errors e of length N and n outputs, u is the convolution of the last N − n errors, u_i =
//! e_{n+i} + ρ_i·u_{i−1} + ρ'_i·u_{i−2}, and y_i is e_i plus the sum of 21 pseudorandomly chosen u.
//!
//! The multipliers ρ and ρ' are uniform in K. The convolution looks back two places, so it takes
//! two linear conditions to silence it. With one place and many outputs, words of low weight could
//! be found.

use super::code::{Codes, Coefficients};
use super::parameters::EXPANDER_WEIGHT;
use super::subfield::Subfield;
use vesica_core::Block;
use vesica_simd::gf128;
use vesica_simd::lpn::{Table, Word, accumulate};

/// Number of places that the convolution looks back.
const WINDOW: usize = 2;

/// Outputs whose positions are computed together.
const CHUNK: usize = 256;

/// The first `len` values from the errors `noise`, which must have at least twice that length.
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
    let mut stream = [Block::ZERO; WINDOW * CHUNK];
    let mut before = [Block::ZERO; WINDOW];
    for (i, chunk) in column.chunks_mut(CHUNK).enumerate() {
        codes.convolution.ctr((i * stream.len()) as u128, &mut stream);
        for (value, multipliers) in chunk.iter_mut().zip(stream.as_chunks::<WINDOW>().0) {
            let multipliers = match codes.coefficients {
                Coefficients::Field => *multipliers,
                Coefficients::Subfield16 => {
                    multipliers.map(|block| Subfield::public(block.get() as u16))
                }
                Coefficients::Binary => unreachable!("binary codes have no dual code here"),
            };
            *value ^= gf128::inner_product(&before, &multipliers);
            before = [*value, before[0]];
        }
    }
}
