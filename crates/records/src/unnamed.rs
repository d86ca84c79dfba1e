//! Files in the making, which have no name until they are complete.

use nix::fcntl::{AT_FDCWD, AtFlags, OFlag};
use nix::unistd::linkat;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use tempfile::{Builder, NamedTempFile};

/// A file without a name in the directory where it will have one. Whatever ends the process before
/// [`persist`](Self::persist) leaves nothing behind. File systems that know no such files get one with a name of its
/// own, which is removed unless the process is killed.
pub struct UnnamedFile(Kind);

enum Kind {
    Unnamed(File),
    Named(NamedTempFile),
}

impl UnnamedFile {
    /// Makes an empty file of rights `mode`, which the umask narrows, in `directory`.
    ///
    /// # Errors
    /// As for any new file there.
    pub fn create(directory: &Path, mode: u32) -> io::Result<Self> {
        let unnamed = OpenOptions::new()
            .read(true)
            .write(true)
            .mode(mode)
            .custom_flags(OFlag::O_TMPFILE.bits())
            .open(directory);
        match unnamed {
            // Without /proc it could never be given a name.
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

    /// Makes what was written durable and gives the file its name, in place of a file of that name if it may
    /// `replace` one.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`], and whatever a file system says.
    pub fn persist(self, path: &Path, replace: bool) -> io::Result<()> {
        self.as_file().sync_all()?;
        let directory = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        match self.0 {
            Kind::Unnamed(file) => match link(&file, path) {
                Err(error) if replace && error.kind() == io::ErrorKind::AlreadyExists => {
                    // No call puts a file without a name in the place of another: it gets one for a moment.
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
        // The name itself is durable once the directory is; some file systems cannot do that.
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
    fn a_file_in_the_making_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = UnnamedFile::create(folder.path(), 0o600).unwrap();
        file.as_file().write_all(b"one").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_name_that_is_taken_is_replaced_only_on_demand() {
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
