//! A folder that is held by a descriptor, so that operations stay in it even if its path later
//! leads to another folder.

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat, renameat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, linkat, unlinkat};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// An open folder. Names are those of its direct entries; no link is followed, and no call blocks
/// on anything that is not a regular file.
#[derive(Debug)]
pub struct Directory {
    file: File,
}

/// The entry that a name in a folder has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The kind of the entry.
    pub kind: FoundKind,
    /// Its length in bytes.
    pub bytes: u64,
    /// When it was last written.
    pub written: SystemTime,
}

/// The kinds of entries in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, a pipe, a socket or a device.
    Other,
}

/// The result of opening a name for reading.
#[derive(Debug)]
pub enum Opened {
    /// Nothing has this name.
    Nothing,
    /// A regular file.
    File(File),
    /// Something that is not a regular file, and was left unopened.
    NotAFile,
}

impl Found {
    fn of(stat: &FileStat) -> Self {
        let kind = match SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT {
            SFlag::S_IFREG => FoundKind::File,
            SFlag::S_IFDIR => FoundKind::Folder,
            _ => FoundKind::Other,
        };
        let nanos = Duration::from_nanos(u64::try_from(stat.st_mtime_nsec).unwrap_or_default());
        let seconds = Duration::from_secs(stat.st_mtime.unsigned_abs());
        let written = match stat.st_mtime {
            0.. => SystemTime::UNIX_EPOCH.checked_add(seconds),
            _ => SystemTime::UNIX_EPOCH.checked_sub(seconds),
        };
        let written = written.unwrap_or(SystemTime::UNIX_EPOCH) + nanos;
        Self { kind, bytes: u64::try_from(stat.st_size).unwrap_or_default(), written }
    }
}

impl Directory {
    /// The folder at `path`. A link to a folder is followed, because the path is the user's.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotADirectory`], and file system errors.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.read(true).custom_flags(OFlag::O_DIRECTORY.bits()).open(path)?;
        Ok(Self { file })
    }

    /// The folder `name` in this one.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotADirectory`] if it is something else, even a link to a folder; file
    /// system errors.
    pub fn folder(&self, name: &str) -> io::Result<Self> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW;
        match self.open_at(name, flags, Mode::empty()) {
            Ok(file) => Ok(Self { file }),
            // Some systems return this error for a link.
            Err(Errno::ELOOP) => Err(io::ErrorKind::NotADirectory.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates the folder `name` with the permission bits `mode`, less those in the process's mask;
    /// `false` if the name is taken.
    ///
    /// # Errors
    /// File system errors.
    pub fn create_folder(&self, name: &str, mode: u32) -> io::Result<bool> {
        match mkdirat(&self.file, name, Mode::from_bits_truncate(mode)) {
            Err(Errno::EEXIST) => Ok(false),
            created => Ok(created.map(|()| true)?),
        }
    }

    /// The entry with this name; `None` if there is none.
    ///
    /// # Errors
    /// File system errors.
    pub fn found(&self, name: &str) -> io::Result<Option<Found>> {
        match fstatat(&self.file, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Err(Errno::ENOENT) => Ok(None),
            stat => Ok(Some(Found::of(&stat?))),
        }
    }

    /// The file of this name, for reading.
    ///
    /// # Errors
    /// File system errors.
    pub fn file(&self, name: &str) -> io::Result<Opened> {
        // Opening a device may have effects, so check the type first. It is checked again below.
        match self.found(name)?.map(|found| found.kind) {
            None => return Ok(Opened::Nothing),
            Some(FoundKind::File) => {}
            Some(_) => return Ok(Opened::NotAFile),
        }
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
        match self.open_at(name, flags, Mode::empty()) {
            Ok(file) if file.metadata()?.is_file() => Ok(Opened::File(file)),
            // Such as a link, a socket, or a device without a driver.
            Ok(_) | Err(Errno::ELOOP | Errno::ENXIO) => Ok(Opened::NotAFile),
            Err(Errno::ENOENT) => Ok(Opened::Nothing),
            Err(error) => Err(error.into()),
        }
    }

    /// A new file of this name, for writing.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken; file system errors.
    pub fn create(&self, name: &str, mode: u32) -> io::Result<File> {
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW;
        Ok(self.open_at(name, flags, Mode::from_bits_truncate(mode))?)
    }

    /// The file of this name, for writing, opened with `flags` too; created if there is none.
    fn written(&self, name: &str, flags: OFlag, mode: u32) -> io::Result<File> {
        let flags =
            OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | flags;
        let file = self.open_at(name, flags, Mode::from_bits_truncate(mode))?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// The file of this name, for writing from its start; created if there is none.
    ///
    /// # Errors
    /// File system errors; [`io::ErrorKind::InvalidInput`] if it is not a regular file.
    pub fn overwrite(&self, name: &str, mode: u32) -> io::Result<File> {
        self.written(name, OFlag::O_TRUNC, mode)
    }

    /// The file of this name, for writing, with its present contents; created if there is none.
    ///
    /// # Errors
    /// As [`overwrite`](Self::overwrite).
    pub fn keep(&self, name: &str, mode: u32) -> io::Result<File> {
        self.written(name, OFlag::empty(), mode)
    }

    /// The file of this name, for writing at its end.
    ///
    /// # Errors
    /// File system errors.
    pub fn append(&self, name: &str) -> io::Result<File> {
        let flags = OFlag::O_WRONLY | OFlag::O_APPEND | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
        Ok(self.open_at(name, flags, Mode::empty())?)
    }

    /// Gives the file `from` the second name `to`; `false` if the name is taken.
    ///
    /// # Errors
    /// File system errors.
    pub fn link(&self, from: &str, to: &str) -> io::Result<bool> {
        match linkat(&self.file, from, &self.file, to, AtFlags::empty()) {
            Err(Errno::EEXIST) => Ok(false),
            linked => Ok(linked.map(|()| true)?),
        }
    }

    /// Gives the file `from` the name `to`, replacing what has it.
    ///
    /// # Errors
    /// File system errors.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&self.file, from, &self.file, to)?)
    }

    /// Removes the file, if there is one.
    ///
    /// # Errors
    /// File system errors.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.file, name, UnlinkatFlags::NoRemoveDir) {
            Err(Errno::ENOENT) => Ok(()),
            removed => Ok(removed?),
        }
    }

    /// Removes the folder, which must be empty.
    ///
    /// # Errors
    /// File system errors.
    pub fn remove_folder(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.file, name, UnlinkatFlags::RemoveDir)?)
    }

    /// Removes the folder and everything in it, or the file of this name, if there is one.
    ///
    /// # Errors
    /// File system errors.
    pub fn remove_all(&self, name: &str) -> io::Result<()> {
        match self.found(name)?.map(|found| found.kind) {
            None => Ok(()),
            Some(FoundKind::Folder) => {
                let folder = self.folder(name)?;
                for (name, _) in folder.entries()? {
                    folder.remove_all(&name)?;
                }
                self.remove_folder(name)
            }
            Some(FoundKind::File | FoundKind::Other) => self.remove(name),
        }
    }

    /// The entries of the folder, in any order. Names that are not UTF-8 are skipped.
    ///
    /// # Errors
    /// File system errors.
    pub fn entries(&self) -> io::Result<Vec<(String, Found)>> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY;
        let again: OwnedFd = self.open_at(".", flags, Mode::empty())?.into();
        let mut entries = Vec::new();
        for entry in Dir::from_fd(again)?.iter() {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if matches!(name, "." | "..") {
                continue;
            }
            // It may have been removed in between.
            entries.extend(self.found(name)?.map(|found| (name.to_owned(), found)));
        }
        Ok(entries)
    }

    /// Makes all names in the folder durable on the disk.
    ///
    /// # Errors
    /// File system errors.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// The metadata of the folder itself.
    ///
    /// # Errors
    /// File system errors.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// Sets the permission bits of the folder itself.
    pub(crate) fn set_mode(&self, mode: u32) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        self.file.set_permissions(std::fs::Permissions::from_mode(mode))
    }

    fn open_at(&self, name: &str, flags: OFlag, mode: Mode) -> nix::Result<File> {
        loop {
            match openat(&self.file, name, flags | OFlag::O_CLOEXEC, mode) {
                Err(Errno::EINTR) => {}
                opened => return opened.map(File::from),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_regular_files_are_opened_and_nothing_blocks() {
        let parent = tempfile::tempdir().unwrap();
        let path = |name: &str| parent.path().join(name);
        std::fs::write(path("file"), "x").unwrap();
        std::fs::create_dir(path("folder")).unwrap();
        symlink("file", path("link")).unwrap();
        symlink("folder", path("folder-link")).unwrap();
        symlink("/dev/zero", path("device-link")).unwrap();
        nix::unistd::mkfifo(&path("pipe"), Mode::S_IRWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        let directory = Directory::open(parent.path()).unwrap();
        assert!(matches!(directory.file("file").unwrap(), Opened::File(_)));
        assert!(matches!(directory.file("none").unwrap(), Opened::Nothing));
        for name in ["folder", "link", "folder-link", "device-link", "pipe", "socket"] {
            assert!(matches!(directory.file(name).unwrap(), Opened::NotAFile), "{name}");
        }
        for name in ["file", "link", "folder-link", "pipe"] {
            let kind = directory.folder(name).unwrap_err().kind();
            assert_eq!(kind, io::ErrorKind::NotADirectory, "{name}");
        }
        assert!(directory.overwrite("link", 0o600).is_err());
        assert!(directory.overwrite("pipe", 0o600).is_err());
        let devices = Directory::open(Path::new("/dev")).unwrap();
        assert!(matches!(devices.file("zero").unwrap(), Opened::NotAFile));
    }

    #[test]
    fn what_is_removed_with_a_folder_is_not_what_its_links_name() {
        let parent = tempfile::tempdir().unwrap();
        let path = |name: &str| parent.path().join(name);
        std::fs::create_dir_all(path("away/a")).unwrap();
        std::fs::write(path("kept"), "x").unwrap();
        symlink(parent.path(), path("away/a/up")).unwrap();
        let directory = Directory::open(parent.path()).unwrap();
        directory.remove_all("away").unwrap();
        directory.remove_all("away").unwrap();
        let left: Vec<_> = directory.entries().unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(left, ["kept"]);
    }

    #[test]
    fn a_held_folder_is_used_wherever_its_path_leads() {
        let parent = tempfile::tempdir().unwrap();
        let path = |name: &str| parent.path().join(name);
        std::fs::create_dir(path("one")).unwrap();
        let held = Directory::open(&path("one")).unwrap();
        std::fs::rename(path("one"), path("two")).unwrap();
        std::fs::create_dir(path("other")).unwrap();
        symlink("other", path("one")).unwrap();
        held.create("a", 0o600).unwrap();
        assert!(path("two/a").exists() && !path("other/a").exists());
    }
}
