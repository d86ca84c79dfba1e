//! Files that the command itself writes: agreements, reports, manual pages.

use crate::failure::Failure;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file in the making: it appears under its name when it is complete.
pub(crate) struct Pending {
    what: &'static str,
    path: PathBuf,
    file: NamedTempFile,
}

impl Pending {
    /// Makes sure that `path` can be written, without making it yet.
    pub(super) fn new(what: &'static str, path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| unwritable(what, path, &error);
        if path.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        // Giving a file its name would replace a device, a pipe or a link by a plain file.
        if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file()) {
            return Err(Failure::NotAFile { what, path: path.to_path_buf() });
        }
        let file = tempfile::Builder::new()
            .prefix(".vesica-")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(directory_of(path))
            .map_err(failed)?;
        Ok(Self { what, path: path.to_path_buf(), file })
    }

    /// Writes `text` and gives the file its name, in place of a file that has it.
    pub(crate) fn write(mut self, text: &str) -> Result<(), Failure> {
        let written =
            self.file.write_all(text.as_bytes()).and_then(|()| self.file.as_file().sync_all());
        written
            .and_then(|()| self.file.persist(&self.path).map(drop).map_err(|error| error.error))
            .map_err(|error| unwritable(self.what, &self.path, &error))
    }
}

/// Writes `text` to `path`; a file of that name is replaced only with `force`.
pub(super) fn write(
    what: &'static str,
    path: &Path,
    text: &str,
    force: bool,
) -> Result<(), Failure> {
    if !force && fs::symlink_metadata(path).is_ok() {
        return Err(Failure::Exists { what, path: path.to_path_buf() });
    }
    Pending::new(what, path)?.write(text)
}

/// Refuses two names of the same file.
pub(super) fn refuse_same(
    (what, path): (&'static str, &Path),
    others: &[(&'static str, &Path)],
) -> Result<(), Failure> {
    let real = |path: &Path| {
        path.canonicalize().or_else(|_| {
            // The file is still to come; its directory is there, or will be missed soon.
            let directory = directory_of(path).canonicalize()?;
            Ok::<_, io::Error>(directory.join(path.file_name().unwrap_or_default()))
        })
    };
    let Ok(own) = real(path) else { return Ok(()) };
    match others.iter().find(|(_, other)| real(other).is_ok_and(|other| other == own)) {
        Some((other, _)) => Err(Failure::SameFile { what, other, path: path.to_path_buf() }),
        None => Ok(()),
    }
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    }
}

fn unwritable(what: &'static str, path: &Path, error: &io::Error) -> Failure {
    Failure::Unwritable { what, path: path.to_path_buf(), kind: error.kind() }
}
