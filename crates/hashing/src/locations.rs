//! The bins of items under each hash function.
//!
//! All functions of a table come from one keyed hash under the session, so that nobody can choose
//! items that collide: the session is drawn when both sets are fixed. The functions of an item name
//! different bins.
//!
//! **Digests** ([`Locations::of_digests`]). Function i maps a 128-bit item to a uniform bin; what is
//! compared in the bin is the whole item and i.
//!
//! **Permutation-based** ([`Locations::permuted`]; Y. Arbitman, M. Naor, G. Segev, FOCS 2010, as used
//! in "Phasing", Pinkas, Schneider, Segev, Zohner, USENIX Security 2015, §4). An item of σ bits is
//! split into x_L of b = ⌊log β⌋ bits and x_R, the other σ − b. It goes to bin
//! (x_L + f_i(x_R)) mod β, and what is compared there is x_R and i. Two items with the same x_R and i
//! in the same bin have the same x_L, as 2^b ≤ β. Without i this fails: x_L + f_1(x_R) and
//! x'_L + f_2(x_R) may be the same bin (M. Lambæk, ePrint 2016/665). The paper takes β to be a power
//! of two and ⊕; addition modulo β serves every β and keeps the length σ − ⌊log β⌋.

use crate::table::{MAX_FUNCTIONS, Table};
use std::num::NonZeroUsize;
use vesica_core::hash::ItemHash;
use vesica_core::{Item, SessionId};
use vesica_net::Pool;

const DIGEST_LABEL: &str = "vesica hashing 2026 bins of a digest";
const PERMUTED_LABEL: &str = "vesica hashing 2026 bins by permutation";

/// Items a CPU thread takes at a time.
const ITEMS_PER_TASK: NonZeroUsize = NonZeroUsize::new(1 << 12).unwrap();

/// Bits of a hash that choose one bin: bins are even up to 2^-10 for up to 2^32 of them.
const BITS_PER_BIN: u32 = 42;

/// Where the items of a list may go, and what is compared there.
#[derive(Clone)]
pub struct Locations {
    table: Table,
    hash: ItemHash,
    /// Bits of x_L, or `None` for digests.
    split: Option<u32>,
    item_bits: u32,
}

/// The bins of an item, of which the first [`Table::functions`] count.
pub type Bins = [u32; MAX_FUNCTIONS];

impl Locations {
    /// The locations of 128-bit digests.
    pub fn of_digests(table: Table, session: &SessionId) -> Self {
        let hash = ItemHash::new(DIGEST_LABEL, &[session.as_bytes()]);
        Self { table, hash, split: None, item_bits: Item::BITS }
    }

    /// The locations of integers of `item_bits` bits by permutation-based hashing.
    ///
    /// # Panics
    /// If `item_bits` is not from 1 to 128.
    pub fn permuted(table: Table, session: &SessionId, item_bits: u32) -> Self {
        assert!((1..=Item::BITS).contains(&item_bits), "an item has 1 to 128 bits");
        let hash = ItemHash::new(PERMUTED_LABEL, &[session.as_bytes()]);
        let split = table.bins().checked_ilog2().unwrap_or(0).min(item_bits);
        Self { table, hash, split: Some(split), item_bits }
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Bits of what is compared in a bin, the index of the function included:
    /// σ − ⌊log β⌋ + ⌈log h⌉ for permutation-based hashing, σ + ⌈log h⌉ for digests.
    pub fn value_bits(&self) -> u32 {
        self.item_bits - self.split.unwrap_or(0) + self.index_bits()
    }

    /// ⌈log h⌉.
    fn index_bits(&self) -> u32 {
        vesica_core::params::ceil_log2(self.table.functions() as u64)
    }

    /// The part of an item that its hash is of and that is compared: x_R, or the whole digest.
    #[inline]
    pub fn remainder(&self, item: &Item) -> u128 {
        let x = item.integer();
        x.checked_shr(self.split.unwrap_or(0)).unwrap_or(0)
    }

    /// What is compared where function `index` puts `item`: the remainder, and above it the index.
    ///
    /// For permutation-based hashing only: the index of a digest does not fit.
    #[inline]
    pub fn value(&self, item: &Item, index: usize) -> u128 {
        debug_assert!(self.split.is_some(), "a digest and an index have more than 128 bits");
        let shift = self.item_bits - self.split.unwrap_or(0);
        // With all 128 bits kept there is one bin, and one function suffices to find it.
        self.remainder(item) | (index as u128).checked_shl(shift).unwrap_or(0)
    }

    /// The bins of `items`, in their order, on all threads of `pool`.
    ///
    /// # Panics
    /// If the table has fewer bins than functions.
    pub fn bins(&self, pool: &Pool, items: &[Item]) -> Vec<Bins> {
        assert!(self.table.bins() >= self.table.functions(), "each function names another bin");
        let mut bins = vec![Bins::default(); items.len()];
        pool.zip_chunks(items, &mut bins, ITEMS_PER_TASK, |items, bins| self.fill(items, bins));
        bins
    }

    /// The bins of `items`, as many as there are places in `bins`.
    pub fn fill(&self, items: &[Item], bins: &mut [Bins]) {
        const WIDTH: usize = ItemHash::BATCH_KEY_LEN;
        let mut keys = [[0; WIDTH]; ItemHash::BATCH];
        let lens = [Item::LEN as u8; ItemHash::BATCH];
        for (items, bins) in items.chunks(ItemHash::BATCH).zip(bins.chunks_mut(ItemHash::BATCH)) {
            for (key, item) in keys.iter_mut().zip(items) {
                key[..Item::LEN].copy_from_slice(&self.remainder(item).to_le_bytes());
            }
            let hashes = self.hash.items(&keys, &lens);
            for ((bins, hash), item) in bins.iter_mut().zip(&hashes).zip(items) {
                *bins = self.bins_of_hash(hash.integer(), item);
            }
        }
    }

    #[inline]
    fn bins_of_hash(&self, hash: u128, item: &Item) -> Bins {
        let count = self.table.bins() as u128;
        let left = match self.split {
            Some(split) => item.integer() & ((1 << split) - 1),
            None => 0,
        };
        let chunk = |i: u32, below: u128| {
            let chunk = (hash >> (BITS_PER_BIN * i)) & ((1 << BITS_PER_BIN) - 1);
            (chunk * below) >> BITS_PER_BIN
        };
        // Drawn without repetition: each is below the number of those left, and steps over the
        // smaller ones taken.
        let first = chunk(0, count);
        let mut second = chunk(1, count.saturating_sub(1));
        second += u128::from(second >= first);
        let mut third = chunk(2, count.saturating_sub(2));
        third += u128::from(third >= first.min(second));
        third += u128::from(third >= first.max(second));
        [first, second, third].map(|f| {
            let bin = left + f;
            (if bin >= count { bin - count } else { bin }) as u32
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn pool() -> Pool {
        Pool::new(NonZeroUsize::MIN).expect("one thread starts")
    }

    fn session(seed: u8) -> SessionId {
        SessionId::from_bytes([seed; 32])
    }

    /// (bin, value) of every item under every function.
    fn places(locations: &Locations, items: &[Item]) -> Vec<((u32, u128), u128)> {
        let bins = locations.bins(&pool(), items);
        let functions = locations.table().functions();
        let places = items.iter().zip(bins).flat_map(|(item, bins)| {
            (0..functions).map(move |i| ((bins[i], locations.value(item, i)), item.integer()))
        });
        places.collect()
    }

    #[test]
    fn what_is_compared_in_a_bin_names_the_item() {
        // The whole domain of 14 bits, into tables of few and of many bins.
        let items: Vec<Item> = (0..1 << 14).map(Item::from_integer).collect();
        for len in [1, 5, 100, 1000, 3000, 12_000] {
            for table in [Table::phasing_three_way(len), Table::phasing_two_way(len)] {
                let locations = Locations::permuted(table, &session(1), 14);
                let mut known = HashMap::new();
                for (place, item) in places(&locations, &items) {
                    assert!(place.1 < 1 << locations.value_bits());
                    let known = *known.entry(place).or_insert(item);
                    assert_eq!(known, item, "two items are the same in a bin");
                }
            }
        }
    }

    #[test]
    fn without_the_index_of_the_function_different_items_match() {
        let items: Vec<Item> = (0..1 << 14).map(Item::from_integer).collect();
        let locations = Locations::permuted(Table::phasing_three_way(1000), &session(1), 14);
        let bins = locations.bins(&pool(), &items);
        let mut known = HashMap::new();
        let mut false_matches = 0;
        for (item, bins) in items.iter().zip(bins) {
            for bin in bins {
                let place = (bin, locations.remainder(item));
                false_matches += u32::from(*known.entry(place).or_insert(item) != item);
            }
        }
        assert!(false_matches > 0, "the paper's representation confuses items");
    }

    #[test]
    fn values_have_the_length_of_the_formula() {
        // σ − ⌊log 1.2·n⌋ + 2 of 32-bit items, as in Table 8 of the paper with the index added.
        for (log, bits) in [(8, 26), (12, 22), (16, 18), (20, 14), (24, 10)] {
            let table = Table::phasing_three_way(1 << log);
            assert_eq!(Locations::permuted(table, &session(0), 32).value_bits(), bits);
        }
        let table = Table::phasing_two_way(1 << 20);
        assert_eq!(Locations::permuted(table, &session(0), 32).value_bits(), 32 - 21 + 1);
        assert_eq!(Locations::of_digests(table, &session(0)).value_bits(), 129);
    }

    #[test]
    fn bins_are_even_and_depend_on_the_session() {
        let items: Vec<Item> = (0..60_000).map(Item::from_integer).collect();
        let table = Table::phasing_three_way(50);
        let digests = Locations::of_digests(table, &session(2)).bins(&pool(), &items);
        let permuted = Locations::permuted(table, &session(2), 40).bins(&pool(), &items);
        for bins in [&digests, &permuted] {
            for function in 0..3 {
                let mut counts = vec![0; table.bins()];
                bins.iter().for_each(|bins| counts[bins[function] as usize] += 1);
                // 1000 expected in each of 60, standard deviation 32.
                assert!(counts.iter().all(|count| (800..1200).contains(count)));
            }
        }
        assert!(Locations::of_digests(table, &session(3)).bins(&pool(), &items) != digests);
    }

    #[test]
    fn the_functions_of_an_item_name_different_bins() {
        let items: Vec<Item> = (0..5000).map(Item::from_integer).collect();
        for table in [Table::phasing_two_way(1), Table::phasing_three_way(1), Table::stashless(9)] {
            let functions = table.functions();
            for bins in Locations::of_digests(table, &session(4)).bins(&pool(), &items) {
                for i in 0..functions {
                    assert!((bins[i] as usize) < table.bins());
                    assert!(!bins[..i].contains(&bins[i]));
                }
            }
        }
    }

    #[test]
    fn the_widest_items_and_the_smallest_tables_work() {
        let items = [0, 1, u128::MAX].map(Item::from_integer);
        for table in [Table::phasing_two_way(1), Table::stashless(1)] {
            for bits in [1, 127, 128] {
                let items = items.map(|item| Item::from_integer(item.integer() >> (128 - bits)));
                let locations = Locations::permuted(table, &session(5), bits);
                assert!(
                    locations
                        .bins(&pool(), &items)
                        .iter()
                        .flatten()
                        .all(|bin| (*bin as usize) < table.bins())
                );
            }
        }
    }
}
