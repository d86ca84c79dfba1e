//! A party's items: hashed before the passes, and as inputs of H_o after them.

use super::hashing::{self, Hashing, Seed};
use super::plan::Plan;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::ops::Range;
use vesica_core::tagged::Tagged;
use vesica_core::{Block, Item, Malicious, SemiHonest, SessionId};
use vesica_net::Pool;
use vesica_okvs::Partition;
use vesica_simd::aes::Aes128;

/// Items that one CPU thread hashes at a time.
const ITEMS_PER_TASK: NonZeroUsize = NonZeroUsize::new(1 << 14).unwrap();

/// A party's items, hashed under the receiver's seed and grouped by cluster.
pub(super) struct Rows<S: Hashing> {
    pub(super) partition: Partition,
    value_hash: Aes128,
    security: PhantomData<S>,
}

impl<S: Hashing> Rows<S> {
    /// Hashes and groups `items`. 20 bytes an item.
    pub(super) fn new(
        pool: &Pool,
        plan: &Plan,
        session: &SessionId,
        seed: &Seed,
        items: &[Item],
    ) -> Self {
        let mut keys = vec![Block::ZERO; items.len()];
        pool.zip_chunks(items, &mut keys, ITEMS_PER_TASK, |items, keys| {
            S::rows(session, seed, items, keys);
        });
        let partition = Partition::new(&*plan.okvs, &keys, pool);
        Self { partition, value_hash: seed.value_hash(session), security: PhantomData }
    }

    /// Sets `values` to H_B of the row keys `keys`, in the low `bits` bits.
    pub(super) fn values(&self, keys: &[Block], bits: u32, values: &mut Vec<Block>) {
        values.clear();
        values.extend_from_slice(keys);
        self.value_hash.mmo(values);
        if bits < 128 {
            let mask = Block::new(u128::MAX >> (128 - bits));
            values.iter_mut().for_each(|value| *value = *value & mask);
        }
    }
}

/// What H_o is applied to, one q for each item, by cluster, with the items' positions.
pub struct Inputs<S: Hashing> {
    session: SessionId,
    rows: Rows<S>,
    q: Vec<Tagged>,
}

impl<S: Hashing> Inputs<S> {
    pub(super) fn new(session: &SessionId, rows: Rows<S>, q: Vec<Tagged>) -> Self {
        Self { session: *session, rows, q }
    }

    /// H_o(q ⊕ w), shortened to its low `bits` bits.
    fn hash(self, pool: &Pool, w: Block, bits: u32) -> Vec<Tagged> {
        let Inputs { session, rows, mut q } = self;
        let mask = u128::MAX >> (128 - bits);
        pool.zip_chunks(rows.partition.all_keys(), &mut q, ITEMS_PER_TASK, |keys, q| {
            let mut tags: Vec<Block> = q.iter().map(|q| Block::new(q.tag()) ^ w).collect();
            S::outputs(&session, keys, &mut tags);
            for (q, tag) in q.iter_mut().zip(tags) {
                *q = Tagged::new(tag.get() & mask, q.position());
            }
        });
        q
    }
}

impl Inputs<SemiHonest> {
    /// Step 6: F of every item with the item's position, the low `bits` ≤ 128 bits of H_o(q).
    pub fn outputs(self, pool: &Pool, bits: u32) -> Vec<Tagged> {
        self.hash(pool, Block::ZERO, bits)
    }
}

impl Inputs<Malicious> {
    /// Step 6: F of every item with the item's position, all 128 bits of H_o(q ⊕ w), where w is both parties' common
    /// coin.
    pub fn outputs(self, pool: &Pool, w: Block) -> Vec<Tagged> {
        self.hash(pool, w, 128)
    }

    /// For every item, by position, a proof that the prover could evaluate F there: a random oracle
    /// of the same input q ⊕ w as F, and of the item.
    pub fn proofs(&self, pool: &Pool, w: Block) -> Vec<Block> {
        let mut proofs: Vec<Block> = self.q.iter().map(|q| Block::new(q.tag()) ^ w).collect();
        let keys = self.rows.partition.all_keys();
        pool.zip_chunks(keys, &mut proofs, ITEMS_PER_TASK, |keys, proofs| {
            hashing::proofs(&self.session, keys, proofs);
        });
        let mut by_position = vec![Block::ZERO; proofs.len()];
        for (q, proof) in self.q.iter().zip(proofs) {
            by_position[q.position() as usize] = proof;
        }
        by_position
    }

    /// A proof that P holds the items at the positions `shared`, which both parties know: a random oracle of q at
    /// these items in the order of their positions, before any coin w.
    ///
    /// If P decodes to something else at one of them, the sender's q differs from the receiver's by a nonzero multiple
    /// of Δ, and a receiver that gives the right proof nevertheless knows Δ. The proof reveals nothing about Δ or b, as
    /// the sender can compute it from A, and nothing about the receiver's other items.
    pub fn proof_of_shared(&self, shared: &Range<usize>) -> [u8; 32] {
        let mut inputs = vec![(Block::ZERO, Block::ZERO); shared.len()];
        for (key, q) in self.rows.partition.all_keys().iter().zip(&self.q) {
            let position = q.position() as usize;
            if shared.contains(&position) {
                inputs[position - shared.start] = (*key, Block::new(q.tag()));
            }
        }
        hashing::shared(&self.session, &inputs)
    }
}
