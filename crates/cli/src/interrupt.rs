//! Ctrl-C and SIGTERM.

use crate::failure::code;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use vesica_link::CancelToken;

/// A token that the first Ctrl-C or SIGTERM cancels; the second ends the process at once. Unfinished files have no
/// name yet, so none are left behind.
pub(crate) fn cancel_on_interrupt() -> CancelToken {
    let token = CancelToken::new();
    let is_cancelled = AtomicBool::new(false);
    let for_handler = token.clone();
    // Without a handler an interrupt still ends the process, but the peer is not told why.
    let _ = ctrlc::set_handler(move || {
        if is_cancelled.swap(true, Ordering::SeqCst) {
            let _ = writeln!(
                io::stderr(),
                "error: stopped at once; the other side may not have been told why"
            );
            let _ = writeln!(io::stderr(), "hint: a single Ctrl-C ends the run cleanly");
            std::process::exit(code::INTERRUPTED.into());
        }
        // Telling the peer takes a moment, during which a second signal must be handled.
        let for_thread = for_handler.clone();
        if std::thread::Builder::new().spawn(move || for_thread.cancel()).is_err() {
            for_handler.cancel();
        }
    });
    token
}
