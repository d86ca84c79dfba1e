//! Parquet, from text cells or from whole batches.

use crate::added::{Added, AddedCell, AddedType};
use crate::column_names::distinct_columns;
use crate::columnar::Table;
use arrow_array::builder::{BooleanBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowWriter};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use vesica_inputs::error::OutputError;

/// Bytes of text collected for a batch.
const BATCH_BYTES: usize = 4 << 20;
const BATCH_ROWS: usize = 8192;

/// Encoded bytes held before they are written as a row group.
const ROW_GROUP_BYTES: usize = 64 << 20;

/// A writer that keeps the system's first error: the encoder turns it into a message.
struct Watched<W> {
    out: W,
    refused: Arc<OnceLock<io::ErrorKind>>,
}

impl<W: Write> Watched<W> {
    fn watch<T>(&self, done: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &done {
            // Only the first one matters.
            let _ = self.refused.set(error.kind());
        }
        done
    }
}

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.out.write(bytes);
        self.watch(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.flush();
        self.watch(done)
    }
}

/// A Parquet file being written.
pub(crate) struct ParquetSink<W: Write + Send> {
    writer: ArrowWriter<Watched<W>>,
    target: Target,
}

/// The context of an error of writing.
struct Target {
    path: PathBuf,
    refused: Arc<OnceLock<io::ErrorKind>>,
}

impl Target {
    fn failure(&self) -> OutputError {
        let kind = self.refused.get().copied().unwrap_or(io::ErrorKind::Other);
        OutputError::io(&self.path, &kind.into())
    }
}

impl<W: Write + Send> ParquetSink<W> {
    fn new(
        out: W,
        schema: SchemaRef,
        properties: WriterProperties,
        path: &Path,
    ) -> Result<Self, OutputError> {
        let refused = Arc::new(OnceLock::new());
        let target = Target { path: path.to_path_buf(), refused: Arc::clone(&refused) };
        let writer = ArrowWriter::try_new(Watched { out, refused }, schema, Some(properties))
            .map_err(|_| target.failure())?;
        Ok(Self { writer, target })
    }

    /// A file with columns of the types in `schema`, and with the metadata of `table` and the
    /// compression of its first column.
    pub(crate) fn like(
        out: W,
        table: &Table,
        schema: &SchemaRef,
        path: &Path,
    ) -> Result<Self, OutputError> {
        let file = table.file();
        let compression = file
            .row_groups()
            .first()
            .and_then(|group| group.columns().first())
            .map_or(Compression::SNAPPY, |column| column.compression());
        // The writer adds the Arrow schema itself.
        let metadata = file.file_metadata().key_value_metadata().map(|pairs| {
            pairs.iter().filter(|pair| pair.key != ARROW_SCHEMA_META_KEY).cloned().collect()
        });
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_key_value_metadata(metadata)
            .build();
        Self::new(out, Arc::clone(schema), properties, path)
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), OutputError> {
        self.writer.write(batch).map_err(|_| self.target.failure())?;
        if self.writer.in_progress_size() > ROW_GROUP_BYTES {
            self.writer.flush().map_err(|_| self.target.failure())?;
        }
        Ok(())
    }

    /// Writes the collected rows and the footer.
    pub(crate) fn finish(self) -> Result<(), OutputError> {
        let mut out = self.writer.into_inner().map_err(|_| self.target.failure())?;
        out.flush().map_err(|_| self.target.failure())
    }
}

/// Writes text cells to a Parquet file of string columns, after which others may come.
pub(crate) struct TextTable<W: Write + Send> {
    sink: ParquetSink<W>,
    schema: SchemaRef,
    columns: Vec<StringBuilder>,
    added: Vec<(AddedType, Vec<AddedCell>)>,
    marks: Option<BooleanBuilder>,
    rows: usize,
    bytes: usize,
}

impl<W: Write + Send> TextTable<W> {
    pub(crate) fn new(out: W, names: &[String], path: &Path) -> Result<Self, OutputError> {
        Self::with(out, names, &Added::default(), path)
    }

    /// The same with the columns `added`.
    pub(crate) fn with(
        out: W,
        names: &[String],
        added: &Added<'_>,
        path: &Path,
    ) -> Result<Self, OutputError> {
        let texts = names.len();
        let all: Vec<String> =
            names.iter().cloned().chain(added.names().map(str::to_owned)).collect();
        let named = distinct_names(&all).into_iter().enumerate();
        let field = |(at, name): (usize, String)| match added.columns.get(at.wrapping_sub(texts)) {
            _ if at < texts => Field::new(name, DataType::Utf8, false),
            Some(column) => column.holds.field(&name),
            None => Field::new(name, DataType::Boolean, false),
        };
        let fields: Vec<Field> = named.map(field).collect();
        let columns = names.iter().map(|_| StringBuilder::new()).collect();
        let marks = added.mark.map(|_| BooleanBuilder::new());
        let added = added.columns.iter().map(|column| (column.holds, Vec::new())).collect();
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let sink = ParquetSink::new(out, Arc::clone(&schema), properties, path)?;
        Ok(Self { sink, schema, columns, added, marks, rows: 0, bytes: 0 })
    }

    /// Adds the cell of a column to the current row; every column must get one.
    pub(crate) fn cell(&mut self, column: usize, cell: &[u8]) {
        // Readers return only valid UTF-8.
        self.columns[column].append_value(String::from_utf8_lossy(cell));
        self.bytes += cell.len();
    }

    /// Sets what is added to the current row: a cell for each column, and the truth value, if there
    /// is a column for it.
    pub(crate) fn add(&mut self, cells: Vec<AddedCell>, mark: Option<bool>) {
        self.added.iter_mut().zip(cells).for_each(|((_, column), cell)| column.push(cell));
        let marks = self.marks.iter_mut().zip(mark);
        marks.for_each(|(marks, mark)| marks.append_value(mark));
    }

    /// Ends the current row.
    pub(crate) fn end_row(&mut self) -> Result<(), OutputError> {
        self.rows += 1;
        if self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), OutputError> {
        let columns = self.columns.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let added = self.added.iter_mut();
        let added = added.map(|(holds, cells)| holds.array(std::mem::take(cells).into_iter()));
        let marks = self.marks.iter_mut().map(|marks| Arc::new(marks.finish()) as ArrayRef);
        let arrays = columns.chain(added).chain(marks).collect();
        (self.rows, self.bytes) = (0, 0);
        match RecordBatch::try_new(Arc::clone(&self.schema), arrays) {
            Ok(batch) => self.sink.write(&batch),
            // Impossible: lengths and types are equal by construction.
            Err(_) => Err(OutputError::Unwritable {
                path: self.sink.target.path.clone(),
                reason: io::ErrorKind::InvalidData,
            }),
        }
    }

    pub(crate) fn finish(mut self) -> Result<(), OutputError> {
        if self.rows > 0 {
            self.flush()?;
        }
        self.sink.finish()
    }
}

/// Columns of a Parquet file must have names; unnamed ones get `column_<position>`. Other readers
/// refuse a name that stands twice, so a later one gets `_` appended.
fn distinct_names(names: &[String]) -> Vec<String> {
    let taken: HashSet<&str> = names.iter().map(String::as_str).collect();
    let mut named = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        let mut name = name.clone();
        if name.is_empty() {
            name = format!("column_{}", index + 1);
            while taken.contains(name.as_str()) {
                name.push('_');
            }
        }
        named.push(name);
    }
    distinct_columns(&named)
}
