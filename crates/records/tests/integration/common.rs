//! Shared by the tests of this crate: a key, and the items of a file.

#![allow(dead_code)]

#[path = "../../../tables/tests/integration/support.rs"]
pub(crate) mod support;

pub(crate) use support::{Scratch, open, silent};

use std::path::Path;
use vesica_core::Item;
use vesica_core::hash::ItemHash;
use vesica_records::{KeyColumn, KeyItems, KeyLimits, KeySet, read_keys};
use vesica_tables::{InputError, Source};

pub(crate) fn hash() -> KeyItems {
    KeyItems::digests(ItemHash::new("vesica records test", &[]))
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
