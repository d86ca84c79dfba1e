//! A folder of files is one input: the same rows in one file and in many give the same result.

use crate::common::{Scratch, bits_of, every_item, items, keys, open, open_keys, silent, write};
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use vesica_tables::{
    Format, InputError, OutputError, OutputOptions, ReadOptions, Source, StrayKind, Unlike,
    WriteError, check_output,
};

const ROWS: usize = 1000;

/// Cell `row` of the key, with repetitions, empty cells and more than one width.
fn mail(row: usize) -> Option<String> {
    (row % 11 != 3).then(|| format!("user{}@example.org", row % 700))
}

fn table(rows: std::ops::Range<usize>) -> RecordBatch {
    let mails: StringArray = rows.clone().map(mail).collect();
    let numbers = Int64Array::from_iter_values(rows.map(|row| row as i64));
    RecordBatch::try_from_iter([
        ("mail", Arc::new(mails) as ArrayRef),
        ("n", Arc::new(numbers) as ArrayRef),
    ])
    .unwrap()
}

fn write_parquet(path: &Path, batch: &RecordBatch) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

fn write_text(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read_parquet(path: &Path) -> Vec<RecordBatch> {
    ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap())
        .unwrap()
        .build()
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn csv(rows: std::ops::Range<usize>) -> String {
    rows.map(|row| format!("{},{row}\n", mail(row).unwrap_or_default())).collect()
}

/// The ranges of the parts, one of them without rows.
fn split() -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
    [0..1, 1..1, 1..300, 300..301, 301..ROWS].into_iter().enumerate()
}

const WANTED: &[&str] = &["user0@example.org", "user299@example.org", "user1@example.org"];

#[test]
fn parts_of_parquet_give_the_result_of_one_file() {
    let dir = Scratch::new();
    write_parquet(&dir.path("one.parquet"), &table(0..ROWS));
    for (number, rows) in split() {
        write_parquet(&dir.path(&format!("many.parquet/part-{number}.parquet")), &table(rows));
    }
    fs::write(dir.path("many.parquet/_SUCCESS"), "").unwrap();
    fs::write(dir.path("many.parquet/.part-0.parquet.crc"), "crc").unwrap();
    let [one, many] = ["one.parquet", "many.parquet"].map(|name| open(dir.path(name)).unwrap());
    assert_eq!((many.rows(), many.parts(), many.format()), (one.rows(), Some(5), Format::Parquet));
    assert_eq!((one.parts(), one.columns()), (None, many.columns()));
    let sum: u64 = (0..5)
        .map(|at| fs::metadata(dir.path(&format!("many.parquet/part-{at}.parquet"))).unwrap().len())
        .sum();
    assert_eq!(many.len_bytes(), sum);
    let key = [("mail", "exact")];
    assert_eq!(every_item(&one, &key).unwrap(), every_item(&many, &key).unwrap());
    assert_eq!(keys(&one, &key).unwrap().counts, keys(&many, &key).unwrap().counts);
    for name in ["out.parquet", "out.csv", "out.tsv.gz"] {
        let [from_one, from_many] = [("1-", &one), ("2-", &many)].map(|(prefix, source)| {
            let out = dir.path(&format!("{prefix}{name}"));
            assert_eq!(write(source, "mail", WANTED, &out, false).unwrap().rows, 6);
            out
        });
        if name == "out.parquet" {
            assert_eq!(read_parquet(&from_one), read_parquet(&from_many));
        } else {
            assert_eq!(fs::read(from_one).unwrap(), fs::read(from_many).unwrap(), "{name}");
        }
    }
}

#[test]
fn parts_of_csv_give_the_result_of_one_file() {
    let dir = Scratch::new();
    let header = "mail,n\n";
    dir.file("one.csv", format!("{header}{}", csv(0..ROWS)));
    fs::create_dir(dir.path("many")).unwrap();
    for (number, rows) in split() {
        let (end, text) = (["", ".gz", ".zst"][number % 3], csv(rows));
        // The last line of a file may have no end, and a file a byte order mark.
        let text = if number == 2 { text.trim_end().to_owned() } else { text };
        let mark = if number == 3 { "\u{feff}" } else { "" };
        dir.file(&format!("many/part-{number}.csv{end}"), format!("{mark}{header}{text}"));
    }
    fs::write(dir.path("many/empty.csv"), "").unwrap();
    let [one, many] = ["one.csv", "many"].map(|name| open(dir.path(name)).unwrap());
    assert_eq!((many.rows(), many.delimiter()), (None, Some(b',')));
    let key = [("mail", "email")];
    assert_eq!(every_item(&one, &key).unwrap(), every_item(&many, &key).unwrap());
    for name in ["out.csv", "out.tsv", "out.parquet"] {
        let [from_one, from_many] = [("1-", &one), ("2-", &many)].map(|(prefix, source)| {
            let out = dir.path(&format!("{prefix}{name}"));
            write(source, "mail", WANTED, &out, false).unwrap();
            out
        });
        assert_eq!(fs::read(from_one).unwrap(), fs::read(from_many).unwrap(), "{name}");
    }
}

#[test]
fn names_of_folders_give_columns_that_are_keys_and_written() {
    let dir = Scratch::new();
    let folders =
        ["country=DE/day=2", "country=__HIVE_DEFAULT_PARTITION__/day=1", "country=a%2Fb/day="];
    for (at, folder) in folders.iter().enumerate() {
        write_parquet(&dir.path(&format!("t.parquet/{folder}/p.parquet")), &table(at..at + 1));
        let text = format!("mail,n\r\n{}", csv(at..at + 1));
        write_text(&dir.path(&format!("t.csv/{folder}/p.csv")), &text);
    }
    // By bytes: `D` < `_` < `a`.
    for name in ["t.parquet", "t.csv"] {
        let source = open(dir.path(name)).unwrap();
        assert_eq!(source.columns(), ["mail", "n", "country", "day"]);
        let every = every_item(&source, &[("country", "exact")]).unwrap();
        assert_eq!(every[0], items(&["DE"])[0]);
        assert!(every[1].is_empty());
        assert_eq!(every[2], items(&["a/b"])[0]);
        let both = every_item(&source, &[("mail", "exact"), ("country", "exact")]).unwrap();
        let swapped = every_item(&source, &[("country", "exact"), ("mail", "exact")]).unwrap();
        assert!(both[0] != swapped[0] && both[0] != every[0]);
        write(&source, "country", &["DE", "a/b"], &dir.path(&format!("{name}.csv")), false)
            .unwrap();
        write(&source, "n", &["0", "1", "2"], &dir.path(&format!("{name}.parquet")), false)
            .unwrap();
    }
    let rows = |end: &str| {
        let rows =
            ["mail,n,country,day", "user0@example.org,0,DE,2", "user2@example.org,2,a/b,", ""];
        rows.join(end)
    };
    assert_eq!(fs::read_to_string(dir.path("t.parquet.csv")).unwrap(), rows("\n"));
    let text = fs::read_to_string(dir.path("t.csv.csv")).unwrap();
    assert_eq!(text.lines().collect::<Vec<_>>(), rows("\n").lines().collect::<Vec<_>>());
    for (name, empty) in [("t.parquet", None), ("t.csv", Some(""))] {
        let [batch] = &read_parquet(&dir.path(&format!("{name}.parquet")))[..] else { panic!() };
        let country: &StringArray = batch.column(2).as_any().downcast_ref().unwrap();
        let country: Vec<_> = country.iter().collect();
        assert_eq!(country, [Some("DE"), empty, Some("a/b")], "{name}");
    }
}

#[test]
fn a_cell_from_a_name_is_quoted_in_the_result() {
    let dir = Scratch::new();
    write_text(&dir.path("t/a;b=x%3By%22/p.csv"), "k;n\n1;2\n");
    let source = open(dir.path("t")).unwrap();
    write(&source, "k", &["1"], &dir.path("out.csv"), false).unwrap();
    let text = fs::read_to_string(dir.path("out.csv")).unwrap();
    assert_eq!(text, "k;n;\"a;b\"\n1;2;\"x;y\"\"\"\n");
    assert_eq!(
        open_keys(dir.path("out.csv"), &[("a;b", "exact")]).unwrap().items,
        items(&["x;y\""])
    );
}

#[test]
fn parts_without_a_header_have_numbered_columns_and_those_of_names() {
    let dir = Scratch::new();
    write_text(&dir.path("t/c=x/000000_0"), "b,1\na,2\n");
    write_text(&dir.path("t/c=y/000000_0"), "a,3\n");
    let options = ReadOptions { header: false, format: Some(Format::Csv), ..Default::default() };
    let source = Source::open(dir.path("t"), &options).unwrap();
    assert_eq!(source.columns(), ["1", "2", "c"]);
    write(&source, "1", &["a"], &dir.path("out.csv"), false).unwrap();
    assert_eq!(fs::read_to_string(dir.path("out.csv")).unwrap(), "a,2,x\na,3,y\n");
}

/// The error of opening a folder with these files.
fn refused(dir: &Scratch, name: &str, files: &[(&str, &str)]) -> InputError {
    fs::create_dir(dir.path(name)).unwrap();
    files.iter().for_each(|(file, text)| write_text(&dir.path(name).join(file), text));
    open(dir.path(name)).unwrap_err()
}

#[test]
fn folders_that_are_no_table_are_refused_by_name() {
    let dir = Scratch::new();
    for (number, (files, stray, kind)) in [
        (&[("a.csv", "k\n1\n"), ("notes.md", "x")][..], "notes.md", StrayKind::OtherFile),
        (&[("a.csv", "k\n1\n"), ("old/b.csv", "k\n1\n")], "old", StrayKind::Folder),
        (&[("a=%ff/a.csv", "k\n1\n")], "a=%ff", StrayKind::BadName),
        (&[("=a/a.csv", "k\n1\n")], "=a", StrayKind::Folder),
        (&[("a.csv", "k\n1\n"), ("_delta_log/0.json", "{}")], "_delta_log", StrayKind::TableLog),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("stray{number}");
        let (folder, path) = (dir.path(&name), dir.path(&name).join(stray));
        assert_eq!(refused(&dir, &name, files), InputError::StrayEntry { folder, path, kind });
    }
    for (number, files) in
        [&[][..], &[("_SUCCESS", ""), (".a.csv", "k\n1\n"), ("b.csv", "")]].into_iter().enumerate()
    {
        let name = format!("none{number}");
        let path = dir.path(&name);
        assert_eq!(refused(&dir, &name, files), InputError::NoParts { path });
    }
}

#[test]
fn parts_that_do_not_fit_together_are_refused_with_both_names() {
    let dir = Scratch::new();
    for (number, (files, unlike)) in [
        ([("a.csv", "k\n1\n"), ("b.tsv", "k\n1\n")], Unlike::Formats),
        ([("a.csv", "k,n\n1,2\n"), ("b.csv", "n,k\n2,1\n")], Unlike::Columns),
        ([("a.csv", "k\n1\n"), ("b.csv", "k,n\n1,2\n")], Unlike::Columns),
        ([("a=1/a.csv", "k\n1\n"), ("b=1/b.csv", "k\n1\n")], Unlike::Folders),
        ([("a=1/a.csv", "k\n1\n"), ("b.csv", "k\n1\n")], Unlike::Folders),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("unlike{number}");
        let [first, second] = [0, 1].map(|at| dir.path(&name).join(files[at].0));
        assert_eq!(refused(&dir, &name, &files), InputError::UnlikeParts { first, second, unlike });
    }
    let path = dir.path("twice/k=1/a.csv");
    let column = "k".to_owned();
    let error = refused(&dir, "twice", &[("k=1/a.csv", "k\n1\n")]);
    assert_eq!(error, InputError::ColumnOfFolders { path, column });
}

#[test]
fn parts_with_other_types_are_refused_and_empty_cells_are_not() {
    let dir = Scratch::new();
    let one = |name: &str, array: ArrayRef, nullable| {
        let field = Field::new("n", array.data_type().clone(), nullable);
        let schema = Arc::new(Schema::new(vec![field]));
        write_parquet(&dir.path(name), &RecordBatch::try_new(schema, vec![array]).unwrap());
    };
    one("t/a.parquet", Arc::new(Int64Array::from(vec![1])), false);
    one("t/b.parquet", Arc::new(Int64Array::from(vec![None, Some(1)])), true);
    let source = open(dir.path("t")).unwrap();
    write(&source, "n", &["1"], &dir.path("out.parquet"), false).unwrap();
    let rows: usize =
        read_parquet(&dir.path("out.parquet")).iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows, 2);
    one("t/c.parquet", Arc::new(Int32Array::from(vec![1])), false);
    let [first, second] = ["t/a.parquet", "t/c.parquet"].map(|name| dir.path(name));
    let types = [DataType::Int64, DataType::Int32].map(|data_type| data_type.to_string());
    let unlike = Unlike::Types { column: "n".to_owned(), types };
    assert_eq!(open(dir.path("t")).unwrap_err(), InputError::UnlikeParts { first, second, unlike });
}

#[test]
fn links_to_folders_are_refused_and_links_to_files_are_read() {
    let dir = Scratch::new();
    write_text(&dir.path("t/a.csv"), "k\n1\n");
    dir.file("b.csv", "k\n2\n");
    symlink(dir.path("b.csv"), dir.path("t/b.csv")).unwrap();
    assert_eq!(open_keys(dir.path("t"), &[("k", "exact")]).unwrap().counts.rows, 2);
    symlink(dir.path("t"), dir.path("t/loop=1")).unwrap();
    let (folder, path) = (dir.path("t"), dir.path("t/loop=1"));
    let kind = StrayKind::LinkToFolder;
    assert_eq!(open(dir.path("t")).unwrap_err(), InputError::StrayEntry { folder, path, kind });
    fs::remove_file(dir.path("t/loop=1")).unwrap();
    symlink(dir.path("nowhere"), dir.path("t/c.csv")).unwrap();
    let path = dir.path("t/c.csv");
    assert_eq!(open(dir.path("t")).unwrap_err(), InputError::Missing { path });
}

#[test]
fn a_folder_that_changes_between_the_passes_is_noticed() {
    type Change = fn(&Scratch);
    let changes: [(&str, Change); 5] = [
        ("t/b.csv", |dir| fs::write(dir.path("t/b.csv"), "k\n3\n").unwrap()),
        ("t", |dir| fs::write(dir.path("t/c.csv"), "k\n1\n").unwrap()),
        ("t", |dir| fs::rename(dir.path("t/a.csv"), dir.path("t/aa.csv")).unwrap()),
        ("t/a.csv", |dir| fs::remove_file(dir.path("t/a.csv")).unwrap()),
        ("t/b.csv", |dir| fs::write(dir.path("t/b.csv"), "").unwrap()),
    ];
    for (number, (changed, change)) in changes.into_iter().enumerate() {
        let dir = Scratch::new();
        write_text(&dir.path("t/a.csv"), "k\n1\n");
        write_text(&dir.path("t/b.csv"), "k\n2\n");
        let source = open(dir.path("t")).unwrap();
        let (rows, wanted) = bits_of(&source, &[("k", "exact")], &items(&["1"])).unwrap();
        change(&dir);
        let options = OutputOptions { path: dir.path("out.csv"), force: false };
        let written = vesica_tables::write_rows(&source, rows, &wanted, &options, &mut silent);
        let Err(WriteError::Input(InputError::Changed { path })) = written else {
            panic!("{number}: {written:?}")
        };
        let is_renamed = number == 2 && path == dir.path("t/a.csv");
        assert!(path == dir.path(changed) || is_renamed, "{number}: {}", path.display());
        assert!(!dir.path("out.csv").exists());
    }
}

#[test]
fn the_result_is_never_within_the_folder() {
    let dir = Scratch::new();
    write_text(&dir.path("t/a.csv"), "k\n1\n");
    write_text(&dir.path("other/a.csv"), "k\n1\n");
    let source = open(dir.path("t")).unwrap();
    let check =
        |name: &str, force| check_output(&source, &OutputOptions { path: dir.path(name), force });
    let path = dir.path("t/out.csv");
    assert_eq!(check("t/out.csv", false), Err(OutputError::WithinInput { path }.into()));
    let path = dir.path("other/../t/out.csv");
    assert_eq!(check("other/../t/out.csv", true), Err(OutputError::WithinInput { path }.into()));
    let path = dir.path("t/a.csv");
    assert_eq!(check("t/a.csv", true), Err(OutputError::SameAsInput { path }.into()));
    assert_eq!(check("other/out.csv", false), Ok(()));
}

#[test]
fn the_result_is_readable_by_no_more_users_than_every_part() {
    let dir = Scratch::new();
    for (name, mode) in [("t/a.csv", 0o666), ("t/b.csv", 0o640)] {
        write_text(&dir.path(name), "k\n1\n");
        fs::set_permissions(dir.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    for (folder, expected) in [(0o755, 0o640), (0o700, 0o600)] {
        fs::set_permissions(dir.path("t"), fs::Permissions::from_mode(folder)).unwrap();
        write(&open(dir.path("t")).unwrap(), "k", &["1"], &dir.path("out.csv"), true).unwrap();
        let mode = fs::metadata(dir.path("out.csv")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, expected);
    }
}

#[test]
fn many_parts_are_read_with_few_open_files() {
    let dir = Scratch::new();
    fs::create_dir(dir.path("t")).unwrap();
    // More than a process may usually have open.
    let parts = 3000;
    (0..parts).for_each(|at| {
        fs::write(dir.path(&format!("t/{at:04}.csv")), format!("k\n{at}\n")).unwrap()
    });
    let source = open(dir.path("t")).unwrap();
    let every = every_item(&source, &[("k", "exact")]).unwrap();
    assert_eq!(every.len(), parts);
    assert_eq!([&every[7], &every[2999]], [&items(&["7"])[0], &items(&["2999"])[0]]);
}
