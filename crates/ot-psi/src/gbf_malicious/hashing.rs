//! Steps 7 and 8: items become indices, and sums of messages become tags.

use super::plan::{Plan, SEED_LEN};
use std::num::NonZeroUsize;
use vesica_core::hash::derive;
use vesica_core::tagged::{Buckets, Tagged};
use vesica_core::{Block, Item, SessionId};
use vesica_net::Pool;
use vesica_okvs::bloom::{BloomHash, Indices};
use vesica_simd::short_hash::{BLOCK_LEN, INPUTS, keyed_hash_16};
use zeroize::Zeroize;

const ROW_LABELS: [&str; 2] =
    ["vesica v1 gbf malicious row, first half", "vesica v1 gbf malicious row, second half"];
const INDEX_LABEL: &str = "vesica v1 gbf malicious index";
const TAG_LABEL: &str = "vesica v1 gbf malicious tag";
const PROOF_LABEL: &str = "vesica v1 gbf malicious proof";

/// Items that one CPU thread works on at a time.
const ITEMS_PER_TASK: NonZeroUsize = NonZeroUsize::new(1 << 11).unwrap();

/// h_1, …, h_k, keyed by both parties' coins.
///
/// A row of 256 bits, so that 2^80 hashed items give no two with the same indices.
pub(super) struct Hashing {
    session: SessionId,
    rows: [[u8; 32]; 2],
    indices: BloomHash,
}

impl Hashing {
    pub(super) fn new(
        plan: &Plan,
        session: &SessionId,
        s: &[u8; SEED_LEN],
        r: &[u8; SEED_LEN],
    ) -> Self {
        let key = |label| derive(label, &[session.as_bytes(), s, r]);
        let mut block = [0; Block::LEN];
        block.copy_from_slice(&key(INDEX_LABEL)[..Block::LEN]);
        Self {
            session: *session,
            rows: ROW_LABELS.map(key),
            indices: BloomHash::new(&plan.shape, Block::from_le_bytes(block)),
        }
    }

    /// The items' positions, grouped by block.
    pub(super) fn by_block(&self, pool: &Pool, plan: &Plan, items: &[Item]) -> Buckets {
        let mut rows = vec![Tagged::default(); items.len()];
        let positions: Vec<u32> = (0..=u32::MAX).take(items.len()).collect();
        pool.zip_chunks(&positions, &mut rows, ITEMS_PER_TASK, |positions, rows| {
            for (positions, rows) in positions.chunks(INPUTS).zip(rows.chunks_mut(INPUTS)) {
                let halves = self.halves(0, items, positions.iter().copied());
                for ((position, row), half) in positions.iter().zip(rows).zip(halves) {
                    *row = Tagged::new(u128::from_le_bytes(half), *position);
                }
            }
        });
        pool.run(|| Buckets::new(rows, 128, plan.sizes.block_bits))
    }

    /// One half of the rows of 16 items at most.
    fn halves(
        &self,
        half: usize,
        items: &[Item],
        positions: impl Iterator<Item = u32>,
    ) -> [[u8; 16]; INPUTS] {
        let mut inputs = [[0; BLOCK_LEN]; INPUTS];
        for (input, position) in inputs.iter_mut().zip(positions) {
            input[..Item::LEN].copy_from_slice(items[position as usize].as_bytes());
        }
        keyed_hash_16(&self.rows[half], &inputs, &[Item::LEN as u8; INPUTS])
    }

    /// Calls `f` with the indices of each item of a block, each index once.
    pub(super) fn each(&self, items: &[Item], block: &[Tagged], mut f: impl FnMut(&[u32])) {
        let mut indices = Indices::new(&self.indices);
        for rows in block.chunks(INPUTS) {
            let second = self.halves(1, items, rows.iter().map(Tagged::position));
            for (row, second) in rows.iter().zip(second) {
                f(indices.compute(&[Block::new(row.tag()), Block::from_le_bytes(second)]).0);
            }
        }
    }

    /// Σ_{i ∈ h*(x)} `table`[`places`[i]] of each item of a block, in order.
    pub(super) fn sums(
        &self,
        pool: &Pool,
        items: &[Item],
        block: &[Tagged],
        places: &[u32],
        table: &[Block],
    ) -> Vec<Block> {
        let mut sums = vec![Block::ZERO; block.len()];
        pool.zip_chunks(block, &mut sums, ITEMS_PER_TASK, |block, sums| {
            let mut sums = sums.iter_mut();
            let mut of_item = Vec::new();
            self.each(items, block, |indices| {
                // Two loops, so that the cache misses of each overlap.
                of_item.clear();
                of_item.extend(indices.iter().map(|i| places[*i as usize]));
                let messages = of_item.iter().map(|place| table[*place as usize]);
                let sum = messages.fold(Block::ZERO, |sum, message| sum ^ message);
                *sums.next().expect("a sum for each item") = sum;
            });
        });
        sums
    }

    /// K of each item, with its position.
    pub(super) fn tags(&self, pool: &Pool, items: &[Item], sums: &[Block]) -> Vec<Tagged> {
        let tags = self.hashed(TAG_LABEL, pool, items, sums);
        tags.iter().zip(0..).map(|(tag, i)| Tagged::new(tag.get(), i)).collect()
    }

    /// A second random oracle of the input of K: a party that knows its value can compute K.
    pub(super) fn proofs(&self, pool: &Pool, items: &[Item], sums: &[Block]) -> Vec<Block> {
        self.hashed(PROOF_LABEL, pool, items, sums)
    }

    /// BLAKE3(x ‖ sum) of each item, keyed by the session under `label`.
    fn hashed(
        &self,
        label: &'static str,
        pool: &Pool,
        items: &[Item],
        sums: &[Block],
    ) -> Vec<Block> {
        let key = derive(label, &[self.session.as_bytes()]);
        let mut out = sums.to_vec();
        pool.zip_chunks(items, &mut out, ITEMS_PER_TASK, |items, sums| {
            for (items, sums) in items.chunks(INPUTS).zip(sums.chunks_mut(INPUTS)) {
                let mut inputs = [[0; BLOCK_LEN]; INPUTS];
                for ((input, item), sum) in inputs.iter_mut().zip(items).zip(sums.iter()) {
                    input[..16].copy_from_slice(item.as_bytes());
                    input[16..32].copy_from_slice(&sum.to_le_bytes());
                }
                let digests = keyed_hash_16(&key, &inputs, &[32; INPUTS]);
                for (sum, digest) in sums.iter_mut().zip(digests) {
                    *sum = Block::from_le_bytes(digest);
                }
                inputs.zeroize();
            }
        });
        out
    }
}
