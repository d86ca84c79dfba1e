//! Shapes describe a column and never show a value.

use crate::common::{Scratch, key, open};
use vesica_records::{InputError, Refusal, Shape, shapes};

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
fn only_the_first_rows_are_read() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id,b\n1,x\n22,y\nragged\n")).unwrap();
    let found = shapes(&source, &key(&[("id", "exact")]), 2).unwrap();
    assert_eq!(found[0].normalised, 2);
    // The check reports a faulty row; it is skipped here.
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
fn a_file_without_rows_has_no_shapes() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id\n")).unwrap();
    assert!(matches!(
        shapes(&source, &key(&[("id", "exact")]), 10),
        Err(InputError::NoRows { .. })
    ));
}
