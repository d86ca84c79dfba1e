//! `vesica bench`: each party and any helper in its own process, on generated items.

mod error;
mod figures;
mod options;
mod party;
mod processes;
mod question;
mod sizes;
mod subject;

pub(crate) use error::BenchError;
pub(crate) use options::BenchArgs;
pub(crate) use party::{PartyArgs, run_party};

use crate::failure::Failure;
use figures::BenchReport;
use std::io::Write;
use subject::Subject;

/// Runs the benchmark and prints its figures on `out`.
pub(crate) fn run(args: &BenchArgs, out: &mut impl Write) -> Result<(), Failure> {
    let subject = Subject::new(args)?;
    let runs = (0..args.runs.get())
        .map(|_| processes::one_run(&subject))
        .collect::<Result<Vec<_>, _>>()?;
    let report = BenchReport::new(&subject, runs);
    if args.json {
        let json = serde_json::to_string_pretty(&report).map_err(|_| BenchError::Process)?;
        writeln!(out, "{json}")?;
    } else {
        report.print(out)?;
    }
    if report.result_ok { Ok(()) } else { Err(BenchError::WrongResult.into()) }
}
