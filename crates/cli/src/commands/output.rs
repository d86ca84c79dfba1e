//! Files that the command itself writes: agreements, reports, manual pages.

use crate::failure::Failure;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use vesica_records::UnnamedFile;

/// A file in the making: it appears under its name when it is complete.
pub(crate) struct Pending {
    what: &'static str,
    path: PathBuf,
    file: UnnamedFile,
}

impl Pending {
    /// Makes sure that `path` can be written, without making it yet.
    pub(super) fn new(what: &'static str, path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| unwritable(what, path, &error);
        if path.is_dir() || is_folder_name(path) {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        // Giving a file its name would replace a device, a pipe or a link by a plain file.
        if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file()) {
            return Err(Failure::NotAFile { what, path: path.to_path_buf() });
        }
        let file = UnnamedFile::create(directory_of(path), 0o666).map_err(failed)?;
        Ok(Self { what, path: path.to_path_buf(), file })
    }

    /// Writes `text` and gives the file its name, in place of a file that has it.
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

/// Whether a path can only be that of a directory: it ends with a slash, or with `.` or `..`.
fn is_folder_name(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    path.file_name().is_none_or(|name| !bytes.ends_with(name.as_bytes()))
}

/// Whether two paths name one file, through links of either kind too.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
    match (identity(one), identity(other)) {
        (Some(one), Some(other)) => one == other,
        // A file that is still to come: its directory is there, or will be missed soon.
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
    (what, path): (&'static str, &Path),
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
    (what, path): (&'static str, &Path),
    others: &[(&'static str, &Path)],
) -> Result<(), Failure> {
    match others.iter().find(|(_, other)| is_same_file(path, other)) {
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
