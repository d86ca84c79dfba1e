//! The values of a column beside the keys: what is taken, what is added up, what is refused and where.

mod common;

use arrow::array::{ArrayRef, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray};
use common::{Scratch, hash, key, open, silent};
use parquet::arrow::ArrowWriter;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use vesica_core::Item;
use vesica_records::{
    InputError, KeyLimits, KeySet, OutputError, OutputOptions, Place, ValueColumn, ValueFault,
    read_keys, read_keys_with_values, write_figures,
};

fn read(path: impl AsRef<Path>, bits: u32) -> Result<KeySet, InputError> {
    let values = ValueColumn { column: "amount".to_owned(), bits };
    let limits = KeyLimits::default();
    read_keys_with_values(
        &open(path)?,
        &key(&[("id", "exact")]),
        &values,
        &hash(),
        &limits,
        &mut silent,
    )
}

/// The value of one key.
#[track_caller]
fn value_of(set: &KeySet, id: &str) -> u64 {
    let item: Item = common::items(&[id])[0];
    let at = set.items.binary_search(&item).unwrap();
    set.values.as_ref().unwrap()[at]
}

#[test]
fn values_stand_beside_their_keys_and_those_of_one_key_add_up() {
    let dir = Scratch::new();
    let text = "amount,id\n5,a\n7,b\n,c\n 30 ,a\n1,a\n-9,\n0,d\n";
    for name in ["a.csv", "a.csv.gz", "a.csv.zst"] {
        let set = read(dir.file(name, text), 8).unwrap();
        let values: Vec<u64> = ["a", "b", "c", "d"].map(|id| value_of(&set, id)).to_vec();
        assert_eq!(values, [36, 7, 0, 0], "{name}");
        assert_eq!((set.counts.distinct, set.counts.duplicates, set.counts.empty), (4, 2, 1));
        // The row without a key is not looked at.
        assert_eq!(set.counts.without_value, 1);
        assert!(set.items.is_sorted());
    }
}

#[test]
fn values_change_neither_the_items_nor_the_fingerprint() {
    let dir = Scratch::new();
    let mut text = String::from("id,amount\n");
    for i in 0..5000_u32 {
        // Keys too long for a batch are hashed out of turn.
        let long = if i % 7 == 0 { "x".repeat(100) } else { String::new() };
        text += &format!("{}{long},{i}\n", i % 3000);
    }
    let path = dir.file("a.csv", text);
    let set = read(&path, 32).unwrap();
    let limits = KeyLimits::default();
    let plain =
        read_keys(&open(&path).unwrap(), &key(&[("id", "exact")]), &hash(), &limits, &mut silent);
    let plain = plain.unwrap();
    assert!(set.items == plain.items && set.fingerprint == plain.fingerprint);
    assert!(plain.values.is_none());
    let total: u64 = set.values.as_ref().unwrap().iter().sum();
    assert_eq!(total, (0..5000).sum());
    assert_eq!(value_of(&set, "5"), 5 + 3005);
}

#[test]
fn a_bad_value_is_an_error_with_its_line_and_without_the_value() {
    let dir = Scratch::new();
    for (cell, fault) in [
        ("-3", ValueFault::Negative),
        ("1234.5", ValueFault::NotPlain),
        ("\"1,234\"", ValueFault::NotPlain),
        ("256", ValueFault::TooLarge { bits: 8 }),
        ("abc1234", ValueFault::NotANumber),
    ] {
        let path = dir.file("a.csv", format!("id,amount\na,1\nb,{cell}\n"));
        let error = read(&path, 8).unwrap_err();
        let expected = InputError::BadValue {
            path,
            place: Place::Line(3),
            column: "amount".to_owned(),
            fault,
        };
        assert_eq!(error, expected);
        assert!(!format!("{error} {error:?}").contains("234"), "{error}");
    }
}

#[test]
fn values_of_one_key_that_add_up_to_too_much_are_refused() {
    let dir = Scratch::new();
    assert!(read(dir.file("a.csv", "id,amount\na,200\nb,9\na,55\n"), 8).is_ok());
    let path = dir.file("b.csv", "id,amount\na,200\nb,9\na,56\n");
    let error = read(&path, 8).unwrap_err();
    assert_eq!(error, InputError::TotalTooLarge { path, column: "amount".to_owned(), bits: 8 });
    let most = u64::MAX;
    let path = dir.file("c.csv", format!("id,amount\na,{most}\na,1\n"));
    assert!(matches!(read(&path, 64), Err(InputError::TotalTooLarge { bits: 64, .. })));
}

#[test]
fn a_missing_column_of_values_is_named() {
    let dir = Scratch::new();
    let path = dir.file("a.csv", "id,amounts\na,1\n");
    let Err(InputError::ColumnMissing { column, nearest, .. }) = read(&path, 8) else {
        panic!("another outcome");
    };
    assert_eq!((&*column, nearest), ("amount", vec!["amounts".to_owned()]));
}

fn parquet(dir: &Scratch, amounts: ArrayRef) -> std::path::PathBuf {
    let path = dir.path("a.parquet");
    let ids: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "a"]));
    let batch = RecordBatch::try_from_iter([("id", ids), ("amount", amounts)]).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    path
}

#[test]
fn parquet_columns_of_numbers_and_of_text_are_summed() {
    let dir = Scratch::new();
    let columns: [ArrayRef; 3] = [
        Arc::new(Int64Array::from(vec![Some(3), None, Some(4)])),
        Arc::new(StringArray::from(vec!["3", "", "4"])),
        Arc::new(Decimal128Array::from(vec![3, 0, 4]).with_precision_and_scale(9, 0).unwrap()),
    ];
    for column in columns {
        let set = read(parquet(&dir, column), 8).unwrap();
        assert_eq!((value_of(&set, "a"), value_of(&set, "b")), (7, 0));
    }
    let negative = Arc::new(Int64Array::from(vec![3, 4, -1]));
    let Err(InputError::BadValue { place, fault, .. }) = read(parquet(&dir, negative), 8) else {
        panic!("another outcome");
    };
    assert_eq!((place, fault), (Place::Row(3), ValueFault::Negative));
    let real = Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0]));
    let refused = read(parquet(&dir, real), 8);
    assert!(matches!(refused, Err(InputError::UnsupportedValueType { .. })), "{refused:?}");
}

#[test]
fn figures_are_written_in_the_format_of_the_name_and_overwrite_nothing() {
    let dir = Scratch::new();
    let input = dir.file("in.csv", "id\na\n");
    let source = open(&input).unwrap();
    let figures = [("column", "spent, total".to_owned()), ("sum", "12".to_owned())];
    let write = |name: &str, force: bool| {
        write_figures(&source, &figures, &OutputOptions { path: dir.path(name), force })
    };
    write("out.csv", false).unwrap();
    let written = std::fs::read_to_string(dir.path("out.csv")).unwrap();
    assert_eq!(written, "column,sum\n\"spent, total\",12\n");
    write("out.tsv", false).unwrap();
    let written = std::fs::read_to_string(dir.path("out.tsv")).unwrap();
    assert_eq!(written, "column\tsum\nspent, total\t12\n");
    write("out.parquet", false).unwrap();
    assert_eq!(open(dir.path("out.parquet")).unwrap().columns(), ["column", "sum"]);
    assert!(matches!(write("out.csv", false), Err(OutputError::Exists { .. })));
    write("out.csv", true).unwrap();
    assert!(matches!(write("in.csv", true), Err(OutputError::SameAsInput { .. })));
    assert!(matches!(write("out", false), Err(OutputError::UnknownFormat { .. })));
    assert_eq!(dir.names(), ["in.csv", "out.csv", "out.parquet", "out.tsv"]);
}
