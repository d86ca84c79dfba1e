//! Streaming passes: the item of every row at its position, and the rows of a bitmap.

use crate::common::support::{bits, write_bits};
use crate::common::{Scratch, hash, items, key, open, silent, stream, stream_with};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use std::convert::Infallible;
use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use vesica_core::Item;
use vesica_records::{KeyLimits, NO_ITEM, StreamError, read_keys, stream_items};
use vesica_tables::{InputError, OutputOptions, ReadOptions, Source, write_rows};

/// Checks that both first passes agree on a file.
fn assert_same(source: &Source, columns: &[(&str, &str)], limits: KeyLimits) {
    let read = read_keys(source, &key(columns), &hash(), &limits, &mut silent);
    let (read, (all, streamed)) = match (read, stream_with(source, columns, limits)) {
        (Err(read), streamed) => return assert_eq!(streamed.unwrap_err(), read),
        (Ok(read), streamed) => (read, streamed.unwrap()),
    };
    assert_eq!((streamed.rows, all.len() as u64), (read.counts.rows, read.counts.rows));
    let mut counts = read.counts.clone();
    assert_eq!(streamed.keyed, counts.duplicates + counts.distinct);
    (counts.duplicates, counts.distinct) = (0, 0);
    assert_eq!(streamed.counts, counts);
    let mut usable: Vec<Item> = all.into_iter().filter(|item| *item != NO_ITEM).collect();
    assert_eq!(usable.len() as u64, streamed.keyed);
    usable.sort();
    usable.dedup();
    assert!(usable == read.items);
}

/// Some thousands of rows with gaps, some of whole blocks, and long keys.
fn text(rows: usize) -> String {
    let row = |i: usize| match i % 11 {
        _ if (9000..30_000).contains(&i) => format!(",{i}\n"),
        2 => format!(",{i}\n"),
        3 | 4 => format!("not an address,{i}\n"),
        7 => format!("{}@{}.org,\"{i}\n\"\n", "u".repeat(40), "d".repeat(i % 60 + 1)),
        _ => format!("user{}@ex.org,{i}\n", i % 20_000),
    };
    (0..rows).fold("id,b\n".to_owned(), |text, i| text + &row(i))
}

#[test]
fn every_row_has_its_item_at_its_position() {
    let dir = Scratch::new();
    for rows in [1, 3, 15, 16, 17, 8191, 8192, 8193, 40_000] {
        let text: String = (0..rows)
            .map(|i| {
                if i % 5 == 3 || (8000..17_000).contains(&i) {
                    ",x\n".into()
                } else {
                    format!("{i},x\n")
                }
            })
            .collect();
        let source = open(dir.file("a.csv", format!("id,b\n{text}"))).unwrap();
        let (all, streamed) = stream(&source, &[("id", "exact")]).unwrap();
        assert_eq!((all.len(), streamed.rows), (rows, rows as u64));
        for (i, item) in all.into_iter().enumerate() {
            let expected = if i % 5 == 3 || (8000..17_000).contains(&i) {
                NO_ITEM
            } else {
                items(&[&i.to_string()])[0]
            };
            assert!(item == expected, "row {i} of {rows}");
        }
    }
}

#[test]
fn both_first_passes_agree() {
    let dir = Scratch::new();
    let strict = KeyLimits { strict: true, ..KeyLimits::default() };
    let few = KeyLimits { max_rows: Some(1000), ..KeyLimits::default() };
    let empty = KeyLimits { may_be_empty: true, ..KeyLimits::default() };
    dir.file("long.csv", text(40_000));
    let source = open(dir.path("long.csv")).unwrap();
    write_bits(&source, 40_000, &bits(40_000, |_| true), &dir.path("long.parquet")).unwrap();
    for (name, text) in [
        ("cr.csv", "id,b\r1,x\r2,y\r"),
        ("blank.csv", "\n\nid,b\n\n1,x\n\r\n\r2,y\n\n\n"),
        ("mark.csv", "\u{feff}\"id\",b\r\n\"a\"\"@ex.org\",x\r\n"),
        ("quotes.csv", "id;b\n\"a;\n@ex.org\";\"\"\n a@ex.org ;\"x\"\"\"\n"),
        ("twice.csv", "id,b\n1@a.b,x\n1@a.b,x\n 1@A.b,x\n"),
        ("empty.csv", "id,b\n,x\n"),
        ("no-rows.csv", "id,b\n"),
        ("ragged.csv", "id,b\n1,x\n2\n"),
        ("open.csv", "id,b\n1,\"x\n2,y\n"),
        ("a.csv.gz", "id,b\n1,x\n2,y\n"),
        ("a.csv.zst", "id,b\n1,x\n2,y\n"),
    ] {
        dir.file(name, text);
    }
    fs::write(dir.path("latin.csv"), b"id,b\n1,x\n2,\xe9\n").unwrap();
    for name in dir.names() {
        let source = open(dir.path(&name)).unwrap();
        for columns in
            [&[("id", "exact")][..], &[("id", "email")], &[("id", "email"), ("b", "exact")]]
        {
            for limits in [KeyLimits::default(), strict, few, empty] {
                assert_same(&source, columns, limits);
            }
        }
        let column = [("none", "exact")];
        assert!(matches!(stream(&source, &column), Err(InputError::ColumnMissing { .. })));
    }
}

#[test]
fn a_failing_sink_ends_the_pass_with_its_error() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", text(40_000))).unwrap();
    for room in [0, 20_000] {
        let mut taken = 0;
        let mut sink = |items: &[Item]| {
            taken += items.len();
            if taken > room { Err(io::ErrorKind::StorageFull) } else { Ok(()) }
        };
        let (columns, limits) = (key(&[("id", "exact")]), KeyLimits::default());
        let error = stream_items(&source, &columns, &hash(), &limits, &mut sink, &mut silent);
        assert_eq!(error.unwrap_err(), StreamError::Sink(io::ErrorKind::StorageFull));
        assert!(taken < room + 10_000, "{taken}");
    }
    // The last block is no exception.
    let source = open(dir.file("b.csv", "id\n1\n")).unwrap();
    let mut sink = |_: &[Item]| Err(io::ErrorKind::StorageFull);
    let (columns, limits) = (key(&[("id", "exact")]), KeyLimits::default());
    let error = stream_items(&source, &columns, &hash(), &limits, &mut sink, &mut silent);
    assert_eq!(error.unwrap_err(), StreamError::Sink(io::ErrorKind::StorageFull));
}

#[test]
fn an_interrupted_pass_ends_and_leaves_no_output() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", text(100_000))).unwrap();
    let mut stop = |_| ControlFlow::Break(());
    let mut sink = |_: &[Item]| Ok::<_, Infallible>(());
    let (columns, limits) = (key(&[("id", "exact")]), KeyLimits::default());
    let error = stream_items(&source, &columns, &hash(), &limits, &mut sink, &mut stop);
    assert_eq!(error.unwrap_err(), InputError::Interrupted.into());
    for name in ["out.csv", "out.tsv", "out.parquet"] {
        let options = OutputOptions { path: dir.path(name), force: false };
        let wanted = bits(100_000, |_| true);
        let error = write_rows(&source, 100_000, &wanted, &options, &mut stop);
        assert_eq!(error.unwrap_err(), InputError::Interrupted.into());
        assert_eq!(dir.names(), ["a.csv"]);
    }
}

#[test]
fn rows_of_matched_keys_are_copied_in_every_pair_of_formats() {
    let dir = Scratch::new();
    let formats = ["csv", "tsv", "csv.gz", "parquet"];
    dir.file("in.csv", text(40_000));
    let all = bits(40_000, |_| true);
    for to in &formats[1..] {
        let source = open(dir.path("in.csv")).unwrap();
        write_bits(&source, 40_000, &all, &dir.path(&format!("in.{to}"))).unwrap();
    }
    for from in formats {
        let source = open(dir.path(&format!("in.{from}"))).unwrap();
        let columns = [("id", "email")];
        let (every, _) = stream(&source, &columns).unwrap();
        let set = read_keys(&source, &key(&columns), &hash(), &KeyLimits::default(), &mut silent)
            .unwrap();
        let matched: Vec<Item> = set.items.iter().copied().step_by(3).collect();
        let wanted = bits(40_000, |row| matched.binary_search(&every[row as usize]).is_ok());
        for to in formats {
            let output = dir.path(&format!("bit.{to}"));
            let written = write_bits(&source, 40_000, &wanted, &output).unwrap();
            let (copied, _) = stream(&open(&output).unwrap(), &columns).unwrap();
            assert_eq!(written.rows, copied.len() as u64, "{from} to {to}");
            let is_matched = |item: &&Item| matched.binary_search(item).is_ok();
            assert!(every.iter().filter(is_matched).eq(&copied), "{from} to {to}");
        }
    }
}

#[test]
fn row_groups_of_a_table_follow_each_other() {
    let dir = Scratch::new();
    let numbers: Vec<i64> = (0..1000).collect();
    let texts = StringArray::from_iter(numbers.iter().map(|i| (i % 3 > 0).then(|| i.to_string())));
    let batch = RecordBatch::try_from_iter([
        ("id", Arc::new(Int64Array::from(numbers)) as ArrayRef),
        ("name", Arc::new(texts) as ArrayRef),
    ])
    .unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(130)).build();
    let file = File::create(dir.path("a.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let source = open(dir.path("a.parquet")).unwrap();
    assert_same(&source, &[("name", "exact")], KeyLimits::default());
    // Nothing of the second group, all of the third, the last row.
    let is_wanted = |row: u64| row == 3 || (260..390).contains(&row) || row == 999;
    let wanted = bits(1000, is_wanted);
    let written = write_bits(&source, 1000, &wanted, &dir.path("b.csv")).unwrap();
    assert_eq!(written.rows, 132);
    let name = |row: u64| if row.is_multiple_of(3) { String::new() } else { row.to_string() };
    let expected: String = (0..1000)
        .filter(|row| is_wanted(*row))
        .map(|row| format!("{row},{}\n", name(row)))
        .collect();
    assert_eq!(fs::read_to_string(dir.path("b.csv")).unwrap(), format!("id,name\n{expected}"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any cells, with a header or without: both first passes agree, and the bits select the rows.
    #[test]
    fn any_rows_are_streamed_and_picked(
        rows in prop::collection::vec(
            ("(?s)[^\0]{0,12}", "[,;\t\"\r\n x]{0,6}", any::<bool>()), 1..80,
        )
    ) {
        let dir = Scratch::new();
        let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
        let mut text = String::new();
        let mut expected = String::new();
        for (a, b, wanted) in &rows {
            let line = format!("{},{}\n", quoted(a), quoted(b));
            text.push_str(&line);
            if *wanted {
                expected.push_str(&line);
            }
        }
        let (header, delimiter) = (false, Some(b','));
        let options = ReadOptions { header, delimiter, ..ReadOptions::default() };
        let source = Source::open(dir.file("a.csv", text), &options).unwrap();
        assert_same(&source, &[("1", "trim")], KeyLimits::default());
        let len = rows.len() as u64;
        let wanted = bits(len, |row| rows[row as usize].2);
        write_bits(&source, len, &wanted, &dir.path("b.csv")).unwrap();
        prop_assert_eq!(fs::read_to_string(dir.path("b.csv")).unwrap(), expected);
    }
}
