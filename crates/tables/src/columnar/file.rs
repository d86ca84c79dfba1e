//! A file for the Parquet decoder: reading past its end is an error, not silence.

use crate::known_file::KnownFile;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use vesica_inputs::error::InputError;

/// A file whose end is an error to a reader that expects more.
///
/// The decoder skips unknown fields of a page header. Such a field may be a list of 2^31 numbers,
/// each of which takes a system call and no byte once the file is at its end: hours that nothing
/// can interrupt.
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

/// The error for an error of the Parquet decoder: a system error, or damage of the file.
pub(super) fn parquet_error(known: &KnownFile, error: &ParquetError) -> InputError {
    let path = known.path().to_path_buf();
    if let ParquetError::External(inner) = error
        && let Some(io) = inner.downcast_ref::<io::Error>()
        && io.kind() != io::ErrorKind::UnexpectedEof
    {
        return InputError::io(&path, io);
    }
    InputError::DamagedParquet { path }
}
