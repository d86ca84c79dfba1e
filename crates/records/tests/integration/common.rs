//! Shared by the tests of this crate: a key, the items of a file, and tables of arrays.

#![allow(dead_code)]

#[path = "../../../tables/tests/integration/support.rs"]
pub(crate) mod support;

pub(crate) use support::{Scratch, open, silent};

use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use std::convert::Infallible;
use std::fs::File;
use std::path::Path;
use vesica_core::Item;
use vesica_core::hash::ItemHash;
use vesica_records::{
    KeyColumn, KeyItems, KeyLimits, KeyRule, KeySet, StreamError, Streamed, read_keys, stream_items,
};
use vesica_tables::{InputError, Source};

pub(crate) fn hash() -> KeyItems {
    KeyItems::digests(ItemHash::new("vesica records test", &[]))
}

pub(crate) fn hash_of_rules(rules: Vec<KeyRule>) -> KeyItems {
    KeyItems::under_rules(ItemHash::new("vesica records test", &[]), rules)
}

pub(crate) fn key(columns: &[(&str, &str)]) -> Vec<KeyColumn> {
    columns
        .iter()
        .map(|(column, profile)| KeyColumn {
            name: (*column).into(),
            column: (*column).into(),
            profile: profile.parse().unwrap(),
            never: Vec::new(),
        })
        .collect()
}

pub(crate) fn keys(source: &Source, columns: &[(&str, &str)]) -> Result<KeySet, InputError> {
    read_keys(source, &key(columns), &hash(), &KeyLimits::default(), &mut silent)
}

pub(crate) fn open_keys(
    path: impl AsRef<Path>,
    columns: &[(&str, &str)],
) -> Result<KeySet, InputError> {
    keys(&open(path)?, columns)
}

/// The items of a one-column key, sorted.
pub(crate) fn items(values: &[&str]) -> Vec<Item> {
    let mut items: Vec<Item> = values
        .iter()
        .map(|value| {
            let mut encoded = Vec::new();
            vesica_records::encoding::push_cell(
                vesica_records::Profile::EXACT,
                value.as_bytes(),
                &mut encoded,
            )
            .unwrap();
            hash().item(&encoded)
        })
        .collect();
    items.sort();
    items.dedup();
    items
}

pub(crate) type StreamedItems = Result<(Vec<Item>, Streamed), InputError>;

/// The items of all rows in their order, and the outcome of the pass.
pub(crate) fn stream_with(
    source: &Source,
    columns: &[(&str, &str)],
    limits: KeyLimits,
) -> StreamedItems {
    let mut all = Vec::new();
    let mut sink = |items: &[Item]| {
        all.extend_from_slice(items);
        Ok::<_, Infallible>(())
    };
    let done = stream_items(source, &key(columns), &hash(), &limits, &mut sink, &mut silent);
    match done {
        Ok(streamed) => Ok((all, streamed)),
        Err(StreamError::Input(error)) => Err(error),
        Err(StreamError::Sink(never)) => match never {},
    }
}

pub(crate) fn stream(source: &Source, columns: &[(&str, &str)]) -> StreamedItems {
    stream_with(source, columns, KeyLimits::default())
}

pub(crate) fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

/// A Parquet file with groups of at most 1000 rows.
pub(crate) fn write_parquet(path: &Path, batch: &RecordBatch) {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(1000)).build();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

pub(crate) fn frame(batches: Vec<RecordBatch>) -> Source {
    let schema = batches[0].schema();
    let batches = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    Source::of_batches(Box::new(batches), None)
}
