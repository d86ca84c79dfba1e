//! What a file was when it was first opened, so that later passes read the same.

use crate::error::InputError;
use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;
use twox_hash::XxHash3_128;

/// Bytes that a digest reads at a time.
const PIECE_BYTES: usize = 1 << 18;

/// What tells whether a path still names the same file, untouched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    inode: u64,
    len_bytes: u64,
    modified: Option<SystemTime>,
    /// When the contents or the attributes last changed, in seconds and nanoseconds. No program can
    /// set it, so a file that was written and given its old time back is noticed.
    status_changed: (i64, i64),
}

impl Identity {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            len_bytes: metadata.len(),
            modified: metadata.modified().ok(),
            status_changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// A digest of parts of a file. It does not detect forgery: anyone who can write the file can also
/// write what is read first.
#[derive(Debug)]
struct Digest {
    ranges: Vec<Range<u64>>,
    value: u128,
}

/// A file as it was first opened, and a digest of what a pass has read of it. A backup that links
/// the file, a scanner that marks it or a program that writes the same bytes again changes its
/// attributes alone: then the digest decides.
#[derive(Debug)]
pub struct Snapshot {
    identity: Mutex<Identity>,
    digest: OnceLock<Digest>,
}

impl Snapshot {
    /// The file with this metadata, without a digest yet.
    pub fn of(metadata: &Metadata) -> Self {
        Self { identity: Mutex::new(Identity::of(metadata)), digest: OnceLock::new() }
    }

    pub fn len_bytes(&self) -> u64 {
        self.identity().len_bytes
    }

    /// Whether `metadata` is that of the same file, by device and inode.
    pub fn is_file_of(&self, metadata: &Metadata) -> bool {
        let identity = self.identity();
        (identity.device, identity.inode) == (metadata.dev(), metadata.ino())
    }

    pub fn has_digest(&self) -> bool {
        self.digest.get().is_some()
    }

    /// Keeps the digest of the whole file, made of `len_bytes` bytes that were read.
    pub fn keep(&self, len_bytes: u64, value: u128) {
        if len_bytes == self.len_bytes() {
            let _ = self.digest.set(Digest { ranges: vec![0..len_bytes; 1], value });
        }
    }

    /// Keeps a digest of parts of `file`, which is unchanged so far. Ranges beyond its end count as
    /// far as it goes.
    pub fn keep_of(&self, file: &File, ranges: Vec<Range<u64>>) -> io::Result<()> {
        if !self.has_digest() {
            let value = digest(file, &ranges)?;
            let _ = self.digest.set(Digest { ranges, value });
        }
        Ok(())
    }

    /// Checks that `file`, opened at `path`, holds what it held at first.
    ///
    /// # Errors
    /// [`InputError::Changed`] if its length differs, or its attributes differ and there is no
    /// digest or another one; errors of reading.
    pub fn check(&self, file: &File, path: &Path) -> Result<(), InputError> {
        let failed = |error: io::Error| InputError::io(path, &error);
        let changed = || InputError::Changed { path: path.to_path_buf() };
        let identity_now = || file.metadata().map(|now| Identity::of(&now)).map_err(failed);
        // Others wait here for the digest.
        let mut known = self.identity();
        let now = identity_now()?;
        if now == *known {
            return Ok(());
        }
        let first =
            self.digest.get().filter(|_| now.len_bytes == known.len_bytes).ok_or_else(changed)?;
        let is_same = digest(file, &first.ranges).map_err(failed)? == first.value;
        if !is_same || identity_now()? != now {
            return Err(changed());
        }
        *known = now;
        Ok(())
    }

    /// Whether `now`, which was made of the same path, has the same attributes.
    pub fn is_untouched(&self, now: &Snapshot) -> bool {
        *self.identity() == *now.identity()
    }

    fn identity(&self) -> MutexGuard<'_, Identity> {
        self.identity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The digest of the bytes of `file` in `ranges`.
fn digest(file: &File, ranges: &[Range<u64>]) -> io::Result<u128> {
    let mut hasher = XxHash3_128::new();
    let mut piece = vec![0; PIECE_BYTES];
    for Range { start, end } in ranges {
        let mut at = *start;
        while at < *end {
            let len = usize::try_from(end - at).map_or(PIECE_BYTES, |left| left.min(PIECE_BYTES));
            match file.read_at(&mut piece[..len], at) {
                Ok(0) => break,
                Ok(read) => {
                    hasher.write(&piece[..read]);
                    at += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(hasher.finish_128())
}
