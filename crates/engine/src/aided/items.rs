//! The items of a party's rows: in memory while they are few, then in a file.

use std::io;
use vesica_core::Item;
use vesica_labels::{Scratch, ScratchFile};
use vesica_protocols::kmrs14::Items;

/// Items read at once.
const READ_ITEMS: usize = 1 << 14;

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
    use vesica_helper::FolderScratch;

    #[test]
    fn items_come_back_in_order_from_memory_and_from_files() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = FolderScratch::new(folder.path().to_path_buf());
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
