//! A folder of a file system as a store.

use crate::store::{Listed, OBJECT_MAX_BYTES, Store};
use std::fs::{self, File, FileType};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The beginning of the names of files that are not complete.
const UNFINISHED: &str = ".unfinished-";

/// Hexadecimal digits that follow.
const SUFFIX_CHARS: usize = 16;

/// Objects are files. An object appears by a hard link to a complete, synced file, so nobody sees a part of one, and of
/// two that write the same name one is refused, on network file systems too. Files and folders have the mode that the
/// process's mask gives them: the parties decide who may read.
#[derive(Debug)]
pub struct FolderStore {
    root: PathBuf,
    /// The device and the inode of the root.
    is: (u64, u64),
}

impl FolderStore {
    /// The store in `root`, which must exist: a folder that was not mounted must not be taken for an empty one.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotADirectory`], and those of the file system.
    pub fn open(root: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(root)?;
        match metadata.is_dir() {
            true => {
                let root = std::path::absolute(root)?;
                Ok(Self { root, is: (metadata.dev(), metadata.ino()) })
            }
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Whether the object is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.root.join(name).is_file()
    }

    /// A file system that was unmounted leaves another folder in its place.
    fn check_root(&self) -> io::Result<()> {
        let metadata = fs::metadata(&self.root)?;
        match (metadata.dev(), metadata.ino()) == self.is {
            true => Ok(()),
            false => Err(io::ErrorKind::StaleNetworkFileHandle.into()),
        }
    }

    /// What lies in `folder` and has a name and a type of which `is_wanted`.
    fn entries(
        &self,
        folder: &Path,
        is_wanted: impl Fn(&str, FileType) -> bool,
    ) -> io::Result<Vec<Listed>> {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut listed = Vec::new();
        for entry in entries {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if !is_wanted(&name, entry.file_type()?) {
                continue;
            }
            match entry.metadata() {
                Ok(metadata) => {
                    let written = metadata.modified().ok();
                    listed.push(Listed { name, bytes: metadata.len(), written });
                }
                // Somebody has removed it in between.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(listed)
    }
}

impl Store for FolderStore {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        let path = self.root.join(name);
        let folder = path.parent().unwrap_or(&self.root);
        self.check_root()?;
        match fs::create_dir(folder) {
            Ok(()) => File::open(&self.root)?.sync_all()?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let mut suffix = [0; 8];
        rand::TryRng::try_fill_bytes(&mut rand::rngs::SysRng, &mut suffix)
            .map_err(|_| io::ErrorKind::Other)?;
        let unfinished = folder.join(format!("{UNFINISHED}{:016x}", u64::from_le_bytes(suffix)));
        let written =
            File::options().write(true).create_new(true).open(&unfinished).and_then(|mut file| {
                file.write_all(bytes)?;
                file.sync_all()?;
                match fs::hard_link(&unfinished, &path) {
                    Ok(()) => Ok(true),
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
                    Err(error) => Err(error),
                }
            });
        let _ = fs::remove_file(&unfinished);
        // Also of what an earlier process has linked.
        if written.is_ok() {
            File::open(folder)?.sync_all()?;
        }
        written
    }

    fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let file = match File::open(self.root.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.check_root()?;
                return Ok(None);
            }
            file => file?,
        };
        let mut bytes = Vec::new();
        file.take(OBJECT_MAX_BYTES + 1).read_to_end(&mut bytes)?;
        match bytes.len() as u64 > OBJECT_MAX_BYTES {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => Ok(Some(bytes)),
        }
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Listed>> {
        self.entries(&self.root.join(folder), |name, is| !name.starts_with('.') && !is.is_dir())
    }

    fn folders(&self) -> io::Result<Vec<String>> {
        let folders = self.entries(&self.root, |name, is| !name.starts_with('.') && is.is_dir())?;
        Ok(folders.into_iter().map(|folder| folder.name).collect())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let path = self.root.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // The folder of the run goes with its last object.
        let _ = path.parent().filter(|folder| *folder != self.root).map(fs::remove_dir);
        Ok(())
    }

    fn unfinished(&self, folder: &str) -> io::Result<Vec<Listed>> {
        self.entries(&self.root.join(folder), |name, is| is_unfinished(name) && is.is_file())
    }

    fn place(&self) -> String {
        self.root.display().to_string()
    }
}

/// Whether a file of this name is one that is not complete.
fn is_unfinished(name: &str) -> bool {
    let is_suffix = |suffix: &str| {
        suffix.len() == SUFFIX_CHARS && suffix.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    name.strip_prefix(UNFINISHED).is_some_and(is_suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_written_once_and_read_whole() {
        let root = tempfile::tempdir().unwrap();
        let store = FolderStore::open(root.path()).unwrap();
        assert_eq!(store.get("run/a").unwrap(), None);
        assert!(store.put_if_absent("run/a", b"one").unwrap());
        assert!(!store.put_if_absent("run/a", b"two").unwrap());
        assert_eq!(store.get("run/a").unwrap().unwrap(), b"one");
        let listed = store.list("run").unwrap();
        assert_eq!((&*listed[0].name, listed[0].bytes, listed.len()), ("a", 3, 1));
        assert!(listed[0].written.unwrap().elapsed().unwrap().as_secs() < 100);
        assert_eq!(store.folders().unwrap(), ["run"]);
        store.remove("run/a").unwrap();
        store.remove("run/a").unwrap();
        assert_eq!(store.folders().unwrap(), [""; 0]);
    }

    #[test]
    fn of_many_writers_of_one_name_one_wins() {
        let root = tempfile::tempdir().unwrap();
        let store = FolderStore::open(root.path()).unwrap();
        let won = std::thread::scope(|scope| {
            let put = |byte| store.put_if_absent("run/a", &[byte; 9]).unwrap();
            let writers: Vec<_> = (0..8).map(|byte| scope.spawn(move || put(byte))).collect();
            writers
                .into_iter()
                .filter(|_| true)
                .map(|w| w.join().unwrap())
                .filter(|won| *won)
                .count()
        });
        assert_eq!(won, 1);
        let read = store.get("run/a").unwrap().unwrap();
        assert!(read.len() == 9 && read.iter().all(|byte| *byte == read[0]));
        let listed = store.list("run").unwrap();
        assert_eq!((&*listed[0].name, listed.len()), ("a", 1), "nothing unfinished is left");
    }

    #[test]
    fn another_folder_in_the_place_of_the_store_is_not_used() {
        let parent = tempfile::tempdir().unwrap();
        let [root, away] = ["root", "away"].map(|name| parent.path().join(name));
        fs::create_dir(&root).unwrap();
        let store = FolderStore::open(&root).unwrap();
        // As if it were unmounted.
        fs::rename(&root, &away).unwrap();
        fs::create_dir(&root).unwrap();
        assert!(store.put_if_absent("run/a", b"one").is_err());
        assert!(store.get("run/a").is_err());
        assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_is_not_there_is_no_store() {
        let root = tempfile::tempdir().unwrap();
        let missing = FolderStore::open(&root.path().join("no")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        fs::write(root.path().join("file"), "").unwrap();
        let file = FolderStore::open(&root.path().join("file")).unwrap_err();
        assert_eq!(file.kind(), io::ErrorKind::NotADirectory);
    }
}
