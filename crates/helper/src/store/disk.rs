//! All changes of the helper's files, in one place where a test can simulate a power failure.

use super::file::Digest;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Changes files, and reports the changes to a test that simulates a power failure after one of
/// them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    #[cfg(test)]
    pub(crate) power: Option<std::sync::Arc<super::power::Power>>,
}

/// Comes before each change; reports it to the simulated power of a test.
macro_rules! note {
    ($disk:expr, $change:ident($($given:expr),*)) => {
        crate::locks::uses_disk();
        #[cfg(test)]
        if let Some(power) = &$disk.power {
            power.$change($($given),*)?;
        }
    };
}

impl Disk {
    /// Creates a directory and its parents, for the owner only. An existing one is unchanged.
    pub(super) fn make_dir(&self, dir: &Path) -> io::Result<()> {
        note!(self, make_dir(dir));
        super::file::make_dir(dir)
    }

    /// Writes `body` and its digest to the new file `path`, which must not exist. Leaves nothing
    /// behind after an error. The file survives a power failure once it and the directory are
    /// [synced](Self::sync).
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

    /// Syncs a file's bytes, or the entries of a directory.
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
