//! The second pass: the rows of a bitmap, or all rows, whole, in input order, also with more
//! columns than the input has; the whole file or nothing.

use crate::added::{Added, AddedCell};
use crate::columnar::cells::{CellForm, TextColumn};
use crate::columnar::{RowBatches, Table, no_text};
use crate::output::{Origin, OutputOptions, TempOutput, check_added};
use crate::progress::{Meter, Progress};
use crate::rows::ROWS_PER_TICK;
use crate::sink::parquet::{ParquetSink, TextTable};
use crate::sink::text::{RecordWriter, TextSink, push_quoted, usual_delimiter};
use crate::source::{Layout, Source, SourceFile, TextLayout};
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, StringArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use parquet::arrow::arrow_reader::RowSelection;
use std::fs::File;
use std::ops::ControlFlow;
use std::sync::Arc;
use vesica_inputs::error::{InputError, WriteError};
use vesica_inputs::format::Format;
use vesica_inputs::text::reader::Record;

/// The counts of what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Rows, the header not counted.
    pub rows: u64,
    /// Written rows that are in the bitmap.
    pub wanted: u64,
}

/// Writes the rows of `source` whose bit is set, with all columns, in the order of the input. Row
/// r, from 0, has bit r mod 64 of `wanted[r / 64]`, from the lowest; `rows` is the number of rows
/// that an earlier pass saw. Keys are not made again.
///
/// The name of the output decides the format. A text file of the same format keeps its delimiter,
/// quotes, line ends and byte order mark; its rows are copied byte for byte. Of the lines above its
/// header only a line `sep=;` is copied. Other combinations: text to Parquet gives string columns;
/// Parquet to Parquet keeps types and metadata; Parquet to text gives the text forms by which keys
/// are compared. The rows of a folder go to one file; the columns from the names of folders come
/// last, as text.
///
/// The file appears under its name when it is complete and on disk; after an error nothing is left.
/// Its length, the number of its rows, and a digest where its attributes changed tell whether the
/// file is what the earlier pass read: a caller that lost the [`Source`] of that pass must know by
/// other means.
///
/// # Errors
/// [`InputError::AlreadyRead`] for a frame. [`InputError::Changed`] if the file changed since
/// `source` was opened, or has another number of rows; any other error of reading, and any error of
/// writing.
///
/// # Panics
/// If `wanted` has not ⌈`rows`/64⌉ words.
pub fn write_rows(
    source: &Source,
    rows: u64,
    wanted: &[u64],
    options: &OutputOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Written, WriteError> {
    write_with(source, rows, wanted, &Added::default(), options, progress)
}

/// Like [`write_rows`], with the columns `added`.
///
/// # Errors
/// Errors of [`write_rows`], and [`OutputError::ColumnTaken`](crate::OutputError::ColumnTaken).
///
/// # Panics
/// As [`write_rows`].
pub fn write_with(
    source: &Source,
    rows: u64,
    wanted: &[u64],
    added: &Added<'_>,
    options: &OutputOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Written, WriteError> {
    check_added(source, added)?;
    let wanted = Wanted::new(wanted, rows);
    let origin = if added.owners_alone { Origin::OwnersAlone(source) } else { source.into() };
    let output = TempOutput::create(origin, source, options)?;
    let meter = Meter::new(source.len_bytes(), progress);
    let mut pass = Pass { source, wanted, added, meter, written: Written { rows: 0, wanted: 0 } };
    let out = output.writer()?;
    match (source.file_layout(), output.format().format) {
        (Layout::Text(_), Format::Parquet) => {
            let mut table = TextTable::with(out, source.columns(), added, output.path())?;
            let mut scratch = Vec::new();
            pass.text(|record, file, more| {
                table.add(more.cells, more.mark);
                push_text(&mut table, record, file, &mut scratch)
            })?;
            table.finish()?;
        }
        (Layout::Text(layout), format) => pass.text_to_text(layout, format, out, &output)?,
        (Layout::Parquet(table), Format::Parquet) => {
            let schema = written_schema(source, table, added)?;
            let mut sink = ParquetSink::like(out, table, &schema, output.path())?;
            pass.table(|rows, file| Ok(sink.write(&whole_rows(rows, file, added, &schema)?)?))?;
            sink.finish()?;
        }
        (Layout::Parquet(_), format) => pass.table_to_text(format, out, &output)?,
        // The files of a folder are no folders.
        (Layout::Frame(_) | Layout::Folder(..), _) => return Err(source.already_read().into()),
    }
    let Pass { wanted, written, .. } = pass;
    source.check_unchanged()?;
    if wanted.rows != wanted.expected {
        return Err(changed(source));
    }
    output.commit()?;
    Ok(written)
}

/// The types of the columns of a result from Parquet: the types that read every value unchanged,
/// the same for all files; and last the types of what is added.
fn written_schema(
    source: &Source,
    table: &Table,
    added: &Added<'_>,
) -> Result<SchemaRef, InputError> {
    let schema = rows_schema(source, table)?;
    if added.names().next().is_none() {
        return Ok(schema);
    }
    let mut fields = schema.fields().to_vec();
    let columns = added.columns.iter().map(|column| column.holds.field(&column.name));
    let mark = added.mark.map(|mark| Field::new(mark, DataType::Boolean, false));
    fields.extend(columns.chain(mark).map(Arc::new));
    Ok(Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())))
}

fn rows_schema(source: &Source, table: &Table) -> Result<SchemaRef, InputError> {
    let exact = table.whole(source.first_file().known())?.schema();
    let Some(schema) = source.schema() else { return Ok(Arc::clone(exact)) };
    let own = schema.fields().iter().zip(exact.fields()).map(|(field, exact)| {
        let data_type = exact.data_type().clone();
        Arc::new(field.as_ref().clone().with_data_type(data_type))
    });
    let named = schema.fields().iter().skip(exact.fields().len()).map(Arc::clone);
    let fields: Vec<FieldRef> = own.chain(named).collect();
    Ok(Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())))
}

fn changed(source: &Source) -> WriteError {
    InputError::Changed { path: source.path().to_path_buf() }.into()
}

/// A bit for each row, asked for in the order of the rows.
struct Wanted<'a> {
    bits: &'a [u64],
    /// How many rows there should be.
    expected: u64,
    /// How many there were so far.
    rows: u64,
}

impl<'a> Wanted<'a> {
    fn new(bits: &'a [u64], rows: u64) -> Self {
        assert_eq!(bits.len() as u64, rows.div_ceil(64), "a bit for each row");
        Self { bits, expected: rows, rows: 0 }
    }

    #[inline]
    fn bit(&self, row: u64) -> bool {
        // Rows beyond the last one are noticed at the end.
        let word = usize::try_from(row / 64).ok().and_then(|word| self.bits.get(word));
        row < self.expected && word.is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// Whether the next row is wanted.
    #[inline]
    fn next(&mut self) -> bool {
        self.rows += 1;
        self.bit(self.rows - 1)
    }
}

struct Pass<'a, 'p> {
    source: &'a Source,
    wanted: Wanted<'a>,
    added: &'a Added<'a>,
    meter: Meter<'p>,
    written: Written,
}

/// What is added to a record.
struct More {
    cells: Vec<AddedCell>,
    /// Whether it is wanted, if all are written.
    mark: Option<bool>,
}

impl More {
    /// The cells in text.
    fn texts(&self) -> Vec<String> {
        let mark = self.mark.map(|mark| digit(mark).to_owned());
        self.cells.iter().map(AddedCell::to_string).chain(mark).collect()
    }
}

/// Rows to be written.
struct Rows<'b> {
    batch: &'b RecordBatch,
    /// What is added to each of them.
    cells: Vec<Vec<AddedCell>>,
    /// Which of them are wanted, if all are written.
    marks: Option<BooleanBuffer>,
    /// The number in the file of the first row of the batch's row group, from 1.
    group_from: u64,
}

impl Pass<'_, '_> {
    /// Gives every record to be written to `write`, with its file, and with what is added to it.
    fn text(
        &mut self,
        mut write: impl FnMut(Record<'_>, &SourceFile<'_>, More) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let added = self.added;
        for index in 0..self.source.files() {
            let file = self.source.file(index)?;
            let (mut reader, _) = file.records()?;
            while let Some(record) = reader.next_record()? {
                let is_wanted = self.wanted.next();
                if is_wanted || added.mark.is_some() {
                    self.written.rows += 1;
                    self.written.wanted += u64::from(is_wanted);
                    let cells = added.cells(self.wanted.rows - 1);
                    write(record, &file, More { cells, mark: added.mark.map(|_| is_wanted) })?;
                }
                if self.wanted.rows.is_multiple_of(ROWS_PER_TICK) {
                    let bytes = file.bytes_before + reader.bytes_done();
                    self.meter.tick(bytes, self.wanted.rows)?;
                }
            }
        }
        Ok(self.meter.finish(self.wanted.rows)?)
    }

    fn text_to_text(
        &mut self,
        layout: &TextLayout,
        format: Format,
        out: File,
        output: &TempOutput,
    ) -> Result<(), WriteError> {
        let mut sink = TextSink::new(out, output.format().codec, output.path())?;
        let (source, added) = (self.source, self.added);
        let (_, header) = source.file(0)?.records()?;
        if format == source.format() {
            if header.had_bom {
                sink.write(b"\xef\xbb\xbf")?;
            }
            // It says how the rows are written, unless another delimiter was given.
            if let Some(sep) =
                layout.top.sep.as_ref().filter(|sep| sep.delimiter == layout.delimiter)
            {
                sink.write(&sep.raw)?;
            }
            let mut line_end = b"\n".to_vec();
            // With `keeps_last` the last byte before the line end is a delimiter after the last
            // cell, and stays there.
            let mut copy = |body: &[u8],
                            whole: &[u8],
                            end: &[u8],
                            keeps_last: bool|
             -> Result<(), WriteError> {
                if end.is_empty() {
                    sink.write(whole)?;
                } else {
                    let at = body.len() - usize::from(keeps_last && !body.is_empty());
                    sink.write(&body[..at])?;
                    sink.write(end)?;
                    sink.write(&whole[at..])?;
                }
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
                let named = source.named().iter().map(|name| Some(name.as_str()));
                let end = end_of_record(named.chain(added.names().map(Some)), layout.delimiter);
                copy(&header.raw[..header.body_len], &header.raw, &end, false)?;
            }
            self.text(|record, file, more| {
                let (body, whole) = record.raw();
                let (named, texts) = (file.named.iter().map(Option::as_deref), more.texts());
                let added = texts.iter().map(|text| Some(text.as_str()));
                let end = end_of_record(named.chain(added), layout.delimiter);
                copy(body, whole, &end, ends_with_delimiter(file))
            })?;
        } else {
            let mut writer = RecordWriter::new(usual_delimiter(format));
            if layout.header {
                source.columns().iter().for_each(|name| writer.push(name.as_bytes()));
                added.names().for_each(|name| writer.push(name.as_bytes()));
                writer.finish(&mut sink)?;
            }
            let mut scratch = Vec::new();
            self.text(|record, file, more| {
                for index in 0..record.len() {
                    writer.push(record.cell(index, &mut scratch));
                }
                file.named_cells().for_each(|cell| writer.push(cell));
                more.texts().iter().for_each(|cell| writer.push(cell.as_bytes()));
                Ok(writer.finish(&mut sink)?)
            })?;
        }
        Ok(sink.finish()?)
    }

    /// Gives every batch of rows to be written to `write`, with its file.
    fn table(
        &mut self,
        mut write: impl FnMut(Rows<'_>, &SourceFile<'_>) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        for index in 0..self.source.files() {
            let file = self.source.file(index)?;
            let Layout::Parquet(table) = file.layout() else { return Err(changed(self.source)) };
            self.table_of(&file, table, &mut write)?;
        }
        Ok(self.meter.finish(self.wanted.rows)?)
    }

    /// The same for one file.
    fn table_of(
        &mut self,
        file: &SourceFile<'_>,
        table: &Table,
        write: &mut impl FnMut(Rows<'_>, &SourceFile<'_>) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let rows_before = self.wanted.rows;
        for group in 0..table.file().num_row_groups() {
            let damaged = || InputError::DamagedParquet { path: file.path().to_path_buf() };
            let rows = table.file().row_group(group).num_rows();
            let rows = usize::try_from(rows).map_err(|_| damaged())?;
            let first_row = self.wanted.rows;
            // The file may say more than there is: nothing is reserved for what is not expected.
            if first_row + rows as u64 > self.wanted.expected {
                return Err(changed(self.source));
            }
            self.wanted.rows += rows as u64;
            let bit = |row: usize| self.wanted.bit(first_row + row as u64);
            let mask = BooleanBuffer::collect_bool(rows, bit);
            let wanted = mask.count_set_bits();
            let added = self.added;
            let (written, selected) = match added.mark {
                Some(_) => (rows, BooleanBuffer::new_set(rows)),
                None => (wanted, mask.clone()),
            };
            if written == 0 {
                continue;
            }
            self.written.rows += written as u64;
            self.written.wanted += wanted as u64;
            // The numbers in the source of the rows that are written.
            let mut numbers = selected.set_indices().map(|row| first_row + row as u64);
            let selection = RowSelection::from_boolean_buffer(selected.clone());
            let mut batches = RowBatches::open(file.known(), table, group, selection)?;
            let mut done = 0;
            while let Some(batch) = batches.next()? {
                let len = batch.num_rows();
                // Its columns may have more rows than it says.
                if len > written - done {
                    return Err(damaged().into());
                }
                let cells = numbers.by_ref().take(len).map(|row| added.cells(row)).collect();
                let marks = added.mark.map(|_| mask.slice(done, len));
                let group_from = first_row - rows_before + 1;
                write(Rows { batch: &batch, cells, marks, group_from }, file)?;
                done += len;
                let rows = self.wanted.rows;
                let bytes = file.bytes_before + file.bytes_at_row(rows - rows_before, table);
                self.meter.tick(bytes, rows)?;
            }
            // Its columns may have fewer rows than it says.
            if done != written {
                return Err(damaged().into());
            }
        }
        Ok(())
    }

    fn table_to_text(
        &mut self,
        format: Format,
        out: File,
        output: &TempOutput,
    ) -> Result<(), WriteError> {
        let mut sink = TextSink::new(out, output.format().codec, output.path())?;
        let mut writer = RecordWriter::new(usual_delimiter(format));
        let source = self.source;
        source.columns().iter().for_each(|name| writer.push(name.as_bytes()));
        self.added.names().for_each(|name| writer.push(name.as_bytes()));
        writer.finish(&mut sink)?;
        self.table(|Rows { batch, cells, marks, group_from }, file| {
            let mut texts = Vec::with_capacity(batch.num_columns());
            for (array, field) in batch.columns().iter().zip(batch.schema_ref().fields()) {
                let text = TextColumn::new(array, CellForm::written(field))
                    .map_err(|reason| no_text(&reason, file.path(), group_from, field.name()))?;
                texts.push(text);
            }
            for (row, added) in cells.iter().enumerate() {
                texts.iter().for_each(|text| writer.push(text.cell(row)));
                file.named_cells().for_each(|cell| writer.push(cell));
                added.iter().for_each(|cell| writer.push(cell.to_string().as_bytes()));
                if let Some(marks) = &marks {
                    writer.push(digit(marks.value(row)).as_bytes());
                }
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
    file: &SourceFile<'_>,
    scratch: &mut Vec<u8>,
) -> Result<(), WriteError> {
    for index in 0..record.len() {
        table.cell(index, record.cell(index, scratch));
    }
    for (index, cell) in file.named_cells().enumerate() {
        table.cell(record.len() + index, cell);
    }
    Ok(table.end_row()?)
}

/// The cells that follow a text record's cells from its file, with their delimiters.
fn end_of_record<'a>(named: impl Iterator<Item = Option<&'a str>>, delimiter: u8) -> Vec<u8> {
    let mut end = Vec::new();
    for cell in named {
        end.push(delimiter);
        push_quoted(cell.unwrap_or_default().as_bytes(), delimiter, &mut end);
    }
    end
}

/// Whether each row of a text file has a delimiter after its last cell.
fn ends_with_delimiter(file: &SourceFile<'_>) -> bool {
    matches!(file.layout(), Layout::Text(layout) if layout.ends_with_delimiter)
}

/// A mark in text.
fn digit(mark: bool) -> &'static str {
    if mark { "1" } else { "0" }
}

/// Rows of `file` with all columns of `schema`, whose last ones are the columns from folder names,
/// and what is added.
fn whole_rows(
    Rows { batch, cells, marks, .. }: Rows<'_>,
    file: &SourceFile<'_>,
    added: &Added<'_>,
    schema: &SchemaRef,
) -> Result<RecordBatch, InputError> {
    let mut columns = batch.columns().to_vec();
    for cell in &file.named {
        let cells = std::iter::repeat_n(cell.as_deref(), batch.num_rows());
        columns.push(Arc::new(cells.collect::<StringArray>()) as ArrayRef);
    }
    for (at, column) in added.columns.iter().enumerate() {
        columns.push(column.holds.array(cells.iter().map(|cells| cells[at].clone())));
    }
    columns.extend(marks.map(|marks| Arc::new(BooleanArray::new(marks, None)) as ArrayRef));
    let damaged = |_| InputError::DamagedParquet { path: file.path().to_path_buf() };
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(damaged)
}
