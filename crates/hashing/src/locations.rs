//! The bins of items under each hash function.
//!
//! The session keys all functions of a table. It is drawn after both sets are fixed, so no party
//! can choose items that collide.
//!
//! **Digests** ([`Locations::of_digests`]). Function i maps a 128-bit item to a uniform bin; the
//! functions of an item select different bins. The value compared in the bin is the whole item and
//! i.
//!
//! **Permutation-based** ([`Locations::permuted`]; Y. Arbitman, M. Naor, G. Segev, FOCS 2010, as
//! used in "Phasing", Pinkas, Schneider, Segev, Zohner, USENIX Security 2015, §4). An item of σ
//! bits is split into L, its lowest b = ⌊log β⌋ bits, and R, the other r = σ − b. Function i is a
//! permutation of Z_β × {0,1}^r, three rounds of Feistel, and more where r < 6:
//!
//! ```text
//!   L ← L + f(R, i) mod β        R ← R ⊕ g(L, i)        L ← L + h(R, i) mod β        …
//! ```
//!
//! The item goes to bin L, where R and i are compared: σ − ⌊log β⌋ + 2 bits. Two items with the
//! same R and i in the same bin are equal. Without i this fails: different items can share R and
//! the bin under different functions (M. Lambæk, ePrint 2016/665).
//!
//! The paper has one round, x_L ⊕ f_i(x_R), and random items. Keys of a small domain are not
//! random: consecutive numbers share x_R, so their bins are a few shifted copies of one pattern,
//! and placing fails. With more rounds every function behaves like an independent random
//! permutation, which the paper mentions as the alternative. Addition modulo β works for any table
//! size with the same length of values.
//!
//! If two functions of an item select the same bin, a spare function, with index 3, replaces the
//! second: a table needs different bins for each item. The spare function repeats one of the bins
//! with probability at most 2/β.

use crate::table::{MAX_FUNCTIONS, Table};
use std::num::NonZeroUsize;
use vesica_core::hash::{ItemHash, derive};
use vesica_core::{Block, Item, SessionId};
use vesica_net::Pool;
use vesica_simd::aes::Aes128;

const DIGEST_LABEL: &str = "vesica hashing 2026 bins of a digest";
const PERMUTED_LABEL: &str = "vesica hashing 2026 bins by permutation";

/// Number of items per task of a CPU thread.
const ITEMS_PER_TASK: NonZeroUsize = NonZeroUsize::new(1 << 12).unwrap();

/// Hash bits per choice of a bin: bins are uniform up to 2^-10 for up to 2^32 bins.
const BITS_PER_BIN: u32 = 42;

/// Bits of a function's index in the compared value.
const INDEX_BITS: u32 = 2;

/// The index of the function that replaces one that repeats a bin.
const SPARE: u128 = 3;

/// Number of items whose places are computed together.
const BATCH: usize = 4 * ItemHash::BATCH;

/// The bins of items, and the values compared there.
#[derive(Clone)]
pub struct Locations {
    table: Table,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Digests(ItemHash),
    Permuted(Box<Feistel>),
}

/// The bins of an item; the first [`Table::functions`] entries count.
pub type Bins = [u32; MAX_FUNCTIONS];

/// The bins of an item, and the value compared in each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The bins.
    pub bins: Bins,
    /// The compared values. Permutation-based: R, with the index above it. For digests the item
    /// itself, since the index does not fit.
    pub values: [u128; MAX_FUNCTIONS],
}

impl Locations {
    /// For 128-bit digests.
    ///
    /// # Panics
    /// If the table has more than [`MAX_FUNCTIONS`] functions.
    pub fn of_digests(table: Table, session: &SessionId) -> Self {
        assert!(table.functions() <= MAX_FUNCTIONS, "a function that no item has");
        let hash = ItemHash::new(DIGEST_LABEL, &[session.as_bytes()]);
        Self { table, kind: Kind::Digests(hash) }
    }

    /// For integers of `item_bits` bits, by permutation-based hashing.
    ///
    /// # Panics
    /// If `item_bits` is not from 1 to 124, or the table has more than [`MAX_FUNCTIONS`] functions.
    pub fn permuted(table: Table, session: &SessionId, item_bits: u32) -> Self {
        assert!(table.functions() <= MAX_FUNCTIONS, "a function that no item has");
        let feistel = Feistel::new(&table, session, item_bits);
        Self { table, kind: Kind::Permuted(Box::new(feistel)) }
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Length of a compared value in bits: σ − ⌊log β⌋ + 2 for permutation-based hashing, the whole
    /// item for digests.
    pub fn value_bits(&self) -> u32 {
        match &self.kind {
            Kind::Digests(_) => Item::BITS,
            Kind::Permuted(feistel) => feistel.right_bits + INDEX_BITS,
        }
    }

    /// The [`value_bits`](Locations::value_bits) of permutation-based hashing of items of
    /// `item_bits` bits into `table`.
    pub fn permuted_value_bits(table: &Table, item_bits: u32) -> u32 {
        item_bits - left_bits(table, item_bits) + INDEX_BITS
    }

    /// The bins of `items`, in order, computed on all threads of `pool`.
    ///
    /// # Panics
    /// If the table has fewer bins than functions.
    pub fn bins(&self, pool: &Pool, items: &[Item]) -> Vec<Bins> {
        let mut bins = vec![Bins::default(); items.len()];
        pool.zip_chunks(items, &mut bins, ITEMS_PER_TASK, |items, bins| {
            let mut bins = bins.iter_mut();
            self.each(items, |_, place| {
                if let Some(bins) = bins.next() {
                    *bins = place.bins;
                }
            });
        });
        bins
    }

    /// Calls `f` for each of `items`, in order, with its place.
    ///
    /// # Panics
    /// As [`bins`](Locations::bins).
    pub fn each(&self, items: &[Item], mut f: impl FnMut(&Item, &Place)) {
        assert!(
            self.table.bins() >= self.table.functions(),
            "each function selects a different bin"
        );
        let mut places = [Place::default(); BATCH];
        for items in items.chunks(BATCH) {
            match &self.kind {
                Kind::Digests(hash) => places_of_digests(hash, &self.table, items, &mut places),
                Kind::Permuted(feistel) => feistel.places(items, &mut places),
            }
            items.iter().zip(&places).for_each(|(item, place)| f(item, place));
        }
    }
}

/// A uniform number below `count`, from part `i` of a hash.
#[inline]
fn below(count: u64, hash: u128, i: usize) -> u64 {
    let chunk = (hash >> (BITS_PER_BIN * i as u32)) as u64;
    let chunk = chunk << (u64::BITS - BITS_PER_BIN);
    ((u128::from(chunk) * u128::from(count)) >> u64::BITS) as u64
}

fn places_of_digests(hash: &ItemHash, table: &Table, items: &[Item], places: &mut [Place]) {
    let mut keys = [[0; ItemHash::BATCH_KEY_LEN]; ItemHash::BATCH];
    let count = table.bins() as u64;
    let batches = items.chunks(ItemHash::BATCH).zip(places.chunks_mut(ItemHash::BATCH));
    for (items, places) in batches {
        for (key, item) in keys.iter_mut().zip(items) {
            key[..Item::LEN].copy_from_slice(item.as_bytes());
        }
        let hashes = hash.items(&keys, &[Item::LEN as u8; ItemHash::BATCH]);
        for ((place, hash), item) in places.iter_mut().zip(&hashes).zip(items) {
            let hash = hash.integer();
            // Sampling without repetition: each value is below the number of remaining bins, and
            // skips the bins already taken.
            let first = below(count, hash, 0);
            let mut second = below(count.saturating_sub(1), hash, 1);
            second += u64::from(second >= first);
            let mut third = below(count.saturating_sub(2), hash, 2);
            third += u64::from(third >= first.min(second));
            third += u64::from(third >= first.max(second));
            place.bins = [first, second, third].map(|bin| bin as u32);
            place.values = [item.integer(); MAX_FUNCTIONS];
        }
    }
}

/// b = ⌊log β⌋, or the length of the item if it is shorter.
fn left_bits(table: &Table, item_bits: u32) -> u32 {
    table.bins().checked_ilog2().unwrap_or(0).min(item_bits)
}

/// A permutation of Z_β × {0,1}^r for each function and for the spare one.
#[derive(Clone)]
struct Feistel {
    /// AES keys for π(x) ⊕ x: for the first round, for the rounds of R, and for the rounds of L.
    ciphers: [Aes128; 3],
    functions: usize,
    bins: u64,
    left_bits: u32,
    right_bits: u32,
    /// Pairs of a round on R and a round on L, after the first round.
    pairs: u32,
}

impl Feistel {
    fn new(table: &Table, session: &SessionId, item_bits: u32) -> Self {
        assert!((1..=124).contains(&item_bits), "an item and an index have at most 126 bits");
        let cipher = |round: u8| {
            let key = derive(PERMUTED_LABEL, &[session.as_bytes(), &[round]]);
            let mut half = [0; Block::LEN];
            half.copy_from_slice(&key[..Block::LEN]);
            Aes128::new(Block::from_le_bytes(half))
        };
        let left_bits = left_bits(table, item_bits);
        let right_bits = item_bits - left_bits;
        Self {
            ciphers: [0, 1, 2].map(cipher),
            functions: table.functions(),
            bins: table.bins() as u64,
            left_bits,
            right_bits,
            pairs: pairs(right_bits),
        }
    }

    fn right_mask(&self) -> u128 {
        (1 << self.right_bits) - 1
    }

    #[inline]
    fn add(&self, left: u64, more: u64) -> u64 {
        let sum = left + more;
        if sum >= self.bins { sum - self.bins } else { sum }
    }

    fn split(&self, item: &Item) -> (u64, u128) {
        let left = item.integer() as u64 & ((1 << self.left_bits) - 1);
        (left, item.integer() >> self.left_bits)
    }

    /// All rounds but the first, for functions `index(0)`, `index(1)`, ….
    #[inline]
    fn rounds(
        &self,
        lefts: &mut [u64],
        rights: &mut [u128],
        blocks: &mut [Block],
        index: impl Fn(usize) -> u128,
    ) {
        for pair in 0..u128::from(self.pairs) {
            for (at, (block, left)) in blocks.iter_mut().zip(&*lefts).enumerate() {
                *block = Block::new(u128::from(*left) | index(at) << 64 | pair << 72);
            }
            self.ciphers[1].mmo(blocks);
            for (at, (block, right)) in blocks.iter_mut().zip(&mut *rights).enumerate() {
                *right ^= block.get() & self.right_mask();
                // If there is a second pair, R is short and leaves these bits free.
                *block = Block::new(*right | pair << 100 | index(at) << 126);
            }
            self.ciphers[2].mmo(blocks);
            for (block, left) in blocks.iter().zip(&mut *lefts) {
                *left = self.add(*left, below(self.bins, block.get(), 0));
            }
        }
    }

    /// The places of at most [`BATCH`] items.
    fn places(&self, items: &[Item], places: &mut [Place]) {
        const ALL: usize = BATCH * MAX_FUNCTIONS;
        let functions = self.functions;
        let mut first = [Block::ZERO; BATCH];
        for (block, item) in first.iter_mut().zip(items) {
            *block = Block::new(self.split(item).1);
        }
        self.ciphers[0].mmo(&mut first[..items.len()]);

        // Function i of item n is at index n·h + i.
        let (mut lefts, mut rights) = ([0; ALL], [0; ALL]);
        for (n, item) in items.iter().enumerate() {
            let (left, right) = self.split(item);
            for i in 0..functions {
                let at = n * functions + i;
                lefts[at] = self.add(left, below(self.bins, first[n].get(), i));
                rights[at] = right;
            }
        }
        let used = items.len() * functions;
        let mut blocks = [Block::ZERO; ALL];
        self.rounds(&mut lefts[..used], &mut rights[..used], &mut blocks[..used], |at| {
            (at % functions) as u128
        });
        for (n, (item, place)) in items.iter().zip(places).enumerate() {
            for i in 0..functions {
                let at = n * functions + i;
                place.bins[i] = lefts[at] as u32;
                place.values[i] = rights[at] | (i as u128) << self.right_bits;
            }
            let same = (1..functions).find(|i| place.bins[..*i].contains(&place.bins[*i]));
            if let Some(i) = same {
                (place.bins[i], place.values[i]) = self.spare(item);
            }
        }
    }

    /// The bin and the compared value of an item under the spare function.
    #[cold]
    fn spare(&self, item: &Item) -> (u32, u128) {
        let (left, right) = self.split(item);
        let mut first = [Block::new(right | SPARE << 126)];
        self.ciphers[0].mmo(&mut first);
        let mut lefts = [self.add(left, below(self.bins, first[0].get(), 0))];
        let mut rights = [right];
        self.rounds(&mut lefts, &mut rights, &mut [Block::ZERO], |_| SPARE);
        (lefts[0] as u32, rights[0] | SPARE << self.right_bits)
    }
}

/// Number of pairs of rounds for R of `right_bits` bits. A round on L has only 2^r different sums;
/// all rounds together have at least 2^40.
fn pairs(right_bits: u32) -> u32 {
    match right_bits {
        0 => 1,
        1..=5 => 40_u32.div_ceil(right_bits),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use vesica_core::Runs;

    fn pool() -> Pool {
        Pool::new(NonZeroUsize::MIN).expect("one thread starts")
    }

    fn session(seed: u8) -> SessionId {
        SessionId::from_bytes([seed; 32])
    }

    /// (bin, value) of every item under every function.
    fn places(locations: &Locations, items: &[Item]) -> Vec<((u32, u128), u128)> {
        let functions = locations.table().functions();
        let mut places = Vec::new();
        locations.each(items, |item, place| {
            let each = (0..functions).map(|i| (place.bins[i], place.values[i]));
            places.extend(each.map(|place| (place, item.integer())));
        });
        places
    }

    #[test]
    fn bin_and_value_determine_the_item() {
        // The whole domain of 14 bits, in tables of few and of many bins.
        let items: Vec<Item> = (0..1 << 14).map(Item::from_integer).collect();
        for len in [1, 5, 100, 1000, 3000, 12_000] {
            for table in [Table::phasing_three_way(len), Table::phasing_two_way(len)] {
                let locations = Locations::permuted(table, &session(1), 14);
                let mut known = HashMap::new();
                for (place, item) in places(&locations, &items) {
                    assert!(place.1 < 1 << locations.value_bits());
                    let known = *known.entry(place).or_insert(item);
                    assert_eq!(known, item, "two items look the same in a bin");
                }
            }
        }
    }

    #[test]
    fn without_the_function_index_different_items_match() {
        let items: Vec<Item> = (0..1 << 14).map(Item::from_integer).collect();
        let locations = Locations::permuted(Table::phasing_three_way(1000), &session(1), 14);
        let mut known = HashMap::new();
        let mut false_matches = 0;
        for ((bin, value), item) in places(&locations, &items) {
            let without = value & ((1 << (locations.value_bits() - INDEX_BITS)) - 1);
            false_matches += u32::from(*known.entry((bin, without)).or_insert(item) != item);
        }
        assert!(false_matches > 0, "the paper's representation confuses items");
    }

    #[test]
    fn values_have_the_length_of_the_formula() {
        // σ − ⌊log 1.2·n⌋ + 2 for 32-bit items, as in Table 8 of the paper with the index added.
        for (log, bits) in [(8, 26), (12, 22), (16, 18), (20, 14), (24, 10)] {
            let table = Table::phasing_three_way(1 << log);
            assert_eq!(Locations::permuted(table, &session(0), 32).value_bits(), bits);
        }
        let table = Table::phasing_two_way(1 << 20);
        assert_eq!(Locations::permuted(table, &session(0), 32).value_bits(), 32 - 21 + 2);
        assert_eq!(Locations::permuted_value_bits(&table, 32), 32 - 21 + 2);
        assert_eq!(Locations::of_digests(table, &session(0)).value_bits(), 128);
    }

    #[test]
    fn consecutive_numbers_fit_into_the_table() {
        for (len, step) in [(20_000, 3), (12_000, 5), (4096, 1), (20_000, 256)] {
            let items: Vec<Item> = (0..len).map(|i| Item::from_integer(i * step)).collect();
            for seed in 0..20 {
                for table in [
                    Table::stashless(len as usize, Runs::ONE),
                    Table::phasing_two_way(len as usize),
                ] {
                    let locations = Locations::permuted(table, &session(seed), 32);
                    let bins = locations.bins(&pool(), &items);
                    assert!(crate::Cuckoo::new(&table, &bins).is_ok(), "{len} items, step {step}");
                }
            }
        }
    }

    #[test]
    fn functions_rarely_select_a_bin_twice() {
        let items: Vec<Item> = (0..200_000).map(Item::from_integer).collect();
        for (table, most) in [(Table::new(2, 100, 0), 1e-4), (Table::new(3, 100, 0), 6e-4)] {
            let locations = Locations::permuted(table, &session(4), 20);
            let bins = locations.bins(&pool(), &items);
            let functions = table.functions();
            let twice =
                bins.iter().filter(|bins| (1..functions).any(|i| bins[..i].contains(&bins[i])));
            // 1/β² for two functions; for three, 3/β that two agree, and then 2/β.
            let expected = most * items.len() as f64;
            assert!((twice.count() as f64) < expected + 5.0 * expected.sqrt(), "{functions}");
        }
    }

    #[test]
    fn bins_are_uniform_and_depend_on_the_session() {
        let items: Vec<Item> = (0..60_000).map(Item::from_integer).collect();
        let table = Table::phasing_three_way(50);
        let digests = Locations::of_digests(table, &session(2)).bins(&pool(), &items);
        let permuted = Locations::permuted(table, &session(2), 40).bins(&pool(), &items);
        for bins in [&digests, &permuted] {
            for function in 0..3 {
                let mut counts = vec![0; table.bins()];
                bins.iter().for_each(|bins| counts[bins[function] as usize] += 1);
                // 1000 expected in each of 60 bins, standard deviation 32.
                assert!(counts.iter().all(|count| (800..1200).contains(count)));
            }
        }
        assert!(Locations::of_digests(table, &session(3)).bins(&pool(), &items) != digests);
    }

    #[test]
    fn the_functions_of_an_item_select_different_bins() {
        let items: Vec<Item> = (0..5000).map(Item::from_integer).collect();
        for table in
            [Table::phasing_two_way(1), Table::phasing_three_way(1), Table::stashless(9, Runs::ONE)]
        {
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
        for table in [Table::phasing_two_way(1), Table::stashless(1, Runs::ONE)] {
            for bits in [1, 123, 124] {
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
