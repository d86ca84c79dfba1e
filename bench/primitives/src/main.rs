//! Measures the primitives one by one, counts gates, and plots the results of all benchmarks.
//!
//! `make bench` calls it; `vesica bench` measures the protocols themselves.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![allow(clippy::print_stdout, reason = "a program that prints")]

mod circuits;
mod computations;
mod garbling;
mod kernels;
mod loads;
mod measure;
mod phasing;
mod plot;
mod public_key;
mod silent;
mod stashes;
mod stores;
mod switching;
mod transfers;

use clap::{Parser, Subcommand};
use measure::{Bench, BenchError};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use vesica_hashing::MAX_MEASURED_FUNCTIONS;
use vesica_net::Shape;
use vesica_switching::oblivious::Sizes;

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
        /// Runs of each; the median is reported
        #[arg(long, default_value_t = 5)]
        runs: usize,
        /// Small sizes only
        #[arg(long)]
        quick: bool,
        /// Only those whose name contains this text
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
        /// Only those whose name contains this text
        #[arg(long)]
        only: Option<String>,
    },
    /// Measure the oblivious switching network, both parties in one process, and print JSON
    Switching {
        /// Number of rows of the holder
        #[arg(long, default_value_t = 1 << 20)]
        inputs: u32,
        /// Number of chosen rows; all by default
        #[arg(long)]
        outputs: Option<u32>,
        /// Length of a row in bits
        #[arg(
            long,
            default_value_t = 128,
            value_parser = clap::value_parser!(u32).range(1..=1 << 16)
        )]
        bits: u32,
        /// Construction of the switches
        #[arg(long, value_enum, default_value = "correlated")]
        form: switching::FormName,
        /// Threads of each party
        #[arg(long, default_value_t = NonZeroUsize::MIN)]
        threads: NonZeroUsize,
        /// Runs; the median is reported
        #[arg(long, default_value_t = 3)]
        runs: usize,
    },
    /// Count the stash places that random cuckoo tables need, name those that runs have, and print
    /// JSON
    Stashes {
        /// Items of a table
        #[arg(long, value_delimiter = ',', default_values_t = [2048, 4096, 8192, 16384],
            value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
        sizes: Vec<u32>,
        /// Tables of each size
        #[arg(long, default_value_t = 1 << 16)]
        tables: u64,
        /// Threads that fill tables
        #[arg(long, default_value_t = NonZeroUsize::MIN)]
        threads: NonZeroUsize,
    },
    /// Fill cuckoo tables with two to five hash functions until an item does not fit, and print
    /// JSON
    Loads {
        /// Bins of a table
        #[arg(long, default_value_t = 1 << 16,
            value_parser = clap::value_parser!(u32).range(8..=1 << 24))]
        bins: u32,
        /// Tables of each number of functions; the median is reported
        #[arg(long, default_value_t = 11)]
        tables: u32,
    },
    /// Measure OT-Phasing with a table that no row of the catalogue has, both parties in one
    /// process, and print JSON
    Phasing {
        /// Hash functions
        #[arg(long, default_value_t = 3, value_parser = functions)]
        functions: usize,
        /// Bins for each item of the receiver
        #[arg(long, default_value_t = 1.2)]
        bins_per_item: f64,
        /// What is compared in a bin
        #[arg(long, value_enum, default_value = "remainder")]
        compared: phasing::Compared,
        /// Length of an item in bits
        #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=128))]
        item_bits: u32,
        /// Items of the sender and of the receiver; one number for both
        #[arg(long, value_delimiter = ',', num_args = 1..=2, default_values_t = [1 << 16],
            value_parser = clap::value_parser!(u32).range(2..=1 << 24))]
        sizes: Vec<u32>,
        /// The network between the two, as `vesica bench` names it
        #[arg(long, default_value = "loopback", value_parser = network)]
        network: Shape,
        /// Threads of each party
        #[arg(long, default_value_t = NonZeroUsize::MIN)]
        threads: NonZeroUsize,
        /// Runs; the median is reported
        #[arg(long, default_value_t = 3)]
        runs: usize,
    },
    /// Count the operations in groups and modulo large numbers of a run, both parties in one
    /// process, and print JSON
    PublicKey {
        /// What is counted
        #[arg(value_enum)]
        counted: public_key::Counted,
        /// Items of each party
        #[arg(long, default_value_t = 1024,
            value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
        items: u32,
    },
    /// Plot the measurements of protocols as SVG
    Plot {
        /// The measurements of `bench/run`
        psi: PathBuf,
        /// Figures of other projects, for comparison
        peers: PathBuf,
        /// The directory for the figures
        out: PathBuf,
    },
    /// Plot lines over set sizes as SVG
    Lines {
        /// A title, and for each line its points by set size
        figures: PathBuf,
        /// The file for the figure
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
        Command::Switching { inputs, outputs, bits, form, threads, runs } => {
            let (inputs, outputs) = (inputs as usize, outputs.unwrap_or(inputs) as usize);
            let shape = Sizes { inputs, outputs, bits };
            println!("{}", switching::to_json(form, shape, threads, runs)?);
            Ok(())
        }
        Command::Stashes { sizes, tables, threads } => {
            println!("{}", stashes::to_json(&sizes, tables, threads)?);
            Ok(())
        }
        Command::Loads { bins, tables } => {
            println!("{}", loads::to_json(bins, tables)?);
            Ok(())
        }
        Command::Phasing {
            functions,
            bins_per_item,
            compared,
            item_bits,
            sizes,
            network,
            threads,
            runs,
        } => {
            let (sender_len, receiver_len) = (sizes[0], sizes[sizes.len() - 1]);
            let case = phasing::Case {
                functions,
                bins_per_item,
                compared,
                item_bits,
                sender_len,
                receiver_len,
                network,
                threads,
            };
            println!("{}", phasing::to_json(case, runs)?);
            Ok(())
        }
        Command::PublicKey { counted, items } => {
            println!("{}", public_key::to_json(counted, items)?);
            Ok(())
        }
        Command::Plot { psi, peers, out } => plot::draw(&psi, &peers, &out),
        Command::Lines { figures, out } => plot::draw_lines(&figures, &out),
    }
}

fn functions(asked: &str) -> Result<usize, String> {
    let count = asked.parse().ok().filter(|count| (2..=MAX_MEASURED_FUNCTIONS).contains(count));
    count.ok_or_else(|| format!("2 to {MAX_MEASURED_FUNCTIONS}"))
}

fn network(asked: &str) -> Result<Shape, String> {
    let named = Shape::NAMED.into_iter().find(|(name, ..)| *name == asked);
    named.map(|(.., shape)| shape).ok_or_else(|| Shape::NAMED.map(|(name, ..)| name).join(", "))
}
