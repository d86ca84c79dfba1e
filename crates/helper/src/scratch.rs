//! Intermediate data in files that nobody else sees and that go by themselves.

use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::PathBuf;
use vesica_labels::{Scratch, ScratchFile};

/// Makes files without a name in a folder: nobody else opens them, and they are gone when they are dropped, also when
/// the process is killed.
#[derive(Clone, Debug)]
pub struct FolderScratch {
    folder: PathBuf,
}

impl FolderScratch {
    /// Files in `folder`, which is made, for its owner alone, when the first of them is.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }
}

impl Scratch for FolderScratch {
    fn create(&self) -> io::Result<Box<dyn ScratchFile>> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        Ok(Box::new(Nameless { file: tempfile::tempfile_in(&self.folder)?, len: 0 }))
    }
}

struct Nameless {
    file: File,
    len: u64,
}

impl ScratchFile for Nameless {
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
        let scratch = FolderScratch::new(dir.path().join("scratch"));
        let mut file = scratch.create().unwrap();
        file.append(b"one").unwrap();
        file.append(b"two").unwrap();
        let mut out = [0; 4];
        file.read_exact_at(2, &mut out).unwrap();
        assert_eq!((&out, file.len()), (b"etwo", 6));
        assert!(file.read_exact_at(3, &mut out).is_err());
        assert_eq!(std::fs::read_dir(dir.path().join("scratch")).unwrap().count(), 0);
    }
}
