//! Storage for large intermediate data.

use std::io;

/// Creates storage for intermediate data. The implementation protects and removes data that holds secrets.
pub trait Scratch: Send + Sync {
    /// Creates an empty file.
    ///
    /// # Errors
    /// Those of the file system.
    fn create(&self) -> io::Result<Box<dyn ScratchFile>>;
}

/// A growing sequence of bytes with random read access.
pub trait ScratchFile: Send + Sync {
    /// Appends `bytes`.
    ///
    /// # Errors
    /// Those of the file system, such as a full disk.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

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
        Ok(Box::new(Vec::new()))
    }
}

impl ScratchFile for Vec<u8> {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let from = usize::try_from(offset).ok().and_then(|offset| self.get(offset..));
        let bytes = from.and_then(|from| from.get(..out.len()));
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn len(&self) -> u64 {
        Vec::len(self) as u64
    }
}
