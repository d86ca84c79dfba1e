//! What stands above the header of a text file and at the ends of its rows, and quotes that CSV
//! does not know.

use crate::common::{Scratch, items, keys, open, open_keys, write};
use std::fs;
use std::path::Path;
use vesica_tables::{
    Codec, FileKind, Format, InputError, Place, ReadOptions, Source, Stray, Workbook,
};

const KEY: &[(&str, &str)] = &[("id", "exact")];

fn skipping(skip_rows: u64, comment: Option<u8>) -> ReadOptions {
    ReadOptions { skip_rows, comment, ..ReadOptions::default() }
}

/// The result of the row with the key 1.
fn result(source: &Source, dir: &Scratch, name: &str) -> String {
    write(source, "id", &["1"], &dir.path(name), true).unwrap();
    fs::read_to_string(dir.path(name)).unwrap()
}

#[test]
fn lines_above_the_header_are_skipped_and_not_written() {
    let dir = Scratch::new();
    let title = "Customer report,\nCreated \"2026\n\n";
    let rows = "id,b\n1,x\n2,y\n";
    for (name, top, options) in [
        ("a.csv", title, skipping(3, None)),
        ("b.csv", "\u{feff}one line, of three cells, or so\r\n", skipping(1, None)),
        ("c.csv", "# export;1\n#\n\n# of two\n", skipping(0, Some(b'#'))),
        ("d.csv", "a title\n% a comment\n", skipping(1, Some(b'%'))),
        ("e.csv.gz", title, skipping(3, None)),
    ] {
        let path = dir.file(name, format!("{top}{rows}"));
        let source = Source::open(path, &options).unwrap();
        assert_eq!(source.columns(), ["id", "b"], "{name}");
        assert_eq!(keys(&source, KEY).unwrap().items, items(&["1", "2"]), "{name}");
        let bom = if top.starts_with('\u{feff}') { "\u{feff}" } else { "" };
        assert_eq!(result(&source, &dir, "out.csv"), format!("{bom}id,b\n1,x\n"), "{name}");
    }
}

#[test]
fn comments_after_the_header_are_rows() {
    let dir = Scratch::new();
    let path = dir.file("a.csv", "#x\nid,b\n#1,x\n");
    let source = Source::open(&path, &skipping(0, Some(b'#'))).unwrap();
    assert_eq!(keys(&source, KEY).unwrap().items, items(&["#1"]));
    let no_header = ReadOptions { header: false, ..skipping(1, None) };
    let source = Source::open(&path, &no_header).unwrap();
    assert_eq!(keys(&source, &[("1", "exact")]).unwrap().items, items(&["id", "#1"]));
}

#[test]
fn places_count_the_lines_that_were_skipped() {
    let dir = Scratch::new();
    let path = dir.file("a.csv", "t\nu\n#\nid,b\n1,x\n2\n");
    let source = Source::open(path, &skipping(2, Some(b'#'))).unwrap();
    let error = keys(&source, KEY).unwrap_err();
    assert_eq!(error.place(), Some(Place::Line(6)), "{error}");
}

#[test]
fn impossible_skips_are_refused() {
    let dir = Scratch::new();
    let path = dir.file("a.csv", "id\n1\n");
    let error = Source::open(&path, &skipping(3, None)).unwrap_err();
    assert_eq!(error, InputError::AllSkipped { path: path.clone(), lines: 2 });
    let error = Source::open(&path, &skipping(2, None)).unwrap_err();
    assert_eq!(error, InputError::Empty { path: path.clone() });
    for comment in [b'"', b'\n', b'\r', 0, 0xe9, b';'] {
        let options = ReadOptions { delimiter: Some(b';'), ..skipping(0, Some(comment)) };
        let error = Source::open(&path, &options).unwrap_err();
        assert_eq!(error, InputError::BadComment { comment });
    }
}

#[test]
fn the_line_that_has_the_column_is_named() {
    let dir = Scratch::new();
    for (text, line) in [
        ("Customer report,\nCreated 2026-11-27,\n\nno,id\n1,2\n", Some(4)),
        ("# export\r\n\r\nno;\"id\" \r\n1;2\r\n", None),
        ("# export\r\n\r\nno;\"id\"\r\n1;2\r\n", Some(3)),
        ("a,b\rno,id\r", Some(2)),
        ("a,b\n1,2\n", None),
        (&format!("a,b\n{}no,id\n", "1,2\n".repeat(19)), None),
        (&format!("a,b\n{}no,id\n", "1,2\n".repeat(18)), Some(20)),
    ] {
        let error = open_keys(dir.file("a.csv", text), KEY).unwrap_err();
        let InputError::ColumnMissing { columns, .. } = error else { panic!("{error:?}") };
        assert_eq!(columns.line, line, "{text:?}");
    }
}

#[test]
fn a_line_with_the_delimiter_is_skipped_and_obeyed() {
    let dir = Scratch::new();
    for (top, delimiter) in [
        ("sep=;\n", ';'),
        ("\u{feff}sep=;\r\n", ';'),
        ("\"sep=,\"\n", ','),
        ("sep=\t\n", '\t'),
        ("SEP=^\n", '^'),
    ] {
        let d = delimiter;
        for name in ["a.csv", "a.csv.zst"] {
            let path = dir.file(name, format!("{top}id{d}b{d}c\n1{d}2,3{d}\n4{d}5{d}x\n"));
            if d == ',' {
                fs::write(dir.path("a.csv"), format!("{top}id,b,c\n1,2,\n4,5,x\n")).unwrap();
            }
            if (d, name) == (',', "a.csv.zst") {
                continue;
            }
            let source = open(&path).unwrap();
            assert_eq!(source.delimiter(), Some(d as u8), "{top:?}");
            assert_eq!(source.columns(), ["id", "b", "c"], "{top:?}");
            assert_eq!(keys(&source, KEY).unwrap().items, items(&["1", "4"]), "{top:?}");
            // It is written again, so that what reads the input reads the result.
            let written = result(&source, &dir, "out.csv");
            assert!(written.starts_with(&format!("{top}id{d}b{d}c\n1{d}")), "{written:?}");
            let read = open(dir.path("out.csv")).unwrap();
            assert_eq!(keys(&read, KEY).unwrap().items, items(&["1"]));
        }
    }
}

#[test]
fn a_given_delimiter_wins_over_that_of_the_file() {
    let dir = Scratch::new();
    let path = dir.file("a.csv", "sep=;\nid,b\n1,x\n");
    let options = ReadOptions { delimiter: Some(b','), ..ReadOptions::default() };
    let source = Source::open(&path, &options).unwrap();
    assert_eq!(source.columns(), ["id", "b"]);
    // The line would be wrong.
    assert_eq!(result(&source, &dir, "out.csv"), "id,b\n1,x\n");
    let options = skipping(2, None);
    let path = dir.file("b.csv", "sep=|\na title\nid|b\n1|x\n");
    assert_eq!(Source::open(path, &options).unwrap().columns(), ["id", "b"]);
}

#[test]
fn a_delimiter_at_the_end_of_every_row_is_no_column() {
    let dir = Scratch::new();
    for (text, written) in [
        ("id,b\n1,x,\n2,y,\n", "id,b\n1,x,\n"),
        ("id;b\n1;x;\n2;1,5;", "id;b\n1;x;\n"),
        ("id,b,\n1,x,\n2,y,\n", "id,b,\n1,x,\n"),
        ("id;\n1;\n2;\n", "id;\n1;\n"),
        ("id\n1;\n2;\n", "id\n1;\n"),
        ("id\tb\n1\tx\t\n2\t\t\n", "id\tb\n1\tx\t\n"),
    ] {
        let source = open(dir.file("a.csv", text)).unwrap();
        assert_eq!(keys(&source, KEY).unwrap().items, items(&["1", "2"]), "{text:?}");
        assert_eq!(result(&source, &dir, "out.csv"), written, "{text:?}");
        let again = open(dir.path("out.csv")).unwrap();
        assert_eq!(keys(&again, KEY).unwrap().items, items(&["1"]), "{text:?}");
    }
    let source = open(dir.file("a.csv", "id;b\n1;x;\n2;y;\n")).unwrap();
    assert_eq!(result(&source, &dir, "out.tsv"), "id\tb\n1\tx\n");
    write(&source, "id", &["1"], &dir.path("out.parquet"), true).unwrap();
    assert_eq!(open(dir.path("out.parquet")).unwrap().columns(), ["id", "b"]);
}

#[test]
fn a_cell_beyond_the_columns_is_an_error_unless_all_rows_lack_it() {
    let dir = Scratch::new();
    for (text, line, expected, found) in [
        ("id,b\n1,x,\n2,y,z\n", 3, 2, 3),
        ("id,b\n1,x,\n2,y\n", 3, 3, 2),
        ("id,b\n1,x\n2,y,\n", 3, 2, 3),
        ("id,b\n1,x,,\n", 2, 2, 4),
        ("id,b\n1,x,y\n", 2, 2, 3),
    ] {
        let error = open_keys(dir.file("a.csv", text), KEY).unwrap_err();
        let ragged = InputError::Ragged { path: dir.path("a.csv"), line, expected, found };
        assert_eq!(error, ragged, "{text:?}");
    }
}

#[test]
fn quotes_after_a_backslash_are_never_read_as_columns() {
    let dir = Scratch::new();
    for (text, line, byte) in [
        ("id,b\n\"a \\\"b\\\" c\",x\n", 2, 5),
        // The escaped quote ends the cell, and a delimiter follows.
        ("id,b\n1,\"he said \\\", ok\"\n", 2, 13),
        ("id,b\n1,\"he said \\\", ok\",\n2,\"he said \\\", ok\",\n", 2, 13),
        ("id,b\n1,\"a\\\",\\\"b\"\n", 2, 6),
        // It is taken for a doubled one, which swallows the next rows.
        ("id,b\n1,\"5\\\"\"\n2,x\n", 2, 6),
        ("id,b\n1,\"5\\\"\"\n2,\"y\"\n", 2, 6),
        // Each row has as many cells as there are columns, by chance.
        ("id,b,c\n\"5\\\"\",x,z\n2,\",foo\",y\n", 2, 4),
        // In the header, and in a first row without one.
        ("id,\"b \\\", c\"\n1,2,3\n", 1, 8),
    ] {
        let error = open_keys(dir.file("a.csv", text), KEY).unwrap_err();
        let (path, stray) = (dir.path("a.csv"), Stray::AfterBackslash);
        assert_eq!(error, InputError::Stray { path, line, byte, stray }, "{text:?}");
    }
}

#[test]
fn backslashes_that_csv_allows_are_text() {
    let dir = Scratch::new();
    let text = "id,b\n\"C:\\dir\\\",x\n\"{\"\"a\"\": \"\"say \\\"\"hi\\\"\", ok\"\"\n}\",\"y\"\n\
                5\\\" x,\\\n";
    let set = open_keys(dir.file("a.csv", text), KEY).unwrap();
    let expected = ["C:\\dir\\", "{\"a\": \"say \\\"hi\\\", ok\"\n}", "5\\\" x"];
    assert_eq!(set.items, items(&expected));
}

#[test]
fn names_that_are_not_utf8_show_their_format_like_others() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let dir = Scratch::new();
    for (from, to) in [
        ("a.csv", &b"kunden_m\xe4rz.csv"[..]),
        ("a.csv.gz", b"kunden_m\xe4rz.CSV.gz"),
        ("a.tsv.zst", b"\xe4.Tsv.ZST"),
    ] {
        let path = dir.file(from, "id\n1\n");
        let renamed = path.with_file_name(OsStr::from_bytes(to));
        fs::rename(path, &renamed).unwrap();
        assert_eq!(open_keys(&renamed, KEY).unwrap().items, items(&["1"]), "{to:?}");
    }
    let shown = |bytes| vesica_tables::shown(Path::new(OsStr::from_bytes(bytes)));
    assert_eq!(shown(b"m\xe4rz.csv"), "m\\xe4rz.csv");
    assert_eq!(shown("m\u{e4}rz \u{1f600}\n.csv".as_bytes()), "m\u{e4}rz \u{1f600}\\x0a.csv");
    assert_eq!(Codec::of(Path::new("a.CSV.GZ")), Codec::Gzip);
}

#[test]
fn workbooks_are_refused_by_content_and_by_name() {
    let dir = Scratch::new();
    let zip = b"PK\x03\x04\x14\0\0\0\x08\0\0\0!\0[Content_Types].xml".as_slice();
    let old = [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".as_slice(), &[0; 600]].concat();
    let csv = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    for (name, bytes, workbook) in [
        ("a.xlsx", zip, Workbook::Excel),
        ("a.csv", zip, Workbook::Excel),
        ("a.xls", &old, Workbook::Excel),
        ("a.txt", &old, Workbook::Excel),
        ("a.XLSB", b"", Workbook::Excel),
        ("a.ods", b"PK\x03\x04junk", Workbook::OpenDocument),
        ("a.numbers", b"PK\x03\x04junk", Workbook::Numbers),
    ] {
        let path = dir.path(name);
        fs::write(&path, bytes).unwrap();
        let refused = InputError::Workbook { path: path.clone(), workbook };
        assert_eq!(open(&path).unwrap_err(), refused, "{name}");
        if !bytes.is_empty() {
            assert_eq!(Source::open(&path, &csv).unwrap_err(), refused, "{name} as CSV");
        }
    }
    fs::create_dir(dir.path("b.numbers")).unwrap();
    assert!(matches!(open(dir.path("b.numbers")), Err(InputError::Workbook { .. })));
    // Text that a program has named like a workbook.
    let path = dir.path("b.xls");
    fs::write(&path, "id\tb\n1\tx\n").unwrap();
    assert!(matches!(open(&path), Err(InputError::UnknownFormat { .. })));
    assert_eq!(Source::open(&path, &csv).unwrap().columns(), ["id", "b"]);
}

#[test]
fn standard_input_is_refused_by_its_name() {
    assert_eq!(open("-").unwrap_err(), InputError::StandardInput);
    let pipe = open("/dev/null").unwrap_err();
    assert!(matches!(pipe, InputError::NotAFile { kind: FileKind::Device, .. }));
}

#[test]
fn names_that_repeat_become_different_in_parquet_alone() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id,v,v,\n1,2,3,4\n")).unwrap();
    assert_eq!(result(&source, &dir, "out.csv"), "id,v,v,\n1,2,3,4\n");
    write(&source, "id", &["1"], &dir.path("out.parquet"), true).unwrap();
    assert_eq!(open(dir.path("out.parquet")).unwrap().columns(), ["id", "v", "v_", "column_4"]);
}
