//! The second pass: the matching rows, whole, unchanged, in order — or nothing.

use crate::common::{Scratch, bits_of, every_item, items, keys, open, open_keys, silent, write};
use arrow_array::{
    Array, ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Arc;
use vesica_tables::{
    FileKind, InputError, OutputError, OutputOptions, ReadOptions, Source, WriteError,
    check_output, write_rows,
};

#[test]
fn matching_rows_are_copied_byte_for_byte() {
    let dir = Scratch::new();
    for (name, text, expected) in [
        ("a.csv", "id,b\n1,x\n2,\"y\"\n1,\"z\nz\"\n3,w", "id,b\n1,x\n1,\"z\nz\"\n3,w\n"),
        ("b.csv", "\u{feff}id;b\r\n3; x \r\n2;y\r\n1;", "\u{feff}id;b\r\n3; x \r\n1;\r\n"),
        ("c.tsv", "id\tb\r1\t,\r\r4\tb\r", "id\tb\r1\t,\r"),
        ("d.csv", "\n\"id\",\"b\"\n\n\"1\",  \n", "\"id\",\"b\"\n\"1\",  \n"),
    ] {
        let source = open(dir.file(name, text)).unwrap();
        let output = dir.path(&format!("out-{name}"));
        let written = write(&source, "id", &["1", "3"], &output, false).unwrap();
        assert_eq!(fs::read_to_string(&output).unwrap(), expected, "{name}");
        let rows = expected.matches(['1', '3']).count() as u64;
        assert_eq!(written.rows, rows, "{name}");
    }
    assert!(dir.names().iter().all(|name| !name.contains("partial")));
}

#[test]
fn a_file_without_a_header_gets_none() {
    let dir = Scratch::new();
    let options = ReadOptions { header: false, ..ReadOptions::default() };
    let source = Source::open(dir.file("a.csv", "1,x\n2,y\n"), &options).unwrap();
    write(&source, "1", &["2"], &dir.path("b.csv"), false).unwrap();
    assert_eq!(fs::read_to_string(dir.path("b.csv")).unwrap(), "2,y\n");
    write(&source, "1", &["2"], &dir.path("b.tsv"), false).unwrap();
    assert_eq!(fs::read_to_string(dir.path("b.tsv")).unwrap(), "2\ty\n");
}

#[test]
fn another_delimiter_gets_its_own_quotes() {
    let dir = Scratch::new();
    let text = "id;b\n1;\"a\tb\"\n\"1\";\"say \"\"hi\"\"\"\n1;x,y\n1;\"l\r\nm\"\n";
    let source = open(dir.file("a.csv", text)).unwrap();
    write(&source, "id", &["1"], &dir.path("b.tsv"), false).unwrap();
    assert_eq!(
        fs::read_to_string(dir.path("b.tsv")).unwrap(),
        "id\tb\n1\t\"a\tb\"\n1\t\"say \"\"hi\"\"\"\n1\tx,y\n1\t\"l\r\nm\"\n"
    );
}

#[test]
fn every_pair_of_formats_keeps_the_rows() {
    let dir = Scratch::new();
    let mut text = String::from("id,\"b \"\"c\"\"\",d\n");
    for row in 0..20_000 {
        text.push_str(&format!("{},\"x,{row}\n\u{e9}\",\n", row % 15_000));
    }
    dir.file("in.csv", text);
    let formats = ["csv", "tsv", "csv.gz", "tsv.zst", "parquet"];
    // Every row of the CSV in every format.
    let all: Vec<String> = (0..15_000).map(|i| i.to_string()).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    for to in &formats[1..] {
        let source = open(dir.path("in.csv")).unwrap();
        let written = write(&source, "id", &all, &dir.path(&format!("in.{to}")), false).unwrap();
        assert_eq!(written.rows, 20_000);
    }
    let some = ["7", "14999", "100000", "3"];
    let columns = [("id", "exact"), ("b \"c\"", "exact")];
    let mut expected = None;
    for from in formats {
        for to in formats {
            let source = open(dir.path(&format!("in.{from}"))).unwrap();
            let output = dir.path(&format!("{from}-to.{to}"));
            let written = write(&source, "id", &some, &output, false).unwrap();
            assert_eq!(written.rows, 5, "{from} to {to}");
            let items = every_item(&open(&output).unwrap(), &columns).unwrap();
            let expected = expected.get_or_insert_with(|| items.clone());
            assert_eq!(items, *expected, "{from} to {to}");
            assert_eq!(open(&output).unwrap().columns(), ["id", "b \"c\"", "d"]);
        }
    }
}

#[test]
fn parquet_keeps_types_metadata_and_nulls() {
    let dir = Scratch::new();
    let times = TimestampMicrosecondArray::from(vec![Some(1), None, Some(3)]).with_timezone("UTC");
    let batch = RecordBatch::try_from_iter([
        ("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef),
        ("at", Arc::new(times) as ArrayRef),
        ("name", Arc::new(StringArray::from(vec![None, Some("b"), Some("")])) as ArrayRef),
    ])
    .unwrap();
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(vec![KeyValue::new("owner".into(), "ours".to_string())]))
        .set_max_row_group_row_count(Some(2))
        .build();
    let file = File::create(dir.path("a.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let source = open(dir.path("a.parquet")).unwrap();
    write(&source, "id", &["1", "3"], &dir.path("b.parquet"), false).unwrap();
    let builder =
        ParquetRecordBatchReaderBuilder::try_new(File::open(dir.path("b.parquet")).unwrap())
            .unwrap();
    let kept = builder.metadata().file_metadata().key_value_metadata().unwrap();
    assert!(kept.iter().any(|pair| pair.key == "owner" && pair.value.as_deref() == Some("ours")));
    assert_eq!(builder.schema().fields(), batch.schema().fields());
    let rows: Vec<RecordBatch> = builder.build().unwrap().map(Result::unwrap).collect();
    let rows = arrow_select::concat::concat_batches(&rows[0].schema(), &rows).unwrap();
    let picked =
        arrow_select::take::take_record_batch(&batch, &arrow_array::UInt32Array::from(vec![0, 2]));
    assert_eq!(rows.columns(), picked.unwrap().columns());
    assert!(rows.column(2).is_null(0) && !rows.column(2).is_null(1));
}

#[test]
fn unnamed_columns_get_names_in_parquet() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id,,column_2,\n1,2,3,4\n")).unwrap();
    write(&source, "id", &["1"], &dir.path("b.parquet"), false).unwrap();
    assert_eq!(
        open(dir.path("b.parquet")).unwrap().columns(),
        ["id", "column_2_", "column_2", "column_4"]
    );
}

#[test]
fn no_match_gives_a_file_with_the_header_only() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id,b\n1,x\n")).unwrap();
    for name in ["b.csv", "b.csv.gz", "b.parquet"] {
        assert_eq!(write(&source, "id", &["9"], &dir.path(name), false).unwrap().rows, 0);
        let output = open(dir.path(name)).unwrap();
        assert_eq!(output.columns(), ["id", "b"]);
        assert_eq!(keys(&output, &[("id", "exact")]).unwrap().counts.rows, 0);
    }
}

fn refusal(source: &Source, name: std::path::PathBuf, force: bool) -> OutputError {
    let options = OutputOptions { path: name, force };
    let early = check_output(source, &options).unwrap_err();
    let late = write(source, "id", &["1"], &options.path, force).unwrap_err();
    assert_eq!(late, early);
    match early {
        WriteError::Output(error) => error,
        error => panic!("{error:?}"),
    }
}

#[test]
fn bad_targets_are_refused_early_and_unchanged() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id\n1\n")).unwrap();
    dir.file("old.csv", "old");
    assert_eq!(
        refusal(&source, dir.path("old.csv"), false),
        OutputError::Exists { path: dir.path("old.csv") }
    );
    assert_eq!(fs::read_to_string(dir.path("old.csv")).unwrap(), "old");
    for name in ["out", "out.xlsx", "out.parquet.gz"] {
        assert_eq!(
            refusal(&source, dir.path(name), true),
            OutputError::UnknownFormat { path: dir.path(name) }
        );
    }
    assert_eq!(
        refusal(&source, dir.path("no/such/b.csv"), false),
        OutputError::NoDirectory { directory: dir.path("no/such") }
    );
    assert_eq!(
        refusal(&source, dir.path("a.csv/b.csv"), false),
        OutputError::NoDirectory { directory: dir.path("a.csv") }
    );
    fs::create_dir(dir.path("d.csv")).unwrap();
    symlink("/dev/null", dir.path("null.csv")).unwrap();
    for (name, kind) in [("d.csv", FileKind::Directory), ("null.csv", FileKind::Device)] {
        assert_eq!(
            refusal(&source, dir.path(name), true),
            OutputError::NotAFile { path: dir.path(name), kind }
        );
    }
    symlink(dir.path("nothing"), dir.path("dangling.csv")).unwrap();
    assert_eq!(
        refusal(&source, dir.path("dangling.csv"), false),
        OutputError::Exists { path: dir.path("dangling.csv") }
    );
}

#[test]
fn the_input_cannot_be_the_output() {
    let dir = Scratch::new();
    let path = dir.file("a.csv", "id\n1\n2\n");
    symlink(&path, dir.path("link.csv")).unwrap();
    fs::hard_link(&path, dir.path("hard.csv")).unwrap();
    fs::create_dir(dir.path("sub")).unwrap();
    // Last: a new link changes the file's status.
    let source = open(&path).unwrap();
    for name in ["a.csv", "link.csv", "hard.csv", "sub/../a.csv", "./a.csv"] {
        for force in [false, true] {
            assert_eq!(
                refusal(&source, dir.path(name), force),
                OutputError::SameAsInput { path: dir.path(name) }
            );
        }
    }
    assert_eq!(fs::read_to_string(path).unwrap(), "id\n1\n2\n");
}

#[test]
fn force_replaces_a_file() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id\n1\n2\n")).unwrap();
    dir.file("old.csv", "old");
    write(&source, "id", &["2"], &dir.path("old.csv"), true).unwrap();
    assert_eq!(fs::read_to_string(dir.path("old.csv")).unwrap(), "id\n2\n");
}

#[test]
fn the_output_is_not_more_accessible_than_the_input() {
    let dir = Scratch::new();
    let path = dir.file("a.csv", "id\n1\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    write(&open(path).unwrap(), "id", &["1"], &dir.path("b.csv"), false).unwrap();
    let mode = fs::metadata(dir.path("b.csv")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn long_names_are_possible() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id\n1\n")).unwrap();
    let name = format!("{}.csv", "\u{e9}".repeat(125));
    write(&source, "id", &["1"], &dir.path(&name), false).unwrap();
    assert_eq!(fs::read_to_string(dir.path(&name)).unwrap(), "id\n1\n");
}

#[test]
fn an_input_that_changed_leaves_no_output() {
    let dir = Scratch::new();
    let path = dir.file("a.csv", "id,b\n1,x\n2,y\n");
    let first = open(&path).unwrap();
    let columns = [("id", "exact")];
    let set = keys(&first, &columns).unwrap();
    let (rows, wanted) = bits_of(&first, &columns, &set.items).unwrap();
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    // Same length and the same time of the last change: the time of the last change of the status
    // differs, so the digest tells.
    for text in ["id,b\n1,x\n3,y\n", "id,b\n2,y\n1,x\n", "id,b\n1,x\n,yyy\n"] {
        fs::write(&path, text).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        let options = OutputOptions { path: dir.path("out.csv"), force: false };
        let error = write_rows(&first, rows, &wanted, &options, &mut silent).unwrap_err();
        assert_eq!(error, InputError::Changed { path: path.clone() }.into());
        assert_eq!(dir.names(), ["a.csv"]);
    }
}

#[test]
fn errors_and_interruptions_leave_no_output() {
    let dir = Scratch::new();
    let text: String = (0..200_000).map(|i| format!("{i},\u{e9}\n")).collect();
    let path = dir.file("a.csv", format!("id,b\n{text}"));
    let source = open(&path).unwrap();
    let wanted = vec![u64::MAX; 200_000 / 64];
    for name in ["out.csv", "out.csv.gz", "out.csv.zst", "out.parquet"] {
        let options = OutputOptions { path: dir.path(name), force: false };
        let interrupt = &mut |_| ControlFlow::Break(());
        let error = write_rows(&source, 200_000, &wanted, &options, interrupt).unwrap_err();
        assert_eq!(error, InputError::Interrupted.into());
        assert_eq!(dir.names(), ["a.csv"], "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any cells survive CSV to TSV to Parquet to CSV.
    #[test]
    fn any_cells_survive_every_conversion(
        rows in prop::collection::vec(
            ("[a-c]{1,2}", "(?s)[^\0]{0,12}", "[,;\t\"\r\n x]{0,6}"), 1..20,
        )
    ) {
        let dir = Scratch::new();
        let mut text = String::from("id,b,c\n");
        for (id, b, c) in &rows {
            let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
            text.push_str(&format!("{},{},{}\n", quoted(id), quoted(b), quoted(c)));
        }
        dir.file("0.csv", text);
        let values: Vec<&str> = rows.iter().map(|(id, ..)| id.as_str()).collect();
        let names = ["0.csv", "1.tsv", "2.parquet", "3.tsv.gz", "4.csv"];
        for pair in names.windows(2) {
            let source = open(dir.path(pair[0])).unwrap();
            let written = write(&source, "id", &values, &dir.path(pair[1]), false).unwrap();
            prop_assert_eq!(written.rows, rows.len() as u64);
        }
        for (column, cells) in [
            ("b", rows.iter().map(|row| row.1.as_str()).collect::<Vec<_>>()),
            ("c", rows.iter().map(|row| row.2.as_str()).collect()),
        ] {
            let filled: Vec<&str> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
            let set = open_keys(dir.path("4.csv"), &[(column, "exact")]).unwrap();
            prop_assert_eq!(set.items, items(&filled));
        }
    }
}
