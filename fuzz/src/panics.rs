//! Determines which panics are findings.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

static SEEN: AtomicBool = AtomicBool::new(false);

/// Hides expected panics from later panic hooks: the Parquet decoder panics on some damaged files,
/// and its caller turns that into an error.
pub fn quiet_expected_panics() {
    let others = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !vesica_tables::panic_is_caught() {
            others(info);
        }
    }));
}

/// Records every unexpected panic, on any thread.
pub(crate) fn watch() {
    let others = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        SEEN.store(true, Ordering::SeqCst);
        others(info);
    }));
    quiet_expected_panics();
}

/// Whether there was one since the last call.
pub(crate) fn were_seen() -> bool {
    SEEN.swap(false, Ordering::SeqCst)
}
