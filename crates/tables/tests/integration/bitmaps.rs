//! The rows of a bitmap.

use crate::common::{Scratch, bits, keys, open, silent, write_bits};
use std::fs;
use std::ops::ControlFlow;
use vesica_tables::{InputError, OutputError, OutputOptions, write_rows};

#[test]
fn wanted_rows_are_copied_byte_for_byte() {
    let dir = Scratch::new();
    let text = "\u{feff}id;b\r\n3; x \r\n2;\"y\"\n;\r\n\n\"1\";\"z\nz\"\r\n9;w";
    let source = open(dir.file("a.csv", text)).unwrap();
    for (wanted, expected) in [
        (0b00000, "\u{feff}id;b\r\n"),
        (0b00101, "\u{feff}id;b\r\n3; x \r\n;\r\n"),
        (0b11010, "\u{feff}id;b\r\n2;\"y\"\n\"1\";\"z\nz\"\r\n9;w\r\n"),
        // Bits beyond the last row are ignored.
        (0b1100000, "\u{feff}id;b\r\n"),
    ] {
        let written = write_bits(&source, 5, &[wanted], &dir.path("b.csv")).unwrap();
        assert_eq!(fs::read_to_string(dir.path("b.csv")).unwrap(), expected);
        assert_eq!(written.rows, u64::from((wanted & 0b11111).count_ones()));
    }
}

#[test]
fn a_file_that_changed_leaves_no_output() {
    let dir = Scratch::new();
    let path = dir.file("a.csv", "id,b\n1,x\n2,y\n");
    let changed = InputError::Changed { path: path.clone() };
    let source = open(&path).unwrap();
    let options = OutputOptions { path: dir.path("out.csv"), force: false };
    // Another number of rows than an earlier pass saw, also without a bit left for them.
    for rows in [0, 1, 3, 64] {
        let wanted = bits(rows, |_| true);
        let error = write_rows(&source, rows, &wanted, &options, &mut silent).unwrap_err();
        assert_eq!(error, changed.clone().into());
    }
    fs::write(&path, "id,b\n1,x\n2,yy\n").unwrap();
    let error = write_rows(&source, 2, &[3], &options, &mut silent).unwrap_err();
    assert_eq!(error, changed.clone().into());
    assert_eq!(keys(&source, &[("id", "exact")]).unwrap_err(), changed);
    assert_eq!(dir.names(), ["a.csv"]);
    // During the read.
    let source = open(dir.file("b.csv", format!("id,b\n{}", "1,x\n".repeat(400_000)))).unwrap();
    let mut spoil = |_| {
        fs::write(dir.path("b.csv"), "id,b\n").unwrap();
        ControlFlow::Continue(())
    };
    let wanted = bits(400_000, |row| row < 10);
    assert!(write_rows(&source, 400_000, &wanted, &options, &mut spoil).is_err());
    assert_eq!(dir.names(), ["a.csv", "b.csv"]);
}

#[test]
fn a_table_of_another_number_of_rows_is_a_changed_file() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id\n1\n2\n3\n")).unwrap();
    write_bits(&source, 3, &[7], &dir.path("a.parquet")).unwrap();
    let source = open(dir.path("a.parquet")).unwrap();
    for rows in [2, 4] {
        let error = write_bits(&source, rows, &[3], &dir.path("b.csv")).unwrap_err();
        assert_eq!(error, InputError::Changed { path: dir.path("a.parquet") }.into());
    }
}

#[test]
fn targets_are_checked_like_those_of_matches() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id\n1\n")).unwrap();
    let options = OutputOptions { path: dir.path("a.csv"), force: true };
    let error = write_rows(&source, 1, &[1], &options, &mut silent).unwrap_err();
    assert_eq!(error, OutputError::SameAsInput { path: dir.path("a.csv") }.into());
}

#[test]
#[should_panic(expected = "a bit for each row")]
fn a_bitmap_of_another_length_is_a_defect() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id\n1\n")).unwrap();
    let _ = write_bits(&source, 65, &[1], &dir.path("b.csv"));
}
