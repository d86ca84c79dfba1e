//! Catches panics of the Parquet decoder, which panics on some damaged files.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use vesica_inputs::error::InputError;

thread_local! {
    static FENCED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this crate catches a panic of the current thread and turns it into a typed error.
///
/// For a program's panic hook, which runs before the panic is caught and should then be silent.
pub fn panic_is_caught() -> bool {
    FENCED.get()
}

/// Runs `decode`; a panic means that the file is damaged or uses a feature the decoder lacks.
///
/// Do not use what `decode` borrows after an error: it may be half changed. The readers of this
/// module are dropped then.
pub(crate) fn guarded<T>(
    path: &Path,
    decode: impl FnOnce() -> Result<T, InputError>,
) -> Result<T, InputError> {
    let damaged = || Err(InputError::DamagedParquet { path: path.to_path_buf() });
    unless_it_panics(decode).unwrap_or_else(damaged)
}

/// The value of `work`; `None` if it panics. Values that it borrows may then be half changed.
pub(super) fn unless_it_panics<T>(work: impl FnOnce() -> T) -> Option<T> {
    let outer = FENCED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    FENCED.set(outer);
    result.ok()
}
