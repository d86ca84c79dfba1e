//! Shared by the tests of this crate: a directory, a file in it, a key, a silent pass.

#![allow(dead_code)]

use std::convert::Infallible;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use vesica_core::Item;
use vesica_core::hash::ItemHash;
use vesica_records::{
    KeyColumn, KeyItems, KeyLimits, KeySet, StreamError, read_keys, stream_items,
};
use vesica_tables::{
    InputError, OutputOptions, Progress, ReadOptions, Source, WriteError, Written, write_rows,
};

pub(crate) struct Scratch(tempfile::TempDir);

impl Scratch {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes `bytes` under `name`, compressed according to the name.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        let bytes = bytes.as_ref();
        let stored = if name.ends_with(".gz") {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), Default::default());
            gzip.write_all(bytes).unwrap();
            gzip.finish().unwrap()
        } else if name.ends_with(".zst") {
            zstd::encode_all(bytes, 1).unwrap()
        } else {
            bytes.to_vec()
        };
        std::fs::write(&path, stored).unwrap();
        path
    }

    /// Names in the directory, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

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

pub(crate) fn silent(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

pub(crate) fn open(path: impl AsRef<Path>) -> Result<Source, InputError> {
    Source::open(path, &ReadOptions::default())
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

/// Writes the rows whose `exact` key in `column` is one of `values`.
pub(crate) fn write(
    source: &Source,
    column: &str,
    values: &[&str],
    output: &Path,
    force: bool,
) -> Result<Written, WriteError> {
    let options = OutputOptions { path: output.to_path_buf(), force };
    let (rows, wanted) = bits_of(source, &[(column, "exact")], &items(values))?;
    write_rows(source, rows, &wanted, &options, &mut silent)
}

/// The number of rows, and a bit for each that says whether its item is in `matched`, which is
/// sorted.
pub(crate) fn bits_of(
    source: &Source,
    columns: &[(&str, &str)],
    matched: &[Item],
) -> Result<(u64, Vec<u64>), InputError> {
    let every = every_item(source, columns)?;
    let mut bits = vec![0_u64; every.len().div_ceil(64)];
    for (row, item) in every.iter().enumerate() {
        bits[row / 64] |= u64::from(matched.binary_search(item).is_ok()) << (row % 64);
    }
    Ok((every.len() as u64, bits))
}

/// The items of all rows, in the order of the rows.
pub(crate) fn every_item(
    source: &Source,
    columns: &[(&str, &str)],
) -> Result<Vec<Item>, InputError> {
    let mut every = Vec::new();
    let mut sink = |items: &[Item]| {
        every.extend_from_slice(items);
        Ok::<_, Infallible>(())
    };
    let limits = KeyLimits::default();
    match stream_items(source, &key(columns), &hash(), &limits, &mut sink, &mut silent) {
        Ok(_) => Ok(every),
        Err(StreamError::Input(error)) => Err(error),
        Err(StreamError::Sink(never)) => match never {},
    }
}
