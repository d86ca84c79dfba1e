//! # An oblivious pseudorandom function of strings from 1-out-of-N OT
//!
//! B. Pinkas, T. Schneider, M. Zohner, "Faster private set intersection based on OT extension",
//! USENIX Security 2014, with the single mask per bin of B. Pinkas, T. Schneider, G. Segev, M.
//! Zohner, "Phasing", USENIX Security 2015, §6.1.
//!
//! A value of σ bits is a string of t = ⌈σ/8⌉ characters. Each *instance*, such as a bin of a hash
//! table, has t rows of [`kk13`](vesica_ot::coded::kk13). The receiver has one value per instance
//! and gets its output; the sender can compute the output of every value. If the receiver has no
//! value, it chooses [`NONE`] in all t rows, and cannot compute the output of any value.
//!
//! ```text
//!   F(x) = H(S_1 ⊕ S_2 ⊕ …)                   S_j = H_j(row 2j−1, row 2j of the characters of x)
//! ```
//!
//! **Where we differ from the papers.** A string S_j belongs to two successive characters and is
//! hashed from both rows at once: half as many hashes. It is as safe as one hash per row: a value
//! that differs from the receiver's differs in a character, whose row the receiver then does not
//! know. With at most two characters S_1 is the output: there is no sum whose terms could cancel.
//!
//! H and all H_j are BLAKE3 under different keys, derived from the session, the *slot* and j. Rows
//! are random and never reused, so the number of the row is not an input. Slots are independent
//! functions of the same instance.

use std::num::NonZeroUsize;
use vesica_core::hash::derive;
use vesica_core::{Block, Item, SessionId};
use vesica_net::Pool;
use vesica_ot::coded::kk13::{Choice, Masks, NONE, Row};
use vesica_simd::short_hash::{BLOCK_LEN, INPUTS, keyed_hash_16};
use zeroize::Zeroize;

const STRING_LABEL: &str = "vesica oprf 2026 string of two characters";
const SUM_LABEL: &str = "vesica oprf 2026 sum of strings";

/// Bits of a character: N = 2^8.
pub const CHARACTER_BITS: u32 = 8;

/// Rows per hash.
const ROWS_PER_HASH: usize = 2;

/// Values per task of a CPU thread.
const VALUES_PER_TASK: usize = 1 << 10;

/// The lengths of values and outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    value_bits: u32,
    output_bits: u32,
}

impl Shape {
    /// For values of `value_bits` and outputs of `output_bits` bits, each from 1 to 128.
    ///
    /// # Panics
    /// If a length is out of range.
    pub fn new(value_bits: u32, output_bits: u32) -> Self {
        let possible = 1..=Item::BITS;
        assert!(possible.contains(&value_bits) && possible.contains(&output_bits), "1 to 128 bits");
        Self { value_bits, output_bits }
    }

    /// t, the rows per instance.
    pub fn rows(&self) -> usize {
        self.value_bits.div_ceil(CHARACTER_BITS) as usize
    }

    /// Bits per output.
    pub fn output_bits(&self) -> u32 {
        self.output_bits
    }
}

/// The receiver's choices in the rows of consecutive instances: those of the instance's value, or
/// [`NONE`].
#[derive(Debug)]
pub struct Choices {
    shape: Shape,
    rows: Vec<Choice>,
}

impl Choices {
    /// For values of `shape`; no instances yet.
    pub fn new(shape: Shape) -> Self {
        Self { shape, rows: Vec::new() }
    }

    /// Restarts with `instances` instances without values.
    pub fn begin(&mut self, instances: usize) {
        self.rows.clear();
        self.rows.resize(instances * self.shape.rows(), NONE);
    }

    /// Sets the value of `instance`, character by character, lowest first.
    ///
    /// # Panics
    /// If `instance` is out of range.
    #[inline]
    pub fn set(&mut self, instance: usize, value: u128) {
        let len = self.shape.rows();
        let rows = &mut self.rows[instance * len..][..len];
        rows.iter_mut().zip(value.to_le_bytes()).for_each(|(row, c)| *row = Choice::from(c));
    }

    /// One choice per row, instance by instance.
    pub fn rows(&self) -> &[Choice] {
        &self.rows
    }
}

impl Drop for Choices {
    fn drop(&mut self) {
        self.rows.zeroize();
    }
}

/// The hash functions of one slot.
pub struct Outputs {
    shape: Shape,
    strings: Vec<[u8; 32]>,
    sum: [u8; 32],
}

impl Outputs {
    /// The functions of `slot` under `session`.
    pub fn new(shape: Shape, session: &SessionId, slot: u64) -> Self {
        let key = |label, part: usize| {
            let (slot, part) = (slot.to_le_bytes(), (part as u64).to_le_bytes());
            derive(label, &[session.as_bytes(), &slot, &part])
        };
        let strings = (0..shape.rows().div_ceil(ROWS_PER_HASH)).map(|j| key(STRING_LABEL, j));
        Self { shape, strings: strings.collect(), sum: key(SUM_LABEL, 0) }
    }

    /// The receiver's side: the outputs of its values in the instances that start at the rows
    /// `places` of `rows`.
    pub fn of_own(&self, pool: &Pool, rows: &[Row], places: &[u32], out: &mut [u128]) {
        self.each(pool, places, out, |place, j| rows[*place as usize + j]);
    }

    /// The sender's side: the output of each value of `wanted` in the instance that starts at the
    /// given row. `masks` computes the mask of each character, because reads from a table would
    /// depend on secret values.
    pub fn of_values(
        &self,
        pool: &Pool,
        rows: &[Row],
        masks: &Masks,
        wanted: &[(u32, u128)],
        out: &mut [u128],
    ) {
        self.each(pool, wanted, out, |(place, value), j| {
            let row = rows[*place as usize + j];
            let mask = masks.get((value >> (CHARACTER_BITS as usize * j)) as u8);
            [row[0] ^ mask[0], row[1] ^ mask[1]]
        });
    }

    fn each<T: Sync>(
        &self,
        pool: &Pool,
        inputs: &[T],
        out: &mut [u128],
        row: impl Fn(&T, usize) -> Row + Sync,
    ) {
        let piece = |inputs: &[T], out: &mut [u128]| {
            for (inputs, out) in inputs.chunks(INPUTS).zip(out.chunks_mut(INPUTS)) {
                self.sixteen(inputs, out, &row);
            }
        };
        if pool.len() == 1 || inputs.len() <= VALUES_PER_TASK {
            return piece(inputs, out);
        }
        let chunk_len = NonZeroUsize::new(VALUES_PER_TASK).expect("not zero");
        pool.zip_chunks(inputs, out, chunk_len, piece);
    }

    #[inline]
    fn sixteen<T>(&self, inputs: &[T], out: &mut [u128], row: impl Fn(&T, usize) -> Row) {
        let mut blocks = [[0; BLOCK_LEN]; INPUTS];
        let mut sums = [0; INPUTS];
        for (pair, key) in self.strings.iter().enumerate() {
            let first = pair * ROWS_PER_HASH;
            let count = ROWS_PER_HASH.min(self.shape.rows() - first);
            for (block, input) in blocks.iter_mut().zip(inputs) {
                for j in 0..count {
                    let [low, high] = row(input, first + j);
                    let bytes = &mut block[32 * j..][..32];
                    bytes[..16].copy_from_slice(&low.to_le_bytes());
                    bytes[16..].copy_from_slice(&high.to_le_bytes());
                }
            }
            let lens = [(count * 2 * Block::LEN) as u8; INPUTS];
            let strings = keyed_hash_16(key, &blocks, &lens);
            for (sum, string) in sums.iter_mut().zip(strings) {
                *sum ^= u128::from_le_bytes(string);
            }
        }
        if self.strings.len() > 1 {
            for (block, sum) in blocks.iter_mut().zip(sums) {
                block[..16].copy_from_slice(&sum.to_le_bytes());
            }
            sums = keyed_hash_16(&self.sum, &blocks, &[Block::LEN as u8; INPUTS])
                .map(u128::from_le_bytes);
        }
        for (out, sum) in out.iter_mut().zip(sums) {
            *out = sum >> (Item::BITS - self.shape.output_bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng, rngs::StdRng};
    const SESSION: SessionId = SessionId::from_bytes([9; 32]);

    /// The sender's masks and rows, and the receiver's rows for `own`, one value per instance.
    fn transfers(shape: Shape, own: &[u128], rng: &mut StdRng) -> (Masks, Vec<Row>, Vec<Row>) {
        let mut random = || Block::new(rng.random());
        let masks = Masks::new([random(), random()]);
        let q: Vec<Row> = (0..own.len() * shape.rows()).map(|_| [random(), random()]).collect();
        let mut choices = Choices::new(shape);
        choices.begin(own.len());
        own.iter().enumerate().for_each(|(instance, value)| choices.set(instance, *value));
        let rows = q.iter().zip(choices.rows());
        let t = rows.map(|(q, c)| std::array::from_fn(|k| q[k] ^ masks.get(*c as u8)[k])).collect();
        (masks, q, t)
    }

    #[test]
    fn an_instance_without_a_value_chooses_none() {
        let mut choices = Choices::new(Shape::new(9, 80));
        choices.begin(3);
        choices.set(1, 0x1ff);
        assert_eq!(choices.rows(), [NONE, NONE, 0xff, 1, NONE, NONE]);
        choices.begin(2);
        assert_eq!(choices.rows(), [NONE; 4]);
    }

    #[test]
    fn the_receiver_gets_the_output_of_its_value_only() {
        let mut rng = StdRng::seed_from_u64(1);
        let pool = Pool::new(NonZeroUsize::new(2).unwrap()).unwrap();
        for value_bits in [1, 8, 9, 16, 17, 40, 62, 127, 128] {
            let shape = Shape::new(value_bits, 80);
            let random = |rng: &mut StdRng| rng.random::<u128>() >> (128 - value_bits);
            let own: Vec<u128> = (0..1500).map(|_| random(&mut rng)).collect();
            let (masks, q, t) = transfers(shape, &own, &mut rng);
            let outputs = Outputs::new(shape, &SESSION, 0);
            let places: Vec<u32> = (0..1500).map(|i| i * shape.rows() as u32).collect();
            let mut received = vec![0; 1500];
            outputs.of_own(&pool, &t, &places, &mut received);
            assert!(received.iter().all(|output| output >> 80 == 0));

            let of = |values: &[u128]| {
                let wanted: Vec<_> = places.iter().copied().zip(values.iter().copied()).collect();
                let mut out = vec![0; 1500];
                outputs.of_values(&pool, &q, &masks, &wanted, &mut out);
                out
            };
            assert_eq!(of(&own), received, "{value_bits} bits");
            // Other values that differ in one bit, for each bit.
            let others: Vec<u128> =
                own.iter().map(|value| value ^ 1 << rng.random_range(0..value_bits)).collect();
            assert!(of(&others).iter().zip(&received).all(|(other, own)| other != own));
            let slot = Outputs::new(shape, &SESSION, 1);
            let mut out = vec![0; 1500];
            slot.of_own(&pool, &t, &places, &mut out);
            assert!(out.iter().zip(&received).all(|(other, own)| other != own));
        }
    }
}
