//! Every change that the helper makes to what it keeps, at the one place where a test can make the power fail.

use super::file::Digest;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Changes files, and notes the changes for a test that makes the power fail after one of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    #[cfg(test)]
    pub(crate) power: Option<std::sync::Arc<super::power::Power>>,
}

/// Notes a change with the power that a test may have given.
macro_rules! note {
    ($disk:expr, $change:ident($($given:expr),*)) => {
        #[cfg(test)]
        if let Some(power) = &$disk.power {
            power.$change($($given),*)?;
        }
    };
}

impl Disk {
    /// Makes a directory, and what is above it, for its owner alone. One that is there stays as it is.
    pub(super) fn make_dir(&self, dir: &Path) -> io::Result<()> {
        note!(self, make_dir(dir));
        super::file::make_dir(dir)
    }

    /// Writes `body` and its digest into the new file `path`, which must not be there. Nothing is left of it after an
    /// error. It outlasts a failure of the power once it, and the directory, have been [synced](Self::sync).
    pub(super) fn create(&self, path: &Path, body: &[u8], digest: &Digest) -> io::Result<()> {
        note!(self, create(path, &[body, digest].concat()));
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .and_then(|file| fill(file, body, digest));
        if written.is_err() {
            let _ = fs::remove_file(path);
        }
        written
    }

    /// Puts a file's bytes, or what stands in a directory itself, onto the disk.
    pub(super) fn sync(&self, path: &Path) -> io::Result<()> {
        note!(self, sync(path));
        File::open(path)?.sync_all()
    }

    pub(super) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        note!(self, rename(from, to));
        fs::rename(from, to)
    }

    pub(super) fn remove_file(&self, path: &Path) -> io::Result<()> {
        note!(self, remove_file(path));
        fs::remove_file(path)
    }

    pub(super) fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        note!(self, remove_dir_all(path));
        fs::remove_dir_all(path)
    }
}

fn fill(mut file: File, body: &[u8], digest: &Digest) -> io::Result<()> {
    file.write_all(body)?;
    file.write_all(digest)
}
