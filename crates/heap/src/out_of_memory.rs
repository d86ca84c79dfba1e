//! Ends a program without memory: nothing here allocates.

use nix::errno::Errno;
use nix::{libc, unistd};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Duration;

/// The message of a program on standard error when the system has no more memory, and its exit
/// code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemoryMessage {
    /// Written unchanged, with its line ends.
    pub text: &'static str,
    /// The exit code.
    pub exit_code: u8,
}

/// Null, or a value that lives as long as the program. Not a lock: on some systems the first use of
/// one allocates.
static MESSAGE: AtomicPtr<OutOfMemoryMessage> = AtomicPtr::new(ptr::null_mut());

/// How long to wait for a full pipe, in milliseconds.
const PIPE_WAIT_MS: i32 = 1000;

thread_local! {
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// Replaces the message. Each call leaks it.
pub fn set_message(message: OutOfMemoryMessage) {
    MESSAGE.store(Box::leak(Box::new(message)), Ordering::Release);
}

/// Returns the result of `reserve`. An allocation that fails in it, on this thread, is reported to
/// its caller and does not end the program: only for `try_reserve` and similar methods.
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

/// Ends the program with its message, `first` if none was set. Returns if the caller handles the
/// failure.
#[cold]
#[inline(never)]
pub(crate) fn exit_with_message(first: OutOfMemoryMessage) {
    static EXITING: AtomicBool = AtomicBool::new(false);
    if MAY_FAIL.get() {
        return;
    }
    // SAFETY: null, or leaked by `set_message` and never written again.
    let message = unsafe { MESSAGE.load(Ordering::Acquire).as_ref() };
    let message = message.copied().unwrap_or(first);
    // Only one of several threads without memory writes; it ends the others.
    while EXITING.swap(true, Ordering::SeqCst) {
        std::thread::sleep(Duration::from_secs(1));
    }
    // Directly to the descriptor: another thread may hold the lock of `stderr`.
    let mut rest = message.text.as_bytes();
    while !rest.is_empty() && is_writable() {
        match unistd::write(std::io::stderr(), rest) {
            Ok(written @ 1..) => rest = rest.get(written..).unwrap_or_default(),
            Err(Errno::EINTR) => {}
            Ok(0) | Err(_) => break,
        }
    }
    // SAFETY: it accepts any number and does not return. `std::process::exit` would run code that
    // needs memory.
    unsafe { libc::_exit(message.exit_code.into()) }
}

/// Whether standard error accepts bytes within a second: it may be a pipe that no process reads.
fn is_writable() -> bool {
    let mut stderr = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
    // SAFETY: one descriptor, matching the count.
    unsafe { libc::poll(&raw mut stderr, 1, PIPE_WAIT_MS) == 1 }
}
