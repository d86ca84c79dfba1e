//! The end of a program without memory: nothing here allocates.

use nix::errno::Errno;
use nix::{libc, unistd};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Duration;

/// What a program says on standard error when the system gives it no more memory, and how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastWords {
    /// Written as it stands, with its line ends.
    pub text: &'static str,
    /// The exit code.
    pub exit_code: u8,
}

/// Null, or what lives as long as the program. Not a lock: on some systems the first use of one allocates.
static LAST_WORDS: AtomicPtr<LastWords> = AtomicPtr::new(ptr::null_mut());

/// How long a pipe that is full is waited for, in milliseconds.
const PATIENCE_MS: i32 = 1000;

thread_local! {
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// Sets what is said from now on, in place of what the allocator was made with. Each call leaks its words.
pub fn set_last_words(words: LastWords) {
    LAST_WORDS.store(Box::leak(Box::new(words)), Ordering::Release);
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
    // SAFETY: null, or leaked by `set_last_words` and never written again.
    let words = unsafe { LAST_WORDS.load(Ordering::Acquire).as_ref() };
    let words = words.copied().unwrap_or(first);
    // Once is enough when several threads find no memory; the first one ends the others.
    while LEAVING.swap(true, Ordering::SeqCst) {
        std::thread::sleep(Duration::from_secs(1));
    }
    // Straight to the descriptor: another thread may hold the lock of `stderr`.
    let mut rest = words.text.as_bytes();
    while !rest.is_empty() && is_writable() {
        match unistd::write(std::io::stderr(), rest) {
            Ok(written @ 1..) => rest = rest.get(written..).unwrap_or_default(),
            Err(Errno::EINTR) => {}
            Ok(0) | Err(_) => break,
        }
    }
    // SAFETY: it takes any number and does not return. `std::process::exit` would run code that needs memory.
    unsafe { libc::_exit(words.exit_code.into()) }
}

/// Whether standard error takes bytes, within a second: nobody may read the pipe that it is.
fn is_writable() -> bool {
    let mut stderr = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
    // SAFETY: one descriptor, as is said.
    unsafe { libc::poll(&raw mut stderr, 1, PATIENCE_MS) == 1 }
}
