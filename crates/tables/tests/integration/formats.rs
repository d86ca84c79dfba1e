//! The same rows in every format give the same answer; typed columns are compared by their text
//! form.

use crate::common::{Scratch, items, keys, open, open_keys, write};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Date64Array, Decimal128Array,
    DictionaryArray, FixedSizeBinaryArray, Float64Array, Int8Array, Int64Array, LargeStringArray,
    ListArray, NullArray, RecordBatch, StringArray, StringViewArray, StructArray,
    Time32SecondArray, TimestampMicrosecondArray, TimestampSecondArray, UInt64Array,
};
use arrow_schema::{DataType, Field};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use vesica_tables::{
    EncodingGuess, InputError, OutputError, OutputOptions, Place, WriteError, check_output,
};

fn write_parquet(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(1000)).build();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties))
            .unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn every_format_gives_the_same_answer() {
    let dir = Scratch::new();
    let rows: Vec<(String, String)> = (0..5000)
        .map(|i| match i % 10 {
            0 => (String::new(), format!("{i}")),
            1 => (format!("  User{}@Example.org ", i % 700), "x,\"y\"\n".into()),
            2 => ("nobody".into(), "z;\tz".into()),
            _ => (format!("user{i}@m\u{fc}nchen.de"), format!("{}", i % 3)),
        })
        .collect();
    let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
    let text = |delimiter: char, end: &str| -> String {
        let mut text = format!("mail{delimiter}b{end}");
        for (mail, b) in &rows {
            text.push_str(&format!("{}{delimiter}{}{end}", quoted(mail), quoted(b)));
        }
        text
    };
    let columns = [("mail", "email"), ("b", "exact")];
    let expected = open_keys(dir.file("a.csv", text(',', "\n")), &columns).unwrap();
    assert_eq!(
        (expected.counts.rows, expected.counts.empty, expected.counts.refused),
        (5000, 500, 500)
    );
    for (name, delimiter, end) in [
        ("b.csv", ';', "\r\n"),
        ("c.csv", '|', "\r"),
        ("d.tsv", '\t', "\n"),
        ("e.csv.gz", ',', "\r\n"),
        ("f.tsv.zst", '\t', "\r"),
    ] {
        let set = open_keys(dir.file(name, text(delimiter, end)), &columns).unwrap();
        assert_eq!(set.items, expected.items, "{name}");
        assert_eq!(set.counts, expected.counts, "{name}");
    }
    let nullable = |cells: Vec<&str>| -> StringArray {
        cells.into_iter().map(|cell| Some(cell).filter(|cell| !cell.is_empty())).collect()
    };
    let mails = nullable(rows.iter().map(|(mail, _)| mail.as_str()).collect());
    let b = StringArray::from_iter_values(rows.iter().map(|(_, b)| b));
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(mails.clone()),
        Arc::new(mails.iter().collect::<StringViewArray>()),
        Arc::new(mails.iter().collect::<LargeStringArray>()),
        Arc::new(mails.iter().collect::<DictionaryArray<Int32Type>>()),
        Arc::new(mails.iter().map(|mail| mail.map(str::as_bytes)).collect::<BinaryArray>()),
    ];
    for (index, mail) in arrays.into_iter().enumerate() {
        let path = dir.path(&format!("{index}.parquet"));
        // The key columns are not in the agreement's order.
        write_parquet(&path, vec![("b", Arc::new(b.clone())), ("mail", mail)]);
        let source = open(&path).unwrap();
        assert_eq!(source.rows(), Some(5000));
        let set = keys(&source, &columns).unwrap();
        assert_eq!(set.items, expected.items, "array {index}");
        assert_eq!(set.refused[0], Place::Row(3));
    }
}

#[test]
fn typed_values_equal_their_text_forms() {
    let dir = Scratch::new();
    let micros = 1_706_790_896_000_000; // 2024-02-01T12:34:56Z
    let cases: Vec<(ArrayRef, &[&str])> = vec![
        (Arc::new(Int64Array::from(vec![Some(42), None, Some(-7)])), &["42", "-7"]),
        (Arc::new(Int8Array::from(vec![Some(-128), None, Some(5)])), &["-128", "5"]),
        (
            Arc::new(UInt64Array::from(vec![Some(u64::MAX), None, Some(0)])),
            &["18446744073709551615", "0"],
        ),
        (Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])), &["true", "false"]),
        (
            Arc::new(Date32Array::from(vec![Some(19754), None, Some(-1)])),
            &["2024-02-01", "1969-12-31"],
        ),
        (
            Arc::new(Date64Array::from(vec![Some(19754 * 86_400_000), None, Some(0)])),
            &["2024-02-01", "1970-01-01"],
        ),
        (
            Arc::new(TimestampMicrosecondArray::from(vec![
                Some(micros),
                None,
                Some(micros + 1500),
            ])),
            &["2024-02-01T12:34:56", "2024-02-01T12:34:56.001500"],
        ),
        (
            Arc::new(
                TimestampSecondArray::from(vec![Some(micros / 1_000_000), None, Some(0)])
                    .with_timezone("+02:00"),
            ),
            &["2024-02-01T12:34:56Z", "1970-01-01T00:00:00Z"],
        ),
        (
            Arc::new(Time32SecondArray::from(vec![Some(45296), None, Some(0)])),
            &["12:34:56", "00:00:00"],
        ),
        (
            Arc::new(
                Decimal128Array::from(vec![Some(1230), None, Some(-5)])
                    .with_precision_and_scale(10, 2)
                    .unwrap(),
            ),
            &["12.30", "-0.05"],
        ),
        (
            Arc::new(
                Decimal128Array::from(vec![Some(42), None, Some(7)])
                    .with_precision_and_scale(38, 0)
                    .unwrap(),
            ),
            &["42", "7"],
        ),
        (
            Arc::new(
                FixedSizeBinaryArray::try_from_sparse_iter_with_size(
                    [Some([0xab, 0x01]), None, Some([0, 0xff])].into_iter(),
                    2,
                )
                .unwrap(),
            ),
            &["ab01", "00ff"],
        ),
    ];
    for (index, (array, expected)) in cases.into_iter().enumerate() {
        let name = array.data_type().to_string();
        let path = dir.path(&format!("{index}.parquet"));
        let pad: ArrayRef = Arc::new(StringArray::from(vec!["x"; array.len()]));
        write_parquet(&path, vec![("pad", pad), ("id", array)]);
        let set = open_keys(&path, &[("id", "exact")]).unwrap();
        assert_eq!(set.items, items(expected), "{name}");
        assert_eq!((set.counts.rows, set.counts.empty), (3, 1), "{name}");
        // The same rows written as text have the same keys.
        let csv = dir.path(&format!("{index}.csv"));
        let source = open(&path).unwrap();
        write(&source, "id", expected, &csv, false).unwrap();
        assert_eq!(open_keys(&csv, &[("id", "exact")]).unwrap().items, items(expected), "{name}");
    }
}

#[test]
fn columns_of_nulls_have_no_keys() {
    let dir = Scratch::new();
    let path = dir.path("a.parquet");
    write_parquet(&path, vec![("id", Arc::new(NullArray::new(3)))]);
    let counts = open_keys(&path, &[("id", "exact")]).unwrap().counts;
    assert_eq!((counts.rows, counts.empty), (3, 3));
}

#[test]
fn types_without_a_text_form_are_refused_as_keys() {
    let dir = Scratch::new();
    let list: ListArray = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    let inner: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let record = StructArray::from(vec![(Arc::new(Field::new("x", DataType::Int64, true)), inner)]);
    let path = dir.path("a.parquet");
    write_parquet(
        &path,
        vec![
            ("list", Arc::new(list)),
            ("record", Arc::new(record)),
            ("float", Arc::new(Float64Array::from(vec![1.5]))),
            ("id", Arc::new(StringArray::from(vec!["1"]))),
        ],
    );
    let source = open(&path).unwrap();
    assert_eq!(source.columns(), ["list", "record", "float", "id"]);
    for column in ["list", "record", "float"] {
        let error = keys(&source, &[(column, "exact")]).unwrap_err();
        assert!(
            matches!(&error, InputError::UnsupportedKeyType { column: c, .. } if c == column),
            "{error:?}"
        );
    }
    // A column after nested ones is found, and the nested ones survive in Parquet but not as text.
    assert_eq!(keys(&source, &[("id", "exact")]).unwrap().items, items(&["1"]));
    let to = |name: &str| OutputOptions { path: dir.path(name), force: false };
    assert!(matches!(
        check_output(&source, &to("b.csv")),
        Err(WriteError::Output(OutputError::UnsupportedTextType { column, .. })) if column == "list"
    ));
    check_output(&source, &to("b.parquet")).unwrap();
    write(&source, "id", &["1"], &dir.path("b.parquet"), false).unwrap();
    assert_eq!(open(dir.path("b.parquet")).unwrap().columns(), source.columns());
}

#[test]
fn binary_that_is_not_text_is_located() {
    let dir = Scratch::new();
    let path = dir.path("a.parquet");
    let array = BinaryArray::from_iter_values([&b"ok"[..], b"a\xffb"]);
    write_parquet(&path, vec![("id", Arc::new(array))]);
    assert_eq!(
        open_keys(&path, &[("id", "exact")]).unwrap_err(),
        InputError::InvalidUtf8 {
            path,
            place: Place::Row(2),
            byte: 2,
            column: Some("id".into()),
            guess: EncodingGuess::Unknown
        }
    );
}

/// A time whose day is in no calendar.
const NO_DAY: i64 = i64::MAX;

#[test]
fn a_cell_without_a_text_form_is_reported_before_the_match_if_text_is_written() {
    let dir = Scratch::new();
    let rows = 6000;
    let text = |bad: &'static [u8]| move |row| if row == 5000 { bad } else { &b"ok"[..] };
    let binary = |bad| BinaryArray::from_iter_values((0..rows).map(text(bad)));
    let dates: Vec<i64> = (0..rows).map(|row| if row == 5000 { NO_DAY } else { 0 }).collect();
    let cases: Vec<(ArrayRef, bool)> = vec![
        (Arc::new(binary(b"a\xff")), true),
        (Arc::new(binary(b"\xc3\xa9")), false),
        (Arc::new(TimestampSecondArray::from(dates.clone())), true),
        (Arc::new(Int64Array::from(dates)), false),
    ];
    for (index, (array, is_bad)) in cases.into_iter().enumerate() {
        let name = array.data_type().to_string();
        let path = dir.path(&format!("{index}.parquet"));
        let id = Int64Array::from_iter_values(0..rows as i64);
        write_parquet(&path, vec![("id", Arc::new(id)), ("photo", array)]);
        let source = open(&path).unwrap();
        for output in ["o.csv", "o.tsv.gz", "o.parquet"] {
            let options = OutputOptions { path: dir.path(output), force: false };
            let expected = if is_bad && output != "o.parquet" {
                Err(WriteError::Output(OutputError::UnwritableCell {
                    place: Place::Row(5001),
                    column: "photo".into(),
                    type_name: name.clone(),
                }))
            } else {
                Ok(())
            };
            assert_eq!(check_output(&source, &options), expected, "{name} to {output}");
        }
    }
    assert!(dir.names().iter().all(|name| !name.contains("partial")));
}

#[test]
fn a_directory_name_is_refused_before_the_match() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id\n1\n")).unwrap();
    for name in ["o.csv/", "o.csv/.", "o.csv//"] {
        for force in [false, true] {
            let options = OutputOptions { path: dir.path(name), force };
            let checked = check_output(&source, &options);
            assert!(
                matches!(checked, Err(WriteError::Output(OutputError::NotAFile { .. }))),
                "{name}: {checked:?}"
            );
        }
    }
}

#[test]
fn a_missing_input_is_not_reported_as_an_output_error() {
    let dir = Scratch::new();
    let path = dir.file("a.csv", "id\n1\n");
    let source = open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let written = write(&source, "id", &["1"], &dir.path("o.csv"), false);
    assert_eq!(written.unwrap_err(), InputError::Changed { path }.into());
}

#[test]
fn a_long_zstd_window_is_not_reported_as_damage() {
    let dir = Scratch::new();
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.set_parameter(zstd::zstd_safe::CParameter::WindowLog(28)).unwrap();
    encoder.write_all(b"id\n1\n").unwrap();
    encoder.flush().unwrap();
    encoder.write_all(b"2\n").unwrap();
    let path = dir.path("a.csv.zst");
    std::fs::write(&path, encoder.finish().unwrap()).unwrap();
    assert_eq!(open(&path).unwrap_err(), InputError::WindowTooLarge { path });
}

#[test]
fn parquet_columns_of_one_name_are_refused_only_as_a_key() {
    let dir = Scratch::new();
    let (path, out) = (dir.path("a.parquet"), dir.path("b.parquet"));
    let column = |cell: &str| Arc::new(StringArray::from(vec![cell])) as ArrayRef;
    let columns = || vec![("id", column("1")), ("v", column("2")), ("v", column("3"))];
    write_parquet(&path, columns());
    let source = open(&path).unwrap();
    let column = "v".to_owned();
    let twice = InputError::DuplicateColumn { path: path.clone(), column, first: 2, second: 3 };
    assert_eq!(keys(&source, &[("v", "exact")]).unwrap_err(), twice);
    assert_eq!(keys(&source, &[("id", "exact")]).unwrap().items, items(&["1"]));
    assert_eq!(write(&source, "id", &["1"], &out, false).unwrap().rows, 1);
    assert_eq!(open(&out).unwrap().columns(), ["id", "v", "v"]);
    write(&source, "id", &["1"], &dir.path("b.csv"), false).unwrap();
    assert_eq!(std::fs::read_to_string(dir.path("b.csv")).unwrap(), "id,v,v\n1,2,3\n");
}
