//! Waits for several sockets at once.

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// What a socket waits for.
#[derive(Clone, Copy)]
pub(super) struct Interest<'fd> {
    pub(super) fd: BorrowedFd<'fd>,
    pub(super) write: bool,
}

/// Waits at most `timeout` until a socket can be read (or written, if requested) or has failed.
/// Returns for each whether it is ready.
pub(super) fn wait_ready(sockets: &[Interest<'_>], timeout: Duration) -> Vec<bool> {
    let mut polled: Vec<PollFd<'_>> = sockets
        .iter()
        .map(|socket| {
            let write = if socket.write { PollFlags::POLLOUT } else { PollFlags::empty() };
            PollFd::new(socket.fd, PollFlags::POLLIN | write)
        })
        .collect();
    // Rounded up, so that the last millisecond is not a busy loop.
    let millis = timeout.as_micros().div_ceil(1000);
    let timeout = PollTimeout::try_from(millis).unwrap_or(PollTimeout::MAX);
    if poll(&mut polled, timeout).is_err() {
        // Interrupted by a signal, or out of kernel memory: both pass, and the caller tries again.
        return vec![false; sockets.len()];
    }
    polled.iter().map(|fd| fd.any().unwrap_or(true)).collect()
}
