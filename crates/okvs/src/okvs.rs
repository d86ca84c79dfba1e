use crate::Scratch;
use vesica_core::Block;
use vesica_simd::aes::Aes128;

/// Why the encoding of a cluster failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// Two keys are equal.
    #[error("two keys are equal")]
    DuplicateKey,
    /// The cluster has more keys than its slots can hold. For random keys, in the number that the store is for, the
    /// probability is part of [`Unsolvable`](EncodeError::Unsolvable)'s.
    #[error("more keys than slots")]
    Overfull,
    /// The equations of the keys have no solution. For random keys, the probability that any cluster fails with this
    /// error or with [`Overfull`](EncodeError::Overfull) is below 2^-40.
    #[error("the equations of the keys have no solution")]
    Unsolvable,
}

/// An encoding for a public number of keys; both parties construct it from that number alone.
///
/// The slots form clusters of equal length, one after the other. A key belongs to one cluster, and its row is zero
/// outside of it, so clusters are encoded and decoded independently.
///
/// Timing depends on the keys, but not on values or slots.
pub trait Okvs: Send + Sync {
    /// Total number of slots: [`cluster_count`](Okvs::cluster_count) times [`cluster_len`](Okvs::cluster_len).
    fn len(&self) -> usize {
        self.cluster_count() * self.cluster_len()
    }

    /// Whether there are no slots, as for zero keys.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of clusters; at least one.
    fn cluster_count(&self) -> usize;

    /// Slots per cluster.
    fn cluster_len(&self) -> usize;

    /// The cluster of `key`: its leading 64 bits, scaled to the number of clusters, so ascending in `key`. The row
    /// within the cluster depends on the rest of the key.
    #[inline]
    fn cluster_of(&self, key: Block) -> usize {
        scaled(key, self.cluster_count()).0
    }

    /// Number of groups of ascending keys that [`Partition`](crate::Partition) makes: a multiple of
    /// [`cluster_count`](Okvs::cluster_count), and a larger one if order within a cluster speeds up the encoding.
    fn group_count(&self) -> usize {
        self.cluster_count()
    }

    /// Encodes one cluster: fills `slots` so that each of `keys` decodes to its value.
    ///
    /// The stream of `fill` fills the free slots, from positions that no other `cluster` uses, so one fresh random
    /// `fill` serves all clusters of an encoding. Before it returns, the function decodes every key and compares.
    ///
    /// # Errors
    /// [`EncodeError`]; the contents of `slots` are then useless.
    ///
    /// # Panics
    /// If `keys` and `values` differ in length, or `slots` does not have [`cluster_len`](Okvs::cluster_len) slots.
    fn encode(
        &self,
        cluster: usize,
        keys: &[Block],
        values: &[Block],
        slots: &mut [Block],
        scratch: &mut Scratch,
        fill: &Aes128,
    ) -> Result<(), EncodeError>;

    /// Decodes any `keys` of one cluster: sets `out[i]` to the sum of the slots that the row of `keys[i]` selects.
    ///
    /// # Panics
    /// If `keys` and `out` differ in length, or `slots` does not have [`cluster_len`](Okvs::cluster_len) slots.
    fn decode(&self, keys: &[Block], slots: &[Block], out: &mut [Block], scratch: &mut Scratch);
}

/// The leading 64 bits of `key`, scaled to `0..count`, and the remainder as a fraction of 2^64.
#[inline(always)]
pub(crate) fn scaled(key: Block, count: usize) -> (usize, u64) {
    let scaled = (key.get() >> 64) * count as u128;
    ((scaled >> 64) as usize, scaled as u64)
}

/// Fills the `free` ones of `slots` with the part of `fill`'s stream that belongs to `cluster`.
pub(crate) fn fill_slots(
    cluster: usize,
    slots: &mut [Block],
    free: impl Fn(usize) -> bool,
    fill: &Aes128,
) {
    let first = (cluster as u128) << 64;
    let mut stream = [Block::ZERO; 64];
    for (i, slots) in slots.chunks_mut(stream.len()).enumerate() {
        let from = i * stream.len();
        fill.ctr(first + from as u128, &mut stream);
        for (j, slot) in slots.iter_mut().enumerate() {
            if free(from + j) {
                *slot = stream[j];
            }
        }
    }
}
