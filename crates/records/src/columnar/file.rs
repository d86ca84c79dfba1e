//! A file as the Parquet decoder reads it, which ends with an error and not with silence.

use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// A file whose end is an error to who reads over it.
///
/// The decoder skips what it does not know in a page header. That may be a list of 2^31 numbers, each of which
/// takes a system call and no byte once the file is at its end: hours, in which nothing can stop it.
pub(super) struct TableFile(pub(super) File);

impl Length for TableFile {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for TableFile {
    type T = BufReader<ToTheEnd>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut file = self.0.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(ToTheEnd(file)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// A reader of a file up to its end.
pub(super) struct ToTheEnd(File);

impl Read for ToTheEnd {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buf)? {
            0 if !buf.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            n => Ok(n),
        }
    }
}
