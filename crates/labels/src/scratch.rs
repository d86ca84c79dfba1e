//! Where large intermediate data goes.

use std::io;

/// Makes places for intermediate data. What holds secrets of its user is its user's to protect and remove.
pub trait Scratch: Send + Sync {
    /// A new, empty place.
    ///
    /// # Errors
    /// Those of the file system.
    fn create(&self) -> io::Result<Box<dyn ScratchFile>>;
}

/// A growing sequence of bytes that can be read anywhere.
pub trait ScratchFile: Send + Sync {
    /// Adds `bytes` to the end.
    ///
    /// # Errors
    /// Those of the file system, such as a full disk.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Fills `out` from `offset` on.
    ///
    /// # Errors
    /// Those of the file system; [`io::ErrorKind::UnexpectedEof`] beyond the end.
    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;

    /// Number of bytes.
    fn len(&self) -> u64;

    /// Whether there are none.
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
