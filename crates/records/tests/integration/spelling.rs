//! Keys quoted in a way that CSV does not define: they would silently match nothing.

use crate::common::{Scratch, hash, items, key, open, open_keys, silent};
use std::path::PathBuf;
use vesica_core::Item;
use vesica_records::{
    FloatTexts, KeyLimits, KeySet, SingleQuoted, StreamError, read_keys, stream_items,
};
use vesica_tables::{InputError, Misquoted, Place, ReadOptions, Source};

/// The result for a file of both passes, the one that keeps items and the one that streams them.
fn read(name: &str, text: &str, columns: &[(&str, &str)]) -> Result<KeySet, InputError> {
    let dir = Scratch::new();
    let source = open(dir.file(name, text))?;
    let (columns, limits) = (key(columns), KeyLimits::default());
    let kept = read_keys(&source, &columns, &hash(), &limits, &mut silent);
    let mut sink = |_: &[Item]| Ok::<_, ()>(());
    let streamed = stream_items(&source, &columns, &hash(), &limits, &mut sink, &mut silent);
    match (&kept, streamed) {
        (Ok(kept), Ok(streamed)) => {
            assert_eq!(kept.counts.single_quoted, streamed.counts.single_quoted);
            assert_eq!(kept.counts.floats, streamed.counts.floats);
        }
        (Err(kept), Err(StreamError::Input(streamed))) => assert_eq!(*kept, streamed),
        (kept, streamed) => panic!("{kept:?} and {streamed:?}"),
    }
    kept.map_err(|error| match error {
        InputError::Misquoted { place, column, how, .. } => {
            InputError::Misquoted { path: PathBuf::new(), place, column, how }
        }
        error => error,
    })
}

fn misquoted(line: u64, column: &str, how: Misquoted) -> InputError {
    let (path, place) = (PathBuf::new(), Place::Line(line));
    InputError::Misquoted { path, place, column: column.into(), how }
}

#[test]
fn a_blank_before_an_opening_quote_is_an_error_with_its_line() {
    let blank = |line, column| misquoted(line, column, Misquoted::BlankBeforeQuote);
    for (text, line) in [
        ("id,name\n1, \"Acme\"\n", 2),
        ("id,name\n1,\"Acme\"\n2,Bolt\n3,\t \"Cog\"\n", 4),
        ("id,name\n\"1\n\",x\n2, \"Acme\" Ltd\n", 4),
    ] {
        for profile in ["exact", "trim", "lower", "email"] {
            let error = read("a.csv", text, &[("name", profile)]).unwrap_err();
            assert_eq!(error, blank(line, "name"), "{text:?} under {profile}");
        }
    }
    let first = read("a.csv", "id;name\n \"1\";x\n", &[("name", "trim"), ("id", "trim")]);
    assert_eq!(first.unwrap_err(), blank(2, "id"));
    let tabs = read("a.tsv", "id\tname\n1\t \"Acme\"\n", &[("name", "trim")]);
    assert_eq!(tabs.unwrap_err(), blank(2, "name"));
}

#[test]
fn a_blank_before_a_quote_elsewhere_is_a_value() {
    for text in [
        // Not a key.
        "name,note\nAcme, \"x\"\n",
        // In its own quotes.
        "name\n\" \"\"Acme\"\"\"\n",
        "name\n5 \" pipe\n",
        "name\n Acme\n",
    ] {
        assert_eq!(
            read("a.csv", text, &[("name", "trim")]).unwrap().counts.distinct,
            1,
            "{text:?}"
        );
    }
}

#[test]
fn keys_in_single_quotes_are_an_error_if_most_have_them() {
    let quoted = |line| misquoted(line, "name", Misquoted::SingleQuotes);
    for (text, line) in [
        ("id,name\n1,'Acme'\n", 2),
        ("id,name\n1,Acme\n2, 'Bolt'\n", 3),
        ("id,name\n1,\n2,'Acme'\n3,'Bolt' \n4,Cog\n", 3),
    ] {
        for profile in ["exact", "trim", "email"] {
            let error = read("a.csv", text, &[("name", profile)]).unwrap_err();
            assert_eq!(error, quoted(line), "{text:?} under {profile}");
        }
    }
}

#[test]
fn a_few_keys_in_single_quotes_are_accepted_and_reported() {
    let text =
        "id,name\n1,Acme\n2,'Round Midnight'\n3,Bolt\n4,'s Gravenhage\n5,Rock 'n'\n6,'\n7,''\n";
    let set = read("a.csv", text, &[("name", "exact")]).unwrap();
    let told = SingleQuoted { column: "name".into(), count: 1, first: vec![Place::Line(3)] };
    assert_eq!(set.counts.single_quoted, [told]);
    let values = ["Acme", "'Round Midnight'", "Bolt", "'s Gravenhage", "Rock 'n'", "'", "''"];
    assert_eq!(set.items, items(&values));
    // Inside the quotes of CSV they clearly belong to the value.
    let set = read("a.csv", "name\n\"'Acme'\"\n", &[("name", "exact")]).unwrap();
    assert_eq!((set.items, set.counts.single_quoted), (items(&["'Acme'"]), vec![]));
}

#[test]
fn cells_kept_from_a_spreadsheet_are_read_as_it_shows_them() {
    let values = ["00123", "00124", "00125", "00126", "0,7", "0;7", "'00128'"];
    for (name, text) in [
        (
            "a.csv",
            "id,code\n1,\"=\"\"00123\"\"\"\n2,=\"00124\"\n3,'00125\n4,00126\n5,\"=\"\"0,7\"\"\"\n\
             6,=\"0;7\"\n\
             7,'00128'\n",
        ),
        (
            "b.csv",
            "id;code\n1;\"=\"\"00123\"\"\"\n2;=\"00124\"\n3;'00125\n4;00126\n5;=\"0,7\"\n\
             6;\"=\"\"0;7\"\"\"\n\
             7;'00128'\n",
        ),
    ] {
        let set = read(name, text, &[("code", "trim")]).unwrap();
        assert_eq!(set.items, items(&values), "{text:?}");
        // Only the value in quotes on both sides is doubtful.
        assert_eq!(set.counts.single_quoted[0].first, [Place::Line(8)]);
    }
    let exact = read("c.csv", "id,code\n1,=\"00124\"\n2,'00125\n", &[("code", "exact")]).unwrap();
    assert_eq!(exact.items, items(&["=\"00124\"", "'00125"]));
}

#[test]
fn a_delimiter_in_a_formula_outside_quotes_is_an_error_of_its_line() {
    let error = read("a.csv", "id,code\n1,=\"0,7\"\n", &[("code", "trim")]).unwrap_err();
    assert!(matches!(error, InputError::Ragged { .. }), "{error:?}");
}

#[test]
fn keys_that_look_like_floats_are_reported_if_most_do() {
    let text = "id,name\n17.0,a\n,b\n18.0,c\n1.5e+10,d\nx,e\n";
    for profile in ["trim", "lower"] {
        let set = read("a.csv", text, &[("id", profile)]).unwrap();
        let first = vec![Place::Line(2), Place::Line(4), Place::Line(5)];
        let told = FloatTexts { column: "id".into(), count: 3, first };
        assert_eq!(set.counts.floats, [told], "{profile}");
    }
    // Half are not most; other profiles compare no text; and text outside the key is not checked.
    for (text, profile) in [
        ("id\n17.0\n18\n", "trim"),
        ("id\n17.0\n18.0\n", "exact"),
        ("id,x\n17,1.0\n18,2.0\n", "trim"),
    ] {
        assert_eq!(read("a.csv", text, &[("id", profile)]).unwrap().counts.floats, [], "{text}");
    }
}

#[test]
fn errors_show_no_cell_of_a_file_without_a_header() {
    let dir = Scratch::new();
    for rows in [
        "ann@example.org,Emily,ann@example.org,Tom,x email@y\n",
        "Emily,Berlin\nAnn,Paris\nTom,Berlin\n",
    ] {
        let missing = open_keys(dir.file("a.csv", rows), &[("mail", "exact")]).unwrap_err();
        assert!(!format!("{missing} {missing:?}").contains("Emily"), "{missing:?}");
    }
    let path = dir.file("b.csv", "Emily,ann@example.org,Tom,x email@y,12345\n1,2,3,4,5\n");
    for column in ["email", "customername", "name", "ann", "1234"] {
        let missing = open_keys(&path, &[(column, "exact")]).unwrap_err();
        let InputError::ColumnMissing { nearest, guessed, .. } = missing else {
            panic!("{missing:?}")
        };
        assert!(nearest.is_empty(), "{column}: {nearest:?}");
        assert_eq!(guessed, Some(b','));
    }
    let options = ReadOptions { delimiter: Some(b','), ..ReadOptions::default() };
    let missing = Source::open(&path, &options).unwrap().column_index("email").unwrap_err();
    assert!(matches!(missing, InputError::ColumnMissing { guessed: None, .. }));
}
