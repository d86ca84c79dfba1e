//! Rows are counted by what becomes of their keys, and the limits of a pass.

use crate::common::{Scratch, hash, key, keys, open, open_keys, silent};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator, StringArray};
use parquet::arrow::ArrowWriter;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use vesica_records::{KeyLimits, Refusal, read_keys};
use vesica_tables::{FRAME, InputError, Place, Source};

const KEY: &[(&str, &str)] = &[("id", "exact")];

fn error(text: impl AsRef<[u8]>) -> InputError {
    let dir = Scratch::new();
    open_keys(dir.file("a.csv", text), KEY).unwrap_err()
}

fn write_parquet(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn rows_are_counted_by_outcome() {
    let dir = Scratch::new();
    let path =
        dir.file("a.csv", "mail,b\na@b.de,1\nA@b.de ,2\n,3\nnobody,4\n\n  ,5\nx,\n,y\nc@d.de,6\n");
    let set = open_keys(&path, &[("mail", "email"), ("b", "exact")]).unwrap();
    let counts = set.counts;
    assert_eq!(
        (counts.rows, counts.empty, counts.refused, counts.duplicates, counts.distinct),
        (8, 4, 1, 0, 3)
    );
    let set = open_keys(&path, &[("mail", "email")]).unwrap();
    let counts = set.counts;
    assert_eq!(
        (counts.rows, counts.empty, counts.refused, counts.duplicates, counts.distinct),
        (8, 3, 2, 1, 2)
    );
    let row = &counts.refused_by[0];
    assert_eq!((row.column.as_str(), row.reason, row.count), ("mail", Refusal::NotAnEmail, 2));
    assert_eq!(row.first, [Place::Line(5), Place::Line(8)]);
}

#[test]
fn strict_reading_stops_at_the_first_refused_value() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "mail\na@b.de\nnobody\n")).unwrap();
    let limits = KeyLimits { strict: true, ..KeyLimits::default() };
    let error =
        read_keys(&source, &key(&[("mail", "email")]), &hash(), &limits, &mut silent).unwrap_err();
    assert_eq!(
        error,
        InputError::Refused {
            path: dir.path("a.csv"),
            place: Place::Line(3),
            column: "mail".into(),
            reason: Refusal::NotAnEmail
        }
    );
    assert!(!error.to_string().contains("nobody"));
}

#[test]
fn files_without_a_usable_key_are_refused() {
    assert!(matches!(
        error("id,b\n,1\n,2\n"),
        InputError::NoKeys { rows: 2, empty: 2, refused: 0, .. }
    ));
}

#[test]
fn more_rows_than_agreed_are_refused() {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id\n1\n2\n3\n")).unwrap();
    let read = |max| {
        let limits = KeyLimits { max_rows: Some(max), ..KeyLimits::default() };
        read_keys(&source, &key(KEY), &hash(), &limits, &mut silent)
    };
    assert_eq!(read(3).unwrap().counts.rows, 3);
    assert_eq!(read(2).unwrap_err(), InputError::TooManyRows { path: dir.path("a.csv"), limit: 2 });
}

#[test]
fn parquet_without_rows_or_with_too_many_is_refused() {
    let dir = Scratch::new();
    let path = dir.path("a.parquet");
    write_parquet(&path, vec![("id", Arc::new(StringArray::from(Vec::<&str>::new())))]);
    assert!(matches!(open_keys(&path, &[("id", "exact")]), Err(InputError::NoRows { .. })));
    write_parquet(&path, vec![("id", Arc::new(StringArray::from(vec!["1", "2"])))]);
    let limits = KeyLimits { max_rows: Some(1), ..KeyLimits::default() };
    let source = open(&path).unwrap();
    assert!(matches!(
        read_keys(&source, &key(&[("id", "exact")]), &hash(), &limits, &mut silent),
        Err(InputError::TooManyRows { limit: 1, .. })
    ));
}

#[test]
fn a_known_number_of_rows_is_checked_before_they_are_read() {
    let batch = {
        let mails: ArrayRef = Arc::new(StringArray::from(vec!["a@a.org", "b@a.org"]));
        RecordBatch::try_from_iter([("mail", mails)]).unwrap()
    };
    let batches = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    let source = Source::of_batches(Box::new(batches), Some(2));
    let limits = KeyLimits { max_rows: Some(1), ..KeyLimits::default() };
    let columns = [("mail", "email")];
    let error = read_keys(&source, &key(&columns), &hash(), &limits, &mut silent).unwrap_err();
    assert_eq!(error, InputError::TooManyRows { path: FRAME.into(), limit: 1 });
    assert_eq!(keys(&source, &columns).unwrap().items.len(), 2, "nothing was read before");
}

#[test]
fn files_without_rows_are_refused() {
    for text in ["id,b", "id,b\n", "id,b\r\n\r\n"] {
        assert!(matches!(error(text), InputError::NoRows { .. }), "{text:?}");
    }
}
