//! The bytes of a file, decompressed, with a count of the bytes consumed.

use crate::InputError;
use crate::format::Codec;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use twox_hash::XxHash3_128;

const COMPRESSED_BUFFER_BYTES: usize = 1 << 18;

/// A file that counts the bytes read from it.
struct Counted {
    file: File,
    done: Arc<AtomicU64>,
    hasher: Arc<Mutex<Option<XxHash3_128>>>,
}

impl Read for Counted {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buf)?;
        self.done.fetch_add(n as u64, Ordering::Relaxed);
        if let Some(hasher) = lock(&self.hasher).as_mut() {
            hasher.write(&buf[..n]);
        }
        Ok(n)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether zstd reports that the data needs a larger window than it accepts. zstd has a code for
/// that, but the error keeps only its text.
fn is_window_too_large(error: &io::Error) -> bool {
    error.to_string().contains("requires too much memory")
}

/// Decompressed bytes of a file.
pub struct ByteStream {
    inner: Box<dyn Read>,
    done: Arc<AtomicU64>,
    /// Of the bytes of the file, where a digest is wanted.
    hasher: Arc<Mutex<Option<XxHash3_128>>>,
    codec: Codec,
    path: PathBuf,
}

impl ByteStream {
    /// Reads `file` from its current position, decompressing `codec`.
    pub fn new(file: File, codec: Codec, path: &Path) -> Result<Self, InputError> {
        Self::hashed(file, codec, path, None)
    }

    /// Like [`ByteStream::new`], and makes a digest of the bytes of the file as they are read.
    pub fn digesting(file: File, codec: Codec, path: &Path) -> Result<Self, InputError> {
        Self::hashed(file, codec, path, Some(XxHash3_128::new()))
    }

    fn hashed(
        file: File,
        codec: Codec,
        path: &Path,
        hasher: Option<XxHash3_128>,
    ) -> Result<Self, InputError> {
        let done = Arc::new(AtomicU64::new(0));
        let hasher = Arc::new(Mutex::new(hasher));
        let counted = Counted { file, done: Arc::clone(&done), hasher: Arc::clone(&hasher) };
        let buffered = |counted| BufReader::with_capacity(COMPRESSED_BUFFER_BYTES, counted);
        let inner: Box<dyn Read> = match codec {
            Codec::Plain => Box::new(counted),
            Codec::Gzip => Box::new(MultiGzDecoder::new(buffered(counted))),
            Codec::Zstd => Box::new(
                zstd::stream::read::Decoder::with_buffer(buffered(counted))
                    .map_err(|error| InputError::io(path, &error))?,
            ),
        };
        Ok(Self { inner, done, hasher, codec, path: path.to_path_buf() })
    }

    /// The digest of the bytes of the file that were read so far, if one was wanted.
    pub fn digest(&self) -> Option<u128> {
        lock(&self.hasher).as_ref().map(XxHash3_128::finish_128)
    }

    /// A stream over bytes in memory.
    pub fn from_memory(bytes: Vec<u8>) -> Self {
        Self {
            inner: Box::new(io::Cursor::new(bytes)),
            done: Arc::default(),
            hasher: Arc::default(),
            codec: Codec::Plain,
            path: PathBuf::from("memory"),
        }
    }

    /// Fills `buf` as far as the file allows; less than all of it means the end.
    pub fn fill(&mut self, buf: &mut [u8]) -> Result<usize, InputError> {
        let mut filled = 0;
        while filled < buf.len() {
            match self.inner.read(&mut buf[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failure(&error)),
            }
        }
        Ok(filled)
    }

    /// Skips `bytes` bytes, or to the end of the file.
    pub fn skip(&mut self, mut bytes: u64) -> Result<(), InputError> {
        let mut skipped = vec![0; bytes.min(1 << 16) as usize];
        while bytes > 0 {
            let len = bytes.min(skipped.len() as u64) as usize;
            let filled = self.fill(&mut skipped[..len])?;
            if filled == 0 {
                break;
            }
            bytes -= filled as u64;
        }
        Ok(())
    }

    /// System errors have an error number, decoder errors do not.
    fn failure(&self, error: &io::Error) -> InputError {
        if self.codec == Codec::Plain || error.raw_os_error().is_some() {
            InputError::io(&self.path, error)
        } else if self.codec == Codec::Zstd && is_window_too_large(error) {
            InputError::WindowTooLarge { path: self.path.clone() }
        } else {
            InputError::DamagedCompression { path: self.path.clone(), codec: self.codec }
        }
    }

    /// Bytes of the file on disk that were consumed.
    pub fn bytes_done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}
