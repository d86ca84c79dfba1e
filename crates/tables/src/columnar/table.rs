//! The columns and types of a Parquet file.

use super::cells::{has_text_form, type_name};
use super::file::parquet_error;
use super::guard::guarded;
use super::int96;
use crate::known_file::KnownFile;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::ParquetMetaData;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use vesica_inputs::error::InputError;

/// A Parquet file's metadata, read once.
pub(crate) struct Table {
    /// With the types that the file declares.
    declared: Readers,
    /// With the units of timestamps in 96 bits, once they are known.
    exact: OnceLock<Readers>,
}

/// How the columns of a file are read.
#[derive(Clone)]
struct Readers {
    whole: ArrowReaderMetadata,
    /// With strings as views: no copy of each string.
    keys: ArrowReaderMetadata,
}

impl Readers {
    fn new(whole: ArrowReaderMetadata) -> Self {
        let views = ArrowReaderOptions::default().with_schema(with_views(whole.schema()));
        // If strings cannot be read as views, they are read with their own type.
        let keys = ArrowReaderMetadata::try_new(Arc::clone(whole.metadata()), views)
            .unwrap_or_else(|_| whole.clone());
        Self { whole, keys }
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("rows", &self.rows()).finish_non_exhaustive()
    }
}

impl Table {
    pub(crate) fn open(known: &KnownFile) -> Result<Self, InputError> {
        guarded(known.path(), || Self::load(known))
    }

    fn load(known: &KnownFile) -> Result<Self, InputError> {
        let file = known.reopen()?;
        let failed = |error| parquet_error(known, &error);
        let whole =
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::default()).map_err(failed)?;
        Ok(Self { declared: Readers::new(whole), exact: OnceLock::new() })
    }

    /// The readers that give every timestamp unchanged. The first call reads all timestamps in 96
    /// bits.
    fn exact(&self, known: &KnownFile) -> Result<&Readers, InputError> {
        if let Some(readers) = self.exact.get() {
            return Ok(readers);
        }
        let found = guarded(known.path(), || {
            let Some(schema) = int96::schema(known, self.file(), self.schema())? else {
                return Ok(self.declared.clone());
            };
            let options = ArrowReaderOptions::default().with_schema(schema);
            let whole = ArrowReaderMetadata::try_new(Arc::clone(self.file()), options);
            Ok(Readers::new(whole.map_err(|error| parquet_error(known, &error))?))
        })?;
        Ok(self.exact.get_or_init(|| found))
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    pub(crate) fn rows(&self) -> u64 {
        u64::try_from(self.file().file_metadata().num_rows()).unwrap_or_default()
    }

    /// The columns with the types that the file declares.
    pub(crate) fn schema(&self) -> &SchemaRef {
        self.declared.whole.schema()
    }

    pub(crate) fn file(&self) -> &Arc<ParquetMetaData> {
        self.declared.whole.metadata()
    }

    /// The reader of all columns with the types that the file declares.
    pub(crate) fn declared(&self) -> &ArrowReaderMetadata {
        &self.declared.whole
    }

    /// The reader of all columns with unchanged values.
    ///
    /// # Errors
    /// [`InputError::TimestampRange`], or damage of the file.
    pub(crate) fn whole(&self, known: &KnownFile) -> Result<&ArrowReaderMetadata, InputError> {
        Ok(&self.exact(known)?.whole)
    }

    /// The positions of the bytes of these columns in the file, and of the metadata at its end.
    pub(crate) fn bytes_of(&self, columns: &[usize]) -> Vec<Range<u64>> {
        let schema = self.file().file_metadata().schema_descr();
        let mut ranges = Vec::new();
        let mut data_end = 0;
        for group in self.file().row_groups() {
            for (index, chunk) in group.columns().iter().enumerate() {
                let (start, len) = chunk.byte_range();
                let range = start..start.saturating_add(len);
                data_end = data_end.max(range.end);
                if columns.contains(&schema.get_column_root_idx(index)) {
                    ranges.push(range);
                }
            }
        }
        ranges.push(data_end..u64::MAX);
        ranges
    }

    /// The reader of the columns at `indices`, as keys.
    ///
    /// # Errors
    /// Errors of [`Table::whole`], if one of the columns holds timestamps in 96 bits.
    pub(crate) fn keys(
        &self,
        known: &KnownFile,
        indices: &[usize],
    ) -> Result<&ArrowReaderMetadata, InputError> {
        let readers = if indices.iter().any(|index| int96::is_in(self.file(), *index)) {
            self.exact(known)?
        } else {
            &self.declared
        };
        Ok(&readers.keys)
    }

    /// The first column that cannot be written as text, and its type's name.
    pub(crate) fn unsupported_as_text(&self) -> Option<(String, String)> {
        let field =
            self.schema().fields().iter().find(|field| !has_text_form(field.data_type()))?;
        Some((field.name().clone(), type_name(field.data_type())))
    }
}

fn with_views(schema: &Schema) -> SchemaRef {
    let is_text = |data_type: &DataType| {
        matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
    };
    let view = |field: &Field| match field.data_type() {
        DataType::Dictionary(_, values) if is_text(values) => true,
        data_type => is_text(data_type),
    };
    let fields: Vec<Field> = schema
        .fields()
        .iter()
        .map(|field| {
            if view(field) {
                field.as_ref().clone().with_data_type(DataType::Utf8View)
            } else {
                field.as_ref().clone()
            }
        })
        .collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}
