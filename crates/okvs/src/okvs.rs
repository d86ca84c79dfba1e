use crate::Scratch;
use vesica_core::Block;
use vesica_simd::aes::Aes128;

/// Why a cluster could not be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// Two keys are equal.
    #[error("two keys are equal")]
    DuplicateKey,
    /// The cluster holds more keys than its slots can. For random keys and a shape made for that
    /// many keys the probability is in [`Unsolvable`](EncodeError::Unsolvable)'s.
    #[error("more keys than slots")]
    Overfull,
    /// The equations of the keys have no solution. For random keys, the probability that any
    /// cluster ends in this or in [`Overfull`](EncodeError::Overfull) is below 2^-40.
    #[error("the equations of the keys have no solution")]
    Unsolvable,
}

/// The public shape of one encoding; both parties construct it from the number of keys alone.
///
/// The slots lie cluster after cluster, all of the same length. A key belongs to one cluster and
/// its row is non-zero there alone, so that clusters are encoded and decoded on their own.
///
/// Timing depends on the keys, not on values or slots.
pub trait Okvs: Send + Sync {
    /// How many slots there are in all: [`cluster_count`](Okvs::cluster_count) times
    /// [`cluster_len`](Okvs::cluster_len).
    fn len(&self) -> usize {
        self.cluster_count() * self.cluster_len()
    }

    /// Whether there is no slot, as for no key.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many clusters there are; at least one.
    fn cluster_count(&self) -> usize;

    /// How many slots each cluster has.
    fn cluster_len(&self) -> usize;

    /// The cluster of `key`: its leading 64 bits, scaled to the number of clusters; so ascending in
    /// `key`. The row inside the cluster depends on what is left of the key.
    #[inline]
    fn cluster_of(&self, key: Block) -> usize {
        scaled(key, self.cluster_count()).0
    }

    /// Into how many groups of ascending keys [`Partition`](crate::Partition) brings its keys: a
    /// multiple of [`cluster_count`](Okvs::cluster_count), more of them where the order inside a
    /// cluster makes it faster.
    fn group_count(&self) -> usize {
        self.cluster_count()
    }

    /// Encodes one cluster: fills `slots` so that each of `keys` decodes to its value.
    ///
    /// What the keys leave free is filled from the stream of `fill`, at positions that no other
    /// `cluster` uses; so one fresh random `fill` serves all clusters of one encoding. Every key is
    /// decoded again before this returns.
    ///
    /// # Errors
    /// [`EncodeError`]; `slots` then hold nothing of use.
    ///
    /// # Panics
    /// If `values` is not as long as `keys`, or `slots` not of [`cluster_len`](Okvs::cluster_len).
    fn encode(
        &self,
        cluster: usize,
        keys: &[Block],
        values: &[Block],
        slots: &mut [Block],
        scratch: &mut Scratch,
        fill: &Aes128,
    ) -> Result<(), EncodeError>;

    /// Decodes any `keys` of one cluster: sets `out[i]` to the sum of the slots that the row of
    /// `keys[i]` selects.
    ///
    /// # Panics
    /// If `out` is not as long as `keys`, or `slots` not of [`cluster_len`](Okvs::cluster_len).
    fn decode(&self, keys: &[Block], slots: &[Block], out: &mut [Block], scratch: &mut Scratch);
}

/// The leading 64 bits of `key`, scaled to `0..count`, and what they leave as a fraction of 2^64.
#[inline(always)]
pub(crate) fn scaled(key: Block, count: usize) -> (usize, u64) {
    let scaled = (key.get() >> 64) * count as u128;
    ((scaled >> 64) as usize, scaled as u64)
}

/// Fills those of `slots` that are `free` with the part of the stream of `fill` that belongs to
/// `cluster`.
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
