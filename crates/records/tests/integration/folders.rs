//! Keys and values of the rows of a folder: faults have the file's name.

use crate::common::{Scratch, key, open, silent};
use std::fs;
use std::path::Path;
use vesica_records::{
    Beside, Duplicates, KeyLimits, Survey, ValueColumns, read_keys_with, survey_items,
};
use vesica_tables::{InputError, Place, Source};

fn write_text(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
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
        let beside = Beside { values: Some(values), ..Beside::default() };
        let (key, limits) = (key(&[("k", "exact")]), KeyLimits::default());
        read_keys_with(source, &key, beside, &crate::common::hash(), &limits, &mut silent)
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
