//! Fields of structs as keys and values.

use crate::common::{Scratch, cells, every_item, items, keys, open, write};
use arrow_array::{
    Array, ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, StringArray, StructArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Fields};
use parquet::arrow::ArrowWriter;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use vesica_tables::{InputError, Source};

fn write_parquet(path: &Path, batch: &RecordBatch) {
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

/// Three rows of `contact { email, more { points } }`: the struct of the second is null although
/// its fields are not.
fn contacts() -> RecordBatch {
    let points: ArrayRef = Arc::new(Int64Array::from(vec![5, 6, 7]));
    let more = Fields::from(vec![Field::new("points", DataType::Int64, true)]);
    let inner = StructArray::new(more, vec![points], Some(vec![true, true, false].into()));
    let mails: ArrayRef = Arc::new(StringArray::from(vec!["a@a.org", "b@b.org", "c@c.org"]));
    let fields = Fields::from(vec![
        Field::new("email", DataType::Utf8, true),
        Field::new("more", inner.data_type().clone(), true),
    ]);
    let nulls = NullBuffer::from(vec![true, false, true]);
    let contact = StructArray::new(fields, vec![mails, Arc::new(inner)], Some(nulls));
    let plain = StringArray::from(vec!["x", "y", "z"]);
    RecordBatch::try_from_iter([
        ("contact", Arc::new(contact) as ArrayRef),
        ("plain.name", Arc::new(plain) as ArrayRef),
    ])
    .unwrap()
}

/// The same rows as a file and as a frame.
fn both(dir: &Scratch) -> [Source; 2] {
    let path = dir.path("contacts.parquet");
    write_parquet(&path, &contacts());
    let schema = contacts().schema();
    // A slice: its first row is not the first of what it is of.
    let whole = arrow_select::concat::concat_batches(&schema, [&contacts(), &contacts()]).unwrap();
    let batches = RecordBatchIterator::new([Ok(whole.slice(3, 3))], schema);
    [open(&path).unwrap(), Source::of_batches(Box::new(batches), None)]
}

#[test]
fn a_field_of_a_struct_is_a_key_and_a_null_struct_an_empty_cell() {
    let dir = Scratch::new();
    for source in both(&dir) {
        let every = every_item(&source, &[("contact.email", "exact")]).unwrap();
        let expected = ["a@a.org", "c@c.org"].map(|mail| items(&[mail]).remove(0));
        assert_eq!(every, [&expected[0][..], &[], &expected[1]]);
    }
    for source in both(&dir) {
        let key = [("plain.name", "exact"), ("contact.email", "exact")];
        assert_eq!(keys(&source, &key).unwrap().counts.empty, 1);
    }
}

#[test]
fn a_field_of_a_struct_is_a_column_of_values() {
    let dir = Scratch::new();
    for source in both(&dir) {
        let column = source.value_column("contact.more.points").unwrap();
        assert_eq!(cells(&source, column).unwrap(), ["5", "", ""]);
    }
}

#[test]
fn structs_themselves_and_unknown_fields_are_refused() {
    let dir = Scratch::new();
    for name in ["contact", "contact.more"] {
        for source in both(&dir) {
            let error = keys(&source, &[(name, "exact")]).unwrap_err();
            let InputError::UnsupportedKeyType { type_name, .. } = error else { panic!("{error}") };
            assert_eq!(type_name, "struct");
        }
    }
    for name in ["contact.phone", "contact.email.x", "plain.name.x", "contact."] {
        for source in both(&dir) {
            let error = keys(&source, &[(name, "exact")]).unwrap_err();
            assert!(matches!(error, InputError::ColumnMissing { .. }), "{error}");
        }
    }
}

#[test]
fn rows_matched_by_a_field_are_written_whole() {
    let dir = Scratch::new();
    let [source, _] = both(&dir);
    let out = dir.path("out.parquet");
    assert_eq!(write(&source, "contact.email", &["c@c.org"], &out, false).unwrap().rows, 1);
    let written = open(&out).unwrap();
    assert_eq!(written.columns(), source.columns());
    let every = every_item(&written, &[("contact.email", "exact")]).unwrap();
    assert_eq!(every, items(&["c@c.org"]));
}
