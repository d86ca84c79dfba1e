//! Measures the primitives one by one, and draws the figures of all benchmarks.
//!
//! `make bench` calls it; the protocols themselves are measured by `vesica bench`.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a program that prints")]

mod garbling;
mod kernels;
mod measure;
mod plot;
mod silent;
mod stores;
mod transfers;

use clap::{Parser, Subcommand};
use measure::{Bench, BenchError};
use std::path::PathBuf;

/// Measure the primitives, or draw the figures.
#[derive(Debug, Parser)]
#[command(name = "vesica-bench")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure the primitives, both parties in one process, and print JSON
    Primitives {
        /// Runs of each; the median counts
        #[arg(long, default_value_t = 5)]
        runs: usize,
        /// Small sizes only
        #[arg(long)]
        quick: bool,
        /// Only those whose name holds this word
        #[arg(long)]
        only: Option<String>,
    },
    /// Draw the figures of measured protocols as SVG
    Plot {
        /// What `bench/run` measured
        psi: PathBuf,
        /// Figures of other projects, to compare with
        peers: PathBuf,
        /// Where the figures go
        out: PathBuf,
    },
}

fn main() -> Result<(), BenchError> {
    match Arguments::parse().command {
        Command::Primitives { runs, quick, only } => {
            let mut bench = Bench::new(runs, quick, only);
            kernels::measure(&mut bench)?;
            garbling::measure(&mut bench)?;
            transfers::measure(&mut bench)?;
            silent::measure(&mut bench)?;
            stores::measure(&mut bench)?;
            println!("{}", bench.to_json()?);
            Ok(())
        }
        Command::Plot { psi, peers, out } => plot::draw(&psi, &peers, &out),
    }
}
