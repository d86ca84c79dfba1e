//! First pass: rows to a sorted set of distinct items.

use crate::error::{InputError, Place};
use crate::key::KeyColumn;
use crate::key_items::KeyItems;
use crate::key_pass::{Fingerprint, KeyPass, Outcome};
use crate::profile::Refusal;
use crate::progress::{Meter, Progress};
use crate::rows::{Row, Visit, visit};
use crate::sort::{Groups, sort_distinct};
use crate::source::Source;
use crate::texts::{KeyTexts, TextCollector};
use crate::values::{Places, ValueColumns, Values};
use std::ops::ControlFlow;
use std::path::Path;
use vesica_core::Item;

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

/// Counts the rows of a pass that give no item, within its limits.
pub(crate) struct Tally<'a> {
    pub(crate) columns: &'a [KeyColumn],
    limits: &'a KeyLimits,
    pub(crate) path: &'a Path,
    pub(crate) counts: KeyCounts,
}

impl<'a> Tally<'a> {
    /// For a pass over `source`, unless the file itself says that it has too many rows.
    pub(crate) fn new(
        source: &'a Source,
        columns: &'a [KeyColumn],
        limits: &'a KeyLimits,
    ) -> Result<Self, InputError> {
        let tally = Self { columns, limits, path: source.path(), counts: KeyCounts::default() };
        match source.rows() {
            Some(rows) if rows > 0 => tally.check_room(rows - 1)?,
            _ => {}
        }
        Ok(tally)
    }

    /// Whether there may be a row after so many.
    #[inline]
    pub(crate) fn check_room(&self, rows: u64) -> Result<(), InputError> {
        match self.limits.max_rows {
            Some(limit) if rows >= limit => {
                Err(InputError::TooManyRows { path: self.path.to_path_buf(), limit })
            }
            _ => Ok(()),
        }
    }

    #[cold]
    pub(crate) fn refuse(
        &mut self,
        key: usize,
        reason: Refusal,
        place: Place,
    ) -> Result<(), InputError> {
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

    /// What was counted in a pass over so many rows, `keyed` of which have a key.
    pub(crate) fn finish(self, rows: u64, keyed: u64) -> Result<KeyCounts, InputError> {
        let mut counts = self.counts;
        counts.rows = rows;
        if !self.limits.may_be_empty {
            let path = || self.path.to_path_buf();
            if rows == 0 {
                return Err(InputError::NoRows { path: path() });
            }
            if keyed == 0 {
                let KeyCounts { rows, empty, refused, .. } = counts;
                return Err(InputError::NoKeys { path: path(), rows, empty, refused });
            }
        }
        Ok(counts)
    }
}

struct Collector<'a> {
    pass: KeyPass<'a>,
    tally: Tally<'a>,
    items: Vec<Item>,
    values: Option<Values<'a>>,
    texts: Option<TextCollector>,
    /// Of the rows that gave an item, where there are values.
    places: Places,
    compact_at: usize,
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
}

impl Visit for Collector<'_> {
    #[inline]
    fn row(&mut self, row: &impl Row) -> Result<ControlFlow<()>, InputError> {
        self.tally.check_room(self.pass.rows())?;
        let outcome = match &mut self.texts {
            Some(texts) => {
                let (columns, path) = (self.tally.columns, self.tally.path);
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
            Outcome::Empty => self.tally.counts.empty += 1,
            Outcome::Refused { key, reason } => self.tally.refuse(key, reason, row.place())?,
        }
        Ok(ControlFlow::Continue(()))
    }
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
    let mut collector = Collector {
        pass: KeyPass::new(columns, hash),
        tally: Tally::new(source, columns, limits)?,
        items: Vec::new(),
        values: beside.values.map(|values| Values::new(values, columns.len(), source.path())),
        texts: beside.texts.map(TextCollector::new),
        places: Places::default(),
        compact_at: FIRST_COMPACTION,
    };
    let mut meter = Meter::new(source.len_bytes(), progress);
    let rows = visit(source, &indices, &mut meter, &mut collector)?;
    collector.pass.flush(&mut collector.items);
    collector.sort_distinct(true)?;
    let Collector { pass, tally, items, values, texts, .. } = collector;
    let mut counts = tally.finish(rows, items.len() as u64)?;
    counts.distinct = items.len() as u64;
    counts.duplicates = rows - counts.empty - counts.refused - counts.distinct;
    counts.without_value = values.as_ref().map_or(0, |values| values.empty);
    let values = values.map(Values::into_values);
    let texts = texts.map(|collector| collector.texts);
    Ok(KeySet { items, values, texts, counts, fingerprint: pass.fingerprint() })
}
