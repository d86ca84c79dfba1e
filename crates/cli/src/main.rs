//! The `vesica` command: text for people to read, exit codes for scripts.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod args;
mod asked;
mod bench;
mod commands;
mod demo;
mod failure;
mod heap;
mod helper;
mod interrupt;
mod logging;
mod messages;
mod progress;
mod settings;

use crate::args::{Arguments, Command};
use crate::failure::Failure;
use clap::Parser;
use nix::sys::signal::{SigSet, Signal};
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::SystemTime;

#[global_allocator]
static HEAP: vesica_heap::Heap = vesica_heap::Heap::with_message(messages::OUT_OF_MEMORY);

fn main() -> ExitCode {
    messages::turn_panics_into_messages();
    // Makes a write beyond the limit on file sizes an error, like a full disk; otherwise it would
    // end the process silently.
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    let _ = signals.thread_block();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return args::usage(&error),
    };
    if let Command::Run(_) | Command::BenchParty(_) = arguments.command {
        heap::keep_pages();
    }
    let mut out = io::stdout().lock();
    let done = settings::check_clock(SystemTime::now())
        .and_then(|()| settings::choose_kernels())
        .and_then(|()| run(&arguments.command, &mut out))
        .and_then(|code| out.flush().map(|()| code).map_err(Failure::Stdout));
    match done {
        Ok(code) => code,
        Err(failure) => messages::report(&failure),
    }
}

fn run(command: &Command, out: &mut impl Write) -> Result<ExitCode, Failure> {
    match command {
        Command::Run(args) => return commands::run::run(args, out),
        Command::Exchange(args) => commands::exchange::run(args, out),
        Command::Helper(args) => helper::run(args, out),
        Command::Keygen(args) => commands::keygen::run(args, out),
        Command::Agree(args) => commands::agree::run(args, out),
        Command::Explain(args) => commands::agree::explain(args, out),
        Command::Check(args) => commands::check::run(args, out),
        Command::Combine(args) => commands::combine::run(args, out),
        Command::Protocols(args) => commands::protocols::run(args, out),
        Command::Bench(args) => bench::run(args, out),
        Command::BenchParty(args) => bench::run_party(args, out),
        Command::Demo(args) => Ok(demo::run(args, out)?),
        Command::Completions(args) => commands::shell::completions(args, out),
        Command::Man(args) => commands::shell::man(args, out),
    }?;
    Ok(ExitCode::SUCCESS)
}
