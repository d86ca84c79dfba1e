//! The helper's directory.

use super::disk::Disk;
use super::file;
use crate::locks::uses_disk;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use vesica_scratch::FolderScratch;

/// Where slots are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// In files. Runs survive a restart of the service.
    Files,
    /// In memory up to a limit for all runs together, and the rest in files. Runs do not survive a
    /// restart.
    Memory {
        /// The limit.
        limit_bytes: u64,
    },
}

/// A directory with the data of all runs.
#[derive(Debug)]
pub(crate) struct Store {
    pub(super) root: PathBuf,
    pub(super) disk: Disk,
    pub(super) keeping: Keeping,
    pub(super) scratch: FolderScratch,
    pub(super) next: AtomicU64,
    /// Stored bytes and labels, and the part of the bytes in memory.
    pub(super) bytes: AtomicU64,
    pub(super) labels: AtomicU64,
    pub(super) memory_bytes: AtomicU64,
    /// The system unlocks it when the process ends.
    pub(super) lock: File,
}

impl Store {
    /// The store of intermediate data.
    pub(crate) fn scratch(&self) -> &FolderScratch {
        &self.scratch
    }

    /// Stored bytes of all runs.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Stored bytes and intermediate data on the disk.
    pub(crate) fn disk_bytes(&self) -> u64 {
        let in_memory = self.memory_bytes.load(Ordering::Relaxed);
        self.bytes().saturating_sub(in_memory) + self.scratch.bytes()
    }

    /// Free bytes on the disk for this user, and the size of the disk.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn disk_space(&self) -> io::Result<(u64, u64)> {
        uses_disk();
        let stat = nix::sys::statvfs::statvfs(&self.root)?;
        let bytes = |blocks: u64| blocks.saturating_mul(stat.fragment_size());
        Ok((bytes(stat.blocks_available()), bytes(stat.blocks())))
    }

    /// Stored labels of all runs.
    pub(crate) fn labels(&self) -> u64 {
        self.labels.load(Ordering::Relaxed)
    }

    /// Whether the directory can be written now.
    ///
    /// # Errors
    /// The error that prevents it.
    pub(crate) fn check(&self) -> io::Result<()> {
        let path = self.root.join(self.fresh_name());
        self.disk.create(&path, &[0; 4096], &[0; file::DIGEST_LEN])?;
        self.disk.remove_file(&path)
    }

    pub(super) fn fresh_name(&self) -> String {
        format!(".new-{}", self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Moves the directory of a run out of the way durably; returns its new place.
    pub(super) fn discard(&self, dir: &Path) -> Option<PathBuf> {
        let [runs, gone] = ["runs", "gone"].map(|name| self.root.join(name));
        let place = gone.join(self.fresh_name());
        let moved = self.disk.rename(dir, &place);
        // It must not return with half of its contents.
        match moved.and_then(|()| self.disk.sync(&gone)).and_then(|()| self.disk.sync(&runs)) {
            Ok(()) => Some(place),
            Err(error) => {
                warn_unless_missing(&error);
                None
            }
        }
    }

    /// Removes the files of a removed run. May take a while for a large one.
    pub(crate) fn sweep(&self, gone: Option<PathBuf>) {
        if let Some(Err(error)) = gone.map(|gone| self.disk.remove_dir_all(&gone)) {
            warn_unless_missing(&error);
        }
    }

    /// Lets another service use the directory; this one must not use it afterwards.
    pub(crate) fn unlock(&self) {
        let _ = self.lock.unlock();
    }

    pub(super) fn empty(&self, dir: &Path) {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn warn_unless_missing(error: &io::Error) {
    if error.kind() != io::ErrorKind::NotFound {
        tracing::warn!(error = %error.kind(), "the data of a run could not be removed");
    }
}
