//! A fence around the Parquet decoder, which panics on some damaged files.

use crate::error::InputError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Runs `decode`; a panic in it means that the file is damaged or uses what the decoder lacks.
///
/// What `decode` borrows must not be used after an error: it may be half changed. The readers of
/// this module are dropped then.
pub(super) fn guarded<T>(
    path: &Path,
    decode: impl FnOnce() -> Result<T, InputError>,
) -> Result<T, InputError> {
    catch_unwind(AssertUnwindSafe(decode))
        .unwrap_or_else(|_| Err(InputError::DamagedParquet { path: path.to_path_buf() }))
}
