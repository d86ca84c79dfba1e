//! The consistency check: linear hashes of rows, from their columns.

use super::layout::COLUMNS;
use rayon::prelude::*;
use vesica_core::Block;
use vesica_core::hash::derive;
use vesica_net::Pool;
use vesica_simd::gf128;
use vesica_simd::transpose::transpose_128;

const DIGEST: &str = "vesica ot 2026 SoftSpoken check";

/// Length of the digest of the hashed rows, in bytes.
pub(super) const DIGEST_LEN: usize = 32;

/// Bytes of the challenge.
pub(super) const CHALLENGE_LEN: usize = Block::LEN;

/// Bytes of the response.
pub(super) const RESPONSE_LEN: usize = Block::LEN + DIGEST_LEN;

/// Blocks hashed in one go by one thread.
const CHUNK: usize = 64;

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

/// h of each of the 128 rows of (mask ‖ cots ‖ voles).
pub(super) fn hash_rows(pool: &Pool, cots: &[Block], columns: &Columns, chi: Block) -> Vec<Block> {
    let whole = cots.len() / COLUMNS * COLUMNS;
    let last = [&cots[whole..], &columns.cot_rest].concat();
    let mut sums = vec![Block::ZERO; COLUMNS];
    let mut exponent = 0;
    for part in [&columns.mask, &cots[..whole], &last, &columns.voles] {
        let chunks = pool.run(|| {
            let chunks = part.par_chunks(CHUNK * COLUMNS).enumerate();
            chunks.map(|(i, chunk)| hash_chunk(chunk, chi, exponent + (i * CHUNK) as u128)).reduce(
                || vec![Block::ZERO; COLUMNS],
                |mut a, b| {
                    vesica_simd::xor::xor(&mut a, &b);
                    a
                },
            )
        });
        vesica_simd::xor::xor(&mut sums, &chunks);
        exponent += (part.len() / COLUMNS) as u128;
    }
    sums
}

fn hash_chunk(columns: &[Block], chi: Block, exponent: u128) -> Vec<Block> {
    let mut power = gf128::pow(chi, exponent);
    let mut sums = vec![Block::ZERO; COLUMNS];
    let mut rows = [Block::ZERO; COLUMNS];
    for block in columns.chunks_exact(COLUMNS) {
        transpose_128(block, &mut rows);
        gf128::add_scaled(&mut sums, &rows, power);
        power = gf128::mul(power, chi);
    }
    sums
}

/// h of one row, given in the order of the positions: (cots ‖ voles ‖ mask).
pub(super) fn hash_row(row: &[Block], chi: Block) -> Block {
    let Some((mask, others)) = row.split_last() else { return Block::ZERO };
    let sum = others.iter().rev().fold(Block::ZERO, |sum, block| gf128::mul(sum ^ *block, chi));
    sum ^ *mask
}

/// The digest that the response carries in place of the hashed rows.
pub(super) fn digest(binding: &[u8; 32], chi: Block, u: Block, rows: &[Block]) -> [u8; DIGEST_LEN] {
    derive(DIGEST, &[binding, &chi.to_le_bytes(), &u.to_le_bytes(), Block::as_bytes(rows)])
}
