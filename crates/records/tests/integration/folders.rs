//! Keys and values of the rows of a folder: those of one file of the same rows; faults have the
//! file's name.

use crate::common::{Scratch, batch, items, key, keys, open, silent, stream, write_parquet};
use arrow_array::StringArray;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use vesica_records::{
    Duplicates, Extra, KeyLimits, NO_ITEM, Survey, ValueColumns, read_keys_with, survey_items,
};
use vesica_tables::{InputError, Place, Source};

fn write_text(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Cell `row` of the key, with repetitions, empty cells and more than one width.
fn mail(row: usize) -> Option<String> {
    (row % 11 != 3).then(|| format!("user{}@example.org", row % 700))
}

/// Writes these rows in the format of the name.
fn write_rows(dir: &Scratch, name: &str, rows: Range<usize>) {
    fs::create_dir_all(dir.path(name).parent().unwrap()).unwrap();
    if name.ends_with(".parquet") {
        let mails: StringArray = rows.map(mail).collect();
        write_parquet(&dir.path(name), &batch(vec![("mail", Arc::new(mails))]));
    } else {
        let rows: String =
            rows.map(|row| format!("{},x\n", mail(row).unwrap_or_default())).collect();
        dir.file(name, format!("mail,b\n{rows}"));
    }
}

#[test]
fn parts_give_the_keys_and_counts_of_one_file() {
    let dir = Scratch::new();
    for (profile, ends) in
        [("exact", [".parquet"; 5]), ("email", [".csv", ".csv.gz", ".csv.zst", ".csv", ".csv.gz"])]
    {
        let one = format!("one{}", ends[0]);
        write_rows(&dir, &one, 0..1000);
        for (part, rows) in [0..1, 1..1, 1..300, 300..301, 301..1000].into_iter().enumerate() {
            write_rows(&dir, &format!("{profile}/part-{part}{}", ends[part]), rows);
        }
        let [one, many] = [&one, profile].map(|name| open(dir.path(name)).unwrap());
        let columns = [("mail", profile)];
        assert_eq!(stream(&one, &columns).unwrap().0, stream(&many, &columns).unwrap().0);
        let [one, many] = [one, many].map(|source| keys(&source, &columns).unwrap());
        assert_eq!((&one.items, &one.counts), (&many.items, &many.counts), "{profile}");
        assert_eq!((one.counts.rows, one.counts.empty), (1000, 91), "{profile}");
    }
}

#[test]
fn names_of_folders_give_keys_and_the_default_name_none() {
    let dir = Scratch::new();
    let folders = ["country=DE", "country=__HIVE_DEFAULT_PARTITION__", "country=a%2Fb"];
    for end in ["parquet", "csv"] {
        for folder in folders {
            write_rows(&dir, &format!("{end}/{folder}/p.{end}"), 0..1);
        }
        let source = open(dir.path(end)).unwrap();
        let [country, mail] = [("country", "exact"), ("mail", "exact")];
        let every = stream(&source, &[country]).unwrap().0;
        assert_eq!(every, [items(&["DE"])[0], NO_ITEM, items(&["a/b"])[0]]);
        let both = stream(&source, &[mail, country]).unwrap().0;
        let swapped = stream(&source, &[country, mail]).unwrap().0;
        assert!(both[0] != swapped[0] && both[0] != every[0]);
    }
}

#[test]
fn places_name_the_part_and_its_line() {
    let dir = Scratch::new();
    write_text(&dir.path("t/a.csv"), "k,v\nx,1\n\n\ny,2\n");
    write_text(&dir.path("t/b.csv"), "k,v\n\nz,3\nx,4\n");
    write_text(&dir.path("t/c.csv"), "k,v\nw,bad\nq\n");
    let source = open(dir.path("t")).unwrap();
    let values = |duplicates| ValueColumns {
        columns: vec!["v".to_owned()],
        groups: None,
        bits: 32,
        signed: false,
        duplicates,
    };
    let read = |source: &Source, values: &ValueColumns| {
        let extra = Extra { values: Some(values), ..Extra::default() };
        let (key, limits) = (key(&[("k", "exact")]), KeyLimits::default());
        read_keys_with(source, &key, extra, &crate::common::hash(), &limits, &mut silent)
    };
    let error = read(&source, &values(Duplicates::Sum)).unwrap_err();
    assert_eq!(error.place(), Some(Place::Line(2)));
    assert!(error.to_string().contains("/t/c.csv, line 2: column \"v\""), "{error}");
    fs::remove_file(dir.path("t/c.csv")).unwrap();
    let source = open(dir.path("t")).unwrap();
    let first = Place::PartLine { part: "a.csv".into(), line: 2 };
    let (path, second) = (dir.path("t/b.csv"), Place::Line(4));
    let error = read(&source, &values(Duplicates::Refuse)).unwrap_err();
    assert_eq!(error, InputError::DuplicateKey { path, first, second });
    assert!(error.to_string().ends_with("/b.csv, line 4: the key is already in a.csv line 2"));
}

#[test]
fn a_survey_counts_the_faults_of_all_parts_with_their_places() {
    let dir = Scratch::new();
    write_text(&dir.path("t/a.csv"), "k,d\nx,1\ny\n");
    write_text(&dir.path("t/b.csv"), "k,d\nx,2024-02-30\ny\n");
    let source = open(dir.path("t")).unwrap();
    let mut survey = Survey::new(key(&[("k", "exact"), ("d", "date")]), 10);
    let (limits, hash) =
        (KeyLimits { may_be_empty: true, ..KeyLimits::default() }, crate::common::hash());
    let mut sink = |_: &[vesica_core::Item]| Ok::<_, std::convert::Infallible>(());
    let streamed =
        survey_items(&source, &hash, &limits, &mut survey, None, &mut sink, &mut silent).unwrap();
    let line = |part: &str, line| Place::PartLine { part: part.into(), line };
    let places: Vec<_> =
        streamed.counts.refused_by.iter().flat_map(|row| row.first.clone()).collect();
    assert_eq!(places, [line("a.csv", 2), line("b.csv", 2)]);
    let (faults, _) = survey.finish();
    let [kind] = faults.kinds() else { panic!("{faults:?}") };
    assert_eq!((kind.count, &kind.first[..]), (2, &[line("a.csv", 3), line("b.csv", 3)][..]));
    assert_eq!(kind.first[1].to_string(), "b.csv line 3");
}
