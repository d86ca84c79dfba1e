//! Frames: record batches have the keys of a Parquet file of them, are read once, and are checked
//! before they are used.

use crate::common::{Scratch, keys, open, silent};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, LargeStringArray, RecordBatch,
    RecordBatchIterator, StringArray, StringViewArray,
};
use arrow_buffer::{Buffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use std::fs::File;
use std::sync::Arc;
use vesica_tables::{
    FRAME, Format, InputError, OutputOptions, Place, Source, check_output, write_rows,
};

fn frame(batches: Vec<RecordBatch>) -> Source {
    let schema = batches[0].schema();
    let batches = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    Source::of_batches(Box::new(batches), None)
}

fn one_column(array: ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter([("mail", array)]).unwrap()
}

fn mails(rows: usize) -> StringArray {
    let mail = |row: usize| match row % 7 {
        0 => None,
        1 => Some("nobody".to_owned()),
        _ => Some(format!(" User{}@Example.org", row % 6000)),
    };
    (0..rows).map(mail).collect()
}

#[test]
fn a_frame_has_the_keys_of_a_parquet_file_of_it() {
    let dir = Scratch::new();
    let mails = mails(10_000);
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(mails.clone()),
        Arc::new(mails.iter().collect::<StringViewArray>()),
        Arc::new(mails.iter().collect::<LargeStringArray>()),
        Arc::new(mails.iter().collect::<DictionaryArray<Int32Type>>()),
    ];
    let columns = [("mail", "email")];
    for array in arrays {
        let batch = one_column(array);
        let path = dir.path("mails.parquet");
        let mut writer =
            ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let expected = keys(&open(&path).unwrap(), &columns).unwrap();
        assert_eq!((expected.counts.rows, expected.counts.refused), (10_000, 1429));

        // As one batch, as slices that begin within a byte of the bitmap, and with empty batches
        // between them.
        let slices = [(0, 1), (1, 4095), (4096, 0), (4096, 4097), (8193, 1807)];
        let sliced = slices.map(|(from, len)| batch.slice(from, len)).to_vec();
        for batches in [vec![batch.clone()], sliced] {
            let found = keys(&frame(batches), &columns).unwrap();
            assert_eq!(found.items, expected.items);
            assert_eq!(found.counts, expected.counts);
        }
    }
}

#[test]
fn places_are_rows_of_the_frame() {
    let cells: Vec<String> = (0..9000)
        .map(|row| if row == 5000 { "no".into() } else { format!("{row}@a.org") })
        .collect();
    let batch = one_column(Arc::new(StringArray::from(cells)));
    let source = frame(vec![batch.slice(0, 100), batch.slice(100, 8900)]);
    let found = keys(&source, &[("mail", "email")]).unwrap();
    assert_eq!(found.refused, [Place::Row(5001)]);
}

#[test]
fn a_frame_is_read_once_and_its_rows_are_not_written() {
    let dir = Scratch::new();
    let source = frame(vec![one_column(Arc::new(StringArray::from(vec!["a@a.org"])))]);
    assert_eq!((source.format(), source.len_bytes(), source.rows()), (Format::Arrow, 0, None));
    let columns = [("mail", "email")];
    keys(&source, &columns).unwrap();
    let again = InputError::AlreadyRead { path: FRAME.into() };
    assert_eq!(keys(&source, &columns).unwrap_err(), again);
    let options = OutputOptions { path: dir.path("out.parquet"), force: false };
    assert_eq!(check_output(&source, &options).unwrap_err(), again.clone().into());
    let written = write_rows(&source, 1, &[1], &options, &mut silent);
    assert_eq!(written.unwrap_err(), again.into());
    assert!(dir.names().is_empty());
}

#[test]
fn columns_that_cannot_be_keys_are_refused_before_they_are_read() {
    let batch = RecordBatch::try_from_iter([
        ("mail", Arc::new(Float64Array::from(vec![1.0])) as ArrayRef),
        ("b", Arc::new(Int64Array::from(vec![1]))),
    ])
    .unwrap();
    let source = frame(vec![batch]);
    let error = keys(&source, &[("mail", "exact")]).unwrap_err();
    let InputError::UnsupportedKeyType { type_name, .. } = error else { panic!("{error}") };
    assert_eq!(type_name, "Float64");
    let error = keys(&source, &[("Mail", "exact")]).unwrap_err();
    let InputError::ColumnMissing { nearest, .. } = error else { panic!("{error}") };
    assert_eq!(nearest, ["mail"]);
    assert_eq!(keys(&source, &[("b", "exact")]).unwrap().items.len(), 1);
}

#[test]
fn two_columns_of_one_name_are_refused_where_the_name_is_a_key() {
    let field = |name| Field::new(name, DataType::Int64, true);
    let schema = Arc::new(Schema::new(vec![field("mail"), field("mail"), field("id")]));
    let none: [Result<RecordBatch, ArrowError>; 0] = [];
    let source = Source::of_batches(Box::new(RecordBatchIterator::new(none, schema)), None);
    let (path, column) = (FRAME.into(), "mail".into());
    let expected = InputError::DuplicateColumn { path, column, first: 1, second: 2 };
    assert_eq!(source.column_index("mail"), Err(expected));
    assert_eq!(source.column_index("id"), Ok(2));
}

#[test]
fn a_maker_of_batches_that_fails_is_an_error_without_its_words() {
    let batch = one_column(Arc::new(StringArray::from(vec!["a@a.org"])));
    let schema = batch.schema();
    let failing = [Ok(batch), Err(ArrowError::ComputeError("secret@a.org".into()))];
    let source = Source::of_batches(Box::new(RecordBatchIterator::new(failing, schema)), None);
    let error = keys(&source, &[("mail", "email")]).unwrap_err();
    assert_eq!(error, InputError::BadBatch { path: FRAME.into() });
    assert!(!error.to_string().contains("secret"));
}

/// What a foreign library could hand over: nothing checks such arrays when they are made.
fn damaged() -> Vec<ArrayRef> {
    let offsets = OffsetBuffer::new(vec![0, 2].into());
    // SAFETY: not upheld. The text is not UTF-8; the code under test is the first to look at it.
    let not_utf8 =
        unsafe { StringArray::new_unchecked(offsets, Buffer::from(vec![0xff, 0xfe]), None) };
    let values: ArrayRef = Arc::new(StringArray::from(vec!["a@a.org"]));
    // SAFETY: not upheld. The key points past the values; the code under test is the first to
    // follow it.
    let wild =
        unsafe { DictionaryArray::<Int32Type>::new_unchecked(Int32Array::from(vec![7]), values) };
    vec![Arc::new(not_utf8), Arc::new(wild)]
}

#[test]
fn damaged_columns_are_an_error() {
    for array in damaged() {
        let source = frame(vec![one_column(array)]);
        let error = keys(&source, &[("mail", "email")]).unwrap_err();
        assert_eq!(error, InputError::BadBatch { path: FRAME.into() });
    }
}
