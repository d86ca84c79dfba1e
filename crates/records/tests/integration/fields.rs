//! Fields of structs as keys and values.

use crate::common::{
    Scratch, batch, frame, hash, items, key, keys, open, silent, stream, write_parquet,
};
use arrow_array::{Array, ArrayRef, Int64Array, StringArray, StructArray};
use arrow_schema::{DataType, Field, Fields};
use std::sync::Arc;
use vesica_records::{Duplicates, Extra, KeyLimits, NO_ITEM, ValueColumns, read_keys_with};
use vesica_tables::Source;

/// Three rows of `plain.name` and `contact { email, more { points } }` as a file and as a frame:
/// the struct of the second is null although its fields are not.
fn contacts(dir: &Scratch) -> [Source; 2] {
    let field = |name: &str, array: &dyn Array| Field::new(name, array.data_type().clone(), true);
    let points: ArrayRef = Arc::new(Int64Array::from(vec![5, 6, 7, 5, 6, 7]));
    let more = Fields::from(vec![Field::new("points", DataType::Int64, true)]);
    let valid = |row: [bool; 3]| Some(row.repeat(2).into());
    let more = StructArray::new(more, vec![points], valid([true, true, false]));
    let mails: ArrayRef = Arc::new(StringArray::from(["a@a.org", "b@b.org", "c@c.org"].repeat(2)));
    let fields = Fields::from(vec![field("email", &mails), field("more", &more)]);
    let contacts =
        StructArray::new(fields, vec![mails, Arc::new(more)], valid([true, false, true]));
    let names = StringArray::from(["x", "y", "z"].repeat(2));
    let whole = batch(vec![("plain.name", Arc::new(names)), ("contact", Arc::new(contacts))]);
    // A slice: its first row is not the first of what it is of.
    let batch = whole.slice(3, 3);
    write_parquet(&dir.path("contacts.parquet"), &batch);
    [open(dir.path("contacts.parquet")).unwrap(), frame(vec![batch])]
}

#[test]
fn a_field_of_a_struct_is_a_key_and_a_null_struct_an_empty_cell() {
    let dir = Scratch::new();
    for source in contacts(&dir) {
        let every = stream(&source, &[("contact.email", "exact")]).unwrap().0;
        assert_eq!(every, [items(&["a@a.org"])[0], NO_ITEM, items(&["c@c.org"])[0]]);
    }
    for source in contacts(&dir) {
        let key = [("plain.name", "exact"), ("contact.email", "exact")];
        assert_eq!(keys(&source, &key).unwrap().counts.empty, 1);
    }
}

#[test]
fn a_field_of_a_struct_is_a_column_of_values() {
    let dir = Scratch::new();
    for source in contacts(&dir) {
        let values = ValueColumns {
            columns: vec!["contact.more.points".to_owned()],
            groups: None,
            bits: 32,
            signed: false,
            duplicates: Duplicates::Sum,
        };
        let extra = Extra { values: Some(&values), ..Extra::default() };
        let (key, limits) = (key(&[("plain.name", "exact")]), KeyLimits::default());
        let set = read_keys_with(&source, &key, extra, &hash(), &limits, &mut silent).unwrap();
        let mut values = set.values.unwrap();
        values.sort_unstable();
        assert_eq!((values, set.counts.without_value), (vec![0, 0, 5], 2));
    }
}
