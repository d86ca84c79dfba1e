//! Files that appear whole, and whose damage is detected.

use crate::locks::uses_disk;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use vesica_core::hash::derive;

const DIGEST_LABEL: &str = "vesica helper 2026 stored file v1";

/// Bytes of the digest at the end of a file.
pub(super) const DIGEST_LEN: usize = 32;

/// The digest of a file's name and body.
pub(super) type Digest = [u8; DIGEST_LEN];

/// The digest at the end of the file `name`.
pub(super) fn digest(name: &str, body: &[u8]) -> Digest {
    derive(DIGEST_LABEL, &[name.as_bytes(), body])
}

/// Creates `dir` and its parents, for the owner only. An existing one is unchanged.
pub(super) fn make_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// The body of the file `dir`/`name`.
///
/// # Errors
/// Errors of the file system; [`io::ErrorKind::InvalidData`] if it is not what was written.
pub(super) fn read(dir: &Path, name: &str) -> io::Result<(Vec<u8>, Digest)> {
    uses_disk();
    let mut body = fs::read(dir.join(name))?;
    let found: Digest =
        body.split_last_chunk().map(|(_, found)| *found).ok_or(io::ErrorKind::InvalidData)?;
    body.truncate(body.len() - DIGEST_LEN);
    if digest(name, &body) == found {
        Ok((body, found))
    } else {
        Err(io::ErrorKind::InvalidData.into())
    }
}

/// The first `len` bytes of the body of `path`, which has `body_len`. Does not check the digest.
pub(super) fn read_head(path: &Path, len: usize, body_len: u64) -> io::Result<Vec<u8>> {
    uses_disk();
    let mut head = vec![0; usize::try_from(body_len).map_or(len, |body| body.min(len))];
    File::open(path)?.read_exact(&mut head)?;
    Ok(head)
}

/// Whether a file is missing, or not what was written.
pub(super) fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::InvalidData | io::ErrorKind::NotADirectory
    )
}
