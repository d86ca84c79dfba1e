//! In this process, with the lists in memory or in files.
//!
//! For unordered sets, the usual choice is a hash join partitioned by the leading bits of the
//! labels, so that each partition fits a cache. The lists are already sorted and cut by their
//! leading bits, so each partition is merged instead of hashed ([`join::common`]). Memory is some
//! segments of each list for each thread, however long the lists.

use crate::backend::{Answers, Backend, RunName, Stop};
use crate::error::BackendError;
use crate::slices::threads_within;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use vesica_labels::{List, join};
use vesica_net::Pool;

/// The file that [`Backend::check`] writes and removes.
const PROBE: &str = ".vesica-check";

#[derive(Debug)]
pub(crate) struct Local {
    directory: Option<PathBuf>,
    pool: Threads,
    memory_bytes: u64,
}

struct Threads(Pool);

impl std::fmt::Debug for Threads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.len())
    }
}

impl Local {
    pub(crate) fn new(directory: Option<PathBuf>, pool: Pool, memory_bytes: u64) -> Self {
        Self { directory, pool: Threads(pool), memory_bytes }
    }
}

/// Checks that the file `name` can be written into a directory and removed.
pub(crate) fn check_directory(directory: &Path, name: &str) -> Result<(), BackendError> {
    let probe = directory.join(name);
    let unusable = |error: io::Error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => BackendError::OutOfSpace,
        kind => BackendError::Directory(kind),
    };
    fs::write(&probe, name).map_err(unusable)?;
    fs::remove_file(&probe).map_err(unusable)
}

impl Backend for Local {
    fn name(&self) -> &'static str {
        if self.directory.is_some() { "disk" } else { "memory" }
    }

    fn common(&self, _run: &RunName, lists: &[List<'_>], stop: Stop<'_>) -> Answers {
        let pool = &self.pool.0;
        let threads = threads_within(lists, pool.len(), self.memory_bytes);
        let common = if threads < pool.len() {
            let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
            let fewer = Pool::new(threads).map_err(|_| BackendError::Threads)?;
            join::common(lists, &fewer, stop)
        } else {
            join::common(lists, pool, stop)
        };
        common.map_err(BackendError::of_list)
    }

    fn check(&self) -> Result<(), BackendError> {
        let Some(directory) = &self.directory else { return Ok(()) };
        check_directory(directory, PROBE)
    }

    fn forget(&self, _run: &RunName) -> Result<(), BackendError> {
        // The lists belong to the service, and nothing else is written.
        Ok(())
    }
}
