//! The second pass, whatever tells the wanted rows: whole rows, in input order, whole file or nothing.

use crate::columnar::{RowBatches, Table, cells::TextColumn, no_text};
use crate::error::{InputError, WriteError};
use crate::format::Format;
use crate::output::{OutputOptions, TempOutput};
use crate::progress::{Meter, Progress};
use crate::rows::{ROWS_PER_TICK, Row, TextRow};
use crate::sink::parquet::{ParquetSink, TextTable};
use crate::sink::text::{RecordWriter, TextSink};
use crate::source::{Layout, Source, TextLayout};
use crate::text::reader::Record;
use arrow_array::RecordBatch;
use arrow_buffer::BooleanBuffer;
use parquet::arrow::arrow_reader::RowSelection;
use std::fs::File;
use std::ops::ControlFlow;

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Rows, the header not counted.
    pub rows: u64,
}

/// Tells which rows are written. It is asked for every row, in the order of the file.
pub(crate) trait Wanted {
    /// Rows it was asked for so far.
    fn rows(&self) -> u64;

    /// Whether the next row is wanted.
    fn wants(&mut self, row: &impl Row) -> bool;

    /// Takes the next row, which is copied as it stands if it is wanted: `copy` gets its bytes without its line
    /// end and with it, now or later.
    fn take(&mut self, row: &TextRow<'_>, copy: &mut impl Copying) -> Result<(), WriteError>;

    /// Copies what was taken and is wanted, and was not copied yet.
    fn copy_rest(&mut self, copy: &mut impl Copying) -> Result<(), WriteError>;

    /// Whether each row of the next row group of a Parquet file is wanted.
    fn group(
        &mut self,
        source: &Source,
        table: &Table,
        group: usize,
        meter: &mut Meter<'_>,
    ) -> Result<BooleanBuffer, InputError>;

    /// Whether the rows it was asked for are those of the file as it was.
    fn saw_all(self) -> bool;
}

/// What takes a record as it stands: without its line end, and with it.
pub(crate) trait Copying: FnMut(&[u8], &[u8]) -> Result<(), WriteError> {}

impl<F: FnMut(&[u8], &[u8]) -> Result<(), WriteError>> Copying for F {}

/// Writes the rows of `source` that `wanted` tells; `columns` are those whose cells it looks at.
pub(crate) fn write_wanted(
    source: &Source,
    columns: &[usize],
    wanted: impl Wanted,
    options: &OutputOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Written, WriteError> {
    let output = TempOutput::create(source, options)?;
    let meter = Meter::new(source.len_bytes(), progress);
    let mut pass = Pass { source, columns, wanted, meter, written: 0 };
    let out = output.writer()?;
    match (source.layout(), output.format().format) {
        (Layout::Text(_), Format::Parquet) => {
            let mut table = TextTable::new(out, source.columns(), output.path())?;
            let mut scratch = Vec::new();
            pass.text(|record| push_text(&mut table, record, &mut scratch))?;
            table.finish()?;
        }
        (Layout::Text(layout), format) => pass.text_to_text(*layout, format, out, &output)?,
        (Layout::Parquet(table), Format::Parquet) => {
            let mut sink = ParquetSink::like(out, table, output.path())?;
            pass.table(table, |batch, _| Ok(sink.write(batch)?))?;
            sink.finish()?;
        }
        (Layout::Parquet(table), format) => pass.table_to_text(table, format, out, &output)?,
    }
    let Pass { wanted, written, .. } = pass;
    source.check_unchanged()?;
    if !wanted.saw_all() {
        return Err(InputError::Changed { path: source.path().to_path_buf() }.into());
    }
    output.commit()?;
    Ok(Written { rows: written })
}

/// The delimiter of a text format, where nothing else is known.
pub(crate) fn usual_delimiter(format: Format) -> u8 {
    if format == Format::Tsv { b'\t' } else { b',' }
}

struct Pass<'a, 'p, W> {
    source: &'a Source,
    columns: &'a [usize],
    wanted: W,
    meter: Meter<'p>,
    written: u64,
}

impl<W: Wanted> Pass<'_, '_, W> {
    /// Gives every wanted record to `write`.
    fn text(
        &mut self,
        mut write: impl FnMut(Record<'_>) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let (mut reader, _) = self.source.records()?;
        while let Some(record) = reader.next()? {
            if self.wanted.wants(&TextRow { record, columns: self.columns }) {
                self.written += 1;
                write(record)?;
            }
            if self.wanted.rows().is_multiple_of(ROWS_PER_TICK) {
                self.meter.tick(reader.bytes_done(), self.wanted.rows())?;
            }
        }
        Ok(self.meter.finish(self.wanted.rows())?)
    }

    /// Gives every wanted record to `copy`.
    fn text_as_it_stands(&mut self, mut copy: impl Copying) -> Result<(), WriteError> {
        let (mut reader, _) = self.source.records()?;
        let written = &mut self.written;
        let mut copy = |body: &[u8], whole: &[u8]| {
            *written += 1;
            copy(body, whole)
        };
        while let Some(record) = reader.next()? {
            self.wanted.take(&TextRow { record, columns: self.columns }, &mut copy)?;
            if self.wanted.rows().is_multiple_of(ROWS_PER_TICK) {
                self.meter.tick(reader.bytes_done(), self.wanted.rows())?;
            }
        }
        self.wanted.copy_rest(&mut copy)?;
        Ok(self.meter.finish(self.wanted.rows())?)
    }

    fn text_to_text(
        &mut self,
        layout: TextLayout,
        format: Format,
        out: File,
        output: &TempOutput,
    ) -> Result<(), WriteError> {
        let mut sink = TextSink::new(out, output.format().codec, output.path())?;
        let source = self.source;
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
            self.text_as_it_stands(copy)?;
        } else {
            let mut writer = RecordWriter::new(usual_delimiter(format));
            if layout.header {
                source.columns().iter().for_each(|name| writer.push(name.as_bytes()));
                writer.finish(&mut sink)?;
            }
            let mut scratch = Vec::new();
            self.text(|record| {
                for index in 0..record.len() {
                    writer.push(record.cell(index, &mut scratch));
                }
                Ok(writer.finish(&mut sink)?)
            })?;
        }
        Ok(sink.finish()?)
    }

    /// Gives every batch of wanted rows to `write`, with the number of the first row of its row
    /// group, from 1.
    fn table(
        &mut self,
        table: &Table,
        mut write: impl FnMut(&RecordBatch, u64) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        for group in 0..table.file().num_row_groups() {
            let first_row = self.wanted.rows();
            let mask = self.wanted.group(self.source, table, group, &mut self.meter)?;
            let mut wanted = mask.count_set_bits();
            if wanted == 0 {
                continue;
            }
            self.written += wanted as u64;
            let selection = RowSelection::from_boolean_buffer(mask);
            let mut batches = RowBatches::open(self.source, table, group, selection)?;
            while let Some(batch) = batches.next()? {
                write(&batch, first_row + 1)?;
                wanted = wanted.wrapping_sub(batch.num_rows());
                let rows = self.wanted.rows();
                self.meter.tick(self.source.bytes_at_row(rows, table), rows)?;
            }
            // Its columns may have fewer rows than it says.
            if wanted != 0 {
                let path = self.source.path().to_path_buf();
                return Err(InputError::DamagedParquet { path }.into());
            }
        }
        Ok(self.meter.finish(self.wanted.rows())?)
    }

    fn table_to_text(
        &mut self,
        table: &Table,
        format: Format,
        out: File,
        output: &TempOutput,
    ) -> Result<(), WriteError> {
        let mut sink = TextSink::new(out, output.format().codec, output.path())?;
        let mut writer = RecordWriter::new(usual_delimiter(format));
        let source = self.source;
        source.columns().iter().for_each(|name| writer.push(name.as_bytes()));
        writer.finish(&mut sink)?;
        self.table(table, |batch, first_row| {
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
