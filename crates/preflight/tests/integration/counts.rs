//! Counts and shapes.

use crate::support::{AIDED, SUM, TERMS};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::sync::Arc;
use vesica_engine::{ConfigFault, Error};
use vesica_preflight::{Check, Options, Read, Refused};
use vesica_records::{Refusal, Shape};
use vesica_tables::{InputError, Place, ReadOptions, Source};

const TABLE: &str =
    "id,email\n1,ann@a.example\n2,Ann@A.example\n3,\n4,bob\n5,cy@c.example\n6,eve\n";

fn shape(pattern: &str, count: u64) -> Shape {
    Shape { pattern: pattern.to_owned(), count }
}

#[test]
fn every_row_is_counted_once_with_a_helper_and_without() {
    for terms in [TERMS, AIDED] {
        let checked = terms.check(TABLE, &Options::default());
        assert_eq!(checked.refused, None);
        assert!(checked.faults.is_empty());
        assert_eq!(checked.party.as_deref(), Some("one"));
        let read = checked.read.unwrap();
        let counts = &read.counts;
        assert_eq!((counts.rows, counts.empty, counts.refused), (6, 1, 2));
        assert_eq!((read.keyed(), read.duplicates(), read.distinct), (3, Some(1), Some(2)));
        let [refused] = &counts.refused_by[..] else { panic!("{counts:?}") };
        assert_eq!((&*refused.column, refused.reason), ("email", Refusal::NotAnEmail));
        assert_eq!((refused.count, &refused.first[..]), (2, &[5, 7].map(Place::Line)[..]));
    }
}

#[test]
fn the_shapes_are_those_of_the_first_rows_and_the_counts_of_all() {
    for terms in [TERMS, AIDED] {
        let checked = terms.check(TABLE, &Options { shape_rows: 4, ..Options::default() });
        assert_eq!(checked.read.unwrap().counts.rows, 6);
        let [key] = &checked.key[..] else { panic!("one column") };
        assert_eq!(
            (&*key.name, &*key.profile.to_string(), key.shape_rows()),
            ("email", "email", 4)
        );
        let shapes = ["", "Aa+@A.a+", "a+", "a+@a.a+"].map(|pattern| shape(pattern, 1));
        assert_eq!(key.shapes.shapes, shapes);
        let shapes = &key.shapes;
        assert_eq!((&*shapes.column, shapes.normalised, shapes.empty), ("email", 2, 1));
        assert_eq!(shapes.refused, [(Refusal::NotAnEmail, 1)]);
        let all = terms.check(TABLE, &Options::default());
        assert_eq!(all.key[0].shape_rows(), 6);
        assert!(all.key[0].shapes.shapes.contains(&shape("a+", 2)));
    }
}

#[test]
fn columns_are_named_as_the_data_names_them() {
    let columns = [("email", "mail"), ("amount", "sum in full")];
    let columns = columns.map(|(name, column)| (name.to_owned(), column.to_owned()));
    let options = Options { columns: BTreeMap::from(columns), ..Options::default() };
    let table = "mail,sum in full\na@a.example,1\nb@b.example,\n,\nc@c.example,\n";
    let checked = SUM.check(table, &options);
    assert_eq!(checked.refused, None);
    assert_eq!((&*checked.key[0].name, &*checked.key[0].shapes.column), ("email", "mail"));
    assert_eq!(checked.value_columns, ["sum in full"]);
    assert_eq!(checked.read.unwrap().counts.without_value, 2);
}

#[test]
fn a_column_that_belongs_to_nothing_is_refused_before_anything_is_read() {
    let columns = BTreeMap::from([("phone".to_owned(), "x".to_owned())]);
    let agreement = TERMS.agreement();
    let options = Options { columns, ..Options::default() };
    let check = Check::new(&agreement, Some("one"), &options);
    let Err(Error::Config(ConfigFault::UnknownKey { given, known })) = check else {
        panic!("{check:?}")
    };
    assert_eq!((&*given, &known[..]), ("phone", &["email".to_owned()][..]));
}

#[test]
fn rows_of_nobody_in_particular_have_no_limits() {
    let go_on = &mut |_| ControlFlow::Continue(());
    let table = format!("email\n{}", "a@a.example\n".repeat(200));
    let checked = TERMS.check_with(&table, None, &Options::default(), go_on);
    assert_eq!((checked.party, checked.limits, checked.refused), (None, None, None));
    let Read { counts, distinct, .. } = checked.read.unwrap();
    assert_eq!((counts.rows, counts.duplicates, distinct), (200, 199, Some(1)));
}

/// The file is deleted when its last row has been read: shapes and counts need no second pass.
#[test]
fn the_data_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    for terms in [TERMS, AIDED] {
        fs::write(&path, TABLE).unwrap();
        let source = Source::open(&path, &ReadOptions::default()).unwrap();
        let agreement = terms.agreement();
        let check = Check::new(&agreement, Some("one"), &Options::default()).unwrap();
        let mut calls = 0;
        let checked = check.run(&source, &mut |progress| {
            calls += 1;
            assert_eq!((progress.rows, progress.bytes_done), (6, progress.bytes_total));
            fs::remove_file(&path).unwrap();
            ControlFlow::Continue(())
        });
        let checked = checked.unwrap();
        assert_eq!((calls, checked.refused), (1, None));
        assert_eq!(checked.read.unwrap().distinct, Some(2));
        assert_eq!(checked.key[0].shape_rows(), 6);
    }
}

/// A frame of the columns `id` and `email` in two batches.
fn frame() -> Source {
    let schema = ["id", "email"].map(|name| Field::new(name, DataType::Utf8, true));
    let schema = SchemaRef::new(Schema::new(schema.to_vec()));
    let batch = |rows: &[[Option<&str>; 2]]| {
        let column = |at: usize| -> ArrayRef {
            Arc::new(rows.iter().map(|row| row[at]).collect::<StringArray>())
        };
        RecordBatch::try_new(SchemaRef::clone(&schema), vec![column(0), column(1)])
    };
    let batches = [
        batch(&[[Some("1"), Some("ann@a.example")], [Some("2"), None], [None, Some("bob")]]),
        batch(&[[Some("4"), Some("Ann@A.example")]]),
    ];
    Source::of_batches(Box::new(RecordBatchIterator::new(batches, schema)), Some(4))
}

#[test]
fn a_frame_can_be_checked_once() {
    for terms in [TERMS, AIDED] {
        let agreement = terms.agreement();
        let check = Check::new(&agreement, Some("one"), &Options::default()).unwrap();
        let (source, go_on) = (frame(), &mut |_| ControlFlow::Continue(()));
        let checked = check.run(&source, go_on).unwrap();
        assert_eq!(checked.refused, None);
        let read = checked.read.unwrap();
        assert_eq!((read.counts.rows, read.counts.empty, read.distinct), (4, 1, Some(1)));
        assert_eq!(read.counts.refused_by[0].first, [Place::Row(3)]);
        assert_eq!(checked.key[0].shape_rows(), 4);
        let again = check.run(&source, go_on).unwrap();
        let Some(Refused::Data(error)) = again.refused else { panic!("it is refused") };
        assert!(matches!(error, InputError::AlreadyRead { .. }), "{error:?}");
        assert_eq!(again.read, None);
    }
}
