//! Second pass: the rows whose key matched, all columns, in input order.

use crate::columnar::{KeyBatches, RowBatches, Table, cells::TextColumn, no_text};
use crate::error::{InputError, WriteError};
use crate::format::Format;
use crate::key::KeyColumn;
use crate::key_items::KeyItems;
use crate::key_pass::{Fingerprint, KeyPass, Outcome};
use crate::output::{OutputOptions, TempOutput};
use crate::progress::{Meter, Progress};
use crate::rows::{ROWS_PER_TICK, Row, TextRow};
use crate::sink::parquet::{ParquetSink, TextTable};
use crate::sink::text::{RecordWriter, TextSink};
use crate::sort::sort_distinct;
use crate::source::{Layout, Source, TextLayout};
use crate::text::reader::Record;
use arrow::array::{BooleanArray, RecordBatch};
use parquet::arrow::arrow_reader::RowSelection;
use std::borrow::Cow;
use std::fs::File;
use std::ops::{ControlFlow, Range};
use vesica_core::Item;

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Rows, the header not counted.
    pub rows: u64,
}

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
    let output = TempOutput::create(source, options)?;
    let matched = Matched::new(matched);
    let mut pass = Pass {
        keys: KeyPass::new(columns, hash),
        matched: &matched,
        meter: Meter::new(source.len_bytes(), progress),
        written: 0,
    };
    let out = output.writer()?;
    match (source.layout(), output.format().format) {
        (Layout::Text(_), Format::Parquet) => {
            let mut table = TextTable::new(out, source.columns(), output.path())?;
            let mut scratch = Vec::new();
            pass.text(source, &indices, |record| push_text(&mut table, record, &mut scratch))?;
            table.finish()?;
        }
        (Layout::Text(layout), format) => {
            pass.text_to_text(source, &indices, *layout, format, out, &output)?;
        }
        (Layout::Parquet(table), Format::Parquet) => {
            let mut sink = ParquetSink::like(out, table, output.path())?;
            pass.table(source, table, &indices, |batch, _| Ok(sink.write(batch)?))?;
            sink.finish()?;
        }
        (Layout::Parquet(table), format) => {
            pass.table_to_text(source, table, &indices, format, out, &output)?;
        }
    }
    let Pass { keys, written, .. } = pass;
    source.check_unchanged()?;
    if keys.fingerprint() != *expected {
        return Err(InputError::Changed { path: source.path().to_path_buf() }.into());
    }
    output.commit()?;
    Ok(Written { rows: written })
}

/// The delimiter of a text format, where nothing else is known.
pub(crate) fn usual_delimiter(format: Format) -> u8 {
    if format == Format::Tsv { b'\t' } else { b',' }
}

struct Pass<'a, 'p> {
    keys: KeyPass<'a>,
    matched: &'a Matched<'a>,
    meter: Meter<'p>,
    written: u64,
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

impl Pass<'_, '_> {
    #[inline]
    fn matches(&mut self, row: &impl Row) -> bool {
        let found = match self.keys.outcome(row) {
            Outcome::Item(item) => self.matched.contains(&item),
            Outcome::Empty | Outcome::Refused { .. } => false,
        };
        self.written += u64::from(found);
        found
    }

    /// Gives every matching record to `write`.
    fn text(
        &mut self,
        source: &Source,
        columns: &[usize],
        mut write: impl FnMut(Record<'_>) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let (mut reader, _) = source.records()?;
        while let Some(record) = reader.next()? {
            if self.matches(&TextRow { record, columns }) {
                write(record)?;
            }
            if self.keys.rows().is_multiple_of(ROWS_PER_TICK) {
                self.meter.tick(reader.bytes_done(), self.keys.rows())?;
            }
        }
        Ok(self.meter.finish(self.keys.rows())?)
    }

    /// Gives every matching record to `write`, as it stands in the file: without its line end, and
    /// with it.
    fn text_as_it_stands(
        &mut self,
        source: &Source,
        columns: &[usize],
        mut write: impl FnMut(&[u8], &[u8]) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let (mut reader, _) = source.records()?;
        let mut window = Window::default();
        while let Some(record) = reader.next()? {
            let row = TextRow { record, columns };
            if let Outcome::Item(()) = self.keys.collect(&row, &mut window.items) {
                window.push(record);
            }
            if window.is_full() {
                self.write_window(&mut window, &mut write)?;
            }
            if self.keys.rows().is_multiple_of(ROWS_PER_TICK) {
                self.meter.tick(reader.bytes_done(), self.keys.rows())?;
            }
        }
        self.write_window(&mut window, &mut write)?;
        Ok(self.meter.finish(self.keys.rows())?)
    }

    /// Writes what matches of the window, and empties it.
    fn write_window(
        &mut self,
        window: &mut Window,
        write: &mut impl FnMut(&[u8], &[u8]) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        self.keys.flush(&mut window.items);
        let mut found = [false; WINDOW];
        self.matched.contains_each(&window.items, &mut found);
        let mut start = 0;
        for ((body_end, end), found) in window.ends.drain(..).zip(found) {
            if found {
                self.written += 1;
                write(&window.bytes[start..body_end], &window.bytes[start..end])?;
            }
            start = end;
        }
        window.items.clear();
        window.bytes.clear();
        Ok(())
    }

    fn text_to_text(
        &mut self,
        source: &Source,
        columns: &[usize],
        layout: TextLayout,
        format: Format,
        out: File,
        output: &TempOutput,
    ) -> Result<(), WriteError> {
        let mut sink = TextSink::new(out, output.format().codec, output.path())?;
        let (_, header) = source.records()?;
        if format == source.format() {
            if header.had_bom {
                sink.write(b"\xef\xbb\xbf")?;
            }
            let mut line_end = b"\n".to_vec();
            let mut copy = |body: &[u8], whole: &[u8]| -> Result<(), WriteError> {
                sink.write(whole)?;
                if body.len() < whole.len() {
                    line_end.clear();
                    line_end.extend_from_slice(&whole[body.len()..]);
                } else {
                    // The last record of a file may lack its line end.
                    sink.write(&line_end)?;
                }
                Ok(())
            };
            if !header.raw.is_empty() {
                copy(&header.raw[..header.body_len], &header.raw)?;
            }
            self.text_as_it_stands(source, columns, copy)?;
        } else {
            let mut writer = RecordWriter::new(usual_delimiter(format));
            if layout.header {
                source.columns().iter().for_each(|name| writer.push(name.as_bytes()));
                writer.finish(&mut sink)?;
            }
            let mut scratch = Vec::new();
            self.text(source, columns, |record| {
                for index in 0..record.len() {
                    writer.push(record.cell(index, &mut scratch));
                }
                Ok(writer.finish(&mut sink)?)
            })?;
        }
        Ok(sink.finish()?)
    }

    /// Gives every batch of matching rows to `write`, with the number of the first row of its
    /// row group, from 1.
    fn table(
        &mut self,
        source: &Source,
        table: &Table,
        columns: &[usize],
        mut write: impl FnMut(&RecordBatch, u64) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        for group in 0..table.file().num_row_groups() {
            let first_row = self.keys.rows();
            let mut filters = Vec::new();
            let mut batches = KeyBatches::open(source, table, columns, Some((group, first_row)))?;
            let before = self.written;
            while let Some(batch) = batches.next()? {
                let found: Vec<bool> = batch.rows().map(|row| self.matches(&row)).collect();
                filters.push(BooleanArray::from(found));
                let rows = self.keys.rows();
                self.meter.tick(source.bytes_at_row(rows, table), rows)?;
            }
            if self.written == before {
                continue;
            }
            let selection = RowSelection::from_filters(&filters);
            let mut batches = RowBatches::open(source, table, group, selection)?;
            while let Some(batch) = batches.next()? {
                write(&batch, first_row + 1)?;
            }
        }
        Ok(self.meter.finish(self.keys.rows())?)
    }

    fn table_to_text(
        &mut self,
        source: &Source,
        table: &Table,
        columns: &[usize],
        format: Format,
        out: File,
        output: &TempOutput,
    ) -> Result<(), WriteError> {
        let mut sink = TextSink::new(out, output.format().codec, output.path())?;
        let mut writer = RecordWriter::new(usual_delimiter(format));
        source.columns().iter().for_each(|name| writer.push(name.as_bytes()));
        writer.finish(&mut sink)?;
        self.table(source, table, columns, |batch, first_row| {
            let mut texts = Vec::with_capacity(batch.num_columns());
            for (array, name) in batch.columns().iter().zip(source.columns()) {
                let text = TextColumn::new(array)
                    .map_err(|reason| no_text(&reason, source.path(), first_row, name))?;
                texts.push(text);
            }
            for row in 0..batch.num_rows() {
                texts.iter().for_each(|text| writer.push(text.cell(row)));
                writer.finish(&mut sink)?;
            }
            Ok(())
        })?;
        Ok(sink.finish()?)
    }
}

/// Adds a record to a table of strings.
fn push_text(
    table: &mut TextTable<File>,
    record: Record<'_>,
    scratch: &mut Vec<u8>,
) -> Result<(), WriteError> {
    for index in 0..record.len() {
        table.cell(index, record.cell(index, scratch));
    }
    Ok(table.end_row()?)
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
