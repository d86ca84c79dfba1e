//! Simple hashing: every item in the bins of all its functions, bin by bin.

use crate::locations::Locations;
use rayon::prelude::*;
use vesica_core::Item;
use vesica_net::Pool;

/// An item in the bin of one of its functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The bin.
    pub bin: u32,
    /// Position of the item in its owner's list.
    pub position: u32,
    /// The hash function.
    pub function: u8,
}

/// log of the number of bins per group: the data of a group fits into the second-level cache.
const GROUP_BITS: u32 = 12;

const GROUP_BINS: usize = 1 << GROUP_BITS;

/// The items of a list in the bins of all their functions, in groups of consecutive bins.
///
/// A bin can hold any number of items. For each item and function it stores a `T`, which must
/// contain the bin within its group. The default is 8 bytes that are read as [`Entry`].
pub struct Simple<T = u64> {
    entries: Vec<T>,
    /// The start of each group, and the end of the last one.
    starts: Vec<usize>,
    bins: usize,
}

impl Simple {
    /// Number of bins per group; the last group can have fewer.
    pub const GROUP_BINS: usize = GROUP_BINS;

    /// Puts each of `items` into all of its bins, on all threads of `pool`.
    ///
    /// # Panics
    /// As [`Simple::packed`].
    pub fn new(pool: &Pool, locations: &Locations, items: &[Item]) -> Self {
        // The bin within its group, the function and the position: 12, 2 and 32 bits.
        Self::packed(pool, locations, items, |Entry { bin, position, function }, _| {
            u64::from(bin) << 34 | u64::from(function) << 32 | u64::from(position)
        })
    }

    /// The entries of group `group`, not ordered by bin.
    ///
    /// # Panics
    /// If `group` is out of range.
    pub fn entries(&self, group: usize) -> impl ExactSizeIterator<Item = Entry> + '_ {
        let first = self.bins(group).start as u32;
        self.group(group).iter().map(move |entry| Entry {
            bin: first + (entry >> 34) as u32,
            position: *entry as u32,
            function: (entry >> 32 & 3) as u8,
        })
    }
}

impl<T: Copy + Default + Send> Simple<T> {
    /// Puts each of `items` into all of its bins, on all threads of `pool`. `pack` makes the stored
    /// value from an entry, whose bin counts from the first of its group, and from the compared
    /// value.
    ///
    /// # Panics
    /// If there are 2^32 items or more, or if there are items and fewer bins than functions.
    pub fn packed(
        pool: &Pool,
        locations: &Locations,
        items: &[Item],
        pack: impl Fn(Entry, u128) -> T + Sync,
    ) -> Self {
        assert!(items.len() <= u32::MAX as usize, "positions have 32 bits");
        let (count, functions) = (locations.table().bins(), locations.table().functions());
        let groups = count.div_ceil(GROUP_BINS);
        if items.is_empty() {
            return Self { entries: Vec::new(), starts: vec![0; groups + 1], bins: count };
        }
        let chunk_len = items.len().div_ceil(pool.len());
        let group = |bin: u32| (bin >> GROUP_BITS) as usize;
        let counts: Vec<Vec<usize>> = pool.run(|| {
            let count = |chunk: &[Item]| {
                let mut counts = vec![0; groups];
                locations.each(chunk, |_, place| {
                    place.bins[..functions].iter().for_each(|bin| counts[group(*bin)] += 1);
                });
                counts
            };
            items.par_chunks(chunk_len).map(count).collect()
        });

        let mut entries = vec![T::default(); items.len() * functions];
        let mut starts = Vec::with_capacity(groups + 1);
        // Each chunk owns a part of each group.
        let mut parts: Vec<Vec<&mut [T]>> = vec![];
        parts.resize_with(counts.len(), || Vec::with_capacity(groups));
        let mut free = &mut entries[..];
        let mut start = 0;
        for group in 0..groups {
            starts.push(start);
            for (counts, parts) in counts.iter().zip(&mut parts) {
                let (part, rest) = free.split_at_mut(counts[group]);
                free = rest;
                start += counts[group];
                parts.push(part);
            }
        }
        starts.push(start);
        pool.run(|| {
            let chunks = items.par_chunks(chunk_len).zip(parts).enumerate();
            chunks.for_each(|(chunk, (items, mut parts))| {
                let mut filled = vec![0; groups];
                let mut position = (chunk * chunk_len) as u32;
                locations.each(items, |_, place| {
                    for function in 0..functions {
                        let bin = place.bins[function];
                        let entry = Entry {
                            bin: bin & (GROUP_BINS as u32 - 1),
                            position,
                            function: function as u8,
                        };
                        let group = group(bin);
                        parts[group][filled[group]] = pack(entry, place.values[function]);
                        filled[group] += 1;
                    }
                    position += 1;
                });
            });
        });
        Self { entries, starts, bins: count }
    }

    /// Number of groups of bins.
    pub fn groups(&self) -> usize {
        self.starts.len() - 1
    }

    /// The bins of group `group`.
    pub fn bins(&self, group: usize) -> std::ops::Range<usize> {
        let first = group * GROUP_BINS;
        first..(first + GROUP_BINS).min(self.bins)
    }

    /// The values stored in group `group`, not ordered by bin.
    ///
    /// # Panics
    /// If `group` is out of range.
    pub fn group(&self, group: usize) -> &[T] {
        &self.entries[self.starts[group]..self.starts[group + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;
    use std::num::NonZeroUsize;
    use vesica_core::{Runs, SessionId};

    #[test]
    fn every_item_is_once_in_the_bin_of_each_function() {
        let session = SessionId::from_bytes([3; 32]);
        for (len, threads) in [(0, 1), (1, 1), (10, 3), (9000, 1), (9000, 3)] {
            let pool = Pool::new(NonZeroUsize::new(threads).unwrap()).unwrap();
            let items: Vec<Item> = (0..len as u128).map(Item::from_integer).collect();
            for table in
                [Table::stashless(len.max(1), Runs::ONE), Table::phasing_two_way(len.max(1))]
            {
                let locations = Locations::permuted(table, &session, 20);
                let simple = Simple::new(&pool, &locations, &items);
                let mut found = vec![[u32::MAX; 3]; len];
                let mut entries = 0;
                for group in 0..simple.groups() {
                    for Entry { bin, position, function } in simple.entries(group) {
                        assert!(simple.bins(group).contains(&(bin as usize)));
                        found[position as usize][usize::from(function)] = bin;
                        entries += 1;
                    }
                }
                assert_eq!(entries, len * table.functions());
                for (found, bins) in found.iter().zip(locations.bins(&pool, &items)) {
                    assert_eq!(found[..table.functions()], bins[..table.functions()]);
                }
            }
        }
    }
}
