//! Rows are counted by what becomes of their keys, and the limits of a pass.

use crate::common::support::write_bits;
use crate::common::{
    Scratch, batch, frame, hash, key, keys, open, open_keys, silent, write_parquet,
};
use arrow_array::{
    ArrayRef, Decimal128Array, Int64Array, NullArray, RecordBatchIterator, StringArray,
};
use std::ops::ControlFlow;
use std::sync::Arc;
use vesica_records::{KeyLimits, Refusal, read_keys};
use vesica_tables::{FRAME, InputError, Place, Source};

const KEY: &[(&str, &str)] = &[("id", "exact")];

fn error(text: impl AsRef<[u8]>) -> InputError {
    let dir = Scratch::new();
    open_keys(dir.file("a.csv", text), KEY).unwrap_err()
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
fn typed_columns_without_a_usable_key_are_refused() {
    let dir = Scratch::new();
    let half = Decimal128Array::from(vec![1250]).with_precision_and_scale(18, 2).unwrap();
    let cases: [(ArrayRef, &str, [u64; 3]); 3] = [
        (Arc::new(NullArray::new(3)), "exact", [3, 3, 0]),
        (Arc::new(Int64Array::from(vec![123])), "uuid", [1, 0, 1]),
        (Arc::new(half), "integer:64", [1, 0, 1]),
    ];
    for (array, profile, expected) in cases {
        let (path, batch) = (dir.path("a.parquet"), batch(vec![("id", array)]));
        write_parquet(&path, &batch);
        for source in [open(&path).unwrap(), frame(vec![batch])] {
            let error = keys(&source, &[("id", profile)]).unwrap_err();
            let InputError::NoKeys { rows, empty, refused, .. } = error else { panic!("{error}") };
            assert_eq!([rows, empty, refused], expected, "{profile}");
        }
    }
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
    let ids = |ids: Vec<&str>| batch(vec![("id", Arc::new(StringArray::from(ids)))]);
    write_parquet(&path, &ids(vec![]));
    assert!(matches!(open_keys(&path, &[("id", "exact")]), Err(InputError::NoRows { .. })));
    write_parquet(&path, &ids(vec!["1", "2"]));
    let limits = KeyLimits { max_rows: Some(1), ..KeyLimits::default() };
    let source = open(&path).unwrap();
    assert!(matches!(
        read_keys(&source, &key(&[("id", "exact")]), &hash(), &limits, &mut silent),
        Err(InputError::TooManyRows { limit: 1, .. })
    ));
}

#[test]
fn a_known_number_of_rows_is_checked_before_they_are_read() {
    let mails = StringArray::from(vec!["a@a.org", "b@a.org"]);
    let batch = batch(vec![("mail", Arc::new(mails))]);
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
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", "id,b\n1,x\n")).unwrap();
    for name in ["b.csv", "b.csv.gz", "b.parquet"] {
        write_bits(&source, 1, &[0], &dir.path(name)).unwrap();
        let error = open_keys(dir.path(name), KEY).unwrap_err();
        assert!(matches!(error, InputError::NoRows { .. }), "{name}");
    }
}

#[test]
fn progress_ends_at_the_whole_file_and_can_stop_the_pass() {
    let dir = Scratch::new();
    let text: String = (0..300_000).map(|i| format!("{i}\n")).collect();
    let (key, limits) = (key(KEY), KeyLimits::default());
    for name in ["a.csv", "a.csv.zst"] {
        let source = open(dir.file(name, format!("id\n{text}"))).unwrap();
        let (mut last, mut calls) = (None, 0);
        read_keys(&source, &key, &hash(), &limits, &mut |progress| {
            calls += 1;
            assert!(progress.bytes_done <= progress.bytes_total);
            last = Some(progress);
            ControlFlow::Continue(())
        })
        .unwrap();
        let last = last.unwrap();
        assert_eq!((last.bytes_done, last.rows), (source.len_bytes(), 300_000));
        assert!(calls < 500, "{calls} calls");
        let stop = &mut |_| ControlFlow::Break(());
        let stopped = read_keys(&source, &key, &hash(), &limits, stop);
        assert_eq!(stopped.unwrap_err(), InputError::Interrupted);
    }
}
