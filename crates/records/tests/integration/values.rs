//! The values of a column outside the key: what is accepted, summed, and refused with its place.

use crate::common;
use arrow_array::{ArrayRef, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray};
use common::{Scratch, hash, key, open, silent};
use parquet::arrow::ArrowWriter;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use vesica_core::Item;
use vesica_records::{
    Duplicates, Extra, Groups, KeyLimits, KeySet, ValueColumns, read_keys, read_keys_with,
};
use vesica_tables::{
    InputError, Origin, OutputError, OutputOptions, Place, TableWriter, ValueFault, write_document,
    write_figures,
};

fn columns(names: &[&str], bits: u32, signed: bool, duplicates: Duplicates) -> ValueColumns {
    let columns = names.iter().map(|name| (*name).to_owned()).collect();
    ValueColumns { columns, groups: None, bits, signed, duplicates }
}

fn read_extra(path: impl AsRef<Path>, extra: Extra<'_>) -> Result<KeySet, InputError> {
    let limits = KeyLimits::default();
    let key = key(&[("id", "exact")]);
    read_keys_with(&open(path)?, &key, extra, &hash(), &limits, &mut silent)
}

fn read_columns(path: impl AsRef<Path>, values: &ValueColumns) -> Result<KeySet, InputError> {
    read_extra(path, Extra { values: Some(values), ..Extra::default() })
}

fn read(path: impl AsRef<Path>, bits: u32) -> Result<KeySet, InputError> {
    read_columns(path, &columns(&["amount"], bits, false, Duplicates::Sum))
}

/// The value of one key.
#[track_caller]
fn value_of(set: &KeySet, id: &str) -> u64 {
    let item: Item = common::items(&[id])[0];
    let at = set.items.binary_search(&item).unwrap();
    set.values.as_ref().unwrap()[at]
}

#[test]
fn values_accompany_their_keys_and_those_of_one_key_are_summed() {
    let dir = Scratch::new();
    let text = "amount,id\n5,a\n7,b\n,c\n 30 ,a\n1,a\n-9,\n0,d\n";
    for name in ["a.csv", "a.csv.gz", "a.csv.zst"] {
        let set = read(dir.file(name, text), 8).unwrap();
        let values: Vec<u64> = ["a", "b", "c", "d"].map(|id| value_of(&set, id)).to_vec();
        assert_eq!(values, [36, 7, 0, 0], "{name}");
        assert_eq!((set.counts.distinct, set.counts.duplicates, set.counts.empty), (4, 2, 1));
        // The row without a key is ignored.
        assert_eq!(set.counts.without_value, 1);
        assert!(set.items.is_sorted());
    }
}

#[test]
fn values_kept_from_a_spreadsheet_or_with_unseen_characters_are_read() {
    let dir = Scratch::new();
    let text = "amount,id\n=\"5\",a\n'7,b\n3\u{200b}0,c\n\u{ad},d\n";
    let set = read(dir.file("a.csv", text), 8).unwrap();
    assert_eq!(["a", "b", "c", "d"].map(|id| value_of(&set, id)), [5, 7, 30, 0]);
    assert_eq!(set.counts.without_value, 1);
}

#[test]
fn values_do_not_change_the_items() {
    let dir = Scratch::new();
    let mut text = String::from("id,amount\n");
    for i in 0..5000_u32 {
        // Keys too long for a batch are hashed out of order.
        let long = if i % 7 == 0 { "x".repeat(100) } else { String::new() };
        text += &format!("{}{long},{i}\n", i % 3000);
    }
    let path = dir.file("a.csv", text);
    let set = read(&path, 32).unwrap();
    let limits = KeyLimits::default();
    let plain =
        read_keys(&open(&path).unwrap(), &key(&[("id", "exact")]), &hash(), &limits, &mut silent)
            .unwrap();
    assert!(set.items == plain.items);
    assert!(plain.values.is_none());
    let total: u64 = set.values.as_ref().unwrap().iter().sum();
    assert_eq!(total, (0..5000).sum::<u64>());
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
fn a_too_large_sum_of_one_key_is_refused_with_its_line() {
    let dir = Scratch::new();
    assert!(read(dir.file("a.csv", "id,amount\na,200\nb,9\na,55\n"), 8).is_ok());
    let path = dir.file("b.csv", "id,amount\na,200\nb,9\na,56\na,1\n");
    let too_large = |path, bits| InputError::TotalTooLarge {
        path,
        place: Place::Line(4),
        column: "amount".to_owned(),
        bits,
        signed: false,
    };
    assert_eq!(read(&path, 8).unwrap_err(), too_large(path, 8));
    let most = u64::MAX;
    let path = dir.file("c.csv", format!("id,amount\na,{most}\nb,0\na,1\n"));
    assert_eq!(read(&path, 64).unwrap_err(), too_large(path, 64));
}

#[test]
fn values_of_several_columns_stay_together_and_may_be_negative() {
    let dir = Scratch::new();
    let text = "x,id,y\n-3,a,5\n4,b,\n-128,a,1\n120,a,-7\n";
    let values = columns(&["y", "x"], 8, true, Duplicates::Sum);
    let set = read_columns(dir.file("a.csv", text), &values).unwrap();
    let of = |id: &str| {
        let at = set.items.binary_search(&common::items(&[id])[0]).unwrap();
        set.values.as_ref().unwrap()[2 * at..2 * at + 2]
            .iter()
            .map(|v| *v as i64)
            .collect::<Vec<_>>()
    };
    assert_eq!((of("a"), of("b")), (vec![-1, -11], vec![0, 4]), "out of range on the way only");
    assert_eq!(set.counts.without_value, 1);
    let path = dir.file("b.csv", "x,id,y\n-100,a,5\n1,a,1\n-100,a,1\n7,a,1\n");
    let expected = InputError::TotalTooLarge {
        path: path.clone(),
        place: Place::Line(4),
        column: "x".to_owned(),
        bits: 8,
        signed: true,
    };
    let error = read_columns(&path, &values).unwrap_err();
    assert_eq!(error, expected);
    assert!(
        error.to_string().ends_with("add up to less than -2^7 or more than 2^7 - 1"),
        "{error}"
    );
}

#[test]
fn rows_with_the_same_key_are_summed_or_the_first_counts_or_they_are_refused() {
    let dir = Scratch::new();
    let path = dir.file("a.csv", "id,amount\na,1\nb,2\nc,3\nc,30\na,100\na,7\n");
    let with = |duplicates| read_columns(&path, &columns(&["amount"], 20, false, duplicates));
    let set = with(Duplicates::First).unwrap();
    assert_eq!(["a", "b", "c"].map(|id| value_of(&set, id)), [1, 2, 3]);
    assert_eq!(set.counts.duplicates, 3);
    let set = with(Duplicates::Sum).unwrap();
    assert_eq!(["a", "b", "c"].map(|id| value_of(&set, id)), [108, 2, 33]);
    let (first, second) = (Place::Line(4), Place::Line(5));
    let error = with(Duplicates::Refuse).unwrap_err();
    assert_eq!(error, InputError::DuplicateKey { path: path.clone(), first, second });
    let path = dir.file("b.csv", "id,amount\na,1\nb,2\n");
    assert!(read_columns(path, &columns(&["amount"], 20, false, Duplicates::Refuse)).is_ok());
}

#[test]
fn texts_accompany_their_keys_in_the_form_of_the_profile() {
    let dir = Scratch::new();
    let path = dir.file("a.csv", "id,mail\n1,B@x.org\n2, a@X.org \n3,b@x.ORG\n4,\n");
    let key = key(&[("mail", "email")]);
    let read = |extra, limits: &KeyLimits| {
        read_keys_with(&open(&path).unwrap(), &key, extra, &hash(), limits, &mut silent)
    };
    let extra = Extra { texts: Some(7), ..Extra::default() };
    let set = read(extra, &KeyLimits::default()).unwrap();
    let plain = read(Extra::default(), &KeyLimits::default()).unwrap();
    assert!(set.items == plain.items);
    assert!(plain.texts.is_none());
    let texts = set.texts.unwrap();
    let mut sorted: Vec<&[u8]> = texts.iter().collect();
    sorted.sort();
    assert_eq!(sorted, [b"a@x.org", b"b@x.org"]);
    let extra = Extra { texts: Some(6), ..Extra::default() };
    let error = read(extra, &KeyLimits::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{}, line 2: column \"mail\" makes the key longer than 6 bytes", path.display())
    );
}

#[test]
fn a_file_without_keys_is_an_empty_set_if_allowed() {
    let dir = Scratch::new();
    let limits = KeyLimits { may_be_empty: true, ..KeyLimits::default() };
    let values = columns(&["amount"], 8, false, Duplicates::Sum);
    let extra = Extra { values: Some(&values), texts: Some(10), rows: true, ..Extra::default() };
    for text in ["id,amount\n", "id,amount\n,5\n"] {
        let source = open(dir.file("a.csv", text)).unwrap();
        let key = key(&[("id", "exact")]);
        let set = read_keys_with(&source, &key, extra, &hash(), &limits, &mut silent).unwrap();
        assert!(set.items.is_empty() && set.values.unwrap().is_empty());
        assert!(set.texts.unwrap().is_empty());
        let limits = KeyLimits::default();
        let refused = read_keys_with(&source, &key, extra, &hash(), &limits, &mut silent);
        assert!(matches!(refused, Err(InputError::NoRows { .. } | InputError::NoKeys { .. })));
    }
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
fn parquet_columns_of_numbers_and_text_are_summed() {
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
fn figures_have_the_format_of_the_name_and_overwrite_nothing() {
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

#[test]
fn tables_are_written_as_text_or_parquet_and_documents_only_as_json() {
    let dir = Scratch::new();
    let input = dir.file("in.csv", "id\na\n");
    let options = |name: &str| OutputOptions { path: dir.path(name), force: true };
    let names = ["a".to_owned(), "b".to_owned()];
    let from = [input.clone()];
    for name in ["out.csv", "out.parquet"] {
        let mut table = TableWriter::create(&from[..], &names, &options(name)).unwrap();
        table.row(&["1", "x,y"]).unwrap();
        table.row(&["", ""]).unwrap();
        table.finish().unwrap();
    }
    let written = std::fs::read_to_string(dir.path("out.csv")).unwrap();
    assert_eq!(written, "a,b\n1,\"x,y\"\n,\n");
    assert_eq!(open(dir.path("out.parquet")).unwrap().rows(), Some(2));
    assert!(TableWriter::create(&from[..], &names, &options("in.csv")).is_err());
    drop(TableWriter::create(&from[..], &names, &options("never.csv")).unwrap());
    let write = |name: &str| {
        write_document(&open(&input).unwrap(), &options(name), |out| out.write_all(b"{}"))
    };
    write("out.json").unwrap();
    assert!(matches!(write("out2.csv"), Err(OutputError::NotJson { .. })));
    let failing = write_document(&from[..], &options("bad.json"), |_| {
        Err(std::io::ErrorKind::StorageFull.into())
    });
    assert!(matches!(failing, Err(OutputError::DiskFull { .. })));
    assert_eq!(dir.names(), ["in.csv", "out.csv", "out.json", "out.parquet"]);
}

fn by_region(columns: &[&str], duplicates: Duplicates) -> ValueColumns {
    let names = ["north", "south", "east"].map(str::to_owned).to_vec();
    let groups = Some(Groups { by: "region".to_owned(), names });
    ValueColumns { groups, ..self::columns(columns, 8, false, duplicates) }
}

/// The values of one key, of `width`.
#[track_caller]
fn values_of(set: &KeySet, id: &str, width: usize) -> Vec<u64> {
    let at = set.items.binary_search(&common::items(&[id])[0]).unwrap();
    set.values.as_ref().unwrap()[at * width..][..width].to_vec()
}

#[test]
fn a_row_has_its_values_in_its_group_and_zero_in_the_others() {
    let dir = Scratch::new();
    let text = "id,region,m,n\na, south ,5,1\nb,east,7,2\na,north,30,3\na,south,1,4\nc,,9,5\n";
    let path = dir.file("a.csv", text);
    let set = read_columns(&path, &by_region(&["m", "n"], Duplicates::Sum)).unwrap();
    assert_eq!(values_of(&set, "a", 6), [30, 6, 0, 3, 5, 0]);
    assert_eq!(values_of(&set, "b", 6), [0, 0, 7, 0, 0, 2]);
    // A row without a group counts nowhere, and is counted as one with an empty value.
    assert_eq!(values_of(&set, "c", 6), [0; 6]);
    assert_eq!(set.counts.without_value, 1);
    let first = read_columns(&path, &by_region(&["m"], Duplicates::First)).unwrap();
    assert_eq!(values_of(&first, "a", 3), [0, 5, 0]);
    // Without a column of values a row counts 1.
    let counted = read_columns(&path, &by_region(&[], Duplicates::Sum)).unwrap();
    assert_eq!(values_of(&counted, "a", 3), [1, 2, 0]);
    assert_eq!(values_of(&counted, "b", 3), [0, 0, 1]);
    let counted = read_columns(&path, &by_region(&[], Duplicates::First)).unwrap();
    assert_eq!(values_of(&counted, "a", 3), [0, 1, 0]);
}

#[test]
fn an_unknown_group_is_an_error_with_its_line_and_without_its_text() {
    let dir = Scratch::new();
    for cell in ["NORTH", "west1234", "north,south"] {
        let path = dir.file("a.csv", format!("id,region,m\na,north,1\nb,\"{cell}\",2\n"));
        let error = read_columns(&path, &by_region(&["m"], Duplicates::Sum)).unwrap_err();
        let (place, column) = (Place::Line(3), "region".to_owned());
        let expected = InputError::BadValue { path, place, column, fault: ValueFault::NoGroup };
        assert_eq!(error, expected);
        assert!(!format!("{error} {error:?}").contains("1234"), "{error}");
    }
    // A total that does not fit names the column of values, or the column of the groups.
    let rows: String = (0..256).map(|_| "a,north,1\n").collect();
    let path = dir.file("b.csv", format!("id,region,m\n{rows}"));
    for (columns, named) in [(&["m"][..], "m"), (&[], "region")] {
        let error = read_columns(&path, &by_region(columns, Duplicates::Sum)).unwrap_err();
        let InputError::TotalTooLarge { column, bits: 8, .. } = error else { panic!("{error}") };
        assert_eq!(column, named);
    }
    let error = read_columns(dir.file("c.csv", "id,m\na,1\n"), &by_region(&["m"], Duplicates::Sum));
    assert!(matches!(error, Err(InputError::ColumnMissing { .. })), "{error:?}");
}

#[test]
fn a_table_in_csv_has_the_delimiter_of_rows_in_csv() {
    let dir = Scratch::new();
    let rows = open(dir.file("a.csv", "id;value\n1;2\n")).unwrap();
    let tabs = open(dir.file("a.tsv", "id\tvalue\n1\t2\n")).unwrap();
    let from = [dir.path("a.csv")];
    for (name, origin, text) in [
        ("rows.csv", Origin::Rows(&rows), "a;b\n1,5;\"x;y\"\n"),
        ("owner.csv", Origin::OwnersAlone(&rows), "a;b\n1,5;\"x;y\"\n"),
        ("like.csv", Origin::FilesLike(&from, &rows), "a;b\n1,5;\"x;y\"\n"),
        ("rows.tsv", Origin::Rows(&rows), "a\tb\n1,5\tx;y\n"),
        ("tabs.csv", Origin::Rows(&tabs), "a,b\n\"1,5\",x;y\n"),
        ("files.csv", Origin::Files(&from), "a,b\n\"1,5\",x;y\n"),
    ] {
        let options = OutputOptions { path: dir.path(name), force: false };
        write_figures(origin, &[("a", "1,5".into()), ("b", "x;y".into())], &options).unwrap();
        assert_eq!(std::fs::read_to_string(dir.path(name)).unwrap(), text, "{name}");
    }
}
