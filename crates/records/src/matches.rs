//! The rows whose key matched.

use crate::columnar::{KeyBatches, Table};
use crate::error::{InputError, WriteError};
use crate::key::KeyColumn;
use crate::key_items::KeyItems;
use crate::key_pass::{Fingerprint, KeyPass, Outcome};
use crate::output::OutputOptions;
use crate::progress::{Meter, Progress};
use crate::rows::{Row, TextRow};
use crate::second_pass::{Copying, Wanted, Written, write_wanted};
use crate::sort::sort_distinct;
use crate::source::Source;
use crate::text::reader::Record;
use arrow_buffer::BooleanBuffer;
use arrow_buffer::BooleanBufferBuilder;
use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use vesica_core::Item;

/// Writes the rows of `source` whose item is in `matched`, with all columns, in the order of the
/// input, repeated keys included.
///
/// The format is that of the output's name. A text file of the same format keeps its delimiter,
/// quotes, line ends and byte order mark; its rows are copied byte for byte. Other combinations:
/// text to Parquet gives string columns; Parquet to Parquet keeps types and metadata; Parquet to
/// text gives the text forms that keys are compared by.
///
/// The file appears under its name when it is complete and on disk; after an error nothing is
/// left. `expected` is what [`crate::read_keys`] saw, `matched` some of its items.
///
/// # Errors
/// [`InputError::Changed`] if the input is not what was read before, any other error of reading,
/// and any error of writing.
pub fn write_matches(
    source: &Source,
    columns: &[KeyColumn],
    hash: &KeyItems,
    expected: &Fingerprint,
    matched: &[Item],
    options: &OutputOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Written, WriteError> {
    let indices = source.key_indices(columns)?;
    let wanted = ByKey {
        keys: KeyPass::new(columns, hash),
        matched: Matched::new(matched),
        columns: &indices,
        expected,
        window: Window::default(),
    };
    write_wanted(source, &indices, wanted, options, progress)
}

/// The rows whose item is in a set.
struct ByKey<'a> {
    keys: KeyPass<'a>,
    matched: Matched<'a>,
    /// The key columns.
    columns: &'a [usize],
    expected: &'a Fingerprint,
    window: Window,
}

/// Records whose items are looked up together, so that their cache misses overlap.
const WINDOW: usize = 64;

/// From so many bytes on, a window is looked up with fewer records.
const WINDOW_BYTES: usize = 1 << 16;

/// Records of a text file, as they stand in it, that may match.
#[derive(Default)]
struct Window {
    /// The items of the records; the last may still wait in [`KeyPass`].
    items: Vec<Item>,
    bytes: Vec<u8>,
    /// Of each record, where it ends in `bytes` without its line end and with it.
    ends: Vec<(usize, usize)>,
}

impl Window {
    fn push(&mut self, record: Record<'_>) {
        let (body, whole) = record.raw();
        let start = self.bytes.len();
        self.bytes.extend_from_slice(whole);
        self.ends.push((start + body.len(), self.bytes.len()));
    }

    fn is_full(&self) -> bool {
        self.ends.len() == WINDOW || self.bytes.len() >= WINDOW_BYTES
    }
}

impl ByKey<'_> {
    /// Copies what matches of the window, and empties it.
    fn copy_window(&mut self, copy: &mut impl Copying) -> Result<(), WriteError> {
        let Self { keys, matched, window, .. } = self;
        keys.flush(&mut window.items);
        let mut found = [false; WINDOW];
        matched.contains_each(&window.items, &mut found);
        let mut start = 0;
        for ((body_end, end), found) in window.ends.drain(..).zip(found) {
            if found {
                copy(&window.bytes[start..body_end], &window.bytes[start..end])?;
            }
            start = end;
        }
        window.items.clear();
        window.bytes.clear();
        Ok(())
    }
}

impl Wanted for ByKey<'_> {
    fn rows(&self) -> u64 {
        self.keys.rows()
    }

    #[inline]
    fn wants(&mut self, row: &impl Row) -> bool {
        match self.keys.outcome(row) {
            Outcome::Item(item) => self.matched.contains(&item),
            Outcome::Empty | Outcome::Refused { .. } => false,
        }
    }

    #[inline]
    fn take(&mut self, row: &TextRow<'_>, copy: &mut impl Copying) -> Result<(), WriteError> {
        if let Outcome::Item(()) = self.keys.collect(row, &mut self.window.items) {
            self.window.push(row.record);
        }
        if self.window.is_full() {
            self.copy_window(copy)?;
        }
        Ok(())
    }

    fn copy_rest(&mut self, copy: &mut impl Copying) -> Result<(), WriteError> {
        self.copy_window(copy)
    }

    fn group(
        &mut self,
        source: &Source,
        table: &Table,
        group: usize,
        meter: &mut Meter<'_>,
    ) -> Result<BooleanBuffer, InputError> {
        let group = Some((group, self.keys.rows()));
        let mut batches = KeyBatches::open(source, table, self.columns, group)?;
        let mut mask = BooleanBufferBuilder::new(0);
        while let Some(batch) = batches.next()? {
            batch.rows().for_each(|row| mask.append(self.wants(&row)));
            let rows = self.keys.rows();
            meter.tick(source.bytes_at_row(rows, table), rows)?;
        }
        Ok(mask.finish())
    }

    fn saw_all(self) -> bool {
        self.keys.fingerprint() == *self.expected
    }
}

/// A sorted set of items with an index by their first bits: digests are uniform, so a lookup
/// touches one entry of the index and a few neighbouring items.
struct Matched<'a> {
    items: Cow<'a, [Item]>,
    /// `starts[p]..starts[p + 1]` are the items whose first bits are `p`.
    starts: Vec<u32>,
    shift: u32,
}

/// Bits of the largest index: 2^24 entries of four bytes.
const INDEX_MAX_BITS: u32 = 24;

impl<'a> Matched<'a> {
    fn new(items: &'a [Item]) -> Self {
        let items = match items.is_sorted() {
            true => Cow::Borrowed(items),
            false => {
                let mut own = items.to_vec();
                sort_distinct(&mut own);
                Cow::Owned(own)
            }
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

    #[inline]
    fn contains(&self, item: &Item) -> bool {
        self.items[self.range(item)].binary_search(item).is_ok()
    }

    /// The items with the same first bits.
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
        // Nothing waits for these reads, so that the processor makes them all at once.
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

    #[test]
    fn lookup_finds_what_is_there_and_nothing_else() {
        let hash = ItemHash::new("lookup test", &[]);
        for count in [0_u32, 1, 3, 7, 100, 5000] {
            let all: Vec<Item> = (0..2 * count + 1).map(|i| hash.item(&i.to_le_bytes())).collect();
            let (inside, outside) = all.split_at(count as usize);
            let matched = Matched::new(inside);
            assert!(inside.iter().all(|item| matched.contains(item)));
            assert!(!outside.iter().any(|item| matched.contains(item)));
            for window in all.chunks(WINDOW) {
                let mut found = [false; WINDOW];
                matched.contains_each(window, &mut found);
                let expected = window.iter().map(|item| matched.contains(item));
                assert!(found[..window.len()].iter().copied().eq(expected));
            }
        }
    }
}
