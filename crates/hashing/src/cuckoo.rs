//! Cuckoo hashing: each item in one of the bins that its hash functions select, at most one item
//! per bin.
//!
//! R. Pagh, F. F. Rodler, ESA 2001; with more than two functions D. Fotakis, R. Pagh, P. Sanders,
//! P. Spirakis, STACS 2003; with a stash A. Kirsch, M. Mitzenmacher, U. Wieder, SIAM J.
//! Comput. 2009.
//!
//! The place of an item depends on all items of the set, so the other party must never learn a
//! place: protocols use all bins alike, including empty ones.
//!
//! Items that find a free bin at once go there. The others are placed in rounds: each item without
//! a free bin takes over one of its bins in turn, and the evicted item joins the next round. All
//! items of a round are known in advance, so their bins are prefetched. After many rounds a
//! breadth-first search places the rest; it finds a path to a free bin whenever one exists. So
//! placing fails exactly if no assignment exists: the probability is that of the random graph,
//! without the failures of a random walk.

use crate::table::Table;
use std::collections::{HashMap, VecDeque};
use vesica_core::{ParameterError, Result};
use vesica_simd::prefetch::prefetch;

/// The contents of a bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Position of the item in its owner's list.
    pub position: u32,
    /// The hash function that selects this bin.
    pub function: u8,
}

/// A full bin holds the position, above this number of bits of the function.
const FUNCTION_BITS: u32 = 3;
const FUNCTION_MASK: u64 = (1 << FUNCTION_BITS) - 1;
const EMPTY: u64 = u64::MAX;

/// Rounds before the search takes over. At the loads of the tables about a hundred suffice for
/// millions of items.
const ROUNDS: usize = 256;

/// How many items ahead bins are prefetched, so that cache misses overlap; locations twice as far.
const AHEAD: usize = 16;

/// Items in bins and a stash.
pub struct Cuckoo {
    bins: Vec<u64>,
    stash: Vec<u32>,
}

impl Cuckoo {
    /// Places the items whose bins are `locations`, of which the first [`Table::functions`] count.
    ///
    /// # Errors
    /// [`ParameterError::HashingFailed`] if the items do not fit; the error does not say which.
    ///
    /// # Panics
    /// If a location is not a bin of the table, or an item has fewer locations than the table has
    /// functions.
    pub fn new<const H: usize>(table: &Table, locations: &[[u32; H]]) -> Result<Self> {
        let mut cuckoo = Self { bins: vec![EMPTY; table.bins()], stash: Vec::new() };
        let functions = table.functions();
        let mut held = Vec::new();
        for (position, bins) in (0..).zip(locations) {
            if let Some(ahead) = locations.get(position as usize + AHEAD) {
                ahead.iter().for_each(|bin| prefetch(&cuckoo.bins, *bin as usize));
            }
            if !cuckoo.place_in_free_bin(position, &bins[..functions]) {
                held.push(position << FUNCTION_BITS | (functions as u64 - 1));
            }
        }
        let mut next = Vec::new();
        for _ in 0..ROUNDS {
            if held.is_empty() {
                break;
            }
            cuckoo.round(table, locations, &held, &mut next);
            std::mem::swap(&mut held, &mut next);
        }
        for held in held {
            let position = held >> FUNCTION_BITS;
            if !cuckoo.search(table, locations, position) && !cuckoo.put_in_stash(table, position) {
                return Err(ParameterError::HashingFailed.into());
            }
        }
        Ok(cuckoo)
    }

    /// β, the number of bins.
    pub fn len(&self) -> usize {
        self.bins.len()
    }

    /// Whether there are no bins.
    pub fn is_empty(&self) -> bool {
        self.bins.is_empty()
    }

    /// The position of the item in bin `bin`, if the bin exists and is full. For reading ahead of
    /// [`bin`](Cuckoo::bin).
    #[inline]
    pub fn position(&self, bin: usize) -> Option<usize> {
        self.bins
            .get(bin)
            .filter(|held| **held != EMPTY)
            .map(|held| (*held >> FUNCTION_BITS) as usize)
    }

    /// The contents of bin `bin`.
    ///
    /// # Panics
    /// If `bin` is out of range.
    #[inline]
    pub fn bin(&self, bin: usize) -> Option<Placed> {
        match self.bins[bin] {
            EMPTY => None,
            held => Some(Placed {
                position: (held >> FUNCTION_BITS) as u32,
                function: (held & FUNCTION_MASK) as u8,
            }),
        }
    }

    /// The positions of the items in the stash.
    pub fn stash(&self) -> &[u32] {
        &self.stash
    }

    #[inline]
    fn place_in_free_bin(&mut self, position: u64, bins: &[u32]) -> bool {
        for (function, bin) in bins.iter().enumerate() {
            let bin = &mut self.bins[*bin as usize];
            if *bin == EMPTY {
                *bin = position << FUNCTION_BITS | function as u64;
                return true;
            }
        }
        false
    }

    /// Places each entry of `held`, evicting another item if necessary, and sets `next` to the
    /// evicted ones. An entry in either list holds an item and the function that it must not use:
    /// the one that led here.
    fn round<const H: usize>(
        &mut self,
        table: &Table,
        locations: &[[u32; H]],
        held: &[u64],
        next: &mut Vec<u64>,
    ) {
        let functions = table.functions();
        next.clear();
        for (i, each) in held.iter().enumerate() {
            if let Some(ahead) = held.get(i + 2 * AHEAD) {
                prefetch(locations, (ahead >> FUNCTION_BITS) as usize);
            }
            if let Some(ahead) = held.get(i + AHEAD) {
                let bins = &locations[(ahead >> FUNCTION_BITS) as usize][..functions];
                bins.iter().for_each(|bin| prefetch(&self.bins, *bin as usize));
            }
            let position = each >> FUNCTION_BITS;
            let bins = &locations[position as usize][..functions];
            if !self.place_in_free_bin(position, bins) {
                let function = ((each & FUNCTION_MASK) as usize + 1) % functions;
                let bin = &mut self.bins[bins[function] as usize];
                next.push(std::mem::replace(bin, position << FUNCTION_BITS | function as u64));
            }
        }
    }

    fn put_in_stash(&mut self, table: &Table, position: u64) -> bool {
        let room = self.stash.len() < table.stash();
        if room {
            self.stash.push(position as u32);
        }
        room
    }

    /// Finds the shortest chain of moves to a free bin, and performs the moves.
    #[cold]
    fn search<const H: usize>(
        &mut self,
        table: &Table,
        locations: &[[u32; H]],
        position: u64,
    ) -> bool {
        let bins_of = |position: u64| &locations[position as usize][..table.functions()];
        // For each bin reached: the item that would move there, and its function.
        let mut reached: HashMap<usize, u64> = HashMap::new();
        let mut waiting = VecDeque::from([position]);
        while let Some(item) = waiting.pop_front() {
            for (function, bin) in bins_of(item).iter().enumerate() {
                let bin = *bin as usize;
                if reached.contains_key(&bin) {
                    continue;
                }
                reached.insert(bin, item << FUNCTION_BITS | function as u64);
                if self.bins[bin] != EMPTY {
                    waiting.push_back(self.bins[bin] >> FUNCTION_BITS);
                    continue;
                }
                // Moves items along the chain, from its free end back to the given item.
                let mut free = bin;
                loop {
                    let mover = reached[&free];
                    let from = bins_of(mover >> FUNCTION_BITS).iter().position(|bin| {
                        self.bins[*bin as usize] >> FUNCTION_BITS == mover >> FUNCTION_BITS
                    });
                    let from =
                        from.map(|function| bins_of(mover >> FUNCTION_BITS)[function] as usize);
                    self.bins[free] = mover;
                    match from {
                        Some(from) if mover >> FUNCTION_BITS != position => free = from,
                        _ => return true,
                    }
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Locations;
    use crate::locations::Bins;
    use crate::table::MAX_MEASURED_FUNCTIONS;
    use rand::{Rng, SeedableRng, rngs::SmallRng};
    use vesica_core::{Error, Item, Runs, SessionId};
    use vesica_net::Pool;

    fn random_items(len: usize, seed: u64) -> Vec<Item> {
        let mut rng = SmallRng::seed_from_u64(seed);
        (0..len)
            .map(|_| {
                let mut bytes = [0; Item::LEN];
                rng.fill_bytes(&mut bytes);
                Item::from_bytes(bytes)
            })
            .collect()
    }

    fn locations(table: Table, len: usize, seed: u8) -> Vec<Bins> {
        let pool = Pool::new(std::num::NonZeroUsize::MIN).unwrap();
        let session = SessionId::from_bytes([seed; 32]);
        Locations::of_digests(table, &session).bins(&pool, &random_items(len, u64::from(seed)))
    }

    fn assert_placed<const H: usize>(table: &Table, locations: &[[u32; H]], cuckoo: &Cuckoo) {
        let mut seen = vec![false; locations.len()];
        for bin in 0..cuckoo.len() {
            if let Some(Placed { position, function }) = cuckoo.bin(bin) {
                assert_eq!(locations[position as usize][function as usize] as usize, bin);
                assert!(usize::from(function) < table.functions());
                assert!(!std::mem::replace(&mut seen[position as usize], true));
            }
        }
        for position in cuckoo.stash() {
            assert!(!std::mem::replace(&mut seen[*position as usize], true));
        }
        assert!(seen.iter().all(|seen| *seen), "every item has a place");
        assert!(cuckoo.stash().len() <= table.stash());
    }

    #[test]
    fn every_item_has_exactly_one_place() {
        for len in [0, 1, 2, 3, 7, 100, 511, 512, 513, 5000, 70_000] {
            let tables = [
                Table::stashless(len, Runs::ONE),
                Table::stashless(len, Runs::MAX),
                Table::phasing_three_way(len),
                Table::phasing_two_way(len),
            ];
            for table in tables {
                for seed in 0..3 {
                    let locations = if len == 0 { Vec::new() } else { locations(table, len, seed) };
                    let cuckoo = Cuckoo::new(&table, &locations).unwrap();
                    assert_placed(&table, &locations, &cuckoo);
                }
            }
        }
    }

    #[test]
    fn a_path_is_found_whenever_one_exists() {
        // A chain: item i may go to bins i and i + 1 only. Only the last bin is free for the item
        // placed last, which moves all others.
        let len = 2000u32;
        let table = Table::phasing_two_way(len as usize).without_stash();
        let mut chain: Vec<Bins> = (0..len).map(|i| [i, i + 1, 0]).collect();
        chain.push([0, 0, 0]);
        let cuckoo = Cuckoo::new(&table, &chain).unwrap();
        assert_placed(&table, &chain, &cuckoo);
    }

    #[test]
    fn items_without_room_go_to_the_stash_or_cause_an_error() {
        let three = [[4, 5, 0]; 3];
        let table = Table::phasing_two_way(3);
        let failed = Cuckoo::new(&table.without_stash(), &three).err();
        assert_eq!(failed, Some(Error::Parameter(ParameterError::HashingFailed)));
        let cuckoo = Cuckoo::new(&table, &three).unwrap();
        assert_eq!(cuckoo.stash().len(), 1);
        assert_placed(&table, &three, &cuckoo);
    }

    #[test]
    fn more_functions_fill_more_of_the_bins() {
        // 96 of 100 bins: above what three functions can fill, below what four can.
        let (len, bins) = (9600, 10_000);
        let mut rng = SmallRng::seed_from_u64(1);
        let mut bin = || rng.next_u32() % bins;
        let locations: Vec<[u32; MAX_MEASURED_FUNCTIONS]> =
            (0..len).map(|_| [(); MAX_MEASURED_FUNCTIONS].map(|()| bin())).collect();
        for functions in 2..=MAX_MEASURED_FUNCTIONS {
            let table = Table::new(functions, bins as usize, 0);
            match Cuckoo::new(&table, &locations) {
                Ok(cuckoo) => {
                    assert!(functions > 3, "{functions} functions");
                    assert_placed(&table, &locations, &cuckoo);
                }
                Err(error) => {
                    assert_eq!(error, Error::Parameter(ParameterError::HashingFailed));
                    assert!(functions <= 3, "{functions} functions");
                }
            }
        }
    }
}
