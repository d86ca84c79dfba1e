//! Shared by the tests of this crate and of `vesica-records`: a directory, a file in it, a silent
//! pass, a bitmap of rows.

#![allow(dead_code)]

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
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

pub(crate) fn silent(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

pub(crate) fn open(path: impl AsRef<Path>) -> Result<Source, InputError> {
    Source::open(path, &ReadOptions::default())
}

/// A bitmap of the rows for which `is_wanted`.
pub(crate) fn bits(rows: u64, is_wanted: impl Fn(u64) -> bool) -> Vec<u64> {
    let mut bits = vec![0; rows.div_ceil(64) as usize];
    (0..rows)
        .filter(|row| is_wanted(*row))
        .for_each(|row| bits[row as usize / 64] |= 1 << (row % 64));
    bits
}

pub(crate) fn write_bits(
    source: &Source,
    rows: u64,
    bits: &[u64],
    output: &Path,
) -> Result<Written, WriteError> {
    let options = OutputOptions { path: output.to_path_buf(), force: true };
    write_rows(source, rows, bits, &options, &mut silent)
}
