//! The items of a party's rows, and the bit of each row that says whether it is in the result.

use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use vesica_core::{Item, Items};
use vesica_heap::may_fail;
use vesica_records::NO_ITEM;
use vesica_scratch::{Scratch, ScratchFile};

/// Items read at once.
const READ_ITEMS: usize = 1 << 16;

/// The items of a file's rows, 16 bytes each, in the order of the rows. A row without a usable key
/// has the item [`NO_ITEM`].
pub struct RowItems {
    kept: Kept,
    /// What happens if the items exceed the memory; `None` if all stay in memory.
    spill: Option<Spill>,
}

/// How many bytes of items stay in memory, and the place for a file with all items if there are
/// more.
struct Spill {
    memory_bytes: u64,
    scratch: Arc<dyn Scratch>,
}

enum Kept {
    InMemory(Vec<Item>),
    OnDisk(Box<dyn ScratchFile>),
}

impl From<Vec<Item>> for RowItems {
    fn from(items: Vec<Item>) -> Self {
        Self { kept: Kept::InMemory(items), spill: None }
    }
}

impl RowItems {
    /// No items yet. If they exceed `memory_bytes`, they all go to a file in `scratch`.
    pub fn new(memory_bytes: u64, scratch: Arc<dyn Scratch>) -> Self {
        Self { kept: Kept::InMemory(Vec::new()), spill: Some(Spill { memory_bytes, scratch }) }
    }

    /// Whether the items are in memory, not in a file.
    pub fn are_in_memory(&self) -> bool {
        matches!(self.kept, Kept::InMemory(_))
    }

    /// Adds the items of the next rows.
    pub fn push(&mut self, items: &[Item]) -> io::Result<()> {
        if let Kept::InMemory(kept) = &mut self.kept {
            let len = ((kept.len() + items.len()) * Item::LEN) as u64;
            let Some(spill) = self.spill.take_if(|spill| len > spill.memory_bytes) else {
                kept.extend_from_slice(items);
                return Ok(());
            };
            let mut file = spill.scratch.create()?;
            kept.chunks(READ_ITEMS).try_for_each(|items| file.append(&bytes_of(items)))?;
            self.kept = Kept::OnDisk(file);
        }
        match &mut self.kept {
            Kept::OnDisk(file) => file.append(&bytes_of(items)),
            Kept::InMemory(_) => Ok(()),
        }
    }

    /// All items in memory.
    pub fn into_memory(self) -> io::Result<Vec<Item>> {
        if let Kept::InMemory(items) = self.kept {
            return Ok(items);
        }
        let mut all = Vec::new();
        may_fail(|| all.try_reserve_exact(self.rows() as usize))
            .map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.each(&mut |_, items| {
            all.extend_from_slice(items);
            Ok(())
        })?;
        Ok(all)
    }
}

fn bytes_of(items: &[Item]) -> Vec<u8> {
    items.iter().flat_map(|item| *item.as_bytes()).collect()
}

impl Items for RowItems {
    fn rows(&self) -> u64 {
        match &self.kept {
            Kept::InMemory(items) => items.len() as u64,
            Kept::OnDisk(file) => file.len() / Item::LEN as u64,
        }
    }

    fn each(&self, take: &mut dyn FnMut(u64, &[Item]) -> io::Result<()>) -> io::Result<()> {
        let file = match &self.kept {
            Kept::InMemory(items) => {
                let batches = items.chunks(READ_ITEMS).zip((0..).step_by(READ_ITEMS));
                for (items, first) in batches {
                    take(first, items)?;
                }
                return Ok(());
            }
            Kept::OnDisk(file) => file,
        };
        let mut bytes = vec![0; READ_ITEMS * Item::LEN];
        let mut items = Vec::with_capacity(READ_ITEMS);
        let (mut first, rows) = (0, self.rows());
        while first < rows {
            let now = (rows - first).min(READ_ITEMS as u64) as usize;
            let bytes = &mut bytes[..now * Item::LEN];
            file.read_exact_at(first * Item::LEN as u64, bytes)?;
            items.clear();
            items.extend(bytes.as_chunks().0.iter().map(|bytes| Item::from_bytes(*bytes)));
            take(first, &items)?;
            first += now as u64;
        }
        Ok(())
    }
}

/// The distinct items among those of `rows`, ascending; `None` if there is not enough memory.
pub fn distinct(rows: &[Item]) -> Option<Vec<Item>> {
    let mut items = Vec::new();
    may_fail(|| items.try_reserve_exact(rows.len())).ok()?;
    items.extend(rows.iter().filter(|item| **item != NO_ITEM));
    vesica_core::sort::sort_distinct(&mut items);
    Some(items)
}

/// Gives each row the value of its item, such as whether the item is common. The time does not
/// depend on the values.
pub struct Spread<'a, T> {
    items: IndexedItems<'a>,
    values: &'a [T],
}

impl<'a, T: Copy + Default> Spread<'a, T> {
    /// `values` has the value of each of `items`, which ascend.
    pub fn new(items: &'a [Item], values: &'a [T]) -> Self {
        Self { items: IndexedItems::new(items), values }
    }

    /// The value of each of `entries`, the items of rows; the default for an entry that is not in
    /// `items`.
    pub fn of<'b>(&'b self, entries: &'b [Item]) -> impl Iterator<Item = T> + 'b {
        entries.iter().map(|entry| {
            let range = self.items.range(entry);
            let place = self.items.items[range.clone()].binary_search(entry);
            place.map_or(T::default(), |place| self.values[range.start + place])
        })
    }
}

/// A bit for each of `rows`, set if its item is in `matched`: row r has bit r mod 64 of word
/// ⌊r/64⌋.
pub fn bits(rows: &[Item], matched: &[Item]) -> Vec<u64> {
    let matched = IndexedItems::new(matched);
    let word = |items: &[Item]| {
        let mut found = [false; WINDOW];
        matched.contains_each(items, &mut found);
        found.iter().rev().fold(0, |word, found| word << 1 | u64::from(*found))
    };
    rows.chunks(WINDOW).map(word).collect()
}

/// A sorted set of items with an index by their first bits: digests are uniform, so a lookup
/// touches one entry of the index and a few neighbouring items.
struct IndexedItems<'a> {
    items: Cow<'a, [Item]>,
    /// `starts[p]..starts[p + 1]` are the items whose first bits are `p`.
    starts: Vec<u32>,
    shift: u32,
}

/// Bits of the largest index: 2^24 entries of four bytes.
const INDEX_MAX_BITS: u32 = 24;

/// Items that are looked up together, so that their cache misses overlap: those of one word of
/// bits.
const WINDOW: usize = 64;

impl<'a> IndexedItems<'a> {
    fn new(items: &'a [Item]) -> Self {
        let items = if items.is_sorted() {
            Cow::Borrowed(items)
        } else {
            let mut own = items.to_vec();
            own.sort_unstable();
            Cow::Owned(own)
        };
        let bits = (items.len() / 4 + 1).ilog2().min(INDEX_MAX_BITS);
        let shift = 32 - bits;
        let mut starts = vec![0; (1 << bits) + 1];
        for item in items.iter() {
            starts[prefix(item, shift) + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Self { items, starts, shift }
    }

    /// The positions of the items with the same first bits as `item`.
    #[inline]
    fn range(&self, item: &Item) -> Range<usize> {
        let at = prefix(item, self.shift);
        self.starts[at] as usize..self.starts[at + 1] as usize
    }

    /// Sets `found` for each of at most [`WINDOW`] items.
    fn contains_each(&self, items: &[Item], found: &mut [bool; WINDOW]) {
        let mut ranges = [const { 0..0 }; WINDOW];
        for (range, item) in ranges.iter_mut().zip(items) {
            *range = self.range(item);
        }
        // These reads do not depend on each other, so the processor makes them all at once.
        let mut touched = 0;
        for range in &ranges[..items.len()] {
            touched ^= self.items.get(range.start).map_or(0, |item| item.as_bytes()[0]);
        }
        std::hint::black_box(touched);
        for ((range, item), found) in ranges.into_iter().zip(items).zip(found) {
            *found = self.items[range].binary_search(item).is_ok();
        }
    }
}

/// The first bits of an item, as many as `shift` leaves of 32.
#[inline]
fn prefix(item: &Item, shift: u32) -> usize {
    let [a, b, c, d, ..] = *item.as_bytes();
    (u64::from(u32::from_be_bytes([a, b, c, d])) >> shift) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_core::hash::ItemHash;
    use vesica_scratch::FolderScratch;

    #[test]
    fn a_bit_is_set_for_each_row_whose_item_matched_and_for_no_other() {
        let hash = ItemHash::new("bits test", &[]);
        for count in [0_u32, 1, 3, 7, 64, 100, 5000] {
            let all: Vec<Item> = (0..2 * count + 1).map(|i| hash.item(&i.to_le_bytes())).collect();
            let mut rows = all.clone();
            rows.extend(all.iter().rev());
            rows.push(NO_ITEM);
            let expected: Vec<Item> = all[..count as usize].to_vec();
            let bits = bits(&rows, &expected);
            assert_eq!(bits.len(), rows.len().div_ceil(64));
            for (row, item) in rows.iter().enumerate() {
                let bit = bits[row / 64] >> (row % 64) & 1 == 1;
                assert_eq!(bit, expected.contains(item), "{row} of {count}");
            }
            let mut sorted = all;
            sorted.sort_unstable();
            assert_eq!(distinct(&rows), Some(sorted));
        }
    }

    #[test]
    fn items_come_back_in_order_from_memory_and_from_files() {
        let folder = tempfile::tempdir().unwrap();
        let scratch: Arc<dyn Scratch> = Arc::new(FolderScratch::new(folder.path().to_path_buf()));
        let all: Vec<Item> = (0..100_000_u128).map(Item::from_integer).collect();
        for memory_bytes in [0, 1 << 10, 1 << 30] {
            let mut kept = RowItems::new(memory_bytes, Arc::clone(&scratch));
            all.chunks(777).for_each(|items| kept.push(items).unwrap());
            assert_eq!(kept.rows(), 100_000);
            let mut back = Vec::new();
            kept.each(&mut |first, items| {
                assert_eq!(first, back.len() as u64);
                back.extend_from_slice(items);
                Ok(())
            })
            .unwrap();
            assert!(back == all);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "files have no name");
    }
}
