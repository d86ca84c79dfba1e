//! Files that the command itself writes: agreements, reports, manual pages.

use crate::failure::Failure;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use vesica_scratch::UnnamedFile;

/// An unfinished file: it gets its name when it is complete.
pub(crate) struct Pending {
    what: &'static str,
    path: PathBuf,
    file: UnnamedFile,
}

impl Pending {
    /// Checks that `path` can be written, without creating it yet.
    pub(super) fn new(what: &'static str, path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| unwritable(what, path, &error);
        if path.is_dir() || is_folder_name(path) {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        // The file would otherwise replace a device, a pipe or a link.
        if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file()) {
            return Err(Failure::NotAFile { what, path: path.to_path_buf() });
        }
        let file = UnnamedFile::create(directory_of(path), 0o666).map_err(failed)?;
        Ok(Self { what, path: path.to_path_buf(), file })
    }

    /// Writes `text` and gives the file its name; it replaces an existing file.
    pub(crate) fn write(self, text: &str) -> Result<(), Failure> {
        let Self { what, path, file } = self;
        file.as_file()
            .write_all(text.as_bytes())
            .and_then(|()| file.persist(&path, true))
            .map_err(|error| unwritable(what, &path, &error))
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

/// A file of a command, and what messages call it.
#[derive(Clone, Copy)]
pub(crate) struct NamedFile<'a> {
    pub(crate) what: &'static str,
    pub(crate) path: &'a Path,
}

/// Whether a path can only be that of a directory: it ends with a slash, or with `.` or `..`.
fn is_folder_name(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    path.file_name().is_none_or(|name| !bytes.ends_with(name.as_bytes()))
}

/// Whether two paths name the same file, even through symbolic or hard links.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
    match (identity(one), identity(other)) {
        (Some(one), Some(other)) => one == other,
        // Neither file exists yet: compare names and directories.
        (None, None) => {
            one.file_name() == other.file_name()
                && identity(directory_of(one))
                    .is_some_and(|there| Some(there) == identity(directory_of(other)))
        }
        _ => false,
    }
}

/// Refuses a file in the folder of a run.
pub(crate) fn refuse_within(
    NamedFile { what, path }: NamedFile<'_>,
    folder: &Path,
) -> Result<(), Failure> {
    let real = |path: &Path| path.canonicalize().ok();
    match (real(directory_of(path)), real(folder)) {
        (Some(directory), Some(within)) if directory.starts_with(&within) => {
            let (path, folder) = (path.to_path_buf(), folder.to_path_buf());
            Err(Failure::InState { what, path, folder })
        }
        _ => Ok(()),
    }
}

/// Refuses two names of the same file.
pub(super) fn refuse_same(
    NamedFile { what, path }: NamedFile<'_>,
    others: &[NamedFile<'_>],
) -> Result<(), Failure> {
    match others.iter().find(|other| is_same_file(path, other.path)) {
        Some(other) => {
            let (other, path) = (other.what, path.to_path_buf());
            Err(Failure::SameFile { what, other, path })
        }
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
