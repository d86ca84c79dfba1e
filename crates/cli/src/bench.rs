//! `vesica bench`: each party and any helper in its own process, on generated items.

mod options;
mod party;
mod question;

pub(crate) use options::BenchArgs;
pub(crate) use party::{PartyArgs, run_party};

use crate::failure::Failure;
use std::ffi::OsString;
use std::io::Write;
use vesica_bench_runs::{BenchError, measure};

/// Runs the benchmark and prints its figures on `out`.
pub(crate) fn run(args: &BenchArgs, out: &mut impl Write) -> Result<(), Failure> {
    // Each party parses the options of this command itself.
    let words = std::env::args_os().skip_while(|word| word != "bench").skip(1);
    let report = measure(&args.subject()?, args.runs, &words.collect::<Vec<OsString>>())?;
    if args.json {
        writeln!(out, "{}", report.json()?)?;
    } else {
        report.print(out)?;
    }
    if report.result_ok() { Ok(()) } else { Err(BenchError::WrongResult.into()) }
}
