//! Which places of bins and of the stash hold what.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use vesica_hashing::{Cuckoo, Simple, Table};

/// The positions of `len` items in random order: item k for the stash is the one at position k of
/// this list.
pub(super) fn numbering(len: usize, rng: &mut impl Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..=u32::MAX).take(len).collect();
    order.shuffle(rng);
    order
}

/// The function for the sender's item `number` in the stash: bins have fewer than 2^32 places.
pub(super) fn stash_slot(number: usize) -> u64 {
    1 << 32 | number as u64
}

/// The free places of each bin of the sender.
pub(super) struct FreePlaces {
    /// The places of each bin, with the taken ones first.
    order: Vec<u32>,
    taken: Vec<u32>,
    places: usize,
}

impl FreePlaces {
    pub(super) fn new(bins: usize, places: usize) -> Self {
        let order = (0..bins).flat_map(|_| 0..places as u32).collect();
        Self { order, taken: vec![0; bins], places }
    }

    /// A random free place of `bin`, if there is one.
    pub(super) fn take(&mut self, bin: usize, rng: &mut impl Rng) -> Option<usize> {
        let order = &mut self.order[bin * self.places..][..self.places];
        let taken = self.taken[bin] as usize;
        if taken == self.places {
            return None;
        }
        order.swap(taken, rng.random_range(taken..self.places));
        self.taken[bin] += 1;
        Some(order[taken] as usize)
    }
}

/// The position of a dummy; there are at most 2^30 items.
pub(super) const NO_ITEM: u32 = u32::MAX;

/// What a bin or a place of the stash holds at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// The item at this position.
    Item(u32),
    /// No item, but masks are made of it as of an item.
    Dummy,
    Nothing,
}

/// The receiver's bins, group by group, and then its stash. The second part of an entry is true for
/// the stash.
///
/// Masks are made of as many bins as there are items, and of all places of the stash, regardless of
/// what is in it.
pub(super) struct Places<'a> {
    cuckoo: &'a Cuckoo,
    stash: usize,
    /// Empty bins of which masks are made, in place of the items in the stash.
    dummies: usize,
    next: usize,
    is_done: bool,
}

impl<'a> Places<'a> {
    pub(super) fn new(table: &Table, cuckoo: &'a Cuckoo, items: usize) -> Self {
        debug_assert!(items <= cuckoo.len(), "bins are more than items");
        Self {
            cuckoo,
            stash: table.stash(),
            dummies: cuckoo.stash().len(),
            next: 0,
            is_done: false,
        }
    }

    fn bin(&mut self, bin: usize) -> Held {
        match self.cuckoo.position(bin) {
            Some(position) => Held::Item(position as u32),
            None if self.dummies > 0 => {
                self.dummies -= 1;
                Held::Dummy
            }
            None => Held::Nothing,
        }
    }
}

impl Iterator for Places<'_> {
    type Item = (Vec<Held>, bool);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next < self.cuckoo.len() {
            let first = self.next;
            self.next = (first + Simple::GROUP_BINS).min(self.cuckoo.len());
            return Some(((first..self.next).map(|bin| self.bin(bin)).collect(), false));
        }
        if std::mem::replace(&mut self.is_done, true) {
            return None;
        }
        let items = self.cuckoo.stash().iter().map(|position| Held::Item(*position));
        Some((items.chain(std::iter::repeat(Held::Dummy)).take(self.stash).collect(), true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng as StdRng;

    #[test]
    fn numbers_for_the_stash_do_not_follow_the_list() {
        let [one, two] = [1, 2].map(|seed| numbering(1000, &mut StdRng::seed_from_u64(seed)));
        assert_ne!(one, two);
        for order in [one, two] {
            // A fixed point is expected once; ten have probability below 2^-21.
            let fixed = order.iter().enumerate().filter(|(i, position)| *i == **position as usize);
            assert!(fixed.count() < 10);
            let mut all = order.clone();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..1000));
        }
    }

    #[test]
    fn as_many_places_are_computed_whatever_the_stash_holds() {
        let n = 300;
        let table = Table::phasing_two_way(n);
        let beta = table.bins() as u32;
        // Items of the same two bins: all but two of them go to the stash.
        for crowded in [0, 3, 5, 2 + table.stash()] {
            let bins = |i: u32| {
                if (i as usize) < crowded {
                    [7, 8, 0]
                } else {
                    [(2 * i + 20) % beta, (2 * i + 21) % beta, 0]
                }
            };
            let bins: Vec<_> = (0..n as u32).map(bins).collect();
            let cuckoo = Cuckoo::new(&table, &bins).unwrap();
            assert_eq!(cuckoo.stash().len(), crowded.saturating_sub(2));
            let (mut made, mut items, mut places) = ([0, 0], vec![0; n], [0, 0]);
            for (held, is_stash) in Places::new(&table, &cuckoo, n) {
                places[usize::from(is_stash)] += held.len();
                for held in held {
                    made[usize::from(is_stash)] += usize::from(held != Held::Nothing);
                    if let Held::Item(position) = held {
                        items[position as usize] += 1;
                    }
                }
            }
            assert_eq!(made, [n, table.stash()], "{crowded} items in two bins");
            assert_eq!(places, [table.bins(), table.stash()]);
            assert!(items.iter().all(|times| *times == 1));
        }
    }

    #[test]
    fn places_of_a_bin_are_taken_once_each_and_in_random_order() {
        let mut rng = StdRng::seed_from_u64(3);
        let mut free = FreePlaces::new(2, 18);
        let taken: Vec<usize> = std::iter::from_fn(|| free.take(1, &mut rng)).collect();
        assert!(!taken.is_sorted());
        let mut all = taken.clone();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..18));
        assert!(free.take(1, &mut rng).is_none() && free.take(0, &mut rng).is_some());
    }
}
