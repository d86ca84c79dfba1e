//! The folder and its files.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use vesica_core::hash::derive;
use vesica_link::{Access, access_of_others};
use zeroize::Zeroizing;

const PATH_LABEL: &str = "vesica durable 2026 path of a file v1";

const LOCK: &str = "vesica-run.lock";
const UNFINISHED: &str = "unfinished";

/// Most bytes of a file that [`Folder::read`] reads.
const MAX_LEN: u64 = 1 << 20;

/// An open folder; dropping it lets others use it.
pub struct Folder {
    path: PathBuf,
    /// Held while a file is written: the threads of the process share the name of what is not complete.
    writing: Mutex<()>,
    _lock: File,
}

/// Why a folder cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderError {
    /// Another process uses it.
    InUse,
    /// The folder existed before, with something else in it.
    NotOurs,
    /// It belongs to another user of the machine.
    OfAnotherUser,
    /// Its mode lets other users in, and it is not empty.
    TooOpen {
        /// Its permission bits.
        mode: u32,
    },
    /// The file system.
    Io(io::ErrorKind),
}

impl From<io::Error> for FolderError {
    fn from(error: io::Error) -> Self {
        FolderError::Io(error.kind())
    }
}

impl Folder {
    /// Opens the folder at `path`, and creates it if it does not exist. One process at a time.
    ///
    /// # Errors
    /// Any [`FolderError`].
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let is_used = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        match access_of_others(&fs::metadata(path)?) {
            // They could list secrets, replace them, and lead what is written elsewhere by links.
            Some(Access::Owner) => return Err(FolderError::OfAnotherUser),
            _ if is_used && !path.join(LOCK).is_file() => return Err(FolderError::NotOurs),
            Some(Access::Mode { mode }) if is_used => return Err(FolderError::TooOpen { mode }),
            _ => {}
        }
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(FolderError::InUse),
            Err(fs::TryLockError::Error(error)) => return Err(error.into()),
        }
        // The process that held the lock before may have removed the file while this one waited.
        let there = fs::metadata(path.join(LOCK)).map(|there| there.ino());
        if there.ok() != Some(lock.metadata()?.ino()) {
            return Err(FolderError::InUse);
        }
        Ok(Self { path: path.to_path_buf(), writing: Mutex::default(), _lock: lock })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is a file of this name.
    pub fn has(&self, name: &str) -> bool {
        match fs::metadata(self.path.join(name)) {
            Ok(metadata) => metadata.is_file(),
            // The file may exist. Reading it then gives the error.
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }

    /// The first mebibyte of a file; `None` if there is none.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn read(&self, name: &str) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let Some(file) = self.file(name)? else { return Ok(None) };
        let mut bytes = Zeroizing::new(Vec::new());
        file.take(MAX_LEN).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// A file, for reading; `None` if there is none.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn file(&self, name: &str) -> io::Result<Option<File>> {
        match File::open(self.path.join(name)) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a file whole or not at all, and durably: a party must be able to repeat what it has said.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write_by(name, |file| file.write_all(bytes))
    }

    /// The same with what `write` writes.
    ///
    /// # Errors
    /// Those of `write` and of the file system.
    pub fn write_by(
        &self,
        name: &str,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        // The name is fixed, so this overwrites what a process killed here has left, and it is
        // removed with the rest.
        let unfinished = self.path.join(UNFINISHED);
        let mut file = File::options()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&unfinished)?;
        write(&mut file)?;
        file.sync_all()?;
        fs::rename(unfinished, self.path.join(name))?;
        File::open(&self.path)?.sync_all()
    }

    /// Writes `bytes` under `name`; `false` if other bytes are there.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn keep_first(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        match self.read(name)? {
            Some(kept) => Ok(kept[..] == *bytes),
            None => self.write(name, bytes).map(|()| true),
        }
    }

    /// Keeps under `name` which file a result goes to, if it goes to one.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn keep_path(&self, name: &str, path: Option<&Path>) -> io::Result<()> {
        match path {
            Some(path) => self.write(name, &digest_of(path)?),
            None => self.write(name, &[]),
        }
    }

    /// Whether the file kept under `name` is the one at `path`.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn is_path(&self, name: &str, path: &Path) -> io::Result<bool> {
        let digest = digest_of(path)?;
        Ok(self.read(name)?.is_some_and(|kept| kept[..] == digest))
    }

    /// Removes these files, in this order, and durably. Those that are not there are passed over.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn take_away<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> io::Result<()> {
        for (number, name) in names.into_iter().enumerate() {
            match fs::remove_file(self.path.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            // The first is away before any other one is.
            if number == 0 {
                File::open(&self.path)?.sync_all()?;
            }
        }
        File::open(&self.path)?.sync_all()
    }

    /// Removes these files and the folder, as far as that is possible. The folder may contain foreign files.
    pub fn remove<'a>(&self, names: impl IntoIterator<Item = &'a str>) {
        // The lock last: without it the rest would look like somebody else's.
        for name in names.into_iter().chain([UNFINISHED, LOCK]) {
            let _ = fs::remove_file(self.path.join(name));
        }
        let _ = fs::remove_dir(&self.path);
    }
}

/// Stands for the path of a file.
fn digest_of(path: &Path) -> io::Result<[u8; 32]> {
    let path = std::path::absolute(path)?;
    Ok(derive(PATH_LABEL, &[path.as_os_str().as_bytes()]))
}

#[cfg(test)]
mod tests {
    use super::*;

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
