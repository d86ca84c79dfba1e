//! A server's process, its directory and its port.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time limit for a server to start or to end.
const LIMIT: Duration = Duration::from_secs(60);

/// A running server. Ended when dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    farewell: Signal,
}

impl Process {
    /// Starts `command` with its output in the file `log`, and waits until `answers` returns true.
    pub(crate) fn start(
        mut command: Command,
        log: &Path,
        farewell: Signal,
        answers: impl Fn() -> bool,
    ) -> Self {
        let file = fs::File::create(log).expect("a log file");
        let errors = file.try_clone().expect("the log file again");
        command.stdin(Stdio::null()).stdout(file).stderr(errors);
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let mut process = Self { child, farewell };
        let start = Instant::now();
        while !answers() {
            let ended = process.child.try_wait().expect("the state of a child");
            if ended.is_some() || start.elapsed() > LIMIT {
                let output = fs::read_to_string(log).unwrap_or_default();
                panic!("{command:?} does not serve ({ended:?}):\n{output}");
            }
            sleep(Duration::from_millis(10));
        }
        process
    }

    /// Sends the server a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().try_into().expect("a process id"));
        kill(pid, signal).expect("a signal to our own child");
    }

    /// Ends the server with `signal` and waits for it.
    pub(crate) fn end(mut self, signal: Signal) {
        self.farewell = signal;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        self.signal(self.farewell);
        let start = Instant::now();
        while !matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
            if start.elapsed() > LIMIT {
                // Ignored: the test may already be panicking.
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            sleep(Duration::from_millis(5));
        }
    }
}

/// A port of 127.0.0.1 that is not in use.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}
