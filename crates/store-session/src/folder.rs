//! A folder of a file system as a store.

use crate::error::{ActualKind, NotAnObject};
use crate::store::{Lengths, Listed, Store};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use vesica_state_folder::{Directory, Found, FoundKind, Opened};

/// The start of the names of incomplete files.
const UNFINISHED: &str = ".unfinished-";

/// Permission bits of files and folders; the process's mask removes some of them.
const FILE_MODE: u32 = 0o666;
const FOLDER_MODE: u32 = 0o777;

/// How many hexadecimal digits follow [`UNFINISHED`] in the name of an incomplete file.
const SUFFIX_CHARS: usize = 16;

/// A folder as a store. Objects are regular files in folders, and neither may be a link. An object
/// appears as a hard link to a complete, synced file, so no reader sees a part of one, and of two
/// processes that write the same name one is refused, also on network file systems. Files and
/// folders get the mode that the process's mask gives them: the parties decide who may read them.
#[derive(Debug)]
pub struct FolderStore {
    root: PathBuf,
    /// The device and the inode of the root.
    is: (u64, u64),
}

impl FolderStore {
    /// The store in `root`, which must exist: a folder that was not mounted must not pass for an
    /// empty store.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotADirectory`], and file system errors.
    pub fn open(root: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(root)?;
        if metadata.is_dir() {
            let root = std::path::absolute(root)?;
            Ok(Self { root, is: (metadata.dev(), metadata.ino()) })
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// The root folder. It is opened again for each request: a folder that is open could not be
    /// unmounted, and after an unmount there is another folder in its place.
    fn root(&self) -> io::Result<Directory> {
        let root = Directory::open(&self.root)?;
        let metadata = root.metadata()?;
        if (metadata.dev(), metadata.ino()) == self.is {
            Ok(root)
        } else {
            Err(io::ErrorKind::StaleNetworkFileHandle.into())
        }
    }

    /// The folder that the object `name` is in, `None` if there is none; and the object's name in
    /// it.
    fn within<'a>(
        &self,
        root: Directory,
        name: &'a str,
    ) -> io::Result<(Option<Directory>, &'a str)> {
        match name.split_once('/') {
            Some((folder, name)) => Ok((Self::folder(&root, folder)?, name)),
            None => Ok((Some(root), name)),
        }
    }

    /// The folder of a run; `None` if there is none.
    fn folder(root: &Directory, name: &str) -> io::Result<Option<Directory>> {
        match root.folder(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                Err(NotAnObject::new(name, ActualKind::NotAFolder).into())
            }
            folder => folder.map(Some),
        }
    }

    /// Whether the store has the object.
    pub(crate) fn has(&self, name: &str) -> bool {
        let found = self.root().and_then(|root| match self.within(root, name)? {
            (Some(folder), name) => folder.found(name),
            (None, _) => Ok(None),
        });
        found.is_ok_and(|found| found.is_some_and(|found| found.kind == FoundKind::File))
    }

    /// Entries of `folder` whose name and type `is_wanted` accepts.
    fn entries(
        folder: &Directory,
        is_wanted: impl Fn(&str, FoundKind) -> bool,
    ) -> io::Result<Vec<Listed>> {
        let wanted = folder.entries()?.into_iter().filter(|(name, is)| is_wanted(name, is.kind));
        let listed = wanted.map(|(name, Found { bytes, written, .. })| Listed {
            name,
            bytes,
            written: Some(written),
        });
        Ok(listed.collect())
    }

    /// Entries of the folder of a run whose name and type `is_wanted` accepts; none if the folder
    /// is missing.
    fn entries_of(
        &self,
        folder: &str,
        is_wanted: impl Fn(&str, FoundKind) -> bool,
    ) -> io::Result<Vec<Listed>> {
        match Self::folder(&self.root()?, folder)? {
            Some(folder) => Self::entries(&folder, is_wanted),
            None => Ok(Vec::new()),
        }
    }
}

/// Writes the object and gives it its name, unless the name is taken.
fn write_new(folder: &Directory, unfinished: &str, name: &str, bytes: &[u8]) -> io::Result<bool> {
    let mut file = folder.create(unfinished, FILE_MODE)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    folder.link(unfinished, name)
}

impl Store for FolderStore {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        let root = self.root()?;
        if let Some((folder, _)) = name.split_once('/')
            && root.create_folder(folder, FOLDER_MODE)?
        {
            root.sync()?;
        }
        let (folder, name) = self.within(root, name)?;
        let folder = folder.ok_or(io::ErrorKind::NotFound)?;
        let mut suffix = [0; 8];
        rand::TryRng::try_fill_bytes(&mut rand::rngs::SysRng, &mut suffix)
            .map_err(|_| io::ErrorKind::Other)?;
        let unfinished = format!("{UNFINISHED}{:016x}", u64::from_le_bytes(suffix));
        let written = write_new(&folder, &unfinished, name, bytes);
        let _ = folder.remove(&unfinished);
        // Sync the folder also if an earlier process has linked the object: it may have been killed
        // before the sync.
        if written.is_ok() {
            folder.sync()?;
        }
        written
    }

    fn get(&self, name: &str, lengths: Lengths) -> io::Result<Option<Vec<u8>>> {
        let (Some(folder), file) = self.within(self.root()?, name)? else { return Ok(None) };
        let file = match folder.file(file)? {
            Opened::File(file) => file,
            Opened::Nothing => return Ok(None),
            Opened::NotAFile => return Err(NotAnObject::new(name, ActualKind::NotAFile).into()),
        };
        lengths.check(name, file.metadata()?.len())?;
        let mut bytes = Vec::new();
        file.take(lengths.most().saturating_add(1)).read_to_end(&mut bytes)?;
        // The file may have changed since its length was read.
        lengths.check(name, bytes.len() as u64)?;
        Ok(Some(bytes))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Listed>> {
        self.entries_of(folder, |name, is| !name.starts_with('.') && is != FoundKind::Folder)
    }

    fn folders(&self) -> io::Result<Vec<String>> {
        let is_run = |name: &str, is| !name.starts_with('.') && is == FoundKind::Folder;
        let folders = Self::entries(&self.root()?, is_run)?;
        Ok(folders.into_iter().map(|folder| folder.name).collect())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let root = self.root()?;
        let Some((folder, file)) = name.split_once('/') else { return root.remove(name) };
        let Some(within) = Self::folder(&root, folder)? else { return Ok(()) };
        within.remove(file)?;
        // The folder of the run is removed with its last object.
        let _ = root.remove_folder(folder);
        Ok(())
    }

    fn unfinished(&self, folder: &str) -> io::Result<Vec<Listed>> {
        self.entries_of(folder, |name, is| is_unfinished(name) && is == FoundKind::File)
    }

    fn place(&self) -> String {
        self.root.display().to_string()
    }
}

/// Whether a file of this name is an incomplete one.
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
        assert_eq!(store.get("run/a", Lengths::ANY).unwrap(), None);
        assert!(store.put_if_absent("run/a", b"one").unwrap());
        assert!(!store.put_if_absent("run/a", b"two").unwrap());
        assert_eq!(store.get("run/a", Lengths::ANY).unwrap().unwrap(), b"one");
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
            writers.into_iter().map(|w| w.join().unwrap()).filter(|won| *won).count()
        });
        assert_eq!(won, 1);
        let read = store.get("run/a", Lengths::ANY).unwrap().unwrap();
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
        // As if the store had been unmounted.
        fs::rename(&root, &away).unwrap();
        fs::create_dir(&root).unwrap();
        assert!(store.put_if_absent("run/a", b"one").is_err());
        assert!(store.get("run/a", Lengths::ANY).is_err());
        assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_regular_file_of_its_length_is_named_and_not_read() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let store = FolderStore::open(root.path()).unwrap();
        store.put_if_absent("run/file", b"12345").unwrap();
        let path = |name: &str| root.path().join("run").join(name);
        fs::File::create(path("sparse")).unwrap().set_len(1 << 30).unwrap();
        nix::unistd::mkfifo(&path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        symlink("file", path("link")).unwrap();
        symlink("/dev/zero", path("device")).unwrap();
        fs::create_dir(path("folder")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        let fault = |name: &str, lengths| {
            NotAnObject::of(&store.get(&format!("run/{name}"), lengths).unwrap_err()).unwrap()
        };
        for name in ["pipe", "link", "device", "folder", "socket"] {
            let expected = NotAnObject::new(&format!("run/{name}"), ActualKind::NotAFile);
            assert_eq!(fault(name, Lengths::ANY), expected);
            assert!(!store.put_if_absent(&format!("run/{name}"), b"").unwrap(), "{name}");
        }
        for lengths in [Lengths::up_to(4), Lengths::exactly(4), Lengths::exactly(6)] {
            assert_eq!(fault("file", lengths).is, ActualKind::Length { bytes: 5 });
        }
        assert_eq!(
            fault("sparse", Lengths::exactly(1316)).is,
            ActualKind::Length { bytes: 1 << 30 }
        );

        fs::rename(root.path().join("run"), root.path().join("away")).unwrap();
        symlink("away", root.path().join("run")).unwrap();
        let expected = NotAnObject::new("run", ActualKind::NotAFolder);
        assert_eq!(fault("file", Lengths::ANY), expected);
        for done in [store.put_if_absent("run/new", b"").map(drop), store.remove("run/file")] {
            assert_eq!(NotAnObject::of(&done.unwrap_err()), Some(expected));
        }
        assert!(store.list("run").is_err());
        assert_eq!(store.folders().unwrap(), ["away"]);
        assert!(root.path().join("away/file").exists());
        assert!(!root.path().join("away/new").exists());
    }

    #[test]
    fn objects_and_folders_have_the_mode_that_the_mask_gives() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        let store = FolderStore::open(root.path()).unwrap();
        store.put_if_absent("run/a", b"one").unwrap();
        fs::create_dir(root.path().join("made")).unwrap();
        fs::write(root.path().join("made/a"), "").unwrap();
        let mode = |name: &str| fs::metadata(root.path().join(name)).unwrap().permissions().mode();
        assert_eq!((mode("run"), mode("run/a")), (mode("made"), mode("made/a")));
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
