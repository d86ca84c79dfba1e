//! The public parameters of a run, parsed once into types that are always valid.

use crate::{Bounds, Item, ParameterError, Query, Result};
use std::fmt;

/// Statistical security λ of a result, in bits: it is wrong with probability at most 2^-λ.
pub const STATISTICAL_SECURITY_BITS: u32 = 40;

/// How many runs make one result together. The chances that they fail add up, so each run may fail
/// less often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs(u16);

impl Runs {
    /// A run that makes a result alone.
    pub const ONE: Self = Self(1);

    /// The most runs for one result.
    pub const MAX: Self = Self(4096);

    /// `count` runs for one result.
    ///
    /// # Errors
    /// [`ParameterError::Runs`] for 0, and above [`Runs::MAX`].
    pub fn new(count: u64) -> Result<Self> {
        if (1..=Self::MAX.count()).contains(&count) {
            Ok(Self(count as u16))
        } else {
            Err(ParameterError::Runs { count }.into())
        }
    }

    /// Their number.
    pub const fn count(self) -> u64 {
        self.0 as u64
    }

    /// λ of each run, in bits: 40 + ⌈log runs⌉, from 40 to 52. A failure of probability 2^-λ in
    /// each of the runs has probability 2^-40 in the result.
    pub fn statistical_bits(self) -> u32 {
        STATISTICAL_SECURITY_BITS + ceil_log2(self.count())
    }
}

/// Maximum size of one party's set in one run: positions fit into 32 bits.
pub const MAX_SET_LEN: u64 = u32::MAX as u64;

/// The longest partition by default, in items on average and before padding: a set of at most that
/// many is not split.
///
/// From 2^18 to 2^21 items a run takes about the same time an item; smaller partitions take less
/// memory, and larger ones less padding.
pub const WHOLE_SET_LEN: u64 = 3 << 19;

/// Identifies one session. Both parties derive the same value, and no one can choose it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SessionId([u8; 32]);

impl SessionId {
    /// A session from 32 bytes that both parties hold.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId(..)")
    }
}

/// Who learns the result of a two-party run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Learns {
    /// Only the receiver.
    Receiver,
    /// The receiver, which then sends the result to the sender.
    Both,
}

/// When a protocol that compares items pair by pair tells both parties which pairs match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EarlyReveal {
    /// At the end. All pairs are compared, so that the number of bytes does not depend on the
    /// matches.
    Never,
    /// While other pairs are compared: those of one step during the next. What the parties send
    /// does not depend on time.
    #[default]
    InStep,
    /// While other pairs are compared: as many steps later as keep the network busy, by the times
    /// of the run itself. Not for a party that runs again on what it has received.
    Paced,
}

/// Public parameters of one two-party set operation, the same at both parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PsiParams {
    session: SessionId,
    sender_len: u64,
    receiver_len: u64,
    learns: Learns,
    largest_item: u128,
    query: Query,
    bounds: Bounds,
    shared_len: u64,
    runs: Runs,
    partition_counts: bool,
    partition_len: u64,
    early_reveal: EarlyReveal,
}

impl PsiParams {
    /// Parameters for a sender's set of `sender_len` (n_x) items and a receiver's set of
    /// `receiver_len` (n_y) items.
    ///
    /// # Errors
    /// [`ParameterError::SetTooLarge`] above [`MAX_SET_LEN`].
    pub fn new(
        session: SessionId,
        sender_len: u64,
        receiver_len: u64,
        learns: Learns,
    ) -> Result<Self> {
        for len in [sender_len, receiver_len] {
            if len > MAX_SET_LEN {
                return Err(ParameterError::SetTooLarge { len, max: MAX_SET_LEN }.into());
            }
        }
        Ok(Self {
            session,
            sender_len,
            receiver_len,
            learns,
            largest_item: u128::MAX,
            query: Query::Intersection,
            bounds: Bounds::NONE,
            shared_len: 0,
            runs: Runs::ONE,
            partition_counts: false,
            partition_len: WHOLE_SET_LEN,
            early_reveal: EarlyReveal::default(),
        })
    }

    /// Changes the items to integers below 2^`item_bits`, see [`Item::from_integer`].
    ///
    /// # Errors
    /// [`ParameterError::ItemBits`] unless 1 ≤ `item_bits` ≤ 128.
    pub fn with_item_bits(self, item_bits: u32) -> Result<Self> {
        if !(1..=Item::BITS).contains(&item_bits) {
            return Err(ParameterError::ItemBits { bits: item_bits }.into());
        }
        Ok(Self { largest_item: u128::MAX >> (Item::BITS - item_bits), ..self })
    }

    /// Changes the items to integers from 0 to `largest`, see [`Item::from_integer`]. They need not
    /// fill their last bit: a protocol whose cost grows with the domain then costs as much as the
    /// domain is long.
    ///
    /// # Errors
    /// [`ParameterError::ItemBits`] for 0.
    pub fn with_largest_item(self, largest: u128) -> Result<Self> {
        match largest {
            0 => Err(ParameterError::ItemBits { bits: 0 }.into()),
            _ => Ok(Self { largest_item: largest, ..self }),
        }
    }

    /// Changes the query; the default is the intersection.
    pub fn with_query(self, query: Query) -> Self {
        Self { query, ..self }
    }

    /// Sets bounds on the number of common items, outside which the result stays secret.
    pub fn with_bounds(self, bounds: Bounds) -> Self {
        Self { bounds, ..self }
    }

    /// Declares that both sets contain the same `shared_len` items that both parties know, such as
    /// those of a self-check.
    ///
    /// # Errors
    /// [`ParameterError::SharedItems`] if a set is smaller.
    pub fn with_shared(self, shared_len: u64) -> Result<Self> {
        if shared_len > self.sender_len.min(self.receiver_len) {
            return Err(ParameterError::SharedItems.into());
        }
        Ok(Self { shared_len, ..self })
    }

    /// Declares that this run is one of `runs` whose results make one result; the default is 1.
    ///
    /// # Errors
    /// [`ParameterError::Runs`] for 0, and above 4,096.
    pub fn with_runs(self, runs: u64) -> Result<Self> {
        Ok(Self { runs: Runs::new(runs)?, ..self })
    }

    /// Declares whether a party that learns how many items are common may learn it for each of the
    /// runs that make one result; the default is `false`.
    pub fn with_partition_counts(self, partition_counts: bool) -> Self {
        Self { partition_counts, ..self }
    }

    /// See [`PsiParams::with_partition_counts`].
    pub fn partition_counts(&self) -> bool {
        self.partition_counts
    }

    /// Declares how many items a partition of the larger set has at most on average, before
    /// padding; the default is [`WHOLE_SET_LEN`].
    pub fn with_partition_len(self, partition_len: u64) -> Self {
        Self { partition_len, ..self }
    }

    /// See [`PsiParams::with_partition_len`].
    pub fn partition_len(&self) -> u64 {
        self.partition_len
    }

    /// Sets when matches are revealed, where the protocol can reveal them early; the default is
    /// [`EarlyReveal::InStep`].
    pub fn with_early_reveal(self, early_reveal: EarlyReveal) -> Self {
        Self { early_reveal, ..self }
    }

    /// See [`PsiParams::with_early_reveal`].
    pub fn early_reveal(&self) -> EarlyReveal {
        self.early_reveal
    }

    /// How many runs make one result together, this one among them.
    pub fn runs(&self) -> Runs {
        self.runs
    }

    /// λ of this run, in bits, see [`Runs::statistical_bits`].
    pub fn statistical_bits(&self) -> u32 {
        self.runs.statistical_bits()
    }

    /// Number of items in both sets that both parties know to be common.
    pub fn shared_len(&self) -> usize {
        self.shared_len as usize
    }

    /// The query.
    pub fn query(&self) -> Query {
        self.query
    }

    /// The bounds on the number of common items.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// σ, the length of an item in bits: 128 for digests, fewer for integers of a small domain.
    pub fn item_bits(&self) -> u32 {
        Item::BITS - self.largest_item.leading_zeros()
    }

    /// The largest integer that an item can be: the domain has one item more.
    pub fn largest_item(&self) -> u128 {
        self.largest_item
    }

    /// The session that every label of the run is bound to.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// n_x, the size of the sender's set.
    pub fn sender_len(&self) -> usize {
        self.sender_len as usize
    }

    /// n_y, the size of the receiver's set.
    pub fn receiver_len(&self) -> usize {
        self.receiver_len as usize
    }

    /// Whether a set is empty, so that there is nothing to compare.
    pub fn has_empty_set(&self) -> bool {
        self.sender_len == 0 || self.receiver_len == 0
    }

    /// Who learns the result.
    pub fn learns(&self) -> Learns {
        self.learns
    }

    /// Length of a tag in bits: λ + ⌈log n_x⌉ + ⌈log n_y⌉ (Phasing §3.1, ℓ).
    ///
    /// Two different items of the two sets then have equal tags with probability at most 2^-λ, over
    /// all n_x · n_y pairs.
    pub fn tag_bits(&self) -> u32 {
        self.statistical_bits() + ceil_log2(self.sender_len) + ceil_log2(self.receiver_len)
    }

    /// [`tag_bits`](Self::tag_bits) in whole bytes.
    pub fn tag_len_bytes(&self) -> usize {
        self.tag_bits().div_ceil(8) as usize
    }
}

/// ⌈log2 n⌉, and 0 for n ≤ 1.
pub fn ceil_log2(n: u64) -> u32 {
    match n {
        0 | 1 => 0,
        _ => 64 - (n - 1).leading_zeros(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ceil_log2_at_the_edges() {
        let expected = [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (1 << 20, 20)];
        for (n, log) in expected {
            assert_eq!(ceil_log2(n), log, "n = {n}");
        }
        assert_eq!(ceil_log2((1 << 20) + 1), 21);
        assert_eq!(ceil_log2(u64::MAX), 64);
    }

    #[test]
    fn tags_have_ten_bytes_at_two_to_the_twenty() {
        let session = SessionId::from_bytes([0; 32]);
        let params = |n, runs| {
            PsiParams::new(session, n, n, Learns::Both).and_then(|params| params.with_runs(runs))
        };
        let len = |n, runs| params(n, runs).map(|params| params.tag_len_bytes());
        assert_eq!([1 << 20, 1, 0, MAX_SET_LEN].map(|n| len(n, 1)), [Ok(10), Ok(5), Ok(5), Ok(13)]);
        assert_eq!([1 << 20, 1, MAX_SET_LEN].map(|n| len(n, 4096)), [Ok(12), Ok(7), Ok(15)]);
        assert_eq!(params(1 << 20, 1024).map(|params| params.tag_bits()), Ok(90));
    }

    #[test]
    fn the_failures_of_all_runs_add_up_to_two_to_the_minus_forty() {
        let params = PsiParams::new(SessionId::from_bytes([0; 32]), 8, 9, Learns::Both).unwrap();
        assert_eq!((params.runs(), params.statistical_bits()), (Runs::ONE, 40));
        for runs in 1..=Runs::MAX.count() {
            let bits = params.with_runs(runs).unwrap().statistical_bits();
            assert!(runs << 40 <= 1 << bits && runs << 41 > 1 << bits, "{runs} runs: {bits}");
        }
        for count in [0, 4097, u64::MAX] {
            assert_eq!(params.with_runs(count), Err(ParameterError::Runs { count }.into()));
        }
    }

    #[test]
    fn a_domain_has_the_bits_of_its_largest_item() {
        let params = PsiParams::new(SessionId::from_bytes([0; 32]), 8, 9, Learns::Both).unwrap();
        assert_eq!((params.item_bits(), params.largest_item()), (128, u128::MAX));
        for (largest, bits) in [(1, 1), (2, 2), (255, 8), (256, 9), (u128::MAX, 128)] {
            assert_eq!(
                params.with_largest_item(largest).map(|params| params.item_bits()),
                Ok(bits)
            );
        }
        for bits in 1..=128 {
            let params = params.with_item_bits(bits).unwrap();
            assert_eq!(
                (params.item_bits(), params.largest_item()),
                (bits, u128::MAX >> (128 - bits))
            );
        }
        assert_eq!(params.with_largest_item(0), Err(ParameterError::ItemBits { bits: 0 }.into()));
    }

    #[test]
    fn a_set_is_not_smaller_than_its_shared_items() {
        let params = PsiParams::new(SessionId::from_bytes([0; 32]), 8, 9, Learns::Both).unwrap();
        assert_eq!(params.shared_len(), 0);
        assert_eq!(params.with_shared(8).map(|params| params.shared_len()), Ok(8));
        assert!(params.with_shared(9).is_err());
    }

    #[test]
    fn sets_above_the_limit_are_refused() {
        let session = SessionId::from_bytes([0; 32]);
        assert!(PsiParams::new(session, MAX_SET_LEN, 0, Learns::Both).is_ok());
        assert!(PsiParams::new(session, MAX_SET_LEN + 1, 0, Learns::Both).is_err());
        assert!(PsiParams::new(session, 0, MAX_SET_LEN + 1, Learns::Both).is_err());
    }
}
