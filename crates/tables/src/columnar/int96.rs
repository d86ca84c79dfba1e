//! The unit of timestamps in 96 bits, the old type of Spark, Hive and Impala.
//!
//! Such a value is a day and the nanoseconds in it, which no integer of 64 bits can hold: in
//! nanoseconds these reach from 1677 to 2262, and the decoder wraps around beyond. So each column
//! is read in a unit that holds all of its values unchanged.

use super::file::{TableFile, parquet_error};
use crate::known_file::KnownFile;
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ARROW_SCHEMA_META_KEY;
use parquet::basic::Type;
use parquet::column::reader::ColumnReader;
use parquet::data_type::Int96;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use std::collections::BTreeMap;
use std::sync::Arc;
use vesica_inputs::error::InputError;

/// The day from which Unix counts, in days of the Julian period.
const EPOCH_DAY: i128 = 2_440_588;
const DAY_NANOS: i128 = 86_400_000_000_000;

/// Values decoded at a time.
const BATCH_VALUES: usize = 1 << 13;

/// The units in the order in which they are tried, unless the file names one: readers of today take
/// microseconds.
const UNITS: [TimeUnit; 4] =
    [TimeUnit::Microsecond, TimeUnit::Nanosecond, TimeUnit::Millisecond, TimeUnit::Second];

/// Whether a column is or holds such timestamps.
pub(super) fn is_in(file: &ParquetMetaData, root: usize) -> bool {
    let schema = file.file_metadata().schema_descr();
    (0..schema.num_columns()).any(|leaf| {
        schema.column(leaf).physical_type() == Type::INT96
            && schema.get_column_root_idx(leaf) == root
    })
}

/// The schema of the file with such a unit for every column of timestamps in 96 bits; `None` if
/// there are none. Reads all their values.
///
/// # Errors
/// [`InputError::TimestampRange`] if no unit holds all values of a column; damage of the file.
pub(super) fn schema(
    known: &KnownFile,
    file: &ParquetMetaData,
    declared: &SchemaRef,
) -> Result<Option<SchemaRef>, InputError> {
    let columns = file.file_metadata().schema_descr();
    let leaves: Vec<usize> = (0..columns.num_columns())
        .filter(|leaf| columns.column(*leaf).physical_type() == Type::INT96)
        .collect();
    if leaves.is_empty() {
        return Ok(None);
    }
    let pairs = file.file_metadata().key_value_metadata();
    let names_units = pairs.is_some_and(|pairs| {
        pairs.iter().any(|pair| pair.key == ARROW_SCHEMA_META_KEY && pair.value.is_some())
    });
    let mut held = Vec::new();
    for leaf in leaves {
        held.push((leaf, Held::read(known, leaf)?));
    }
    let mut units = Units { held: held.into_iter().collect(), names_units, next_leaf: 0 };
    let fields: Option<Fields> = declared.fields().iter().map(|field| units.field(field)).collect();
    let Some(fields) = fields else {
        let root = columns.get_column_root_idx(units.next_leaf - 1);
        let column = declared.field(root).name().clone();
        return Err(InputError::TimestampRange { path: known.path().to_path_buf(), column });
    };
    if units.next_leaf != columns.num_columns() {
        return Err(InputError::DamagedParquet { path: known.path().to_path_buf() });
    }
    Ok(Some(Arc::new(Schema::new_with_metadata(fields, declared.metadata().clone()))))
}

/// Which units hold all values of a column unchanged.
struct Held([bool; UNITS.len()]);

impl Held {
    fn read(known: &KnownFile, leaf: usize) -> Result<Self, InputError> {
        let failed = |error| parquet_error(known, &error);
        let damaged = || InputError::DamagedParquet { path: known.path().to_path_buf() };
        let reader = SerializedFileReader::new(TableFile(known.reopen()?)).map_err(failed)?;
        let mut held = Self([true; UNITS.len()]);
        let (mut definitions, mut repetitions, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group).map_err(failed)?;
            let column = group.get_column_reader(leaf).map_err(failed)?;
            let ColumnReader::Int96ColumnReader(mut column) = column else { return Err(damaged()) };
            loop {
                definitions.clear();
                repetitions.clear();
                values.clear();
                let (records, found, _) = column
                    .read_records(
                        BATCH_VALUES,
                        Some(&mut definitions),
                        Some(&mut repetitions),
                        &mut values,
                    )
                    .map_err(failed)?;
                if records == 0 && found == 0 {
                    break;
                }
                values.iter().for_each(|value| held.take(value));
            }
        }
        Ok(held)
    }

    fn take(&mut self, value: &Int96) {
        let [low, high, day] = value.data() else { return };
        let nanos = i128::from(i64::from(*high) << 32 | i64::from(*low));
        let total = (i128::from(*day as i32) - EPOCH_DAY) * DAY_NANOS + nanos;
        for (held, unit) in self.0.iter_mut().zip(UNITS) {
            let nanos = unit_nanos(unit);
            *held &= total % nanos == 0 && i64::try_from(total / nanos).is_ok();
        }
    }

    fn holds(&self, unit: TimeUnit) -> bool {
        UNITS.iter().zip(self.0).any(|(known, held)| *known == unit && held)
    }
}

fn unit_nanos(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1000,
        TimeUnit::Nanosecond => 1,
    }
}

/// Gives units to the leaves of types, in the order of the file.
struct Units {
    held: BTreeMap<usize, Held>,
    /// Whether the units of the types are the ones that the file names.
    names_units: bool,
    next_leaf: usize,
}

impl Units {
    /// `None` if no unit holds the values of a leaf, which is the last one that was looked at.
    fn field(&mut self, field: &FieldRef) -> Option<FieldRef> {
        let data_type = self.data_type(field.data_type())?;
        Some(Arc::new(Field::clone(field).with_data_type(data_type)))
    }

    fn data_type(&mut self, data_type: &DataType) -> Option<DataType> {
        Some(match data_type {
            DataType::Struct(fields) => DataType::Struct(
                fields.iter().map(|field| self.field(field)).collect::<Option<_>>()?,
            ),
            DataType::List(field) => DataType::List(self.field(field)?),
            DataType::LargeList(field) => DataType::LargeList(self.field(field)?),
            DataType::ListView(field) => DataType::ListView(self.field(field)?),
            DataType::LargeListView(field) => DataType::LargeListView(self.field(field)?),
            DataType::FixedSizeList(field, len) => {
                DataType::FixedSizeList(self.field(field)?, *len)
            }
            DataType::Map(entries, sorted) => DataType::Map(self.field(entries)?, *sorted),
            leaf => self.leaf(leaf)?,
        })
    }

    fn leaf(&mut self, data_type: &DataType) -> Option<DataType> {
        let held = self.held.get(&self.next_leaf);
        self.next_leaf += 1;
        let (Some(held), DataType::Timestamp(declared, zone)) = (held, data_type) else {
            return Some(data_type.clone());
        };
        let unit = if self.names_units && held.holds(*declared) {
            *declared
        } else {
            *UNITS.iter().find(|unit| held.holds(**unit))?
        };
        Some(DataType::Timestamp(unit, zone.clone()))
    }
}
