//! Storage for large intermediate data.

use std::io;
use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// Creates storage for intermediate data. The implementation protects and removes data that holds
/// secrets.
pub trait Scratch: Send + Sync {
    /// Creates an empty file.
    ///
    /// # Errors
    /// Those of the file system.
    fn create(&self) -> io::Result<Box<dyn ScratchFile>>;
}

/// A growing sequence of bytes that are read, and written over, at any place.
pub trait ScratchFile: Send + Sync {
    /// Appends `bytes`.
    ///
    /// # Errors
    /// Those of the file system, such as a full disk.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Writes `bytes` over those from `offset` on, which must be there. Others may read and write
    /// other places meanwhile.
    ///
    /// # Errors
    /// Those of the file system; [`io::ErrorKind::UnexpectedEof`] beyond the end.
    fn overwrite_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Fills `out` with the bytes from `offset` on.
    ///
    /// # Errors
    /// Those of the file system; [`io::ErrorKind::UnexpectedEof`] beyond the end.
    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;

    /// Number of bytes.
    fn len(&self) -> u64;

    /// Whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Intermediate data in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryScratch;

impl Scratch for MemoryScratch {
    fn create(&self) -> io::Result<Box<dyn ScratchFile>> {
        Ok(Box::new(InMemory::default()))
    }
}

#[derive(Default)]
struct InMemory(RwLock<Vec<u8>>);

impl InMemory {
    fn read(&self) -> RwLockReadGuard<'_, Vec<u8>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where `len` bytes from `offset` on are.
fn range(offset: u64, len: usize) -> io::Result<Range<usize>> {
    let start = usize::try_from(offset).ok();
    let range = start.and_then(|start| Some(start..start.checked_add(len)?));
    range.ok_or(io::ErrorKind::UnexpectedEof.into())
}

impl ScratchFile for InMemory {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(())
    }

    fn overwrite_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let there = all.get_mut(range(offset, bytes.len())?);
        there.ok_or(io::ErrorKind::UnexpectedEof)?.copy_from_slice(bytes);
        Ok(())
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let all = self.read();
        out.copy_from_slice(
            all.get(range(offset, out.len())?).ok_or(io::ErrorKind::UnexpectedEof)?,
        );
        Ok(())
    }

    fn len(&self) -> u64 {
        self.read().len() as u64
    }
}
