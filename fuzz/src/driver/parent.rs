//! Starts a process for each target, and reports failures.

use super::child::{TOO_LONG, noted};
use super::options::Campaign;
use crate::Target;
use std::fmt::Write as _;
use std::io;
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;
use tempfile::TempDir;

/// Runs all targets of `run`; prints a line for each, and for a failed one its output and the
/// input.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program's answer")]
pub(super) fn run(run: &Campaign) -> ExitCode {
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
                        Ok(report) => println!("{report}"),
                        Err(report) => {
                            println!("{report}");
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

/// The text to print for one target; an error if it failed.
fn one(run: &Campaign, target: &Target, dir: &TempDir) -> Result<String, String> {
    let name = target.name;
    let current = dir.path().join(name);
    let started = Instant::now();
    let output = start(run, name, &current).map_err(|error| format!("{name}: {error}"))?;
    let seconds = started.elapsed().as_secs_f64();
    // A process that an input ended with success has not printed its count.
    let count = String::from_utf8_lossy(&output.stdout).trim().parse::<u64>();
    if let (true, Ok(count)) = (output.status.success(), count) {
        return Ok(format!("{name:<18} {count:>12} inputs in {seconds:.1} s"));
    }
    let mut report = format!("{name:<18} FAILED ({})\n", output.status);
    if output.status.code() == Some(TOO_LONG.into()) {
        report.push_str("one input took too long\n");
    }
    report.push_str(&String::from_utf8_lossy(&output.stderr));
    match noted(&current) {
        Ok(input) => {
            report.push_str("the input, in hexadecimal:\n");
            for byte in input {
                let _ = write!(report, "{byte:02x}");
            }
            let _ = write!(
                report,
                "\nto run it again: xxd -r -p > input; vesica-fuzz --input input {name}"
            );
        }
        Err(error) => {
            let _ = write!(report, "the input is not known: {error}");
        }
    }
    Err(report)
}

fn start(run: &Campaign, name: &str, current: &std::path::Path) -> io::Result<Output> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--child").arg(current).arg(name);
    command.args(["--seconds", &run.seconds.to_string(), "--seed", &run.seed.to_string()]);
    if let Some(input) = &run.input {
        command.arg("--input").arg(input);
    }
    command.stdin(Stdio::null()).output()
}
