//! Intermediate data in files that nobody else sees and that go by themselves.

use super::file::make_dir;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use vesica_labels::{Scratch, ScratchFile};

/// Makes files without a name: they are gone when they are dropped, also when the process is killed.
#[derive(Debug)]
pub(crate) struct FileScratch {
    dir: PathBuf,
    next: AtomicU64,
}

impl FileScratch {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self { dir, next: AtomicU64::new(0) }
    }
}

impl Scratch for FileScratch {
    fn create(&self) -> io::Result<Box<dyn ScratchFile>> {
        make_dir(&self.dir)?;
        let name = self.next.fetch_add(1, Ordering::Relaxed).to_string();
        let path = self.dir.join(name);
        // One that an earlier process left in the moment before it took its name away.
        let _ = fs::remove_file(&path);
        let file =
            OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        fs::remove_file(&path)?;
        Ok(Box::new(Unnamed { file, len: 0 }))
    }
}

struct Unnamed {
    file: File,
    len: u64,
}

impl ScratchFile for Unnamed {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.len += bytes.len() as u64;
        Ok(())
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
    fn scratch_files_read_back_and_leave_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = FileScratch::new(dir.path().join("scratch"));
        let mut file = scratch.create().unwrap();
        file.append(b"one").unwrap();
        file.append(b"two").unwrap();
        let mut out = [0; 4];
        file.read_exact_at(2, &mut out).unwrap();
        assert_eq!((&out, file.len()), (b"etwo", 6));
        assert!(file.read_exact_at(3, &mut out).is_err());
        assert_eq!(fs::read_dir(dir.path().join("scratch")).unwrap().count(), 0);
    }
}
