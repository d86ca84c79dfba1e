//! Files that have no name until they are complete.

use nix::fcntl::{AT_FDCWD, AtFlags, OFlag};
use nix::unistd::linkat;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use tempfile::{Builder, NamedTempFile};

/// A file without a name in the directory where it will get one. If the process ends before
/// [`persist`](Self::persist), nothing remains. On file systems without such files it gets a
/// temporary name, which is removed unless the process is killed.
pub struct UnnamedFile(Kind);

enum Kind {
    Unnamed(File),
    Named(NamedTempFile),
}

impl UnnamedFile {
    /// Creates an empty file with the mode `mode`, which the umask narrows, in `directory`.
    ///
    /// # Errors
    /// Those of creating any file there.
    pub fn create(directory: &Path, mode: u32) -> io::Result<Self> {
        let unnamed = OpenOptions::new()
            .read(true)
            .write(true)
            .mode(mode)
            .custom_flags(OFlag::O_TMPFILE.bits())
            .open(directory);
        match unnamed {
            // Without /proc it could never get a name.
            Ok(file) if own_path(&file).exists() => Ok(Self(Kind::Unnamed(file))),
            Err(error)
                if [
                    io::ErrorKind::PermissionDenied,
                    io::ErrorKind::NotFound,
                    io::ErrorKind::StorageFull,
                ]
                .contains(&error.kind()) =>
            {
                Err(error)
            }
            _ => named(directory, mode).map(|file| Self(Kind::Named(file))),
        }
    }

    /// The file, to write to.
    pub fn as_file(&self) -> &File {
        match &self.0 {
            Kind::Unnamed(file) => file,
            Kind::Named(file) => file.as_file(),
        }
    }

    /// Makes the written data durable and gives the file its name; `replace` allows replacing a
    /// file of that name.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`], and any error of the file system.
    pub fn persist(self, path: &Path, replace: bool) -> io::Result<()> {
        self.as_file().sync_all()?;
        let directory = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        match self.0 {
            Kind::Unnamed(file) => match link(&file, path) {
                Err(error) if replace && error.kind() == io::ErrorKind::AlreadyExists => {
                    // No call replaces a file with one that has no name, so it gets a temporary
                    // name first.
                    let free = named(directory, 0o600)?.into_temp_path();
                    fs::remove_file(&free)?;
                    link(&file, &free)?;
                    free.persist(path).map_err(|error| error.error)?;
                }
                linked => linked?,
            },
            Kind::Named(file) if replace => drop(file.persist(path).map_err(|error| error.error)?),
            Kind::Named(file) => drop(file.persist_noclobber(path).map_err(|error| error.error)?),
        }
        // Syncing the directory makes the name durable; some file systems do not support it.
        if let Ok(directory) = File::open(directory) {
            let _ = directory.sync_all();
        }
        Ok(())
    }
}

fn named(directory: &Path, mode: u32) -> io::Result<NamedTempFile> {
    Builder::new()
        .prefix(".vesica-")
        .suffix(".partial")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(directory)
}

fn own_path(file: &File) -> std::path::PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

fn link(file: &File, path: &Path) -> io::Result<()> {
    linkat(AT_FDCWD, &own_path(file), AT_FDCWD, path, AtFlags::AT_SYMLINK_FOLLOW)
        .map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn an_incomplete_file_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = UnnamedFile::create(folder.path(), 0o600).unwrap();
        file.as_file().write_all(b"one").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_existing_file_is_replaced_only_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.csv");
        let make = |text: &[u8]| {
            let file = UnnamedFile::create(folder.path(), 0o640).unwrap();
            file.as_file().write_all(text).unwrap();
            file
        };
        make(b"one").persist(&path, false).unwrap();
        let again = make(b"two").persist(&path, false);
        assert_eq!(again.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        make(b"three").persist(&path, true).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
