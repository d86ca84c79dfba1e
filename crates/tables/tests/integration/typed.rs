//! Typed columns: the same value has the same key in every type that holds it, and comes back
//! unchanged.

use crate::common::{Scratch, items, keys, open, open_keys, text_items, write};
use arrow_array::{
    Array, ArrayRef, BinaryArray, Decimal128Array, FixedSizeBinaryArray, Int64Array,
    LargeBinaryArray, RecordBatch, RecordBatchIterator, StringArray, TimestampMicrosecondArray,
    TimestampSecondArray,
};
use arrow_schema::extension::{Json, Uuid};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::LogicalType;
use parquet::data_type::{Int96, Int96Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vesica_profiles::{Profile, Refusal};
use vesica_tables::{InputError, OutputOptions, Source, WriteError, check_output};

const DAY_NANOS: i128 = 86_400_000_000_000;
const SECOND: i128 = 1_000_000_000;

/// `value` nanoseconds from 1970 in 96 bits.
fn int96(value: i128) -> Int96 {
    let (day, nanos) = (value.div_euclid(DAY_NANOS) + 2_440_588, value.rem_euclid(DAY_NANOS));
    let mut number = Int96::new();
    number.set_data(nanos as u32, (nanos >> 32) as u32, day as i32 as u32);
    number
}

/// A file with a column `at` of such values, one row a value; `None` is a null.
fn int96_file(path: &Path, values: &[Option<i128>]) {
    let schema = parse_message_type("message m { OPTIONAL INT96 at; }").unwrap();
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Default::default()).unwrap();
    for rows in values.chunks(2) {
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let present: Vec<Int96> = rows.iter().flatten().map(|value| int96(*value)).collect();
        let levels: Vec<i16> = rows.iter().map(|value| value.is_some().into()).collect();
        column.typed::<Int96Type>().write_batch(&present, Some(&levels), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
}

/// The type and the texts of the first column of a Parquet file.
fn read_back(path: &Path) -> (DataType, Vec<String>) {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let data_type = builder.schema().field(0).data_type().clone();
    let csv = path.with_extension("back.csv");
    let source = open(path).unwrap();
    let options = OutputOptions { path: csv.clone(), force: true };
    let rows = source.rows().unwrap();
    let every = vec![u64::MAX; rows.div_ceil(64) as usize];
    vesica_tables::write_rows(&source, rows, &every, &options, &mut crate::common::silent).unwrap();
    let text = std::fs::read_to_string(csv).unwrap();
    (data_type, text.lines().skip(1).map(str::to_owned).collect())
}

#[test]
fn timestamps_of_96_bits_come_back_unchanged_in_a_unit_that_holds_them() {
    let open_end = (253_402_300_799 * SECOND, "9999-12-31T23:59:59");
    let open_start = (-62_135_596_800 * SECOND, "0001-01-01T00:00:00");
    let today = (1_706_745_600 * SECOND, "2024-02-01T00:00:00");
    let micro = (1_706_745_600 * SECOND + 1000, "2024-02-01T00:00:00.000001");
    let nano = (1_706_745_600 * SECOND + 1, "2024-02-01T00:00:00.000000001");
    let cases = [
        (vec![open_end, today, open_start], TimeUnit::Microsecond),
        (vec![today, micro], TimeUnit::Microsecond),
        (vec![micro, nano, today], TimeUnit::Nanosecond),
    ];
    for (values, unit) in cases {
        let dir = Scratch::new();
        let (input, output) = (dir.path("a.parquet"), dir.path("b.parquet"));
        let numbers: Vec<Option<i128>> = values.iter().map(|(value, _)| Some(*value)).collect();
        let texts: Vec<&str> = values.iter().map(|(_, text)| *text).collect();
        int96_file(&input, &numbers);
        // As a key.
        assert_eq!(open_keys(&input, &[("at", "exact")]).unwrap().items, items(&texts));
        // As a column to write, into both formats.
        let source = open(&input).unwrap();
        write(&source, "at", &texts, &output, false).unwrap();
        let found = read_back(&output);
        assert_eq!(found.0, DataType::Timestamp(unit, None));
        assert_eq!(found.1, texts);
        assert_eq!(read_back(&input).1, texts);
    }
}

#[test]
fn nulls_and_an_empty_file_of_timestamps_are_no_obstacle() {
    let dir = Scratch::new();
    let path = dir.path("a.parquet");
    int96_file(&path, &[None, Some(0), None]);
    let set = open_keys(&path, &[("at", "exact")]).unwrap();
    assert_eq!((set.items, set.counts.empty), (items(&["1970-01-01T00:00:00"]), 2));
    int96_file(&path, &[]);
    let source = open(&path).unwrap();
    let options = OutputOptions { path: dir.path("b.parquet"), force: false };
    check_output(&source, &options).unwrap();
}

#[test]
fn timestamps_that_no_unit_holds_are_refused_before_the_run() {
    let dir = Scratch::new();
    let path = dir.path("a.parquet");
    int96_file(&path, &[Some(1), Some(253_402_300_799 * SECOND)]);
    let source = open(&path).unwrap();
    for output in ["b.parquet", "b.csv"] {
        let options = OutputOptions { path: dir.path(output), force: false };
        let error = check_output(&source, &options).unwrap_err();
        let WriteError::Input(InputError::TimestampRange { column, .. }) = error else {
            panic!("{error}")
        };
        assert_eq!(column, "at");
    }
    let error = keys(&source, &[("at", "exact")]).unwrap_err();
    assert!(matches!(error, InputError::TimestampRange { .. }), "{error}");
}

fn write_batch(path: &Path, batch: &RecordBatch) {
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

/// The column as a Parquet file and as a frame.
fn both(dir: &Scratch, field: Field, array: ArrayRef) -> [Source; 2] {
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![array]).unwrap();
    let path: PathBuf = dir.path("both.parquet");
    write_batch(&path, &batch);
    let batches = RecordBatchIterator::new([Ok(batch)], schema);
    [open(&path).unwrap(), Source::of_batches(Box::new(batches), None)]
}

fn plain(array: &ArrayRef) -> Field {
    Field::new("k", array.data_type().clone(), true)
}

#[test]
fn times_with_a_zone_are_no_days() {
    let dir = Scratch::new();
    let zoned: ArrayRef =
        Arc::new(TimestampMicrosecondArray::from(vec![632_361_600_000_000]).with_timezone("UTC"));
    let zoneless: ArrayRef = Arc::new(TimestampSecondArray::from(vec![632_361_600]));
    for profile in ["date", "date:dmy", "date:mdy"] {
        for source in both(&dir, plain(&zoned), Arc::clone(&zoned)) {
            let error = keys(&source, &[("k", profile)]).unwrap_err();
            assert!(matches!(error, InputError::DayWithTimeZone { .. }), "{error}");
        }
        for source in both(&dir, plain(&zoneless), Arc::clone(&zoneless)) {
            assert_eq!(keys(&source, &[("k", profile)]).unwrap().counts.distinct, 1);
        }
    }
    for source in both(&dir, plain(&zoned), Arc::clone(&zoned)) {
        assert_eq!(keys(&source, &[("k", "trim")]).unwrap().counts.distinct, 1);
    }
}

const UUID: &str = "123e4567-e89b-12d3-a456-426614174000";

fn uuid_bytes() -> [u8; 16] {
    0x123e_4567_e89b_12d3_a456_4266_1417_4000_u128.to_be_bytes()
}

fn fixed(bytes: &[u8]) -> ArrayRef {
    Arc::new(FixedSizeBinaryArray::try_from_iter([bytes].into_iter()).unwrap())
}

#[test]
fn a_uuid_has_one_key_in_every_type() {
    let dir = Scratch::new();
    let expected = text_items(UUID, "uuid");
    let raw = uuid_bytes();
    let columns: [ArrayRef; 4] = [
        fixed(&raw),
        Arc::new(BinaryArray::from(vec![&raw[..]])),
        Arc::new(LargeBinaryArray::from(vec![UUID.as_bytes()])),
        Arc::new(StringArray::from(vec![UUID.to_uppercase()])),
    ];
    for column in columns {
        for source in both(&dir, plain(&column), Arc::clone(&column)) {
            assert_eq!(keys(&source, &[("k", "uuid")]).unwrap().items, expected);
        }
    }
    // The type of Parquet and Arrow has the text with dashes under every profile.
    let declared = || plain(&fixed(&raw)).with_extension_type(Uuid);
    for profile in ["uuid", "trim", "lower", "exact"] {
        for source in both(&dir, declared(), fixed(&raw)) {
            let set = keys(&source, &[("k", profile)]).unwrap();
            assert_eq!(set.items, text_items(UUID, profile), "{profile}");
        }
    }
    let integers: ArrayRef = Arc::new(Int64Array::from(vec![123]));
    for source in both(&dir, plain(&integers), Arc::clone(&integers)) {
        assert_eq!(keys(&source, &[("k", "uuid")]).unwrap().counts.refused, 1);
    }
}

#[test]
fn sixteen_bytes_are_no_text() {
    let dir = Scratch::new();
    let column = fixed(&uuid_bytes());
    for profile in ["trim", "lower", "digits", "email"] {
        for source in both(&dir, plain(&column), Arc::clone(&column)) {
            let error = keys(&source, &[("k", profile)]).unwrap_err();
            assert!(matches!(error, InputError::SixteenBytes { .. }), "{profile}: {error}");
        }
    }
    for profile in ["exact", "hex", "hex:md5"] {
        for source in both(&dir, plain(&column), Arc::clone(&column)) {
            let digits = UUID.replace('-', "");
            let set = keys(&source, &[("k", profile)]).unwrap();
            assert_eq!(set.items, text_items(&digits, profile), "{profile}");
        }
    }
    // Other lengths have no such text: their digits are compared.
    let two = fixed(&[0xab, 1]);
    for source in both(&dir, plain(&two), Arc::clone(&two)) {
        assert_eq!(keys(&source, &[("k", "trim")]).unwrap().items, text_items("ab01", "trim"));
    }
}

fn decimals(values: Vec<i128>, scale: i8) -> ArrayRef {
    Arc::new(Decimal128Array::from(values).with_precision_and_scale(18, scale).unwrap())
}

#[test]
fn equal_decimals_and_whole_numbers_are_one_key() {
    let dir = Scratch::new();
    for profile in ["trim", "lower", "digits", "integer:64"] {
        for (value, scale, text) in [(1_234_500, 2, "12345"), (0, 2, "0"), (1200, 0, "1200")] {
            let column = decimals(vec![value], scale);
            for source in both(&dir, plain(&column), Arc::clone(&column)) {
                let set = keys(&source, &[("k", profile)]).unwrap();
                assert_eq!(set.items, text_items(text, profile), "{value} under {profile}");
            }
        }
    }
    let column = decimals(vec![-1250], 2);
    for source in both(&dir, plain(&column), Arc::clone(&column)) {
        assert_eq!(keys(&source, &[("k", "trim")]).unwrap().items, text_items("-12.5", "trim"));
    }
    let half = decimals(vec![1250], 2);
    for source in both(&dir, plain(&half), Arc::clone(&half)) {
        assert_eq!(keys(&source, &[("k", "integer:64")]).unwrap().counts.refused, 1);
    }
}

#[test]
fn the_text_of_a_decimal_in_a_file_keeps_its_scale() {
    let dir = Scratch::new();
    let column = decimals(vec![1_234_500, 1250], 2);
    let [source, _] = both(&dir, plain(&column), Arc::clone(&column));
    let csv = dir.path("out.csv");
    write(&source, "k", &["12345.00", "12.50"], &csv, false).unwrap();
    assert_eq!(std::fs::read_to_string(csv).unwrap(), "k\n12345.00\n12.50\n");
}

#[test]
fn a_digest_has_one_key_in_every_type() {
    let dir = Scratch::new();
    let digests =
        [("md5", 16), ("sha1", 20), ("sha224", 28), ("sha256", 32), ("sha384", 48), ("sha512", 64)];
    for (name, len) in digests {
        let raw: Vec<u8> = (0..len).map(|i| (i * 37 + 200) as u8).collect();
        let hex: String = raw.iter().map(|byte| format!("{byte:02x}")).collect();
        let profile = format!("hex:{name}");
        let columns: [ArrayRef; 3] = [
            fixed(&raw),
            Arc::new(BinaryArray::from(vec![&raw[..]])),
            Arc::new(BinaryArray::from(vec![hex.to_uppercase().as_bytes()])),
        ];
        for column in columns {
            for source in both(&dir, plain(&column), Arc::clone(&column)) {
                let set = keys(&source, &[("k", &profile)]).unwrap();
                assert_eq!(set.items, text_items(&hex, &profile), "{profile}");
            }
        }
    }
}

#[test]
fn no_text_of_a_digest_is_its_base64_and_its_hexadecimal_digits() {
    for (name, len) in
        [("md5", 16), ("sha1", 20), ("sha224", 28), ("sha256", 32), ("sha384", 48), ("sha512", 64)]
    {
        let profile: Profile = format!("hex:{name}").parse().unwrap();
        let base64 = [(len * 4_usize).div_ceil(3), len.div_ceil(3) * 4];
        // The digits, and the digits after `0x`.
        let hex = [2 * len, 2 * len + 2];
        assert!(base64.iter().all(|found| !hex.contains(found)), "{name}");
        // A value that was cut to the length of the Base64 is no digest.
        for cut in base64 {
            let refused = profile.normalise(&"a".repeat(cut), &mut Vec::new());
            assert_eq!(refused, Err(Refusal::HexLen), "{name}");
        }
    }
}

#[test]
fn annotations_of_parquet_survive() {
    let dir = Scratch::new();
    let schema = Arc::new(Schema::new(vec![
        Field::new("id", DataType::Utf8, false),
        Field::new("u", DataType::FixedSizeBinary(16), true).with_extension_type(Uuid),
        Field::new("j", DataType::Utf8, true).with_extension_type(Json::default()),
    ]));
    let batch = RecordBatch::try_new(
        Arc::clone(&schema),
        vec![
            Arc::new(StringArray::from(vec!["a"])),
            fixed(&uuid_bytes()),
            Arc::new(StringArray::from(vec!["{\"a\":1}"])),
        ],
    )
    .unwrap();
    let (input, output, csv) = (dir.path("a.parquet"), dir.path("b.parquet"), dir.path("b.csv"));
    write_batch(&input, &batch);
    let source = open(&input).unwrap();
    write(&source, "id", &["a"], &output, false).unwrap();
    let reader = SerializedFileReader::new(File::open(&output).unwrap()).unwrap();
    let columns = reader.metadata().file_metadata().schema_descr_ptr();
    let logical = |at: usize| columns.column(at).logical_type_ref().cloned();
    assert_eq!(logical(1), Some(LogicalType::Uuid));
    assert_eq!(logical(2), Some(LogicalType::Json));
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&output).unwrap()).unwrap();
    assert_eq!(builder.schema().fields(), schema.fields());
    write(&source, "id", &["a"], &csv, false).unwrap();
    let text = std::fs::read_to_string(csv).unwrap();
    assert_eq!(text, format!("id,u,j\na,{UUID},\"{{\"\"a\"\":1}}\"\n"));
}
