//! The process that runs one target.

use super::mutate::Mutator;
use super::options::Task;
use crate::{inputs, panics};
use nix::sys::resource::{Resource, setrlimit};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Time limit for one input. A decoder takes milliseconds and a protocol tenths of a second; the
/// limit only has to find endless work, on any machine.
const INPUT_LIMIT: Duration = Duration::from_secs(120);

/// Most bytes that the process may map: an unchecked length in an input exceeds it.
const MEMORY_LIMIT: u64 = 8 << 30;

/// The exit code after an input that took too long.
pub(super) const TOO_LONG: u8 = 71;

/// Start of the current input, in milliseconds since the start of the process; zero if there is
/// none.
static BUSY_SINCE: AtomicU64 = AtomicU64::new(0);

/// Runs the inputs of `task`, and prints their number.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program's answer")]
pub(super) fn run(task: &Task) -> ExitCode {
    let started = Instant::now();
    // Without the limit, large allocations are only found later, so a system without it does not
    // matter.
    let _ = setrlimit(Resource::RLIMIT_AS, MEMORY_LIMIT, MEMORY_LIMIT);
    panics::watch();
    watch_time(started);
    match try_all(task, started) {
        Ok(Some(count)) => {
            println!("{count}");
            ExitCode::SUCCESS
        }
        Ok(None) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("the inputs cannot be read or noted: {error}");
            ExitCode::from(2)
        }
    }
}

/// The number of inputs; `None` if the last one failed.
fn try_all(task: &Task, started: Instant) -> io::Result<Option<u64>> {
    let mut note = Note::new(task)?;
    let mut run = |bytes: &[u8]| -> io::Result<bool> {
        note.take(bytes)?;
        BUSY_SINCE.store(started.elapsed().as_millis() as u64 + 1, Ordering::SeqCst);
        let outcome = catch_unwind(AssertUnwindSafe(|| (task.target.run)(bytes)));
        BUSY_SINCE.store(0, Ordering::SeqCst);
        Ok(outcome.is_ok() && !panics::were_seen())
    };
    if let Some(path) = &task.input {
        return Ok(run(&fs::read(path)?)?.then_some(1));
    }
    let kept = inputs::all(task.target)?;
    let mut count = 0;
    for bytes in &kept {
        count += 1;
        if !run(bytes)? {
            return Ok(None);
        }
    }
    let mut mutator = Mutator::new(task.seed, kept, task.target);
    // The stored inputs may have taken a while on a slow machine, and do not count.
    let since = Instant::now();
    while since.elapsed() < task.time {
        count += 1;
        if !run(mutator.next())? {
            return Ok(None);
        }
    }
    Ok(Some(count))
}

/// A file with the current input, for when the process can no longer report it.
struct Note {
    file: File,
}

impl Note {
    fn new(task: &Task) -> io::Result<Self> {
        Ok(Self { file: File::create(&task.current)? })
    }

    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut noted = Vec::with_capacity(8 + bytes.len());
        noted.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        noted.extend_from_slice(bytes);
        self.file.write_all_at(&noted, 0)
    }
}

/// The last input, from the file of a [`Note`].
pub(super) fn noted(path: &std::path::Path) -> io::Result<Vec<u8>> {
    let bytes = fs::read(path)?;
    let (len, rest) = bytes.split_first_chunk().ok_or(io::ErrorKind::UnexpectedEof)?;
    let len = u64::from_le_bytes(*len) as usize;
    rest.get(..len).map(<[u8]>::to_vec).ok_or(io::ErrorKind::UnexpectedEof.into())
}

/// Ends the process when one input takes too long.
fn watch_time(started: Instant) {
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_secs(1));
            let since = BUSY_SINCE.load(Ordering::SeqCst);
            let now = started.elapsed().as_millis() as u64;
            if since != 0 && now.saturating_sub(since) > INPUT_LIMIT.as_millis() as u64 {
                std::process::exit(TOO_LONG.into());
            }
        }
    });
}
