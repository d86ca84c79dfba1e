//! The end of a program without memory: nothing here allocates.

use nix::errno::Errno;
use nix::unistd;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What a program says on standard error when the system gives it no more memory, and how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastWords {
    /// Written as it stands, with its line ends.
    pub text: &'static str,
    /// The exit code.
    pub exit_code: u8,
}

static LAST_WORDS: Mutex<Option<LastWords>> = Mutex::new(None);

thread_local! {
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// Sets what is said from now on, in place of what the allocator was made with.
pub fn set_last_words(words: LastWords) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
}

/// What `reserve` gives. An allocation that fails in it, on this thread, is told to its caller and does not end the
/// program: for `try_reserve` and its like, and nothing else.
pub fn may_fail<R>(reserve: impl FnOnce() -> R) -> R {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            MAY_FAIL.set(self.0);
        }
    }
    let _before = Before(MAY_FAIL.replace(true));
    reserve()
}

/// Ends the program with its last words, which are `first` where no others were set. Comes back where the caller
/// knows what to do.
#[cold]
#[inline(never)]
pub(crate) fn say_and_leave(first: LastWords) {
    static LEAVING: AtomicBool = AtomicBool::new(false);
    if MAY_FAIL.get() {
        return;
    }
    let words = *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    let words = words.unwrap_or(first);
    // Once is enough when several threads find no memory; the first one ends the others.
    while LEAVING.swap(true, Ordering::SeqCst) {
        std::thread::sleep(Duration::from_secs(1));
    }
    // Straight to the descriptor: another thread may hold the lock of `stderr`.
    let mut rest = words.text.as_bytes();
    while !rest.is_empty() {
        match unistd::write(std::io::stderr(), rest) {
            Ok(written @ 1..) => rest = rest.get(written..).unwrap_or_default(),
            Err(Errno::EINTR) => {}
            Ok(0) | Err(_) => break,
        }
    }
    // SAFETY: it takes any number and does not return. `std::process::exit` would run code that needs memory.
    unsafe { nix::libc::_exit(words.exit_code.into()) }
}
