//! Text found in practice: delimited text in all its forms, and its faults.

use crate::common::{Item, Scratch, items, keys, open, open_keys, read};
use std::ops::ControlFlow;
use std::path::PathBuf;
use vesica_tables::{
    EncodingGuess, FileKind, Format, InputError, Place, ReadOptions, Source, Stray,
};

const KEY: &[(&str, &str)] = &[("id", "exact")];

/// The items and row count of a CSV text, by its column `id`.
fn read_text(text: impl AsRef<[u8]>) -> (Vec<Item>, u64) {
    let dir = Scratch::new();
    let set = open_keys(dir.file("a.csv", text), KEY).unwrap();
    (set.items, set.counts.rows)
}

fn error(text: impl AsRef<[u8]>) -> InputError {
    let dir = Scratch::new();
    open_keys(dir.file("a.csv", text), KEY).unwrap_err()
}

#[test]
fn line_ends_do_not_matter() {
    let expected = (items(&["1", "2"]), 2);
    for text in [
        "id,b\n1,x\n2,y\n",
        "id,b\r\n1,x\r\n2,y\r\n",
        "id,b\r1,x\r2,y\r",
        "id,b\n1,x\n2,y",
        "id,b\r1,x\r2,y",
        "id,b\r\n1,x\n2,y\r",
        "\n\nid,b\n\n1,x\n\r\n\r2,y\n\n\n",
    ] {
        assert_eq!(read_text(text), expected, "{text:?}");
    }
}

#[test]
fn byte_order_mark_is_not_part_of_the_first_name() {
    assert_eq!(read_text("\u{feff}id,b\n1,x\n"), (items(&["1"]), 1));
    assert_eq!(read_text("\u{feff}\"id\",b\n1,x\n"), (items(&["1"]), 1));
}

#[test]
fn delimiters_are_detected() {
    let dir = Scratch::new();
    for (text, delimiter) in [
        ("id,b\n1,x;y\n", b','),
        ("id;b\n1;3,5\n2;4,5\n", b';'),
        ("id\tb\n1\t3,5\n", b'\t'),
        ("id|b\n1|3,5\n", b'|'),
        ("id\n1\n", b','),
        ("id;b;c\n\"1,1,1\";2;3\n", b';'),
    ] {
        let source = open(dir.file("a.csv", text)).unwrap();
        assert_eq!(source.delimiter(), Some(delimiter), "{text:?}");
        assert_eq!(source.columns()[0], "id");
    }
    assert_eq!(open(dir.file("a.tsv", "id,b\n1,x\n")).unwrap().columns(), ["id,b"]);
    let options = ReadOptions { delimiter: Some(b'#'), ..ReadOptions::default() };
    let source = Source::open(dir.file("a.txt", "id#b\n1#x\n"), &options).unwrap();
    assert_eq!(source.columns(), ["id", "b"]);
}

#[test]
fn impossible_delimiters_are_refused() {
    let dir = Scratch::new();
    let path = dir.file("a.csv", "id\n1\n");
    for delimiter in [b'"', b'\n', b'\r', 0, 0xe9] {
        let options = ReadOptions { delimiter: Some(delimiter), ..ReadOptions::default() };
        assert_eq!(
            Source::open(&path, &options).unwrap_err(),
            InputError::BadDelimiter { delimiter }
        );
    }
}

#[test]
fn quoted_cells_may_hold_anything() {
    let text = "id,b\n\"a,b\",x\n\"a\"\"b\",x\n\"a\nb\",x\n\"a\r\nb\",x\n\"\",x\n5\" pipe,x\n";
    let expected = items(&["a,b", "a\"b", "a\nb", "a\r\nb", "5\" pipe"]);
    assert_eq!(read_text(text), (expected, 6));
}

#[test]
fn a_cell_of_one_megabyte_works() {
    let long = "x".repeat(1 << 20);
    let quoted = "\"\"".repeat(1 << 19);
    let text = format!("id,b\n{long},1\n\"{quoted}\",2\n3,{long}\n");
    assert_eq!(read_text(text), (items(&[&long, &"\"".repeat(1 << 19), "3"]), 3));
}

#[test]
fn a_record_beyond_the_limit_is_an_error() {
    let text = format!("id,b\n1,x\n\"{}\n", "y\n".repeat(33 << 20));
    let error = error(text);
    assert!(
        matches!(error, InputError::RecordTooLong { line: 3, limit_bytes: 67_108_864, .. }),
        "{error:?}"
    );
}

#[test]
fn unicode_survives_every_buffer_edge() {
    // Multi-byte characters and quotes at all offsets around the reader's buffer size.
    for shift in 0..8 {
        let pad = "p".repeat(shift);
        let mut text = format!("id,b\n{pad}0,x\n");
        let mut values = vec![format!("{pad}0")];
        for row in 0..30_000 {
            text.push_str(&format!("\"k\u{20ac}\u{1f600}{row}\",\"\u{e9}\r\n\"\r\n"));
            values.push(format!("k\u{20ac}\u{1f600}{row}"));
        }
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        assert_eq!(read_text(text), (items(&values), 30_001), "{shift}");
    }
}

#[test]
fn files_without_header_have_numbered_columns() {
    let dir = Scratch::new();
    let path = dir.file("a.csv", "1,x\n2,y\n");
    let options = ReadOptions { header: false, ..ReadOptions::default() };
    let source = Source::open(path, &options).unwrap();
    assert_eq!(source.columns(), ["1", "2"]);
    let set = keys(&source, &[("2", "exact")]).unwrap();
    assert_eq!((set.items, set.counts.rows), (items(&["x", "y"]), 2));
}

#[test]
fn compressed_text_reads_the_same() {
    let dir = Scratch::new();
    let text: String =
        std::iter::once("id,b\n".into()).chain((0..50_000).map(|i| format!("{i},x\n"))).collect();
    let plain = open_keys(dir.file("a.csv", &text), KEY).unwrap();
    for name in ["a.csv.gz", "a.csv.zst", "a.TXT.GZ"] {
        // The helper compresses by lower-case names.
        let path = dir.file(&name.to_lowercase(), &text);
        let path = if name == name.to_lowercase() {
            path
        } else {
            std::fs::rename(path, dir.path(name)).unwrap();
            dir.path(name)
        };
        let set = open_keys(path, KEY).unwrap();
        assert_eq!((&set.items, &set.counts), (&plain.items, &plain.counts), "{name}");
    }
    // Two gzip members in sequence are one file.
    let mut two = std::fs::read(dir.file("one.csv.gz", "id,b\n1,x\n")).unwrap();
    two.extend(std::fs::read(dir.file("two.csv.gz", "2,y\n")).unwrap());
    std::fs::write(dir.path("both.csv.gz"), two).unwrap();
    assert_eq!(open_keys(dir.path("both.csv.gz"), KEY).unwrap().items, items(&["1", "2"]));
}

#[test]
fn cut_or_broken_compression_is_an_error() {
    let dir = Scratch::new();
    let text: String = (0..100_000).map(|i| format!("id{},b\n", i * 7919 % 100_003)).collect();
    for name in ["a.csv.gz", "a.csv.zst"] {
        let path = dir.file(name, format!("id,b\n{text}"));
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let error = open_keys(&path, KEY).unwrap_err();
        assert!(matches!(error, InputError::DamagedCompression { .. }), "{name}: {error:?}");
        let mut broken = whole.clone();
        let middle = broken.len() / 2;
        broken[middle..middle + 64].fill(0xff);
        std::fs::write(&path, broken).unwrap();
        let error = open_keys(&path, KEY).unwrap_err();
        assert!(
            matches!(
                error,
                InputError::DamagedCompression { .. }
                    | InputError::InvalidUtf8 { .. }
                    | InputError::Stray { .. }
                    | InputError::Ragged { .. }
            ),
            "{name}: {error:?}"
        );
    }
}

#[test]
fn a_content_that_contradicts_the_name_is_reported() {
    let dir = Scratch::new();
    for (name, bytes) in [
        ("a.csv", &b"PK\x03\x04xxxxxxxx"[..]),
        ("a.csv", b"\x1f\x8b\x08\x00xxxxxxx"),
        ("a.csv", b"PAR1xxxxxxx"),
        ("a.parquet", b"id,b\n1,2\n"),
    ] {
        let path = dir.path(name);
        std::fs::write(&path, bytes).unwrap();
        let error = open(&path).unwrap_err();
        assert!(matches!(error, InputError::WrongContent { .. }), "{error:?}");
    }
    std::fs::write(dir.path("b.csv.gz"), "id,b\n").unwrap();
    assert!(matches!(open(dir.path("b.csv.gz")), Err(InputError::WrongContent { .. })));
    for name in ["a", "a.xls", "a.parquet.gz", "a.gz", "csv", ".gz"] {
        std::fs::write(dir.path(name), "id\n1\n").unwrap();
        assert!(matches!(open(dir.path(name)), Err(InputError::UnknownFormat { .. })), "{name}");
    }
    let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    assert_eq!(Source::open(dir.path("a"), &options).unwrap().columns(), ["id"]);
}

#[test]
fn only_regular_files_are_read() {
    let dir = Scratch::new();
    assert_eq!(
        open(dir.path("none.csv")).unwrap_err(),
        InputError::Missing { path: dir.path("none.csv") }
    );
    nix::unistd::mkfifo(&dir.path("p.csv"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    for (path, kind) in
        [(dir.path("p.csv"), FileKind::Pipe), (PathBuf::from("/dev/null"), FileKind::Device)]
    {
        assert_eq!(open(&path).unwrap_err(), InputError::NotAFile { path, kind });
    }
}

#[test]
fn empty_files_are_refused_and_files_without_rows_are_not() {
    for text in ["", "\n\r\n", "\u{feff}", "\u{feff}\n"] {
        assert!(matches!(error(text), InputError::Empty { .. }), "{text:?}");
    }
    for text in ["id,b", "id,b\n", "id,b\r\n\r\n"] {
        assert_eq!(read_text(text), (items(&[]), 0), "{text:?}");
    }
}

#[test]
fn missing_columns_name_the_nearest() {
    let dir = Scratch::new();
    let path = dir.file("a.csv", "email,e_mail,phone\n1,2,3\n");
    let InputError::ColumnMissing { column, nearest, .. } =
        open_keys(&path, &[("Email ", "exact")]).unwrap_err()
    else {
        panic!()
    };
    assert_eq!((column.as_str(), nearest), ("Email ", vec!["email".to_string(), "e_mail".into()]));
}

#[test]
fn a_name_that_stands_twice_is_refused_only_as_a_key() {
    assert!(matches!(
        error("id,b,id\n1,2,3\n"),
        InputError::DuplicateColumn { first: 1, second: 3, .. }
    ));
    assert_eq!(read_text("id,b,b\n1,2,3\n"), (items(&["1"]), 1));
    assert_eq!(read_text("id,,\n1,2,3\n"), (items(&["1"]), 1));
}

#[test]
fn ragged_rows_are_named_by_their_physical_line() {
    for (text, line, found) in [
        ("id,b\n1,x\n2\n", 3, 1),
        ("id,b\n1,x\n2,y,z\n", 3, 3),
        ("id,b\r1,x\r\r2\r", 4, 1),
        ("id,b\r\n\"1\r\n1\",x\r\n2\r\n", 4, 1),
        ("id,b\n1,\"x\n\n\"\n2\n", 5, 1),
        ("\n\nid,b\n2\n", 4, 1),
    ] {
        let error = error(text);
        assert!(
            matches!(&error, InputError::Ragged { line: at, expected: 2, found: cells, .. }
                if (*at, *cells) == (line, found)),
            "{text:?}: {error:?}"
        );
    }
}

#[test]
fn text_that_is_not_utf8_is_located() {
    for (text, line, byte, column, guess) in [
        (&b"id,b\n1,x\n2,caf\xe9\n"[..], 3, 6, Some("b"), EncodingGuess::SingleByte),
        (b"id,b\r\n\"1\r\nM\xfcller\",x\r\n", 3, 2, Some("id"), EncodingGuess::SingleByte),
        (b"id,b\n1,\x93x\x94\n", 2, 3, Some("b"), EncodingGuess::SingleByte),
        (b"id,na\xefve\n1,x\n", 1, 6, None, EncodingGuess::SingleByte),
        (b"id,b\n1,\xc3", 2, 3, Some("b"), EncodingGuess::SingleByte),
        (b"id,b\n1,\xf0\x9f\x98\n", 2, 3, Some("b"), EncodingGuess::Unknown),
        (b"\xff\xfei\0d\0\n\0", 1, 1, None, EncodingGuess::Utf16),
        (b"i\0d\0,\0b\0\n\x001\0,\0x\0\n\0", 1, 1, None, EncodingGuess::Utf16),
    ] {
        let error = error(text);
        let InputError::InvalidUtf8 { place, byte: b, column: c, guess: g, .. } = &error else {
            panic!("{text:?}: {error:?}")
        };
        assert_eq!(
            (place.clone(), *b, c.as_deref(), *g),
            (Place::Line(line), byte, column, guess),
            "{text:?}"
        );
    }
}

#[test]
fn a_bad_byte_far_into_the_file_is_located() {
    let mut text = b"id,b\n".to_vec();
    for row in 0..200_000 {
        text.extend_from_slice(format!("{row},\u{20ac}\n").as_bytes());
    }
    text.extend_from_slice(b"x,a\xe4b\n");
    let error = error(text);
    assert!(
        matches!(error, InputError::InvalidUtf8 { place: Place::Line(200_002), byte: 4, .. }),
        "{error:?}"
    );
}

#[test]
fn stray_bytes_are_located() {
    for (text, line, byte, stray) in [
        ("id,b\n1,\0\n", 2, 3, Stray::Nul),
        ("id,b\n1,x\n\"a\"b,x\n", 3, 4, Stray::AfterQuote),
        ("id,b\n\"a\\\"b\",x\n", 2, 4, Stray::AfterBackslash),
        ("id,b\n\"a\nb\" ,x\n", 3, 3, Stray::AfterQuote),
    ] {
        let error = error(text);
        assert!(
            matches!(&error, InputError::Stray { line: l, byte: b, stray: s, .. }
                if (*l, *b, *s) == (line, byte, stray)),
            "{text:?}: {error:?}"
        );
    }
}

#[test]
fn an_open_quote_is_named_by_its_line() {
    for (text, line) in [("id,b\n1,x\n2,\"y\n3,z\n", 3), ("id,b\n\"1\n\",\"x\n\n", 3)] {
        let error = error(text);
        assert!(
            matches!(error, InputError::UnterminatedQuote { line: l, .. } if l == line),
            "{text:?}: {error:?}"
        );
    }
}

#[test]
fn progress_ends_at_the_whole_file_and_can_stop_the_pass() {
    let dir = Scratch::new();
    let text: String = (0..300_000).map(|i| format!("{i}\n")).collect();
    for name in ["a.csv", "a.csv.zst"] {
        let source = open(dir.file(name, format!("id\n{text}"))).unwrap();
        let (mut last, mut calls) = (None, 0);
        read(&source, KEY, &mut |progress| {
            calls += 1;
            assert!(progress.bytes_done <= progress.bytes_total);
            last = Some(progress);
            ControlFlow::Continue(())
        })
        .unwrap();
        let last = last.unwrap();
        assert_eq!((last.bytes_done, last.rows), (source.len_bytes(), 300_000));
        assert!(calls < 500, "{calls} calls");
        let stopped = read(&source, KEY, &mut |_| ControlFlow::Break(()));
        assert_eq!(stopped.unwrap_err(), InputError::Interrupted);
    }
}

#[test]
fn a_replaced_file_is_detected() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id\n1\n2\n")).unwrap();
    dir.file("b.csv", "id\n1\n3\n");
    std::fs::rename(dir.path("b.csv"), dir.path("a.csv")).unwrap();
    assert_eq!(keys(&source, KEY).unwrap_err(), InputError::Changed { path: dir.path("a.csv") });
}

#[test]
fn messages_and_debug_output_contain_no_value() {
    let secret = "hush@secret";
    for text in [
        format!("id,b\n{secret},1\n{secret}\n"),
        format!("id,b\n\"{secret}\"{secret},1\n"),
        format!("id,b\n\"{secret},1\n"),
        format!("id,b\n{secret}\0,1\n"),
    ] {
        let error = error(text);
        assert!(!format!("{error} {error:?}").contains("hush"), "{error:?}");
    }
}

#[test]
fn the_fuzzers_reader_counts_records_and_cell_bytes() {
    let read = vesica_tables::fuzzing::read_text;
    assert_eq!(read(b"a;b\n\n\"c\"\"\";d\n", None), Ok((2, 5)));
    assert_eq!(read(b"a;b\n", Some(b',')), Ok((1, 3)));
    assert!(read(b"\"", None).is_err());
}
