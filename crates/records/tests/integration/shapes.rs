//! Shapes describe a column and never show a value.

use crate::common::{Scratch, hash, key, open, silent};
use std::convert::Infallible;
use vesica_core::Item;
use vesica_records::{
    ColumnShapes, Extra, KeyColumn, KeyLimits, Refusal, Shape, Survey, survey_items, survey_keys,
};
use vesica_tables::{InputError, Source};

/// The shapes in the first `rows` rows: the same from a pass that keeps the items and from one that
/// streams them.
fn shapes(
    source: &Source,
    columns: &[KeyColumn],
    rows: u64,
) -> Result<Vec<ColumnShapes>, InputError> {
    let limits = KeyLimits::default();
    let [mut kept, mut streamed] = [(); 2].map(|()| Survey::new(columns.to_vec(), rows));
    let set = survey_keys(source, Extra::default(), &hash(), &limits, &mut kept, &mut silent);
    let mut sink = |_: &[Item]| Ok::<_, Infallible>(());
    let items = survey_items(source, &hash(), &limits, &mut streamed, None, &mut sink, &mut silent);
    assert_eq!(set.is_ok(), items.is_ok());
    let (faults, shapes) = kept.finish();
    assert_eq!(streamed.finish(), (faults, shapes.clone()));
    set.map(|_| shapes)
}

#[test]
fn shapes_and_outcomes_are_counted() {
    let dir = Scratch::new();
    let text = "mail,day\nann@ex.org,01/02/2024\n bob@ex.org,13/02/2024\nnobody,\ncy@ex.org,x\n,\n";
    let source = open(dir.file("a.csv", text)).unwrap();
    let found = shapes(&source, &key(&[("mail", "email"), ("day", "date")]), 1000).unwrap();
    let mail = &found[0];
    assert_eq!((mail.column.as_str(), mail.normalised, mail.empty, mail.other), ("mail", 3, 1, 0));
    assert_eq!(mail.refused, [(Refusal::NotAnEmail, 1)]);
    let shape = |pattern: &str, count| Shape { pattern: pattern.into(), count };
    assert_eq!(mail.shapes[0], shape("a+@a+.a+", 2));
    assert_eq!(mail.shapes[1..], [shape("", 1), shape(" a+@a+.a+", 1), shape("a+", 1)]);
    assert_eq!(found[1].refused, [(Refusal::AmbiguousDate, 1), (Refusal::NotADate, 1)]);
    assert!(!format!("{found:?}").contains("nobody"));
}

#[test]
fn only_the_first_rows_are_counted() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id,b\n1,x\n22,y\nragged\n")).unwrap();
    let found = shapes(&source, &key(&[("id", "exact")]), 2).unwrap();
    assert_eq!(found[0].normalised, 2);
    // A faulty row is reported as a fault, and has no shape.
    assert_eq!(shapes(&source, &key(&[("id", "exact")]), 3).unwrap()[0].normalised, 2);
}

#[test]
fn at_most_ten_shapes_are_given() {
    let dir = Scratch::new();
    let marks = "!#$%&()*+-./:<=>?@";
    let text: String = marks.chars().map(|mark| format!("{mark}\n")).collect();
    let source = open(dir.file("a.csv", format!("id\n{text}"))).unwrap();
    let found = shapes(&source, &key(&[("id", "exact")]), 1000).unwrap();
    assert_eq!(found[0].shapes.len(), 10);
    assert_eq!(found[0].other, marks.len() as u64 - 10);
}

#[test]
fn shapes_found_before_a_pass_ends_are_kept() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id\n1\n22\n333\n")).unwrap();
    let mut survey = Survey::new(key(&[("id", "exact")]), 1000);
    let limits = KeyLimits { max_rows: Some(2), ..KeyLimits::default() };
    let set = survey_keys(&source, Extra::default(), &hash(), &limits, &mut survey, &mut silent);
    assert!(matches!(set, Err(InputError::TooManyRows { limit: 2, .. })));
    assert_eq!(survey.finish().1[0].normalised, 2);
}

#[test]
fn a_file_without_rows_has_no_shapes() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id\n")).unwrap();
    assert!(matches!(
        shapes(&source, &key(&[("id", "exact")]), 10),
        Err(InputError::NoRows { .. })
    ));
}
