//! First pass: rows to a sorted set of distinct items.

use crate::counts::{KeyCounts, KeyLimits};
use crate::key::{KeyColumn, key_cells};
use crate::key_items::KeyItems;
use crate::key_pass::{KeyPass, Outcome};
use crate::payloads::{PayloadColumns, Payloads};
use crate::refused_list::RefusedList;
use crate::row_numbers::RowNumbers;
use crate::survey::{Found, Survey};
use crate::tally::Tally;
use crate::texts::{KeyTexts, TextCollector};
use crate::values::{Places, ValueColumns, Values};
use std::ops::ControlFlow;
use vesica_core::Item;
use vesica_core::sort::{Groups, sort_distinct};
use vesica_inputs::error::{InFile, InputError};
use vesica_tables::{Meter, Progress, Row, Source, Visit, visit};

/// When repeated items are first dropped before the end of the pass: at 64 MiB of items.
const FIRST_COMPACTION: usize = 1 << 22;

/// What a pass reads in addition to the items of keys.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extra<'a> {
    /// Columns of values.
    pub values: Option<&'a ValueColumns>,
    /// The most bytes of a key's text, where texts are wanted.
    pub texts: Option<usize>,
    /// Columns whose cells are payloads.
    pub payloads: Option<&'a PayloadColumns>,
    /// Whether the numbers of the rows of each key are wanted.
    pub rows: bool,
    /// The list of refused rows, if one is wanted.
    pub refused: Option<&'a RefusedList>,
}

/// The keys of a file.
#[derive(Clone, Debug)]
pub struct KeySet {
    /// The distinct items, ascending.
    pub items: Vec<Item>,
    /// The values of each item, where values were asked for: the values of one item are adjacent,
    /// each of 64 bits, as two's complement where they have a sign.
    pub values: Option<Vec<u64>>,
    /// The text of each item's key, where texts were asked for.
    pub texts: Option<KeyTexts>,
    /// The payload of each item, where payloads were asked for, one after the other.
    pub payloads: Option<Vec<u8>>,
    /// The rows of each item, where they were asked for.
    pub rows: Option<RowNumbers>,
    /// The outcome of the rows.
    pub counts: KeyCounts,
}

struct Collector<'a> {
    pass: KeyPass<'a>,
    tally: Tally<'a>,
    items: Vec<Item>,
    values: Option<Values<'a>>,
    texts: Option<TextCollector>,
    payloads: Option<Payloads<'a>>,
    rows: Option<RowNumbers>,
    /// Rows that are at fault so that they have no key.
    left_out: u64,
    /// Of the rows that gave an item, where there are values or payloads.
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
        let has_more = self.values.is_some() || self.payloads.is_some();
        if !has_more && self.texts.is_none() && self.rows.is_none() {
            sort_distinct(&mut self.items);
            return Ok(());
        }
        // Every row that gave a value or a text has its item then.
        self.pass.flush(&mut self.items);
        let groups = Groups::of(&mut self.items);
        if let Some(values) = &mut self.values {
            let tally = &mut self.tally;
            let mut fault = |error, file: &InFile| tally.fault_in(error, file);
            values.merge(groups.iter(), &self.places, is_last, &mut fault)?;
        }
        if let Some(payloads) = &mut self.payloads {
            let tally = &mut self.tally;
            let mut fault = |error, file: &InFile| tally.fault_in(error, file);
            payloads.merge(groups.iter(), &self.places, &mut fault)?;
        }
        if has_more {
            self.places.keep_first(groups.iter());
        }
        if let Some(collector) = &mut self.texts {
            collector.texts.keep(groups.iter().map(|group| group[0]));
        }
        if let Some(rows) = &mut self.rows {
            rows.merge(groups.iter());
        }
        Ok(())
    }
}

impl Visit for Collector<'_> {
    fn file(&mut self, file: &InFile) {
        self.tally.file = file.clone();
        self.pass.enter(file);
        self.places.begin(file);
    }

    #[inline]
    fn row(&mut self, row: &impl Row) -> Result<ControlFlow<()>, InputError> {
        self.tally.check_room(self.pass.rows())?;
        self.tally.look(row)?;
        let outcome = match &mut self.texts {
            Some(texts) => {
                let (columns, path) = (self.tally.columns, &self.tally.file.path);
                let look = |key: &[u8]| texts.take(key, columns, path, || row.place());
                match self.pass.collect_with(row, &mut self.items, look) {
                    Ok(outcome) => outcome,
                    Err(error) => {
                        self.tally.fault(error)?;
                        self.left_out += 1;
                        return Ok(ControlFlow::Continue(()));
                    }
                }
            }
            None => self.pass.collect(row, &mut self.items),
        };
        match outcome {
            Outcome::Item => {
                let tally = &mut self.tally;
                let mut bad = |column: &str, fault| {
                    let (path, column) = (tally.file.path.to_path_buf(), column.to_owned());
                    let place = row.place();
                    tally.fault(InputError::BadValue { path, place, column, fault })
                };
                if let Some(values) = &mut self.values {
                    values.take(row, &mut bad)?;
                }
                if let Some(payloads) = &mut self.payloads {
                    payloads.take(row, &mut bad)?;
                }
                if self.values.is_some() || self.payloads.is_some() {
                    self.places.push(row.place());
                }
                if let Some(rows) = &mut self.rows {
                    rows.push(self.pass.rows());
                }
                if self.items.len() >= self.compact_at {
                    self.compact()?;
                }
            }
            Outcome::Empty | Outcome::TooMany | Outcome::NotTaken => self.tally.counts.empty += 1,
            Outcome::Refused { key, reason } => self.tally.refuse(key, reason, row)?,
        }
        Ok(ControlFlow::Continue(()))
    }

    fn goes_on(&self) -> bool {
        self.tally.faults.is_some()
    }

    fn fault(&mut self, error: InputError, is_cut: bool) -> Result<(), InputError> {
        self.tally.read_fault(error, is_cut)
    }
}

/// Reads the keys of all rows and turns them into items with `hash`.
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
    read_keys_with(source, columns, Extra::default(), hash, limits, progress)
}

/// Like [`read_keys`], and also reads the values, texts, payloads and rows that `extra` asks for,
/// and adds refused rows to its list.
///
/// Values take 16 bytes for a row with a key and 8 for each further column, texts their length and
/// 8, payloads their length and 8, rows 16; sorting takes the same again.
///
/// # Errors
/// Errors of [`read_keys`], [`InputError::BadValue`], [`InputError::TotalTooLarge`],
/// [`InputError::DuplicateKey`] and [`InputError::KeyTooLong`].
pub fn read_keys_with(
    source: &Source,
    columns: &[KeyColumn],
    extra: Extra<'_>,
    hash: &KeyItems,
    limits: &KeyLimits,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<KeySet, InputError> {
    read(source, columns, extra, hash, limits, None, progress)
}

/// Like [`read_keys_with`], over a whole file with the key of `survey`, even if rows have faults:
/// these are counted in `survey`, with the shapes of the key's columns. Rows with a fault are left
/// out of the set, so that it is of no use for a run unless there are none. The file is read once.
///
/// # Errors
/// Errors of [`read_keys_with`] that do not belong to a row.
pub fn survey_keys(
    source: &Source,
    extra: Extra<'_>,
    hash: &KeyItems,
    limits: &KeyLimits,
    survey: &mut Survey,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<KeySet, InputError> {
    let (columns, found) = survey.parts();
    read(source, columns, extra, hash, limits, Some(found), progress)
}

fn read<'a>(
    source: &'a Source,
    columns: &'a [KeyColumn],
    extra: Extra<'a>,
    hash: &'a KeyItems,
    limits: &'a KeyLimits,
    found: Option<Found<'a>>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<KeySet, InputError> {
    let mut cells = key_cells(source, columns)?;
    if let Some(values) = extra.values {
        for column in &values.columns {
            cells.push(source.value_column(column)?);
        }
        if let Some(groups) = &values.groups {
            cells.push(source.group_column(&groups.by)?);
        }
    }
    let before_payloads = cells.len();
    for (column, _) in extra.payloads.into_iter().flat_map(|payloads| &payloads.columns) {
        cells.push(source.value_column(column)?);
    }
    let mut collector = Collector {
        pass: KeyPass::new(columns, hash),
        tally: Tally::new(source, columns, limits, found, extra.refused)?,
        items: Vec::new(),
        values: extra.values.map(|values| Values::new(values, columns.len())),
        texts: extra.texts.map(TextCollector::new),
        payloads: extra.payloads.map(|columns| Payloads::new(columns, before_payloads)),
        rows: extra.rows.then(RowNumbers::default),
        left_out: 0,
        places: Places::default(),
        compact_at: FIRST_COMPACTION,
    };
    let mut meter = Meter::new(source.len_bytes(), progress);
    let rows = visit(source, &cells, &mut meter, &mut collector)?;
    collector.pass.flush(&mut collector.items);
    collector.sort_distinct(true)?;
    let frequent = collector.pass.frequent(columns);
    let Collector { tally, items, values, texts, payloads, rows: numbers, left_out, .. } =
        collector;
    let mut counts = tally.finish(rows, items.len() as u64, None)?;
    counts.frequent = frequent;
    counts.distinct = items.len() as u64;
    counts.duplicates = rows - left_out - counts.empty - counts.refused - counts.distinct;
    counts.without_value = values.as_ref().map_or(0, |values| values.empty);
    let values = values.map(Values::into_values);
    let texts = texts.map(|collector| collector.texts);
    let payloads = payloads.map(Payloads::into_payloads);
    Ok(KeySet { items, values, texts, payloads, rows: numbers, counts })
}
