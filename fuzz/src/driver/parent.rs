//! Starts a process for each target, and tells of those that fail.

use super::child::{TOO_LONG, noted};
use super::options::Run;
use crate::Target;
use std::fmt::Write as _;
use std::io;
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;
use tempfile::TempDir;

/// Runs all targets of `run`; a line for each, and for one that fails its words and the input.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program's answer")]
pub(super) fn run(run: &Run) -> ExitCode {
    let dir = match tempfile::tempdir() {
        Ok(dir) => dir,
        Err(error) => {
            eprintln!("no temporary folder: {error}");
            return ExitCode::from(2);
        }
    };
    let waiting = Mutex::new(run.targets.iter());
    let failed = Mutex::new(Vec::new());
    let next = || waiting.lock().unwrap_or_else(|bad| bad.into_inner()).next();
    thread::scope(|scope| {
        for _ in 0..run.at_once {
            scope.spawn(|| {
                while let Some(target) = next() {
                    match one(run, target, &dir) {
                        Ok(words) => println!("{words}"),
                        Err(words) => {
                            println!("{words}");
                            failed.lock().unwrap_or_else(|bad| bad.into_inner()).push(target.name);
                        }
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(|bad| bad.into_inner());
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("failed: {}", failed.join(", "));
    ExitCode::FAILURE
}

/// What to print of one target, by whether it passed.
fn one(run: &Run, target: &Target, dir: &TempDir) -> Result<String, String> {
    let name = target.name;
    let current = dir.path().join(name);
    let started = Instant::now();
    let output = start(run, name, &current).map_err(|error| format!("{name}: {error}"))?;
    let seconds = started.elapsed().as_secs_f64();
    // A process that an input has ended as if all were well has not said how far it came.
    let count = String::from_utf8_lossy(&output.stdout).trim().parse::<u64>();
    if let (true, Ok(count)) = (output.status.success(), count) {
        return Ok(format!("{name:<18} {count:>12} inputs in {seconds:.1} s"));
    }
    let mut words = format!("{name:<18} FAILED ({})\n", output.status);
    if output.status.code() == Some(TOO_LONG.into()) {
        words.push_str("one input took too long\n");
    }
    words.push_str(&String::from_utf8_lossy(&output.stderr));
    match noted(&current) {
        Ok(input) => {
            words.push_str("the input, in hexadecimal:\n");
            for byte in input {
                let _ = write!(words, "{byte:02x}");
            }
            let _ = write!(
                words,
                "\nto run it again: xxd -r -p > input; vesica-fuzz --input input {name}"
            );
        }
        Err(error) => {
            let _ = write!(words, "the input is not known: {error}");
        }
    }
    Err(words)
}

fn start(run: &Run, name: &str, current: &std::path::Path) -> io::Result<Output> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--child").arg(current).arg(name);
    command.args(["--seconds", &run.seconds.to_string(), "--seed", &run.seed.to_string()]);
    if let Some(input) = &run.input {
        command.arg("--input").arg(input);
    }
    command.stdin(Stdio::null()).output()
}
