//! Measures the primitives one by one, counts gates, and draws the figures of all benchmarks.
//!
//! `make bench` calls it; the protocols themselves are measured by `vesica bench`.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a program that prints")]

mod circuits;
mod computations;
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
    /// Count the gates of circuits for two sets of one size, and print JSON
    Circuits {
        /// Length of an item in bits
        #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=128))]
        item_bits: u32,
        /// Sizes of the sets
        #[arg(long, value_delimiter = ',', default_values_t = [256, 4096, 65536],
            value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
        sizes: Vec<u32>,
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
            computations::measure(&mut bench)?;
            transfers::measure(&mut bench)?;
            silent::measure(&mut bench)?;
            stores::measure(&mut bench)?;
            println!("{}", bench.to_json()?);
            Ok(())
        }
        Command::Circuits { item_bits, sizes, only } => {
            let sizes: Vec<usize> = sizes.iter().map(|n| *n as usize).collect();
            println!("{}", circuits::to_json(item_bits, &sizes, only.as_deref())?);
            Ok(())
        }
        Command::Plot { psi, peers, out } => plot::draw(&psi, &peers, &out),
    }
}
