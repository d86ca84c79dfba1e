//! Intermediate data of one run: in memory while it is small, then in files without a name.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use vesica_core::Item;
use vesica_labels::{Scratch, ScratchFile};
use vesica_protocols::kmrs14::Items;

/// Items read at once.
const READ_ITEMS: usize = 1 << 14;

/// Files in a folder. They have no name there, so that nobody else opens them and nothing stays behind, however the
/// process ends.
pub(crate) struct FolderScratch {
    folder: PathBuf,
}

impl FolderScratch {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf() }
    }
}

impl Scratch for FolderScratch {
    fn create(&self) -> io::Result<Box<dyn ScratchFile>> {
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

/// The items of a file's rows, 16 bytes each, in the order of the rows.
pub(crate) struct RowItems<'a> {
    kept: Box<dyn ScratchFile>,
    in_memory: bool,
    memory_bytes: u64,
    scratch: &'a dyn Scratch,
}

impl<'a> RowItems<'a> {
    /// None yet; more than `memory_bytes` of them go to `scratch`.
    pub(crate) fn new(memory_bytes: u64, scratch: &'a dyn Scratch) -> Self {
        Self { kept: Box::new(Vec::new()), in_memory: true, memory_bytes, scratch }
    }

    /// Adds the items of the next rows.
    pub(crate) fn push(&mut self, items: &[Item]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(items.len() * Item::LEN);
        items.iter().for_each(|item| bytes.extend_from_slice(item.as_bytes()));
        if self.in_memory && self.kept.len() + bytes.len() as u64 > self.memory_bytes {
            let mut file = self.scratch.create()?;
            let mut piece = vec![0; READ_ITEMS * Item::LEN];
            let mut done = 0;
            while done < self.kept.len() {
                let now = (self.kept.len() - done).min(piece.len() as u64) as usize;
                self.kept.read_exact_at(done, &mut piece[..now])?;
                file.append(&piece[..now])?;
                done += now as u64;
            }
            (self.kept, self.in_memory) = (file, false);
        }
        self.kept.append(&bytes)
    }
}

impl Items for RowItems<'_> {
    fn rows(&self) -> u64 {
        self.kept.len() / Item::LEN as u64
    }

    fn each(&self, take: &mut dyn FnMut(u64, &[Item]) -> io::Result<()>) -> io::Result<()> {
        let mut bytes = vec![0; READ_ITEMS * Item::LEN];
        let mut items = Vec::with_capacity(READ_ITEMS);
        let (mut first, rows) = (0, self.rows());
        while first < rows {
            let now = (rows - first).min(READ_ITEMS as u64) as usize;
            let bytes = &mut bytes[..now * Item::LEN];
            self.kept.read_exact_at(first * Item::LEN as u64, bytes)?;
            items.clear();
            items.extend(bytes.as_chunks().0.iter().map(|bytes| Item::from_bytes(*bytes)));
            take(first, &items)?;
            first += now as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_back_in_order_from_memory_and_from_files() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = FolderScratch::new(folder.path());
        let all: Vec<Item> = (0..100_000_u128).map(Item::from_integer).collect();
        for memory_bytes in [0, 1 << 10, 1 << 30] {
            let mut kept = RowItems::new(memory_bytes, &scratch);
            all.chunks(777).for_each(|items| kept.push(items).unwrap());
            assert_eq!(kept.rows(), 100_000);
            let mut back = Vec::new();
            kept.each(&mut |first, items| {
                assert_eq!(first, back.len() as u64);
                back.extend_from_slice(items);
                Ok(())
            })
            .unwrap();
            assert!(back == all);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "files have no name");
    }
}
