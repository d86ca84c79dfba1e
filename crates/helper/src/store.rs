//! The helper's data of its runs: in files, or in memory as long as it is small.
//!
//! ```text
//! DIR/lock                         held while a service uses the directory
//! DIR/runs/<id>/run                the run's description; without it the rest is useless
//! DIR/runs/<id>/secret             the helper's own random bytes of the run
//! DIR/runs/<id>/done-<party>       this party has all it needs
//! DIR/runs/<id>/<kind>-<party>-<part>   a slot
//! DIR/ended/<id>                   how a run ended, for parties not yet notified
//! DIR/gone/                        runs being removed
//! DIR/scratch/                     intermediate data, in files without a name
//! ```
//!
//! Every file ends with a digest of its name and its bytes, is written under another name and then
//! renamed.
//!
//! A killed process loses nothing. Neither does a power failure lose anything confirmed: before a
//! party receives anything about a run, all data of the run is on the disk, files and names
//! ([`RunStore::sync`]). The same holds before anything is computed from it, and before a slot that
//! marks a list as complete. Unconfirmed data may be lost, which the digest detects: it counts as
//! empty. Corrupted bytes on the disk are detected in the same way;
//! [`vesica_server_aided::kmrs14::helper::left`] finds what is lost with them.

mod directory;
mod disk;
mod ended;
mod file;
#[cfg(test)]
#[path = "tests/power.rs"]
pub(crate) mod power;
mod record;
mod run;

pub use directory::Keeping;
pub(crate) use directory::Store;
pub(crate) use disk::Disk;
pub(crate) use ended::EndedRecord;
pub(crate) use record::{Record, RunId, SLOT_OVERHEAD_BYTES, charge};
pub(crate) use run::{Damage, Kept, Mark, RunStore};

use file::is_damage;
use record::id_of;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use vesica_link::{Access, access_of_others};
use vesica_scratch::FolderScratch;

/// A run of an earlier process.
pub(crate) type Found = (RunId, Record, RunStore);

/// Permission bits with which the group or others may write.
const WRITABLE: u32 = 0o022;

/// Why the helper's directory cannot be used. Holds its path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system refused to read or write it.
    #[error("the helper's directory {} cannot be used ({kind})", path.display())]
    Unusable {
        /// The directory, or an entry of it.
        path: PathBuf,
        /// The operating system's error.
        kind: io::ErrorKind,
    },
    /// It belongs to another user of the machine.
    #[error("the helper's directory {} belongs to another user", path.display())]
    NotOurs {
        /// The directory.
        path: PathBuf,
    },
    /// Other users of the machine could change what is in it.
    #[error("other users can write in the helper's directory {} (mode {mode:03o})", path.display())]
    Writable {
        /// The directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Another helper uses it.
    #[error("another helper uses the directory {}", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
}

/// The contents of the file `name` of a run: its body, and a digest of both.
pub(crate) fn stored_file(name: &str, body: &[u8]) -> Vec<u8> {
    [body, &file::digest(name, body)].concat()
}

impl Store {
    /// Opens the directory, which is created if missing, and finds the runs in it.
    pub(crate) fn open(
        root: &Path,
        keeping: Keeping,
        disk: Disk,
    ) -> Result<(Arc<Self>, Vec<Found>), StoreError> {
        let unusable = |path: &Path| {
            let path = path.to_path_buf();
            move |error: io::Error| StoreError::Unusable { path, kind: error.kind() }
        };
        let access = match fs::metadata(root) {
            Ok(found) => access_of_others(&found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(unusable(root)(error)),
        };
        let is_used = fs::read_dir(root).is_ok_and(|mut entries| entries.next().is_some());
        match access {
            Some(Access::Owner) => return Err(StoreError::NotOurs { path: root.to_path_buf() }),
            // Files of another program must not be swept.
            _ if is_used && !root.join("lock").is_file() => {
                return Err(unusable(root)(io::ErrorKind::DirectoryNotEmpty.into()));
            }
            // Links could redirect writes to another place.
            Some(Access::Mode { mode }) if is_used && mode & WRITABLE != 0 => {
                return Err(StoreError::Writable { path: root.to_path_buf(), mode });
            }
            // Any other mode that lets others in is corrected below.
            _ => {}
        }
        file::make_dir(root).map_err(unusable(root))?;
        for dir in [root.join("runs"), root.join("ended"), root.join("gone")] {
            disk.make_dir(&dir).map_err(unusable(&dir))?;
        }
        disk.sync(root).map_err(unusable(root))?;
        // An existing directory may have been accessible to others.
        fs::set_permissions(root, Permissions::from_mode(0o700)).map_err(unusable(root))?;
        let lock_path = root.join("lock");
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&lock_path)
            .map_err(unusable(&lock_path))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => StoreError::InUse { path: root.to_path_buf() },
            TryLockError::Error(error) => unusable(&lock_path)(error),
        })?;
        let store = Arc::new(Self {
            root: root.to_path_buf(),
            disk,
            keeping,
            scratch: FolderScratch::new(root.join("scratch")),
            next: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            labels: AtomicU64::new(0),
            memory_bytes: AtomicU64::new(0),
            lock,
        });
        // Files that an earlier process was removing must not come back incomplete.
        for dir in [root.join("gone"), root.join("runs")] {
            store.disk.sync(&dir).map_err(unusable(&dir))?;
        }
        store.empty(&root.join("gone"));
        let found = store.find().map_err(unusable(&root.join("runs")))?;
        Ok((store, found))
    }

    /// The store of a new run.
    pub(crate) fn run(self: &Arc<Self>, id: &RunId) -> RunStore {
        RunStore::new(Arc::clone(self), id)
    }

    fn find(self: &Arc<Self>) -> io::Result<Vec<Found>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.root.join("runs"))? {
            let path = entry?.path();
            let id = path.file_name().and_then(OsStr::to_str).and_then(id_of);
            let read = id.map(|id| RunStore::find(Arc::clone(self), &id).map(|run| (id, run)));
            match read {
                Some(Ok((id, (record, run)))) if record.spec.id() == id => {
                    found.push((id, record, run));
                }
                // Data that may be readable another time must not be lost.
                Some(Err(error)) if !is_damage(&error) => return Err(error),
                _ => {
                    tracing::warn!("the rest of a run cannot be read and is removed");
                    self.sweep(self.discard(&path));
                }
            }
        }
        // Temporary files of the earlier process.
        for entry in fs::read_dir(&self.root)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(|name| name.starts_with(".new-")) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(found)
    }
}
