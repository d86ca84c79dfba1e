//! Keys of many rows: mostly placeholders, which match the other side's placeholders.

use crate::encoding::{PART_HEADER_LEN, split_rule};
use crate::key::KeyColumn;
use crate::rule::KeyRule;
use crate::shapes::draw;
use std::mem::take;
use vesica_core::Item;
use vesica_inputs::error::Place;

/// Keys counted at a time.
const COUNTERS: usize = 1024;

/// Slots of the table that finds the counter of a key: a quarter full at most.
const SLOTS: usize = 4 * COUNTERS;

/// A frequent key has more rows than this.
const ROWS_LEAST: u64 = 20;

/// And more than one row in this many.
const ONE_OF: u64 = 100;

/// The shape is recorded when this many rows of a key were counted. A reported key has more, since
/// at most a fifth of its rows is missed.
const SHAPE_AT: u64 = 16;

/// Upper bound on the reported keys.
const GIVEN: usize = 5;

/// A key of more than 20 rows, and of more than 1 % of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrequentKey {
    /// The number of rows with this key, at least.
    pub count: u64,
    /// Whether the count is exact.
    pub is_exact: bool,
    /// The first of the rows that were counted; if the count is exact, the first row that has it.
    pub first: Place,
    /// The shape of the normal form of each column of the key, or of what transforms made of it.
    pub shapes: Vec<PartShape>,
    /// The rule of the key, if there are rules.
    pub rule: Option<String>,
    /// Whether a transform made a part of the key, so that several values can have made it.
    pub is_transformed: bool,
}

/// The shape of one column of a key, which hides letters and digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartShape {
    /// The column in the file.
    pub column: String,
    /// Its pattern, as in [`crate::Shape`].
    pub pattern: String,
}

struct Counter {
    item: Item,
    /// Rows counted, less what was subtracted since.
    credit: u64,
    /// Rows counted.
    seen: u64,
    /// Most rows of the key that may have come before.
    missed: u64,
    /// The first row counted.
    first: Place,
    /// The rule of the key, if there are rules.
    rule: Option<usize>,
    patterns: Vec<String>,
}

/// Counts keys with 1024 counters, after Misra and Gries (1982), with the median subtracted at
/// once.
///
/// When all counters are in use their median is subtracted from each, and counters that reach zero
/// are free again. That takes the median from half of them, so that all that was subtracted is at
/// most n/512 after n rows with a key. Hence a key is missed in at most n/512 of its rows, and
/// **every key in more than 1 % of the rows has a counter at the end**; a key in fewer than 0.8 %
/// of the rows is not reported. A key that had a counter since the first subtraction is counted
/// exactly. Time is constant for a row on average, memory about 100 kB.
pub(crate) struct Frequent {
    /// The position of a counter, and one more; 0 where there is none. Later ones of the same hash
    /// follow.
    slots: Box<[u16; SLOTS]>,
    counters: Vec<Counter>,
    subtracted: u64,
    taken: u64,
}

impl Frequent {
    pub(crate) fn new() -> Self {
        Self {
            slots: Box::new([0; SLOTS]),
            counters: Vec::with_capacity(COUNTERS),
            subtracted: 0,
            taken: 0,
        }
    }

    /// Counts a row with this item of an encoded `key`.
    #[inline]
    pub(crate) fn take(&mut self, item: Item, key: &[u8], place: &Place) {
        self.taken += 1;
        let mut slot = slot_of(item);
        loop {
            match self.slots[slot] {
                0 => break,
                at => {
                    let counter = &mut self.counters[usize::from(at) - 1];
                    if counter.item == item {
                        counter.credit += 1;
                        counter.seen += 1;
                        if counter.seen == SHAPE_AT {
                            let (rule, parts) = split_rule(key);
                            (counter.rule, counter.patterns) = (rule, patterns(parts));
                        }
                        return;
                    }
                }
            }
            slot = (slot + 1) % SLOTS;
        }
        let (missed, patterns) = (self.subtracted, Vec::new());
        let first = place.clone();
        let (credit, seen, rule) = (1, 1, None);
        self.counters.push(Counter { item, credit, seen, missed, first, rule, patterns });
        self.slots[slot] = self.counters.len() as u16;
        if self.counters.len() == COUNTERS {
            self.subtract();
        }
    }

    /// Frees at least half of the counters.
    #[inline(never)]
    fn subtract(&mut self) {
        let mut credits: Vec<u64> = self.counters.iter().map(|counter| counter.credit).collect();
        let (_, median, _) = credits.select_nth_unstable((COUNTERS - 1) / 2);
        let median = *median;
        self.subtracted += median;
        self.counters.retain_mut(|counter| {
            counter.credit = counter.credit.saturating_sub(median);
            counter.credit > 0
        });
        self.slots.fill(0);
        for (at, counter) in self.counters.iter().enumerate() {
            let mut slot = slot_of(counter.item);
            while self.slots[slot] != 0 {
                slot = (slot + 1) % SLOTS;
            }
            self.slots[slot] = at as u16 + 1;
        }
    }

    /// The most frequent keys in `columns`, or under `rules`, after a pass over this many rows,
    /// most frequent first, at most five. The keys under all rules share the counters, so that with
    /// more keys than rows it is 1 % of the keys.
    pub(crate) fn finish(
        &mut self,
        columns: &[KeyColumn],
        rules: &[KeyRule],
        rows: u64,
    ) -> Vec<FrequentKey> {
        let mut counters = take(&mut self.counters);
        let rows = rows.max(self.taken);
        counters.retain(|counter| {
            let most = counter.seen + counter.missed;
            most > ROWS_LEAST && most > rows / ONE_OF && counter.seen >= SHAPE_AT
        });
        let is_transformed =
            |rule: &KeyRule| rule.columns.iter().any(|column| !column.transforms.is_empty());
        let of_key = |rule: Option<&KeyRule>| {
            let places: Vec<usize> = match rule {
                Some(rule) => rule.columns.iter().map(|column| column.key).collect(),
                None => (0..columns.len()).collect(),
            };
            places.into_iter().map(|place| &columns[place])
        };
        counters.sort_by(|one, two| two.seen.cmp(&one.seen).then(one.first.cmp(&two.first)));
        counters.truncate(GIVEN);
        let given = counters.into_iter().map(|counter| {
            let rule = counter.rule.and_then(|rule| rules.get(rule));
            FrequentKey {
                count: counter.seen,
                is_exact: counter.missed == 0,
                first: counter.first,
                shapes: of_key(rule)
                    .zip(counter.patterns)
                    .map(|(key, pattern)| PartShape { column: key.column.clone(), pattern })
                    .collect(),
                rule: rule.map(|rule| rule.name.clone()),
                is_transformed: rule.is_some_and(is_transformed),
            }
        });
        given.collect()
    }
}

/// Digests are random; integers are not.
#[inline]
fn slot_of(item: Item) -> usize {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let integer = item.integer();
    let word = integer as u64 ^ (integer >> 64) as u64;
    (word.wrapping_mul(GOLDEN) >> (64 - SLOTS.ilog2())) as usize
}

/// The patterns of the parts of an encoded key.
#[cold]
fn patterns(key: &[u8]) -> Vec<String> {
    let (mut patterns, mut rest) = (Vec::new(), key);
    while let Some((&[_, ref len @ ..], after)) = rest.split_first_chunk::<PART_HEADER_LEN>() {
        let len = u32::from_le_bytes(*len) as usize;
        let (value, next) = after.split_at(len.min(after.len()));
        let mut pattern = String::new();
        draw(value, &mut pattern);
        patterns.push(pattern);
        rest = next;
    }
    patterns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::push_cell;
    use vesica_profiles::Profile;

    fn columns() -> Vec<KeyColumn> {
        let (name, column) = ("k".to_owned(), "K".to_owned());
        vec![KeyColumn { name, column, profile: Profile::TRIM, never: Vec::new() }]
    }

    /// The frequent keys of rows with these numbers as keys.
    fn found(keys: impl Iterator<Item = u64>) -> Vec<FrequentKey> {
        let (mut frequent, mut rows) = (Frequent::new(), 0);
        for key in keys {
            rows += 1;
            let mut encoded = Vec::new();
            push_cell(Profile::TRIM, key.to_string().as_bytes(), &mut encoded).unwrap();
            frequent.take(Item::from_integer(key.into()), &encoded, &Place::Row(rows));
        }
        frequent.finish(&columns(), &[], rows)
    }

    #[test]
    fn a_key_in_more_than_twenty_rows_and_one_percent_is_found_exactly() {
        // Every 90th row has the key 7, each other one its own key.
        let row = |i: u64| if i % 90 == 3 { 7 } else { 1000 + i };
        let keys = found((0..2_000).map(row));
        let shapes = vec![PartShape { column: "K".into(), pattern: "9".into() }];
        let expected = FrequentKey {
            count: 23,
            is_exact: true,
            first: Place::Row(4),
            shapes,
            rule: None,
            is_transformed: false,
        };
        assert_eq!(keys, [expected]);
        assert_eq!(found((0..1_800).map(row)), [], "20 rows are not enough");
        let keys = found((0..1_000_000).map(row));
        assert_eq!((keys.len(), &keys[0].first), (1, &Place::Row(4)));
        assert_eq!((keys[0].count, keys[0].is_exact), (11_112, true));
        assert_eq!(found((0..1_000_000).map(|i| if i % 200 == 3 { 7 } else { 1000 + i })), []);
    }

    #[test]
    fn a_frequent_key_is_found_wherever_its_rows_are() {
        // All at the end, all in the middle, and after a gap in which its counter is lost.
        let at_end = |i: u64| if i < 98_000 { 10 + i } else { 7 };
        let in_middle = |i: u64| if (50_000..51_500).contains(&i) { 7 } else { 10 + i };
        let apart = |i: u64| if !(50..98_900).contains(&i) { 7 } else { 10 + i % 48_000 };
        for (rows, most) in
            [(found((0..100_000).map(at_end)), 2000), (found((0..100_000).map(in_middle)), 1500)]
        {
            assert_eq!((rows.len(), rows[0].is_exact), (1, false));
            assert!(rows[0].count <= most && rows[0].count + 100_000 / 512 >= most);
        }
        let rows = found((0..100_000).map(apart));
        assert!(rows[0].count <= 1150 && rows[0].count + 100_000 / 512 >= 1150, "{rows:?}");
    }

    #[test]
    fn at_most_five_are_given_the_most_frequent_first() {
        let keys = found((0..30_000).map(|i| if i % 3 == 0 { i % 27 } else { 1_000 + i }));
        assert_eq!(keys.len(), 5);
        assert!(keys.windows(2).all(|pair| pair[0].count >= pair[1].count));
        let few = found((0..30).map(|i| i % 15));
        assert_eq!(few, []);
    }

    #[test]
    fn a_composite_key_has_a_shape_for_each_column() {
        let mut key = Vec::new();
        push_cell(Profile::TRIM, b"Ann Lee", &mut key).unwrap();
        push_cell("digits".parse().unwrap(), b"0000", &mut key).unwrap();
        assert_eq!(patterns(&key), ["Aa+ Aa+", "9+"]);
        assert_eq!(patterns(b"\x01\xff\xff\xff\xffab"), ["a+"]);
    }
}
