//! The folder and its files.

use crate::directory::{Directory, FoundKind, Opened};
use crate::parent::others_can_replace;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use vesica_core::hash::derive;
use vesica_link::{Access, access_of_others};
use zeroize::Zeroizing;

const PATH_LABEL: &str = "vesica durable 2026 path of a file v1";

const LOCK: &str = "vesica-run.lock";
const UNFINISHED: &str = "unfinished";

/// Maximum bytes of a file that [`Folder::read`] reads.
const MAX_LEN: u64 = 1 << 20;

/// An open folder. Other processes can use it once it is dropped.
pub struct Folder {
    path: PathBuf,
    directory: Directory,
    /// Held while a file is written: the threads of the process share the name for unfinished
    /// files.
    writing: Mutex<()>,
    _lock: File,
}

/// Why a folder cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderError {
    /// Another process uses the folder.
    InUse,
    /// The folder existed before, with something else in it.
    NotOurs,
    /// The folder belongs to another user of the machine.
    OfAnotherUser,
    /// Its mode lets other users in, and it is not empty.
    TooOpen {
        /// Its permission bits.
        mode: u32,
    },
    /// Users other than this one can write to its parent, and so put another folder in its place.
    Replaceable,
    /// The file system failed.
    Io(io::ErrorKind),
}

impl From<io::Error> for FolderError {
    fn from(error: io::Error) -> Self {
        FolderError::Io(error.kind())
    }
}

impl Folder {
    /// Opens the folder at `path`, and creates it if it does not exist. Only one process at a time
    /// can have it open. It is held by a descriptor: another folder in its place is not used.
    ///
    /// # Errors
    /// Any [`FolderError`].
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        check_parent(path)?;
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let directory = Directory::open(path)?;
        let is_used = !directory.entries()?.is_empty();
        let is_ours = directory.found(LOCK)?.is_some_and(|found| found.kind == FoundKind::File);
        match access_of_others(&directory.metadata()?) {
            // They could list and replace secrets, and use links to redirect writes.
            Some(Access::Owner) => return Err(FolderError::OfAnotherUser),
            _ if is_used && !is_ours => return Err(FolderError::NotOurs),
            Some(Access::Mode { mode }) if is_used => return Err(FolderError::TooOpen { mode }),
            _ => {}
        }
        directory.set_mode(0o700)?;
        let lock = directory.keep(LOCK, 0o600)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(FolderError::InUse),
            Err(fs::TryLockError::Error(error)) => return Err(error.into()),
        }
        // The process that held the lock before may have removed the file or the folder while this
        // one waited.
        let there = fs::metadata(path.join(LOCK)).map(|there| (there.dev(), there.ino()));
        let ours = lock.metadata()?;
        if there.ok() != Some((ours.dev(), ours.ino())) {
            return Err(FolderError::InUse);
        }
        let path = path.to_path_buf();
        Ok(Self { path, directory, writing: Mutex::default(), _lock: lock })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open folder.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Whether there is a file with this name.
    pub fn has(&self, name: &str) -> bool {
        match self.directory.found(name) {
            Ok(found) => found.is_some_and(|found| found.kind == FoundKind::File),
            // The file may exist; reading it then returns the error.
            Err(_) => true,
        }
    }

    /// The first mebibyte of a file; `None` if there is none.
    ///
    /// # Errors
    /// File system errors.
    pub fn read(&self, name: &str) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let Some(file) = self.file(name)? else { return Ok(None) };
        let mut bytes = Zeroizing::new(Vec::new());
        file.take(MAX_LEN).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// A file, for reading; `None` if there is none.
    ///
    /// # Errors
    /// File system errors; [`io::ErrorKind::InvalidData`] if something else has the name.
    pub fn file(&self, name: &str) -> io::Result<Option<File>> {
        match self.directory.file(name)? {
            Opened::File(file) => Ok(Some(file)),
            Opened::Nothing => Ok(None),
            Opened::NotAFile => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Writes a file of the state folder whole or not at all, and durably: after a crash a party
    /// must be able to send the same bytes again.
    ///
    /// # Errors
    /// File system errors.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write_by(name, |file| file.write_all(bytes))
    }

    /// As [`write`](Self::write), with the contents that the function `write` writes.
    ///
    /// # Errors
    /// The errors of `write`, and file system errors.
    pub fn write_by(
        &self,
        name: &str,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        // The name is fixed, so this overwrites the file that a process killed here has left, and
        // [`remove`](Self::remove) finds it.
        let mut file = self.directory.overwrite(UNFINISHED, 0o600)?;
        write(&mut file)?;
        file.sync_all()?;
        self.directory.rename(UNFINISHED, name)?;
        self.directory.sync()
    }

    /// Writes `bytes` under `name`; `false` if other bytes are there.
    ///
    /// # Errors
    /// File system errors.
    pub fn keep_first(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        match self.read(name)? {
            Some(kept) => Ok(kept[..] == *bytes),
            None => self.write(name, bytes).map(|()| true),
        }
    }

    /// Records under `name` which file a result goes to, if it goes to one.
    ///
    /// # Errors
    /// File system errors.
    pub fn keep_path(&self, name: &str, path: Option<&Path>) -> io::Result<()> {
        match path {
            Some(path) => self.write(name, &digest_of(path)?),
            None => self.write(name, &[]),
        }
    }

    /// Whether the file recorded under `name` is the one at `path`.
    ///
    /// # Errors
    /// File system errors.
    pub fn is_path(&self, name: &str, path: &Path) -> io::Result<bool> {
        let digest = digest_of(path)?;
        Ok(self.read(name)?.is_some_and(|kept| kept[..] == digest))
    }

    /// Removes these files durably, in this order. Missing ones are skipped.
    ///
    /// # Errors
    /// File system errors.
    pub fn take_away<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> io::Result<()> {
        for (number, name) in names.into_iter().enumerate() {
            self.directory.remove(name)?;
            // The first must be gone before any other is removed.
            if number == 0 {
                self.directory.sync()?;
            }
        }
        self.directory.sync()
    }

    /// Removes these files and the folder as far as possible; the folder may contain other files.
    pub fn remove<'a>(&self, names: impl IntoIterator<Item = &'a str>) {
        // The lock last: without it the rest would look like another program's.
        for name in names.into_iter().chain([UNFINISHED, LOCK]) {
            let _ = self.directory.remove(name);
        }
        // Remove it by its path: if another folder is there, it is removed only if empty.
        let _ = fs::remove_dir(&self.path);
    }
}

/// Refuses a folder that other users can replace. If the folder does not exist yet, its parent
/// exists and is checked here, or this user will create both.
fn check_parent(path: &Path) -> Result<(), FolderError> {
    // A link is the user's own, so its target is what counts.
    let path = match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => std::path::absolute(path)?,
        path => path?,
    };
    let Some(parent) = path.parent() else { return Ok(()) };
    match fs::metadata(parent) {
        Ok(parent) if others_can_replace(&parent) => Err(FolderError::Replaceable),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// A digest that identifies the path of a file.
fn digest_of(path: &Path) -> io::Result<[u8; 32]> {
    let path = std::path::absolute(path)?;
    Ok(derive(PATH_LABEL, &[path.as_os_str().as_bytes()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn secrets_stay_in_the_folder_that_was_opened() {
        let parent = tempfile::tempdir().unwrap();
        let [run, away, other] = ["run", "away", "other"].map(|name| parent.path().join(name));
        let folder = Folder::open(&run).unwrap();
        folder.write("a", &[1]).unwrap();
        fs::create_dir(&other).unwrap();
        fs::rename(&run, &away).unwrap();
        std::os::unix::fs::symlink(&other, &run).unwrap();
        folder.write("secret", &[2]).unwrap();
        assert_eq!(folder.read("a").unwrap().unwrap()[..], [1]);
        assert!(away.join("secret").is_file());
        assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
        folder.take_away(["a"]).unwrap();
        assert!(!away.join("a").exists());
    }

    #[test]
    fn a_folder_that_others_can_replace_is_not_used() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        let set = |mode| fs::set_permissions(parent.path(), fs::Permissions::from_mode(mode));
        set(0o777).unwrap();
        assert!(matches!(Folder::open(&path), Err(FolderError::Replaceable)));
        assert!(!path.exists(), "nothing is made there");
        // Like `/tmp`.
        set(0o1777).unwrap();
        drop(Folder::open(&path).unwrap());
        set(0o777).unwrap();
        assert!(matches!(Folder::open(&path), Err(FolderError::Replaceable)));
        let link = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(&path, link.path().join("run")).unwrap();
        let by_link = Folder::open(&link.path().join("run"));
        assert!(matches!(by_link, Err(FolderError::Replaceable)));
        set(0o755).unwrap();
        drop(Folder::open(&link.path().join("run")).unwrap());
    }

    #[test]
    fn a_link_in_the_place_of_a_file_is_not_followed() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        let folder = Folder::open(&path).unwrap();
        fs::write(parent.path().join("a"), "x").unwrap();
        std::os::unix::fs::symlink("../a", path.join("a")).unwrap();
        assert_eq!(folder.read("a").unwrap_err().kind(), io::ErrorKind::InvalidData);
        std::os::unix::fs::symlink("../a", path.join(UNFINISHED)).unwrap();
        assert!(folder.write("b", &[1]).is_err());
        assert_eq!(fs::read(parent.path().join("a")).unwrap(), b"x");
    }

    #[test]
    fn a_file_is_kept_as_it_was_first() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        let folder = Folder::open(&path).unwrap();
        assert!(matches!(Folder::open(&path), Err(FolderError::InUse)));
        assert!(folder.read("a").unwrap().is_none());
        assert!(folder.keep_first("a", &[1]).unwrap() && folder.keep_first("a", &[1]).unwrap());
        assert!(!folder.keep_first("a", &[2]).unwrap());
        folder.write("a", &[2]).unwrap();
        assert_eq!(folder.read("a").unwrap().unwrap()[..], [2]);
        folder.take_away(["b", "a"]).unwrap();
        assert!(!folder.has("a"));
        folder.remove([]);
        assert!(!path.exists());
    }

    #[test]
    fn threads_write_files_at_once() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::open(&parent.path().join("run")).unwrap();
        std::thread::scope(|scope| {
            for number in 0..4_u8 {
                let folder = &folder;
                scope.spawn(move || {
                    for round in 0..20_u8 {
                        let (name, bytes) = (number.to_string(), [number, round]);
                        folder.write(&name, &bytes).unwrap();
                        assert_eq!(folder.read(&name).unwrap().unwrap()[..], bytes);
                    }
                });
            }
        });
    }

    #[test]
    fn folders_of_others_are_not_used() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("a"), "").unwrap();
        assert!(matches!(Folder::open(parent.path()), Err(FolderError::NotOurs)));
        let path = parent.path().join("run");
        drop(Folder::open(&path).unwrap());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
        assert!(matches!(Folder::open(&path), Err(FolderError::TooOpen { mode: 0o750 })));
    }
}
