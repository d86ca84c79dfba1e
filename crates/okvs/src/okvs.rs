use crate::Scratch;
use crate::clusters::scaled;
use crate::encoding::{EncodeError, Fill};
use vesica_core::Block;
use vesica_simd::aes::Aes128;

/// An encoding for a public number of keys; both parties construct it from that number alone.
///
/// The slots form clusters of equal length, one after the other. A key belongs to one cluster, and
/// its row is zero outside of it, so clusters are encoded and decoded independently.
///
/// Timing depends on the keys, but not on values or slots.
pub trait Okvs: Send + Sync {
    /// Total number of slots: [`cluster_count`](Okvs::cluster_count) times
    /// [`cluster_len`](Okvs::cluster_len).
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

    /// The cluster of `key`: its leading 64 bits, scaled to the number of clusters, so ascending in
    /// `key`. The row within the cluster depends on the rest of the key.
    #[inline]
    fn cluster_of(&self, key: Block) -> usize {
        scaled(key, self.cluster_count()).0
    }

    /// Number of groups of ascending keys that [`Partition`](crate::Partition) makes: a multiple of
    /// [`cluster_count`](Okvs::cluster_count), and a larger one if order within a cluster speeds up
    /// the encoding.
    fn group_count(&self) -> usize {
        self.cluster_count()
    }

    /// Encodes one cluster: fills `slots` so that each of `keys` decodes to its value.
    ///
    /// The stream of `fill` fills the free slots, from positions that no other `cluster` uses, so
    /// one fresh random `fill` serves all clusters of an encoding. Before it returns, the function
    /// decodes every key and compares.
    ///
    /// # Errors
    /// [`EncodeError`]; the contents of `slots` are then useless.
    ///
    /// # Panics
    /// If `keys` and `values` differ in length, or `slots` does not have
    /// [`cluster_len`](Okvs::cluster_len) slots.
    fn encode(
        &self,
        cluster: usize,
        keys: &[Block],
        values: &[Block],
        slots: &mut [Block],
        scratch: &mut Scratch,
        fill: &Aes128,
    ) -> Result<(), EncodeError> {
        assert_eq!(keys.len(), values.len(), "one value per key");
        assert_eq!(slots.len(), self.cluster_len(), "the slots of one cluster");
        if keys.len() > slots.len() {
            return Err(EncodeError::Overfull);
        }
        self.solve([keys, values], slots, scratch, Fill { cluster, cipher: fill })
    }

    /// Decodes any `keys` of one cluster: sets `out[i]` to the sum of the slots that the row of
    /// `keys[i]` selects.
    ///
    /// # Panics
    /// If `keys` and `out` differ in length, or `slots` does not have
    /// [`cluster_len`](Okvs::cluster_len) slots.
    fn decode(&self, keys: &[Block], slots: &[Block], out: &mut [Block], scratch: &mut Scratch) {
        assert_eq!(keys.len(), out.len(), "one output per key");
        assert_eq!(slots.len(), self.cluster_len(), "the slots of one cluster");
        self.sums(keys, slots, out, scratch);
    }

    /// [`encode`](Okvs::encode) for at most as many keys as slots, with the values in `points[1]`.
    ///
    /// # Errors
    /// As [`encode`](Okvs::encode).
    fn solve(
        &self,
        points: [&[Block]; 2],
        slots: &mut [Block],
        scratch: &mut Scratch,
        fill: Fill<'_>,
    ) -> Result<(), EncodeError>;

    /// [`decode`](Okvs::decode) with lengths that match.
    fn sums(&self, keys: &[Block], slots: &[Block], out: &mut [Block], scratch: &mut Scratch);
}
