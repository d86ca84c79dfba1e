//! A file that is opened again for every pass, and must be the same then.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vesica_inputs::error::InputError;
use vesica_inputs::snapshot::Snapshot;

/// A file as it was when it was opened first.
#[derive(Debug)]
pub(crate) struct KnownFile {
    pub(crate) path: PathBuf,
    /// `None` for a folder and a frame, which cannot be opened as a file.
    pub(crate) snapshot: Option<Arc<Snapshot>>,
}

impl KnownFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file again, if it is still the same.
    pub(crate) fn reopen(&self) -> Result<File, InputError> {
        let failed = |error: std::io::Error| match error.kind() {
            // It was there when it was opened first.
            std::io::ErrorKind::NotFound => InputError::Changed { path: self.path.clone() },
            _ => InputError::io(&self.path, &error),
        };
        let file = File::open(&self.path).map_err(failed)?;
        let changed = || InputError::Changed { path: self.path.clone() };
        self.snapshot.as_ref().ok_or_else(changed)?.check(&file, &self.path)?;
        Ok(file)
    }
}
