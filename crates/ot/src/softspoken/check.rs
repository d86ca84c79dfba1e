//! The consistency check: linear hashes of rows, from their columns.

use super::layout::COLUMNS;
use crate::bits::bits_at;
use rayon::prelude::*;
use vesica_core::Block;
use vesica_core::hash::derive;
use vesica_net::Pool;
use vesica_simd::gf128;
use vesica_simd::transpose::transpose_128;
use vesica_simd::xor::xor;

const DIGEST: &str = "vesica ot 2026 SoftSpoken check";

/// Length of the digest of the hashed rows, in bytes.
pub(super) const DIGEST_LEN: usize = 32;

/// Bytes of the challenge.
pub(super) const CHALLENGE_LEN: usize = Block::LEN;

/// Bytes of the response.
pub(super) const RESPONSE_LEN: usize = Block::LEN + DIGEST_LEN;

/// Blocks of positions that are transposed together.
const STRIPE: usize = 16;

/// Blocks hashed in one go by one thread.
const CHUNK: usize = 8 * STRIPE;

/// Columns that are in no output, or only combined with others: what the check needs besides the
/// output. Empty when there is no check.
#[derive(Default)]
pub(super) struct Columns {
    /// Those that fill the last block of correlated transfers.
    pub(super) cot_rest: Vec<Block>,
    /// Those of the VOLEs.
    pub(super) voles: Vec<Block>,
    /// Those that mask the hash.
    pub(super) mask: Vec<Block>,
}

/// h of each of the 128 rows, over the mask, the transfers, and the VOLEs.
///
/// Up to [`STRIPE`] blocks of positions, t of them, are cut into t elements of GF(2^128) by turns:
/// element q has the bits at positions q, q + t, q + 2t, … That is what a transposition of the
/// columns gives that takes them as a matrix of 128 rows, t columns in each.
pub(super) fn hash_rows(pool: &Pool, cots: &[Block], columns: &Columns, chi: Block) -> Vec<Block> {
    let whole = cots.len() / COLUMNS * COLUMNS;
    let last = [&cots[whole..], &columns.cot_rest].concat();
    let mut sums = vec![Block::ZERO; COLUMNS];
    let mut exponent = 0;
    for part in [&columns.mask, &cots[..whole], &last, &columns.voles] {
        let part_sums = pool.run(|| {
            let chunks = part.par_chunks(CHUNK * COLUMNS).enumerate();
            let sums =
                chunks.map(|(i, chunk)| hash_chunk(chunk, chi, exponent + (i * CHUNK) as u128));
            sums.reduce_with(|mut a, b| {
                xor(&mut a, &b);
                a
            })
        });
        part_sums.iter().for_each(|part_sums| xor(&mut sums, part_sums));
        exponent += (part.len() / COLUMNS) as u128;
    }
    sums
}

fn hash_chunk(columns: &[Block], chi: Block, exponent: u128) -> Vec<Block> {
    let mut power = gf128::pow(chi, exponent);
    let mut sums = vec![Block::ZERO; COLUMNS];
    let mut elements = vec![Block::ZERO; columns.len().min(STRIPE * COLUMNS)];
    for stripe in columns.chunks(STRIPE * COLUMNS) {
        let elements = &mut elements[..stripe.len()];
        transpose_128(stripe, elements);
        for of_each_row in elements.chunks_exact(COLUMNS) {
            gf128::add_scaled(&mut sums, of_each_row, power);
            power = gf128::mul(power, chi);
        }
    }
    sums
}

/// h of the choices of `cots` transfers, of VOLEs, and of the mask, which come in this order.
pub(super) fn hash_choices(choices: &[Block], cots: usize, chi: Block) -> Block {
    let (whole, mask) = (cots / COLUMNS, choices.len() - 1);
    let cot_blocks = cots.div_ceil(COLUMNS);
    let parts = [
        &choices[mask..],
        &choices[..whole],
        &choices[whole..cot_blocks],
        &choices[cot_blocks..mask],
    ];
    let (mut sum, mut power) = (Block::ZERO, Block::ONE);
    let mut elements = [Block::ZERO; COLUMNS];
    for stripe in parts.into_iter().flat_map(|part| part.chunks(STRIPE)) {
        let len = stripe.len();
        let rows: [_; COLUMNS] =
            std::array::from_fn(|row| Block::new(bits_at(stripe, row * len, len)));
        transpose_128(&rows, &mut elements);
        for element in &elements[..len] {
            sum ^= gf128::mul(*element, power);
            power = gf128::mul(power, chi);
        }
    }
    sum
}

/// The digest that the response carries in place of the hashed rows.
pub(super) fn digest(binding: &[u8; 32], chi: Block, u: Block, rows: &[Block]) -> [u8; DIGEST_LEN] {
    derive(DIGEST, &[binding, &chi.to_le_bytes(), &u.to_le_bytes(), Block::as_bytes(rows)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;

    fn blocks(n: usize, seed: u128) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; n];
        vesica_simd::aes::Aes128::new(Block::new(seed)).ctr(0, &mut blocks);
        blocks
    }

    /// Columns that are Δ where the choice is one, and zero elsewhere, are hashed to h(u)·Δ.
    #[test]
    fn hashes_of_rows_and_of_choices_agree() {
        let pool = Pool::new(NonZeroUsize::MIN).unwrap();
        let (chi, delta) = (blocks(1, 1)[0], blocks(1, 2)[0]);
        for (cots, vole_blocks) in [(0, 0), (1, 0), (128, 3), (129, 17), (40_000, 33), (0, 200)] {
            let cot_blocks: usize = usize::div_ceil(cots, COLUMNS);
            let choices = blocks(cot_blocks + vole_blocks + 1, 3);
            let bit = |i: usize| choices[i / COLUMNS].bit((i % COLUMNS) as u32);
            let column = |i: usize| delta & Block::mask(bit(i));
            let all: Vec<_> = (0..choices.len() * COLUMNS).map(column).collect();
            let columns = Columns {
                cot_rest: all[cots..cot_blocks * COLUMNS].to_vec(),
                voles: all[cot_blocks * COLUMNS..(choices.len() - 1) * COLUMNS].to_vec(),
                mask: all[(choices.len() - 1) * COLUMNS..].to_vec(),
            };
            let u = hash_choices(&choices, cots, chi);
            let rows = hash_rows(&pool, &all[..cots], &columns, chi);
            for (row, j) in rows.into_iter().zip(0..) {
                assert_eq!(row, u & Block::mask(delta.bit(j)), "row {j}, {cots}, {vole_blocks}");
            }
        }
    }

    /// Two rows that differ in one position anywhere have different hashes.
    #[test]
    fn every_position_counts() {
        let chi = blocks(1, 1)[0];
        let choices = blocks(40, 3);
        let hash = hash_choices(&choices, 3000, chi);
        for i in 0..40 * COLUMNS {
            let mut changed = choices.clone();
            changed[i / COLUMNS] ^= Block::new(1 << (i % COLUMNS));
            assert_ne!(hash_choices(&changed, 3000, chi), hash, "position {i}");
        }
    }
}
