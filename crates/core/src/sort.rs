//! Sorting lists of items in place.

use crate::Item;

/// Below this length, insertion sort is fastest.
const RADIX_MIN_LEN: usize = 16;

/// Bits of the widest digit: with more, the write positions no longer fit the first caches.
const DIGIT_MAX_BITS: u32 = 10;

/// Bits sorted as digits before items are compared; only many equal items get that far.
const RADIX_BITS: u32 = 50;

/// The first half of an item as a number; digests rarely agree in it.
fn head(item: &Item) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *item.as_bytes();
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// Sorts ascending, in place.
///
/// In-place radix sort from the first bits (American flag sort: McIlroy, Bostic and McIlroy,
/// "Engineering Radix Sort", Computing Systems 1993). Digests are uniform, so buckets have similar
/// sizes, and each level's buckets fit the next smaller cache. Items are exchanged in the order of
/// the array instead of along the cycles of the permutation: the memory accesses of one exchange
/// then do not wait for those of the previous one.
pub(crate) fn sort(items: &mut [Item]) {
    sort_from(items, 0);
}

/// Sorts items that agree in their first `used` bits.
fn sort_from(items: &mut [Item], used: u32) {
    if items.len() < RADIX_MIN_LEN {
        return insertion_sort(items);
    }
    if used >= RADIX_BITS {
        return items.sort_unstable();
    }
    // Buckets of about four items are left to the insertion sort.
    let bits = (items.len() / 4).ilog2().clamp(1, DIGIT_MAX_BITS);
    let digit = |item: &Item| ((head(item) << used) >> (64 - bits)) as usize;
    let buckets = 1 << bits;
    let mut ends = [0; 1 << DIGIT_MAX_BITS];
    let ends = &mut ends[..buckets];
    for item in items.iter() {
        ends[digit(item)] += 1;
    }
    let mut next = [0; 1 << DIGIT_MAX_BITS];
    let next = &mut next[..buckets];
    let mut total = 0;
    for (next, end) in next.iter_mut().zip(ends.iter_mut()) {
        *next = total;
        total += *end;
        *end = total;
    }
    // Items before a bucket's `next` are in place; every exchange places one more item.
    loop {
        let mut done = true;
        for bucket in 0..buckets {
            for at in next[bucket]..ends[bucket] {
                let home = digit(&items[at]);
                items.swap(at, next[home]);
                next[home] += 1;
            }
            done &= next[bucket] == ends[bucket];
        }
        if done {
            break;
        }
    }
    let mut start = 0;
    for end in ends.iter() {
        sort_from(&mut items[start..*end], used + bits);
        start = *end;
    }
}

fn insertion_sort(items: &mut [Item]) {
    for end in 1..items.len() {
        let item = items[end];
        let mut at = end;
        while at > 0 && (head(&items[at - 1]), items[at - 1]) > (head(&item), item) {
            items[at] = items[at - 1];
            at -= 1;
        }
        items[at] = item;
    }
}

/// Sorts ascending and drops repeated items.
pub fn sort_distinct(items: &mut Vec<Item>) {
    sort(items);
    items.dedup();
}

/// Rows with the same item, for data that accompanies items in the order of the rows.
pub struct Groups {
    rows: Vec<u32>,
    ends: Vec<u32>,
}

impl Groups {
    /// Sorts `items` and removes duplicates.
    pub fn of(items: &mut Vec<Item>) -> Self {
        // A file has at most 2^32 - 1 rows in any agreement.
        let mut order: Vec<(Item, u32)> = items.drain(..).zip(0..).collect();
        order.sort_unstable();
        let mut groups = Self { rows: Vec::with_capacity(order.len()), ends: Vec::new() };
        for (item, row) in order {
            if items.last() != Some(&item) {
                items.push(item);
                groups.ends.push(0);
            }
            groups.rows.push(row);
            if let Some(end) = groups.ends.last_mut() {
                *end = groups.rows.len() as u32;
            }
        }
        groups
    }

    /// The rows of each item, ascending, in the order of the items.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> + Clone {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.rows[start as usize..*end as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::ItemHash;

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
    fn groups_hold_the_rows_of_each_item_in_their_order() {
        let mut list = items(1000, 7);
        let before = list.clone();
        let groups = Groups::of(&mut list);
        assert!(list.is_sorted() && list.len() == 7 && groups.iter().count() == 7);
        for (item, group) in list.iter().zip(groups.iter()) {
            let rows = (0..1000).filter(|row| before[*row as usize] == *item);
            assert!(rows.eq(group.iter().copied()));
        }
        assert_eq!(Groups::of(&mut Vec::new()).iter().count(), 0);
    }

    #[test]
    fn equal_items_collapse() {
        let mut many = items(100_000, 1000);
        sort_distinct(&mut many);
        assert_eq!(many.len(), 1000);
    }
}
