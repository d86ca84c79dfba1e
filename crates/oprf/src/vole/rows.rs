//! A party's items, hashed before the passes.

use super::hashing::{Hashing, Seed};
use super::plan::Plan;
use std::marker::PhantomData;
use vesica_core::{Block, Item, SessionId};
use vesica_net::Pool;
use vesica_okvs::Partition;
use vesica_simd::aes::Aes128;

/// A party's items, hashed under the receiver's seed and grouped by cluster.
pub(super) struct Rows<S: Hashing> {
    pub(super) session: SessionId,
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
        let partition = Partition::made(&*plan.okvs, items.len(), pool, |range, keys| {
            S::rows(session, seed, &items[range], keys);
        });
        let value_hash = seed.value_hash(session);
        Self { session: *session, partition, value_hash, security: PhantomData }
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
