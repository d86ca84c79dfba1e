//! The consistency check: linear hashes of rows, computed from their columns, at points derived
//! from the receiver's messages.

use super::layout::{COLUMNS, DIGEST_LEN, POINTS, RESPONSE_LEN, Request};
use crate::bits::bits_at;
use rayon::prelude::*;
use vesica_core::hash::{Transcript, derive};
use vesica_core::{Block, Secret};
use vesica_net::Pool;
use vesica_simd::gf128;
use vesica_simd::transpose::transpose_128;
use vesica_simd::xor::xor;
use zeroize::{Zeroize, Zeroizing};

const CHALLENGE: &str = "vesica ot 2026 SoftSpoken challenge";
const DIGEST: &str = "vesica ot 2026 SoftSpoken check";

/// Blocks of positions per transposition.
const STRIPE: usize = 16;

/// Blocks that one thread hashes per task.
const CHUNK: usize = 8 * STRIPE;

/// Columns that the check needs besides the output: they are in no output, or only combined with
/// others. Empty without a check.
#[derive(Default)]
pub(super) struct Columns {
    /// Columns that fill up the last block of correlated transfers.
    pub(super) cot_rest: Vec<Block>,
    /// Columns of the VOLEs.
    pub(super) voles: Vec<Block>,
    /// Columns that mask the hashes, one block of positions for each point.
    pub(super) mask: Vec<Block>,
}

/// The points χ of one extension, and the digest they come from: of the setup, the number of
/// earlier extensions, the request, and all corrections.
pub(super) struct Challenge {
    digest: [u8; 32],
    points: [Block; POINTS],
}

impl Challenge {
    /// The transcript that [`new`](Self::new) finishes, without corrections.
    pub(super) fn transcript(
        binding: &[u8; 32],
        extension: u64,
        request: &Request<'_>,
    ) -> Transcript {
        let width = request.lift.width_bits();
        let shape = [request.cots, request.voles, width].map(|n| (n as u64).to_le_bytes());
        Transcript::new(CHALLENGE, &[binding, &extension.to_le_bytes(), shape.as_flattened()])
    }

    /// From the transcript of all corrections.
    pub(super) fn new(transcript: Transcript) -> Self {
        let digest = transcript.finish();
        let mut points = [Block::ZERO; POINTS];
        Block::as_bytes_mut(&mut points).copy_from_slice(&digest);
        Self { digest, points }
    }

    /// The digest that the response carries in place of the hashed rows.
    fn digest(&self, u: &[Block], rows: &[Block]) -> [u8; DIGEST_LEN] {
        derive(DIGEST, &[&self.digest, Block::as_bytes(u), Block::as_bytes(rows)])
    }

    /// The receiver's response.
    pub(super) fn response(
        &self,
        pool: &Pool,
        choices: &[Block],
        cots: &[Block],
        columns: &Columns,
    ) -> [u8; RESPONSE_LEN] {
        let u = hash_choices(choices, cots.len(), &self.points);
        let rows = hash_rows(pool, cots, columns, &self.points);
        let mut response = [0; RESPONSE_LEN];
        let (of_choices, of_rows) = response.split_at_mut(POINTS * Block::LEN);
        of_choices.copy_from_slice(Block::as_bytes(&u));
        of_rows.copy_from_slice(&self.digest(&u, &rows));
        response
    }

    /// Whether the response comes from a receiver whose rows differ from the sender's by its
    /// choices times Δ.
    pub(super) fn is_answered(
        &self,
        pool: &Pool,
        delta: &Secret<Block>,
        cots: &[Block],
        columns: &Columns,
        response: &[u8; RESPONSE_LEN],
    ) -> bool {
        let (of_choices, of_rows) = response.split_at(POINTS * Block::LEN);
        let mut u = [Block::ZERO; POINTS];
        Block::as_bytes_mut(&mut u).copy_from_slice(of_choices);
        let mut rows = hash_rows(pool, cots, columns, &self.points);
        for (rows, u) in rows.chunks_exact_mut(COLUMNS).zip(u) {
            for (row, j) in rows.iter_mut().zip(0..) {
                *row ^= u & Block::mask(delta.expose().bit(j));
            }
        }
        self.digest(&u, &rows) == of_rows
    }
}

impl Drop for Columns {
    fn drop(&mut self) {
        self.cot_rest.zeroize();
        self.voles.zeroize();
        self.mask.zeroize();
    }
}

/// h of each of the 128 rows at each point in turn, over its mask, the transfers, and the VOLEs.
///
/// Up to [`STRIPE`] blocks of positions, t of them, form t elements of GF(2^128) in an interleaved
/// way: element q has the bits at positions q, q + t, q + 2t, … A transposition of the columns as a
/// matrix of 128 rows with t columns each yields these.
fn hash_rows(
    pool: &Pool,
    cots: &[Block],
    columns: &Columns,
    points: &[Block; POINTS],
) -> Vec<Block> {
    let whole = cots.len() / COLUMNS * COLUMNS;
    let last = Zeroizing::new([&cots[whole..], &columns.cot_rest].concat());
    let mut sums = vec![Block::ZERO; POINTS * COLUMNS];
    // Each mask is the first element at its own point, and enters no other hash.
    transpose_128(&columns.mask[..COLUMNS], &mut sums[..COLUMNS]);
    transpose_128(&columns.mask[COLUMNS..], &mut sums[COLUMNS..]);
    let mut exponent = 1;
    for part in [&cots[..whole], &last, &columns.voles] {
        let part_sums = pool.run(|| {
            let chunks = part.par_chunks(CHUNK * COLUMNS).enumerate();
            let sums =
                chunks.map(|(i, chunk)| hash_chunk(chunk, points, exponent + (i * CHUNK) as u128));
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

fn hash_chunk(columns: &[Block], points: &[Block; POINTS], exponent: u128) -> Vec<Block> {
    let mut powers = points.map(|chi| gf128::pow(chi, exponent));
    let mut sums = vec![Block::ZERO; POINTS * COLUMNS];
    let mut elements = Zeroizing::new(vec![Block::ZERO; columns.len().min(STRIPE * COLUMNS)]);
    for stripe in columns.chunks(STRIPE * COLUMNS) {
        let elements = &mut elements[..stripe.len()];
        transpose_128(stripe, elements);
        for of_each_row in elements.chunks_exact(COLUMNS) {
            for ((sums, power), chi) in sums.chunks_exact_mut(COLUMNS).zip(&mut powers).zip(points)
            {
                gf128::add_scaled(sums, of_each_row, *power);
                *power = gf128::mul(*power, *chi);
            }
        }
    }
    sums
}

/// h at each point of the choices of `cots` transfers, of VOLEs, and of the masks, in this order.
fn hash_choices(choices: &[Block], cots: usize, points: &[Block; POINTS]) -> [Block; POINTS] {
    let (whole, masks) = (cots / COLUMNS, choices.len() - POINTS);
    let cot_blocks = cots.div_ceil(COLUMNS);
    let parts = [&choices[..whole], &choices[whole..cot_blocks], &choices[cot_blocks..masks]];
    let mut sums: [Block; POINTS] = std::array::from_fn(|i| choices[masks + i]);
    let mut powers = *points;
    let mut elements = [Block::ZERO; COLUMNS];
    for stripe in parts.into_iter().flat_map(|part| part.chunks(STRIPE)) {
        let len = stripe.len();
        let rows: [_; COLUMNS] =
            std::array::from_fn(|row| Block::new(bits_at(stripe, row * len, len)));
        transpose_128(&rows, &mut elements);
        for element in &elements[..len] {
            for ((sum, power), chi) in sums.iter_mut().zip(&mut powers).zip(points) {
                *sum ^= gf128::mul(*element, *power);
                *power = gf128::mul(*power, *chi);
            }
        }
    }
    sums
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

    fn points() -> [Block; POINTS] {
        std::array::from_fn(|i| blocks(POINTS, 1)[i])
    }

    /// Columns that are Δ where the choice is one, and zero where it is zero, hash to h(u)·Δ.
    #[test]
    fn hashes_of_rows_and_of_choices_agree() {
        let pool = Pool::new(NonZeroUsize::MIN).unwrap();
        let delta = blocks(1, 2)[0];
        for (cots, vole_blocks) in [(0, 0), (1, 0), (128, 3), (129, 17), (40_000, 33), (0, 200)] {
            let cot_blocks: usize = usize::div_ceil(cots, COLUMNS);
            let masks = cot_blocks + vole_blocks;
            let choices = blocks(masks + POINTS, 3);
            let bit = |i: usize| choices[i / COLUMNS].bit((i % COLUMNS) as u32);
            let column = |i: usize| delta & Block::mask(bit(i));
            let all: Vec<_> = (0..choices.len() * COLUMNS).map(column).collect();
            let columns = Columns {
                cot_rest: all[cots..cot_blocks * COLUMNS].to_vec(),
                voles: all[cot_blocks * COLUMNS..masks * COLUMNS].to_vec(),
                mask: all[masks * COLUMNS..].to_vec(),
            };
            let u = hash_choices(&choices, cots, &points());
            let rows = hash_rows(&pool, &all[..cots], &columns, &points());
            for (rows, u) in rows.chunks(COLUMNS).zip(u) {
                for (row, j) in rows.iter().zip(0..) {
                    let expected = u & Block::mask(delta.bit(j));
                    assert_eq!(*row, expected, "row {j}, {cots}, {vole_blocks}");
                }
            }
        }
    }

    /// Two rows that differ in any one position have different hashes, at both points unless the
    /// position is in a mask.
    #[test]
    fn every_position_affects_the_hash() {
        let choices = blocks(40, 3);
        let hash = hash_choices(&choices, 3000, &points());
        for i in 0..40 * COLUMNS {
            let mut changed = choices.clone();
            changed[i / COLUMNS] ^= Block::new(1 << (i % COLUMNS));
            let other = hash_choices(&changed, 3000, &points());
            for point in 0..POINTS {
                let is_in = i / COLUMNS < 40 - POINTS || i / COLUMNS == 40 - POINTS + point;
                assert_eq!(other[point] != hash[point], is_in, "position {i}, point {point}");
            }
        }
    }

    #[test]
    fn the_points_depend_on_all_of_their_inputs() {
        let points = |binding: u8, extension, request: Request<'_>, bytes: &[u8]| {
            let mut transcript = Challenge::transcript(&[binding; 32], extension, &request);
            transcript.update(bytes);
            Challenge::new(transcript).points
        };
        let request = Request::cots(5);
        let expected = points(1, 0, request, b"c");
        assert_eq!(points(1, 0, request, b"c"), expected);
        assert_ne!(expected[0], expected[1]);
        for other in [
            points(2, 0, request, b"c"),
            points(1, 1, request, b"c"),
            points(1, 0, Request::cots(6), b"c"),
            points(1, 0, Request { voles: 1, ..request }, b"c"),
            points(1, 0, request, b"d"),
        ] {
            assert!(other[0] != expected[0] && other[1] != expected[1]);
        }
    }
}
