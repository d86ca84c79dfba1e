//! First pass: rows to a sorted set of distinct items.

use crate::error::{InputError, Place};
use crate::key::{Encoded, KeyColumn, KeyEncoder};
use crate::key_items::KeyItems;
use crate::profile::Refusal;
use crate::progress::{Meter, Progress};
use crate::rows::{Row, Visit, visit};
use crate::sort::{Groups, sort_distinct};
use crate::source::Source;
use crate::texts::{KeyTexts, TextCollector};
use crate::values::{Places, ValueColumns, Values};
use std::convert::Infallible;
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use vesica_core::Item;
use vesica_core::hash::{ItemHash, derive};

const FINGERPRINT_LABEL: &str = "vesica records 2026 fingerprint of a pass v1";

/// Items hashed at a time into the fingerprint.
const FINGERPRINT_BLOCK_BYTES: usize = 1 << 15;

/// Places kept for each column and reason.
const FIRST_PLACES: usize = 5;

/// When repeated items are first dropped before the end of the pass: at 64 MiB of items.
const FIRST_COMPACTION: usize = 1 << 22;

/// What a pass must keep to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyLimits {
    /// Most rows the file may have.
    pub max_rows: Option<u64>,
    /// A refused value ends the pass with an error; otherwise it is counted.
    pub strict: bool,
    /// A file without rows, or without a usable key, is an empty set rather than an error.
    pub may_be_empty: bool,
}

/// What is read beside the items of keys.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside<'a> {
    /// Columns of values.
    pub values: Option<&'a ValueColumns>,
    /// The most bytes of a key's text, where texts are wanted.
    pub texts: Option<usize>,
}

/// Values of one column refused for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedCount {
    /// The column in the file.
    pub column: String,
    /// The reason.
    pub reason: Refusal,
    /// How many rows.
    pub count: u64,
    /// The first of them, at most five.
    pub first: Vec<Place>,
}

/// What became of the rows: `rows = empty + refused + duplicates + distinct`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyCounts {
    /// Data rows.
    pub rows: u64,
    /// Rows with an empty key column.
    pub empty: u64,
    /// Rows without an empty key column and with a refused one.
    pub refused: u64,
    /// Rows whose key stood in an earlier row.
    pub duplicates: u64,
    /// Different keys.
    pub distinct: u64,
    /// Rows with a key whose value is empty and counts as 0; 0 where no values are read.
    pub without_value: u64,
    /// The refused rows by column and reason, in the order they were first met.
    pub refused_by: Vec<RefusedCount>,
}

/// What a pass saw, to notice that a later pass sees something else: the number of rows and a
/// digest over all items in the order of the rows.
///
/// It stays on this machine: it would let a peer test guesses of the whole set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    rows: u64,
    items: [u8; 32],
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fingerprint").field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// The keys of a file.
#[derive(Clone, Debug)]
pub struct KeySet {
    /// The distinct items, ascending.
    pub items: Vec<Item>,
    /// The values of each item, where values were asked for: those of one item follow each other, each of 64
    /// bits, as two's complement where they have a sign.
    pub values: Option<Vec<u64>>,
    /// The text of each item's key, where texts were asked for.
    pub texts: Option<KeyTexts>,
    /// What became of the rows.
    pub counts: KeyCounts,
    /// What the pass saw.
    pub fingerprint: Fingerprint,
}

/// What a row gave; `T` is its item, or nothing where the item comes later.
pub(crate) enum Outcome<T> {
    Item(T),
    Empty,
    Refused { key: usize, reason: Refusal },
}

/// Turns rows into items and keeps the fingerprint of what it saw. Both passes use it:
/// with [`KeyPass::collect`] where the items of many rows may wait for each other, else with
/// [`KeyPass::outcome`].
pub(crate) struct KeyPass<'a> {
    encoder: KeyEncoder,
    hash: &'a KeyItems,
    rows: u64,
    digest: [u8; 32],
    block: Vec<u8>,
    /// One key.
    key: Vec<u8>,
    /// Collected keys not hashed yet, each at the start of its [`ItemHash::BATCH_KEY_LEN`] bytes.
    /// Encoding writes straight to where hashing reads.
    waiting: Vec<u8>,
    waiting_lens: [u8; ItemHash::BATCH],
}

impl<'a> KeyPass<'a> {
    pub(crate) fn new(columns: &[KeyColumn], hash: &'a KeyItems) -> Self {
        Self {
            encoder: KeyEncoder::new(columns),
            hash,
            rows: 0,
            digest: [0; 32],
            block: Vec::with_capacity(FINGERPRINT_BLOCK_BYTES),
            key: Vec::new(),
            waiting: Vec::new(),
            waiting_lens: [0; ItemHash::BATCH],
        }
    }

    #[inline]
    pub(crate) fn outcome(&mut self, row: &impl Row) -> Outcome<Item> {
        self.rows += 1;
        self.key.clear();
        match self.encoder.encode(row, &mut self.key) {
            Encoded::Key => {
                let item = self.hash.item(&self.key);
                self.note(&item);
                Outcome::Item(item)
            }
            Encoded::Empty => Outcome::Empty,
            Encoded::Refused { key, reason } => Outcome::Refused { key, reason },
        }
    }

    /// Appends the item of a row that has a key to `items`, in the order of the rows but not at
    /// once: after the last row comes [`KeyPass::flush`].
    #[inline]
    pub(crate) fn collect(&mut self, row: &impl Row, items: &mut Vec<Item>) -> Outcome<()> {
        match self.collect_with(row, items, |_| Ok::<_, Infallible>(())) {
            Ok(outcome) => outcome,
            Err(never) => match never {},
        }
    }

    /// The same, and shows each encoded key to `look`.
    #[inline]
    fn collect_with<E>(
        &mut self,
        row: &impl Row,
        items: &mut Vec<Item>,
        look: impl FnOnce(&[u8]) -> Result<(), E>,
    ) -> Result<Outcome<()>, E> {
        const WIDTH: usize = ItemHash::BATCH_KEY_LEN;
        self.rows += 1;
        let start = self.waiting.len();
        match self.encoder.encode(row, &mut self.waiting) {
            Encoded::Key => look(&self.waiting[start..])?,
            Encoded::Empty => return Ok(Outcome::Empty),
            Encoded::Refused { key, reason } => return Ok(Outcome::Refused { key, reason }),
        }
        let len = self.waiting.len() - start;
        if len > WIDTH {
            self.collect_long(start, items);
            return Ok(Outcome::Item(()));
        }
        self.waiting_lens[start / WIDTH] = len as u8;
        // Cheaper than filling up: the number of bytes is a constant.
        self.waiting.extend_from_slice(&[0; WIDTH]);
        self.waiting.truncate(start + WIDTH);
        if self.waiting.len() == WIDTH * ItemHash::BATCH {
            self.flush(items);
        }
        Ok(Outcome::Item(()))
    }

    /// Takes the last key, from `start` on, which is too long for a batch.
    #[cold]
    fn collect_long(&mut self, start: usize, items: &mut Vec<Item>) {
        let item = self.hash.item(&self.waiting[start..]);
        self.waiting.truncate(start);
        self.flush(items);
        items.push(item);
        self.note(&item);
    }

    /// Hashes the keys that wait.
    #[inline(never)]
    pub(crate) fn flush(&mut self, items: &mut Vec<Item>) {
        let known = items.len();
        let (keys, _) = self.waiting.as_chunks();
        if let Ok(batch) = keys.try_into() {
            items.extend_from_slice(&self.hash.items(batch, &self.waiting_lens));
        } else {
            let keys = keys.iter().zip(&self.waiting_lens);
            items.extend(keys.map(|(key, len)| self.hash.item(&key[..usize::from(*len)])));
        }
        self.waiting.clear();
        items[known..].iter().for_each(|item| self.note(item));
    }

    #[inline]
    fn note(&mut self, item: &Item) {
        self.block.extend_from_slice(item.as_bytes());
        if self.block.len() >= FINGERPRINT_BLOCK_BYTES {
            self.absorb();
        }
    }

    #[cold]
    fn absorb(&mut self) {
        self.digest = derive(FINGERPRINT_LABEL, &[&self.digest, &self.block]);
        self.block.clear();
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    pub(crate) fn fingerprint(mut self) -> Fingerprint {
        self.absorb();
        Fingerprint { rows: self.rows, items: self.digest }
    }
}

struct Collector<'a> {
    pass: KeyPass<'a>,
    columns: &'a [KeyColumn],
    limits: &'a KeyLimits,
    path: &'a Path,
    items: Vec<Item>,
    values: Option<Values<'a>>,
    texts: Option<TextCollector>,
    /// Of the rows that gave an item, where there are values.
    places: Places,
    compact_at: usize,
    counts: KeyCounts,
}

impl Collector<'_> {
    /// Drops repeated items, so that memory follows the distinct ones. The next time is far
    /// enough away that the sorting is a small part of the pass.
    #[cold]
    fn compact(&mut self) -> Result<(), InputError> {
        self.sort_distinct(false)?;
        self.compact_at = FIRST_COMPACTION.max(self.items.len().saturating_mul(4));
        Ok(())
    }

    fn sort_distinct(&mut self, is_last: bool) -> Result<(), InputError> {
        if self.values.is_none() && self.texts.is_none() {
            sort_distinct(&mut self.items);
            return Ok(());
        }
        // Every row that gave a value or a text has its item then.
        self.pass.flush(&mut self.items);
        let groups = Groups::of(&mut self.items);
        if let Some(values) = &mut self.values {
            values.merge(groups.iter(), &self.places, is_last)?;
            self.places.keep_first(groups.iter());
        }
        if let Some(collector) = &mut self.texts {
            collector.texts.keep(groups.iter().map(|group| group[0]));
        }
        Ok(())
    }

    #[cold]
    fn refuse(&mut self, key: usize, reason: Refusal, place: Place) -> Result<(), InputError> {
        let column = &self.columns[key].column;
        if self.limits.strict {
            let (path, column) = (self.path.to_path_buf(), column.clone());
            return Err(InputError::Refused { path, place, column, reason });
        }
        self.counts.refused += 1;
        let known = |row: &&mut RefusedCount| row.reason == reason && row.column == *column;
        match self.counts.refused_by.iter_mut().find(known) {
            Some(row) => {
                row.count += 1;
                if row.first.len() < FIRST_PLACES {
                    row.first.push(place);
                }
            }
            None => self.counts.refused_by.push(RefusedCount {
                column: column.clone(),
                reason,
                count: 1,
                first: vec![place],
            }),
        }
        Ok(())
    }
}

impl Visit for Collector<'_> {
    #[inline]
    fn row(&mut self, row: &impl Row) -> Result<ControlFlow<()>, InputError> {
        if self.limits.max_rows.is_some_and(|limit| self.pass.rows() >= limit) {
            return Err(too_many(self.path, self.limits));
        }
        let outcome = match &mut self.texts {
            Some(texts) => {
                let (columns, path) = (self.columns, self.path);
                let look = |key: &[u8]| texts.take(key, columns, path, || row.place());
                self.pass.collect_with(row, &mut self.items, look)?
            }
            None => self.pass.collect(row, &mut self.items),
        };
        match outcome {
            Outcome::Item(()) => {
                if let Some(values) = &mut self.values {
                    values.take(row)?;
                    self.places.push(row.place());
                }
                if self.items.len() >= self.compact_at {
                    self.compact()?;
                }
            }
            Outcome::Empty => self.counts.empty += 1,
            Outcome::Refused { key, reason } => self.refuse(key, reason, row.place())?,
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn too_many(path: &Path, limits: &KeyLimits) -> InputError {
    InputError::TooManyRows { path: path.to_path_buf(), limit: limits.max_rows.unwrap_or_default() }
}

/// Reads the keys of all rows into items, which `hash` makes of them.
///
/// Streams the file: the memory is 16 bytes for a row with a key (for a distinct key, where many
/// repeat) plus fixed buffers. `progress` is called at most some tens of times a second; `Break`
/// ends the pass with [`InputError::Interrupted`].
///
/// # Errors
/// Anything wrong with the file, a limit passed, no row at all, or no row with a key.
pub fn read_keys(
    source: &Source,
    columns: &[KeyColumn],
    hash: &KeyItems,
    limits: &KeyLimits,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<KeySet, InputError> {
    read_keys_with(source, columns, Beside::default(), hash, limits, progress)
}

/// The same, with what `beside` asks for.
///
/// Values take 16 bytes for a row with a key and 8 for each further column, texts their length and 8; while
/// they are sorted both take as much again.
///
/// # Errors
/// Those of [`read_keys`], [`InputError::BadValue`], [`InputError::TotalTooLarge`],
/// [`InputError::DuplicateKey`] and [`InputError::KeyTooLong`].
pub fn read_keys_with(
    source: &Source,
    columns: &[KeyColumn],
    beside: Beside<'_>,
    hash: &KeyItems,
    limits: &KeyLimits,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<KeySet, InputError> {
    let mut indices = source.key_indices(columns)?;
    for column in beside.values.iter().flat_map(|values| &values.columns) {
        indices.push(source.value_index(column)?);
    }
    if let (Some(limit), Some(rows)) = (limits.max_rows, source.rows())
        && rows > limit
    {
        return Err(too_many(source.path(), limits));
    }
    let mut collector = Collector {
        pass: KeyPass::new(columns, hash),
        columns,
        limits,
        path: source.path(),
        items: Vec::new(),
        values: beside.values.map(|values| Values::new(values, columns.len(), source.path())),
        texts: beside.texts.map(TextCollector::new),
        places: Places::default(),
        compact_at: FIRST_COMPACTION,
        counts: KeyCounts::default(),
    };
    let mut meter = Meter::new(source.len_bytes(), progress);
    let rows = visit(source, &indices, &mut meter, &mut collector)?;
    if rows == 0 && !limits.may_be_empty {
        return Err(InputError::NoRows { path: source.path().to_path_buf() });
    }
    collector.pass.flush(&mut collector.items);
    collector.sort_distinct(true)?;
    let Collector { pass, items, values, texts, mut counts, .. } = collector;
    counts.rows = rows;
    counts.distinct = items.len() as u64;
    counts.duplicates = rows - counts.empty - counts.refused - counts.distinct;
    counts.without_value = values.as_ref().map_or(0, |values| values.empty);
    if items.is_empty() && !limits.may_be_empty {
        let KeyCounts { rows, empty, refused, .. } = counts;
        return Err(InputError::NoKeys { path: source.path().to_path_buf(), rows, empty, refused });
    }
    let values = values.map(Values::into_values);
    let texts = texts.map(|collector| collector.texts);
    Ok(KeySet { items, values, texts, counts, fingerprint: pass.fingerprint() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    struct OneCell(Vec<u8>);

    impl Row for OneCell {
        fn cell<'a>(&'a self, _: usize, _: &'a mut Vec<u8>) -> &'a [u8] {
            &self.0
        }

        fn place(&self) -> Place {
            Place::Row(1)
        }
    }

    /// What collecting and taking one by one give for rows of these lengths.
    fn both(lens: impl Iterator<Item = usize>) -> [(Vec<Item>, Fingerprint); 2] {
        let rows: Vec<_> = lens.enumerate().map(|(i, len)| OneCell(vec![i as u8; len])).collect();
        let hash = KeyItems::digests(ItemHash::new("keys test", &[]));
        let columns = [KeyColumn { name: "k".into(), column: "k".into(), profile: Profile::EXACT }];
        let mut pass = KeyPass::new(&columns, &hash);
        let one_by_one = rows
            .iter()
            .filter_map(|row| match pass.outcome(row) {
                Outcome::Item(item) => Some(item),
                Outcome::Empty | Outcome::Refused { .. } => None,
            })
            .collect();
        let one_by_one = (one_by_one, pass.fingerprint());
        let (mut pass, mut collected) = (KeyPass::new(&columns, &hash), Vec::new());
        for row in &rows {
            pass.collect(row, &mut collected);
        }
        pass.flush(&mut collected);
        [one_by_one, (collected, pass.fingerprint())]
    }

    #[test]
    fn collected_items_and_fingerprint_are_those_of_the_rows_one_by_one() {
        // Empty cells, every length around a block with its header, long keys at every place in
        // a batch, and more items than one block of the fingerprint.
        for cycle in [1, 2, 59, 60, 61, 62, 83] {
            let [one_by_one, collected] = both((0..7000).map(|i| i % cycle));
            assert!(one_by_one == collected, "lengths below {cycle}");
        }
        let [one_by_one, collected] = both((0..3000).map(|i| if i % 37 == 5 { 200 } else { 59 }));
        assert_eq!(collected.0.len(), 3000);
        assert!(one_by_one == collected);
    }

    #[test]
    fn the_last_keys_are_hashed_whatever_their_number() {
        for rows in 0..40 {
            let [one_by_one, collected] = both(std::iter::repeat_n(20, rows));
            assert_eq!(collected.0.len(), rows);
            assert!(one_by_one == collected, "{rows} rows");
        }
    }
}
