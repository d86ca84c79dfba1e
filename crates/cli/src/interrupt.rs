//! The signals that end a command: Ctrl-C (SIGINT), SIGTERM and SIGHUP.

use crate::failure::code;
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fs;
use std::io::{self, Write};
use std::process;
use std::thread;
use vesica_link::CancelToken;

/// The signals that end a command.
const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// A token that the first signal cancels; the second ends the process at once. Unfinished files
/// have no name yet, so none are left behind.
///
/// A signal that was ignored when the process started stays ignored: `nohup` ignores SIGHUP, and a
/// shell script ignores SIGINT for what it starts with `&`.
pub(crate) fn cancel_on_interrupt() -> CancelToken {
    let token = CancelToken::new();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let handled = ENDING.into_iter().filter(|signal| !is_ignored(&status, *signal));
    // Without a handler a signal still ends the process, but the peer does not learn why.
    if let Ok(signals) = Signals::new(handled) {
        let for_thread = token.clone();
        let _ = thread::Builder::new()
            .name("vesica-signals".into())
            .spawn(move || wait_for(signals, &for_thread));
    }
    token
}

fn wait_for(mut signals: Signals, token: &CancelToken) {
    let mut arrived = signals.forever();
    if arrived.next().is_none() {
        return;
    }
    // Telling the peer takes a moment, during which a second signal must be handled.
    let for_thread = token.clone();
    if thread::Builder::new().spawn(move || for_thread.cancel()).is_err() {
        token.cancel();
    }
    if arrived.next().is_some() {
        let _ = writeln!(
            io::stderr(),
            "error: stopped at once; the other side may not have been told why"
        );
        let _ = writeln!(io::stderr(), "hint: a single Ctrl-C ends the run cleanly");
        process::exit(code::INTERRUPTED.into());
    }
}

/// Whether a process ignores `signal`, from its `/proc/PID/status`; `false` if that does not say.
fn is_ignored(status: &str, signal: i32) -> bool {
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok())
        .unwrap_or(0);
    // The lowest bit is signal 1.
    mask >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status_of_the_process() {
        let ignored = |mask: &str| {
            let status = format!("Name:\tvesica\nSigBlk:\t0000000000000007\nSigIgn:\t{mask}\n");
            ENDING.map(|signal| is_ignored(&status, signal))
        };
        assert_eq!(ignored("0000000000001000"), [false; 3]);
        assert_eq!(ignored("0000000000000001"), [false, false, true]);
        assert_eq!(ignored("0000000000001002"), [true, false, false]);
        assert_eq!(ignored("0000000000004000"), [false, true, false]);
        assert_eq!(ignored("ffffffffffffffff"), [true; 3]);
        assert_eq!(ignored("not a mask"), [false; 3]);
        assert!(!is_ignored("", SIGHUP));
    }
}
