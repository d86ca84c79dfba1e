use crate::Scratch;
use vesica_core::Block;
use vesica_simd::aes::Aes128;

/// Why the encoding of a cluster failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// Two keys are equal.
    #[error("two keys are equal")]
    DuplicateKey,
    /// The cluster has more keys than its slots can hold. For random keys, in the number that the
    /// store is for, the probability is part of [`Unsolvable`](EncodeError::Unsolvable)'s.
    #[error("more keys than slots")]
    Overfull,
    /// The equations of the keys have no solution. For random keys, the probability that any
    /// cluster fails with this error or with [`Overfull`](EncodeError::Overfull) is below 2^-40, or
    /// 2^-52 in a store of several runs.
    #[error("the equations of the keys have no solution")]
    Unsolvable,
}

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

/// The line for `n` keys of a table of parameters, and the number of clusters: in `single` by the
/// greatest number of keys in a single cluster, then in `clustered` by the octave of the number of
/// clusters of about `cluster_keys` keys.
pub(crate) fn line_of<'a, L>(
    n: usize,
    single: &'a [(usize, L)],
    cluster_keys: usize,
    clustered: &'a [L],
) -> (&'a L, usize) {
    if let Some((_, line)) = single.iter().find(|(greatest, _)| n <= *greatest) {
        return (line, 1);
    }
    let clusters = n.saturating_add(cluster_keys / 2) / cluster_keys;
    // More keys than the table covers use its last line.
    let octave = (clusters.ilog2() as usize - 1).min(clustered.len() - 1);
    (&clustered[octave], clusters)
}

/// The stream that fills the free slots of a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Fill<'a> {
    cluster: usize,
    cipher: &'a Aes128,
}

impl Fill<'_> {
    /// Writes the cluster's part of the stream to `out`, from block `from` on.
    pub(crate) fn stream(&self, from: usize, out: &mut [Block]) {
        self.cipher.ctr(((self.cluster as u128) << 64) + from as u128, out);
    }

    /// Fills the `free` ones of `slots`.
    pub(crate) fn slots(&self, slots: &mut [Block], free: impl Fn(usize) -> bool) {
        let mut stream = [Block::ZERO; 64];
        for (i, slots) in slots.chunks_mut(stream.len()).enumerate() {
            let from = i * stream.len();
            self.stream(from, &mut stream);
            for (j, slot) in slots.iter_mut().enumerate() {
                if free(from + j) {
                    *slot = stream[j];
                }
            }
        }
    }
}

/// The leading 64 bits of `key`, scaled to `0..count`, and the remainder as a fraction of 2^64.
#[inline(always)]
pub(crate) fn scaled(key: Block, count: usize) -> (usize, u64) {
    let scaled = (key.get() >> 64) * count as u128;
    ((scaled >> 64) as usize, scaled as u64)
}
