//! Sorting items in place.

use vesica_core::Item;

/// Below this a comparison sort is as fast.
const RADIX_MIN_LEN: usize = 1 << 12;

/// Digest bytes used as radix before the rest is compared.
const RADIX_LEVELS: usize = 2;

fn number(item: &Item) -> u128 {
    u128::from_be_bytes(*item.as_bytes())
}

/// Sorts ascending, in place.
///
/// American flag sort (McIlroy, Bostic and McIlroy, "Engineering Radix Sort", Computing Systems
/// 1993) on the first bytes: digests are uniform, so the buckets are even and fit the cache.
pub(crate) fn sort(items: &mut [Item]) {
    sort_level(items, 0);
}

fn sort_level(items: &mut [Item], level: usize) {
    if level == RADIX_LEVELS || items.len() < RADIX_MIN_LEN {
        items.sort_unstable_by_key(number);
        return;
    }
    let digit = |item: &Item| usize::from(item.as_bytes()[level]);
    let mut ends = [0; 256];
    for item in items.iter() {
        ends[digit(item)] += 1;
    }
    let mut next = [0; 256];
    let mut total = 0;
    for (next, end) in next.iter_mut().zip(&mut ends) {
        *next = total;
        total += *end;
        *end = total;
    }
    for bucket in 0..256 {
        while next[bucket] < ends[bucket] {
            // Follow the cycle of displacements until something belongs here.
            let mut item = items[next[bucket]];
            loop {
                let home = digit(&item);
                if home == bucket {
                    break;
                }
                std::mem::swap(&mut items[next[home]], &mut item);
                next[home] += 1;
            }
            items[next[bucket]] = item;
            next[bucket] += 1;
        }
    }
    let mut rest = items;
    let mut start = 0;
    for end in ends {
        let (bucket, tail) = rest.split_at_mut(end - start);
        sort_level(bucket, level + 1);
        rest = tail;
        start = end;
    }
}

/// Sorts and drops repeated items.
pub(crate) fn sort_distinct(items: &mut Vec<Item>) {
    sort(items);
    items.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_core::hash::ItemHash;

    fn items(count: u32, distinct: u32) -> Vec<Item> {
        let hash = ItemHash::new("sort test", &[]);
        (0..count).map(|i| hash.item(&(i % distinct).to_le_bytes())).collect()
    }

    #[test]
    fn sorting_agrees_with_the_standard_library() {
        for (count, distinct) in [(0, 1), (1, 1), (5000, 5000), (200_000, 200_000), (70_000, 3)] {
            let mut ours = items(count, distinct);
            let mut theirs = ours.clone();
            theirs.sort();
            sort(&mut ours);
            assert!(ours == theirs, "{count} of {distinct}");
        }
    }

    #[test]
    fn equal_items_collapse() {
        let mut many = items(100_000, 1000);
        sort_distinct(&mut many);
        assert_eq!(many.len(), 1000);
    }
}
