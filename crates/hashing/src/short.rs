use std::borrow::Cow;
use std::num::NonZeroUsize;
use vesica_core::hash::ItemHash;
use vesica_core::params::ceil_log2;
use vesica_core::{Item, PsiParams};
use vesica_net::Pool;

const LABEL: &str = "vesica hashing 2026 short item";

/// Number of items per task of a CPU thread.
const ITEMS_PER_TASK: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// Items shortened for protocols whose cost grows with the length of items, to σ' = min(σ, λ + ⌈log
/// n_x⌉ + max(⌈log n_x⌉, ⌈log n_y⌉)) bits.
///
/// Items of σ > σ' bits are hashed to σ' bits, under the session. Different items of the two sets
/// then stay different with probability 1 − 2^-λ ("Phasing", Pinkas, Schneider, Segev, Zohner,
/// USENIX Security 2015, §8). So do different items of the sender, which the receiver could
/// otherwise see to be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortItems {
    bits: u32,
    is_hashed: bool,
}

impl ShortItems {
    /// The length for sets of these sizes.
    pub fn new(params: &PsiParams) -> Self {
        let [n_x, n_y] = [params.sender_len(), params.receiver_len()].map(|n| ceil_log2(n as u64));
        let enough = params.statistical_bits() + n_x + n_x.max(n_y);
        Self { bits: params.item_bits().min(enough), is_hashed: params.item_bits() > enough }
    }

    /// The length at which the items of each list stay different too: λ + 2·max(⌈log n_x⌉, ⌈log
    /// n_y⌉) bits.
    pub fn of_distinct(params: &PsiParams) -> Self {
        let longest = params.sender_len().max(params.receiver_len());
        let enough = params.statistical_bits() + 2 * ceil_log2(longest as u64);
        Self { bits: params.item_bits().min(enough), is_hashed: params.item_bits() > enough }
    }

    /// Items that are compared as they are: for protocols against parties that would look for two
    /// items of one hash.
    pub fn whole(params: &PsiParams) -> Self {
        Self { bits: params.item_bits(), is_hashed: false }
    }

    /// Whether items are hashed.
    pub fn is_hashed(&self) -> bool {
        self.is_hashed
    }

    /// σ'.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// `items` as integers of σ' bits.
    pub fn shorten<'a>(
        &self,
        pool: &Pool,
        params: &PsiParams,
        items: &'a [Item],
    ) -> Cow<'a, [Item]> {
        if !self.is_hashed {
            return Cow::Borrowed(items);
        }
        let hash = ItemHash::new(LABEL, &[params.session().as_bytes()]);
        let mut short = vec![Item::default(); items.len()];
        pool.zip_chunks(items, &mut short, ITEMS_PER_TASK, |items, short| {
            let lens = [Item::LEN as u8; ItemHash::BATCH];
            let mut keys = [[0; ItemHash::BATCH_KEY_LEN]; ItemHash::BATCH];
            let batches = items.chunks(ItemHash::BATCH).zip(short.chunks_mut(ItemHash::BATCH));
            for (items, short) in batches {
                for (key, item) in keys.iter_mut().zip(items) {
                    key[..Item::LEN].copy_from_slice(item.as_bytes());
                }
                for (short, hash) in short.iter_mut().zip(hash.items(&keys, &lens)) {
                    *short = Item::from_integer(hash.integer() >> (Item::BITS - self.bits));
                }
            }
        });
        Cow::Owned(short)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_core::{Learns, SessionId};

    fn params(n_x: u64, n_y: u64, bits: u32) -> PsiParams {
        PsiParams::new(SessionId::from_bytes([1; 32]), n_x, n_y, Learns::Receiver)
            .and_then(|params| params.with_item_bits(bits))
            .unwrap()
    }

    #[test]
    fn lengths_match_the_formula() {
        let bits = |n_x, n_y, bits| ShortItems::new(&params(n_x, n_y, bits)).bits();
        assert_eq!(bits(1 << 20, 1 << 20, 128), 80);
        assert_eq!(bits(1 << 20, 1 << 20, 32), 32);
        assert_eq!(bits(1 << 24, 1 << 8, 128), 88);
        assert_eq!(bits(1 << 8, 1 << 24, 128), 72);
        assert_eq!(bits(1 << 8, 1 << 8, 64), 56);
        let distinct = |n_x, n_y, bits| ShortItems::of_distinct(&params(n_x, n_y, bits)).bits();
        assert_eq!(distinct(1 << 20, 1 << 20, 128), 80);
        assert_eq!(distinct(1 << 10, 1 << 24, 128), 88);
        assert_eq!(distinct(1 << 10, 1 << 24, 64), 64);
    }

    #[test]
    fn long_items_are_hashed_and_short_ones_stay_unchanged() {
        let pool = Pool::new(NonZeroUsize::MIN).unwrap();
        let items: Vec<Item> = (0..100).map(Item::from_integer).collect();
        let of = |bits| {
            let params = params(100, 100, bits);
            ShortItems::new(&params).shorten(&pool, &params, &items).into_owned()
        };
        assert_eq!(of(32), items);
        let hashed = of(128);
        assert!(hashed.iter().all(|item| item.integer() >> 54 == 0));
        assert!(hashed.iter().any(|item| item.integer() >> 53 == 1));
        let distinct: std::collections::HashSet<_> = hashed.iter().collect();
        assert_eq!(distinct.len(), 100);
    }
}
