//! Intermediate data in private files that remove themselves.

use crate::{Scratch, ScratchFile};
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Creates unnamed files in a folder: no other process can open them by a path, and they disappear
/// when dropped, also if the process is killed.
#[derive(Clone, Debug)]
pub struct FolderScratch {
    folder: PathBuf,
    bytes: Arc<AtomicU64>,
    peak: Arc<AtomicU64>,
}

impl FolderScratch {
    /// Files in `folder`, which is created with the first of them, for its owner only.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, bytes: Arc::default(), peak: Arc::default() }
    }

    /// Bytes in all existing files of this value and its clones.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The most bytes that there ever were.
    pub fn peak_bytes(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// Bytes that this user may still write to the file system of the folder.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn free_bytes(&self) -> io::Result<u64> {
        let stat = nix::sys::statvfs::statvfs(self.existing())?;
        Ok(stat.blocks_available() * stat.fragment_size())
    }

    /// Tries whether files can be created in the folder, or in the one above it that exists. Leaves
    /// nothing behind.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn try_out(&self) -> io::Result<()> {
        tempfile::tempfile_in(self.existing()).map(drop)
    }

    /// The folder, or the nearest one above it that exists.
    fn existing(&self) -> &Path {
        let above = self.folder.ancestors().find(|folder| {
            let found = folder.symlink_metadata();
            !found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        });
        // Above a relative path comes the current folder.
        above.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }
}

impl Scratch for FolderScratch {
    fn create(&self) -> io::Result<Box<dyn ScratchFile>> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let [all, peak] = [&self.bytes, &self.peak].map(Arc::clone);
        Ok(Box::new(Nameless { file: tempfile::tempfile_in(&self.folder)?, len: 0, all, peak }))
    }
}

struct Nameless {
    file: File,
    len: u64,
    all: Arc<AtomicU64>,
    peak: Arc<AtomicU64>,
}

impl Drop for Nameless {
    fn drop(&mut self) {
        self.all.fetch_sub(self.len, Ordering::Relaxed);
    }
}

impl ScratchFile for Nameless {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        // At the end, wherever other bytes were written last.
        self.file.write_all_at(bytes, self.len)?;
        self.len += bytes.len() as u64;
        let all = self.all.fetch_add(bytes.len() as u64, Ordering::Relaxed) + bytes.len() as u64;
        self.peak.fetch_max(all, Ordering::Relaxed);
        Ok(())
    }

    fn overwrite_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if offset.checked_add(bytes.len() as u64).is_some_and(|end| end <= self.len) {
            self.file.write_all_at(bytes, offset)
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(out, offset)
    }

    fn len(&self) -> u64 {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_tried_out_without_a_trace() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = FolderScratch::new(dir.path().join("new/folder"));
        scratch.try_out().unwrap();
        assert!(scratch.free_bytes().unwrap() > 0);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        FolderScratch::new("no-such-folder".into()).try_out().unwrap();
        std::fs::write(dir.path().join("file"), "a file").unwrap();
        for bad in ["file", "file/below"] {
            assert!(FolderScratch::new(dir.path().join(bad)).try_out().is_err(), "{bad}");
        }
        // No user, not even root, can create files there.
        assert!(FolderScratch::new("/proc/none".into()).try_out().is_err());
    }

    #[test]
    fn scratch_files_read_back_and_leave_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = FolderScratch::new(dir.path().join("scratch"));
        let mut file = scratch.create().unwrap();
        file.append(b"one").unwrap();
        file.append(b"two").unwrap();
        let mut out = [0; 4];
        file.read_exact_at(2, &mut out).unwrap();
        assert_eq!((&out, file.len(), scratch.clone().bytes()), (b"etwo", 6, 6));
        assert!(file.read_exact_at(3, &mut out).is_err());
        file.overwrite_at(1, b"ice").unwrap();
        assert!(file.overwrite_at(4, b"too long").is_err());
        file.append(b"!").unwrap();
        file.read_exact_at(0, &mut out).unwrap();
        assert_eq!((&out, file.len(), scratch.clone().bytes()), (b"oice", 7, 7));
        drop(file);
        assert_eq!(scratch.bytes(), 0);
        assert_eq!(std::fs::read_dir(dir.path().join("scratch")).unwrap().count(), 0);
    }
}
