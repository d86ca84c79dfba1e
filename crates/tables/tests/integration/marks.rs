//! All rows with a mark.

use crate::common::{Scratch, keys, open, silent};
use arrow_array::{Array, BooleanArray, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use vesica_tables::{
    Added, AddedCell, AddedColumn, AddedType, OutputError, OutputOptions, ReadOptions, Source,
    WriteError, Written, check_added_output, write_with,
};

fn to(path: &Path) -> OutputOptions {
    OutputOptions { path: path.to_path_buf(), force: false }
}

/// Marks rows whose bits are set in `wanted`; returns the text of the file.
fn marked(dir: &Scratch, source: &Source, rows: u64, wanted: u64, name: &str) -> String {
    let options = to(&dir.path(name));
    check_added_output(source, &Added::mark("hit"), &options).unwrap();
    let written =
        write_with(source, rows, &[wanted], &Added::mark("hit"), &options, &mut silent).unwrap();
    assert_eq!(written, Written { rows, wanted: u64::from(wanted.count_ones()) });
    fs::read_to_string(dir.path(name)).unwrap()
}

/// The last column of a Parquet file, with its name.
fn last_column(path: &Path) -> (String, Vec<bool>) {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let mut values = Vec::new();
    let mut name = String::new();
    for batch in reader.build().unwrap() {
        let batch = batch.unwrap();
        let last = batch.num_columns() - 1;
        name = batch.schema().field(last).name().clone();
        let marks = batch.column(last).as_any().downcast_ref::<BooleanArray>().unwrap();
        assert_eq!(marks.null_count(), 0);
        values.extend(marks.values().iter());
    }
    (name, values)
}

#[test]
fn text_keeps_every_row_and_gets_a_column() {
    let dir = Scratch::new();
    for (number, (text, options, expected)) in [
        (
            "\u{feff}id;m\r\n1;a\r\n\r\n2;\"x;y\"",
            ReadOptions::default(),
            "\u{feff}id;m;hit\r\n1;a;0\r\n2;\"x;y\";1\r\n",
        ),
        ("id,m\n1,\"a\nb\"\n2,\n", ReadOptions::default(), "id,m,hit\n1,\"a\nb\",0\n2,,1\n"),
        ("1,a\n2,b\n", ReadOptions { header: false, ..ReadOptions::default() }, "1,a,0\n2,b,1\n"),
        // A delimiter after the last cell stays after the last cell.
        ("id,m\n1,a,\n2,b,\n", ReadOptions::default(), "id,m,hit\n1,a,0,\n2,b,1,\n"),
    ]
    .into_iter()
    .enumerate()
    {
        let path = dir.file(&format!("{number}.csv"), text);
        let source = Source::open(path, &options).unwrap();
        assert_eq!(marked(&dir, &source, 2, 0b10, &format!("{number}.out.csv")), expected);
    }
    let source = open(dir.file("a.csv", "id,m\n1,a\n2,b\n")).unwrap();
    assert_eq!(marked(&dir, &source, 2, 0b01, "a.tsv"), "id\tm\thit\n1\ta\t1\n2\tb\t0\n");
}

#[test]
fn the_result_with_a_mark_reads_back() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id,m\n1,a,\n2,b,\n")).unwrap();
    marked(&dir, &source, 2, 0b10, "out.csv");
    let again = open(dir.path("out.csv")).unwrap();
    assert_eq!(again.columns(), ["id", "m", "hit"]);
    let set = keys(&again, &[("hit", "exact")]).unwrap();
    assert_eq!((set.counts.rows, set.counts.distinct), (2, 2));
}

#[test]
fn a_folder_gets_the_mark_after_the_columns_of_its_names() {
    let dir = Scratch::new();
    for (country, row) in [("DE", "1,a,\n"), ("FR", "2,b,\n")] {
        fs::create_dir_all(dir.path(&format!("t/country={country}"))).unwrap();
        fs::write(dir.path(&format!("t/country={country}/a.csv")), format!("id,m\n{row}")).unwrap();
    }
    let source = open(dir.path("t")).unwrap();
    let expected = "id,m,country,hit\n1,a,DE,1,\n2,b,FR,0,\n";
    assert_eq!(marked(&dir, &source, 2, 0b01, "out.csv"), expected);
    write_with(&source, 2, &[2], &Added::mark("hit"), &to(&dir.path("out.parquet")), &mut silent)
        .unwrap();
    assert_eq!(last_column(&dir.path("out.parquet")), ("hit".into(), vec![false, true]));
}

#[test]
fn parquet_gets_truth_values() {
    let dir = Scratch::new();
    let rows = 10_000_u64;
    let ids = Int64Array::from_iter_values(0..rows as i64);
    let names = StringArray::from_iter_values((0..rows).map(|row| format!("n{row}")));
    let batch = RecordBatch::try_from_iter([
        ("id", Arc::new(ids) as Arc<dyn Array>),
        ("name", Arc::new(names)),
    ])
    .unwrap();
    // Several row groups, none of whose ends is a multiple of 64, and one of which nothing is
    // wanted.
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(3333)).build();
    let file = File::create(dir.path("a.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let is_wanted = |row: u64| row.is_multiple_of(3) && !(3333..6666).contains(&row);
    let mut wanted = vec![0; rows.div_ceil(64) as usize];
    (0..rows).for_each(|row| wanted[row as usize / 64] |= u64::from(is_wanted(row)) << (row % 64));

    let source = open(dir.path("a.parquet")).unwrap();
    let expected: Vec<bool> = (0..rows).map(is_wanted).collect();
    let out = dir.path("out.parquet");
    let written =
        write_with(&source, rows, &wanted, &Added::mark("hit"), &to(&out), &mut silent).unwrap();
    assert_eq!(written.rows, rows);
    assert_eq!(last_column(&out), ("hit".into(), expected.clone()));
    let text = dir.path("out.csv");
    write_with(&source, rows, &wanted, &Added::mark("hit"), &to(&text), &mut silent).unwrap();
    let text = fs::read_to_string(text).unwrap();
    assert!(text.starts_with("id,name,hit\n0,n0,1\n1,n1,0\n"));
    let marks: Vec<bool> = text.lines().skip(1).map(|line| line.ends_with(",1")).collect();
    assert!(marks == expected);
    // Out of text, Parquet has truth values too.
    let source = open(dir.path("out.csv")).unwrap();
    let again = dir.path("again.parquet");
    write_with(&source, rows, &wanted, &Added::mark("again"), &to(&again), &mut silent).unwrap();
    assert_eq!(last_column(&again), ("again".into(), expected));
}

/// A Parquet file of the numbers in `ids`, with row groups of more rows than are read at a time.
fn numbers(path: &Path, ids: std::ops::Range<i64>) {
    let ids = Int64Array::from_iter_values(ids);
    let batch = RecordBatch::try_from_iter([("id", Arc::new(ids) as Arc<dyn Array>)]).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(5000)).build();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties))
            .unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn texts_are_a_column_before_the_mark() {
    const ROWS: u64 = 16_000;
    let dir = Scratch::new();
    numbers(&dir.path("a.parquet"), 0..ROWS as i64);
    let lines = |ids: std::ops::Range<u64>| ids.map(|id| format!("{id}\n")).collect::<String>();
    dir.file("a.csv", "id\n".to_owned() + &lines(0..ROWS));
    for part in 0..2 {
        let ids = part * ROWS / 2..(part + 1) * ROWS / 2;
        for (folder, ending) in [("text", "csv"), ("columns", "parquet")] {
            fs::create_dir_all(dir.path(&format!("{folder}/part={part}"))).unwrap();
            let path = dir.path(&format!("{folder}/part={part}/a.{ending}"));
            match ending {
                "csv" => fs::write(path, "id\n".to_owned() + &lines(ids.clone())).unwrap(),
                _ => numbers(&path, ids.start as i64..ids.end as i64),
            }
        }
    }
    // No row of the second group, which ends within a word of the bitmap.
    let is_wanted = |row: &u64| row.is_multiple_of(7) && !(5000..10_000).contains(row);
    let mut wanted = vec![0; ROWS.div_ceil(64) as usize];
    (0..ROWS).filter(is_wanted).for_each(|row| wanted[row as usize / 64] |= 1 << (row % 64));
    let column = |name: &str, holds, of: fn(u64) -> AddedCell| AddedColumn {
        name: name.to_owned(),
        holds,
        of: Box::new(of),
    };
    let columns = || {
        vec![
            column("why", AddedType::Text, |row| AddedCell::Text(format!("row, {row}"))),
            column("no", AddedType::Integer, |row| match row % 3 {
                0 => AddedCell::Empty,
                _ => AddedCell::Integer(-(row as i64)),
            }),
            column("on", AddedType::Date, |row| AddedCell::Days(row as i32 - 1)),
        ]
    };
    for (input, is_folder) in
        [("a.csv", false), ("a.parquet", false), ("text", true), ("columns", true)]
    {
        let source = open(dir.path(input)).unwrap();
        for mark in [None, Some("hit")] {
            let added = Added { columns: columns(), mark, owners_alone: false };
            let named = if is_folder { ",part" } else { "" };
            let of_row = |row: u64| {
                let part = if is_folder { format!(",{}", row / (ROWS / 2)) } else { String::new() };
                let bit = if is_wanted(&row) { ",1" } else { ",0" };
                let bit = mark.map_or("", |_| bit);
                let of_row: Vec<String> = added
                    .columns
                    .iter()
                    .skip(1)
                    .map(|column| (column.of)(row).to_string())
                    .collect();
                format!("{row}{part},\"row, {row}\",{}{bit}\n", of_row.join(","))
            };
            let head = format!("id{named},why,no,on{}\n", mark.map_or("", |_| ",hit"));
            let rows = (0..ROWS).filter(|row| mark.is_some() || is_wanted(row));
            let expected = head + &rows.map(of_row).collect::<String>();

            let name = format!("{input}.{}", mark.is_some());
            let to_text = to(&dir.path(&format!("{name}.csv")));
            let written =
                write_with(&source, ROWS, &wanted, &added, &to_text, &mut silent).unwrap();
            assert_eq!(written.rows, expected.lines().count() as u64 - 1, "{name}");
            assert!(fs::read_to_string(&to_text.path).unwrap() == expected, "{name}");
            // The same out of Parquet.
            let parquet = to(&dir.path(&format!("{name}.parquet")));
            write_with(&source, ROWS, &wanted, &added, &parquet, &mut silent).unwrap();
            let again = open(&parquet.path).unwrap();
            let all = vec![u64::MAX; written.rows.div_ceil(64) as usize];
            let text = to(&dir.path(&format!("{name}.again.csv")));
            write_with(&again, written.rows, &all, &Added::default(), &text, &mut silent).unwrap();
            let text = fs::read_to_string(&text.path).unwrap();
            let text = text.replace(",true\n", ",1\n").replace(",false\n", ",0\n");
            assert!(text == expected, "{name}");
        }
    }
}

#[test]
fn a_mark_never_takes_the_name_of_a_column() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id,hit\n1,a\n")).unwrap();
    let taken =
        WriteError::Output(OutputError::ColumnTaken { column: "hit".into(), is_mark: true });
    let options = to(&dir.path("out.csv"));
    assert_eq!(check_added_output(&source, &Added::mark("hit"), &options), Err(taken.clone()));
    assert_eq!(
        write_with(&source, 1, &[1], &Added::mark("hit"), &options, &mut silent),
        Err(taken)
    );
    let why = AddedColumn {
        name: "why".to_owned(),
        holds: AddedType::Text,
        of: Box::new(|_| AddedCell::Empty),
    };
    let twice = Added { columns: vec![why], ..Added::mark("why") };
    let taken =
        WriteError::Output(OutputError::ColumnTaken { column: "why".into(), is_mark: true });
    assert_eq!(check_added_output(&source, &twice, &options), Err(taken));
    assert!(!dir.path("out.csv").exists());
}
