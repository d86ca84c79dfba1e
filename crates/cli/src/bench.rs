//! `vesica bench`: all parties and any helper as processes of their own, on generated items.

mod figures;
mod party;
mod processes;
mod question;
mod subject;

pub(crate) use party::{PartyArgs, run_party};

use crate::args::MemoryArgs;
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use figures::BenchReport;
use question::QuestionArgs;
use std::io::Write;
use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::RangeInclusive;
use std::str::FromStr;
use subject::{HelperArgs, Subject};
use vesica_core::Item;
use vesica_core::params::MAX_SET_LEN;
use vesica_net::Shape;
use vesica_protocols::Operation;

/// Sizes of the two sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) sender: u64,
    pub(crate) receiver: u64,
}

impl FromStr for Sizes {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        match text.split_once(',') {
            Some((sender, receiver)) => {
                Ok(Sizes { sender: size(sender)?, receiver: size(receiver)? })
            }
            None => size(text).map(|n| Sizes { sender: n, receiver: n }),
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error(
    "a size is a number below 2^32, for example 5000, or a power of two or ten, for example 2^20 \
     or 10^6"
)]
pub(crate) struct SizeError;

fn size(text: &str) -> Result<u64, SizeError> {
    let text = text.trim().replace('_', "");
    let n = match text.split_once('^') {
        Some((base @ ("2" | "10"), power)) => {
            let base: u64 = base.parse().map_err(|_| SizeError)?;
            base.checked_pow(power.parse().map_err(|_| SizeError)?).ok_or(SizeError)?
        }
        _ => text.parse().map_err(|_| SizeError)?,
    };
    if n <= MAX_SET_LEN { Ok(n) } else { Err(SizeError) }
}

/// The emulated network between the two processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Network {
    /// The machine's own loopback.
    Loopback,
    /// 10 Gbit/s, 0.02 ms round trip.
    Lan,
    /// 1 Gbit/s, 1 ms round trip.
    Gigabit,
    /// 50 Mbit/s, 80 ms round trip.
    Wan,
}

impl Network {
    fn shape(self) -> Shape {
        match self {
            Network::Loopback => Shape::LOOPBACK,
            Network::Lan => Shape::LAN,
            Network::Gigabit => Shape::GIGABIT,
            Network::Wan => Shape::WAN,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Network::Loopback => "loopback",
            Network::Lan => "lan",
            Network::Gigabit => "gigabit",
            Network::Wan => "wan",
        }
    }
}

/// Measure a protocol: both parties as two processes, over TLS, on generated items.
///
/// The result of every run is checked. Times are measured from the moment when both sides are ready
/// until the later one is done.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  vesica bench dh --size 2^16 --network lan --runs 5
  vesica bench ot_phasing --paper --item-bits 32 --size 2^20
  vesica bench gbf --ot iknp --size 2^16
  vesica bench rr22 --size 2^16 --common 100
  vesica bench gmrss21_union --size 2^16
  vesica bench server_aided --size 10^7 --threads 2
  vesica bench server_aided --size 10^6 --backend redis://127.0.0.1")]
pub(crate) struct BenchArgs {
    /// The protocol's id (see `vesica protocols --all`)
    protocol: String,
    /// Set size, or the sender's and the receiver's sizes (with a helper, those of the first and
    /// the second party), for example 2^20 or 2^20,2^12
    #[arg(long, default_value = "2^16", value_name = "N[,N]")]
    size: Sizes,
    /// Length of an item in bits: 128 for digests, less for integers of a small domain
    #[arg(long, default_value_t = Item::BITS, value_name = "BITS",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(Item::BITS)))]
    item_bits: u32,
    #[command(flatten)]
    question: QuestionArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    helper: HelperArgs,
    /// The oblivious transfers that the protocol uses, if it has a choice: iknp runs `<PROTOCOL>_iknp`
    #[arg(long, value_enum, conflicts_with_all = ["paper", "engine"])]
    ot: Option<Transfers>,
    /// How circuits are computed, if the protocol has a choice: runs `<PROTOCOL>_<ENGINE>`, or
    /// `<PROTOCOL>` itself if it already uses that engine
    #[arg(long, value_enum, conflicts_with = "paper")]
    engine: Option<Engine>,
    /// Use the paper's parameters, if they differ from ours: runs `<PROTOCOL>_paper`
    #[arg(long)]
    paper: bool,
    /// The network between the two, emulated in user space
    #[arg(long, default_value = "loopback", value_enum)]
    network: Network,
    /// Number of CPU threads of each party
    #[arg(long, default_value = "1", value_name = "K", value_parser = crate::args::thread_count)]
    threads: NonZeroUsize,
    /// Number of runs; the median is reported
    #[arg(long, default_value = "5", value_name = "R")]
    runs: NonZeroU32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Oblivious transfers below a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Transfers {
    /// Silent transfers, which send few bytes
    Silent,
    /// The extension of Ishai, Kilian, Nissim and Petrank
    Iknp,
}

/// How a circuit is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// Garbled by one party, evaluated by the other
    Yao,
    /// On shares, one exchange for each layer of gates
    Gmw,
}

impl Engine {
    /// The suffix of the rows of this engine, and that of the other engine's.
    fn suffixes(self) -> (&'static str, &'static str) {
        match self {
            Engine::Yao => ("_yao", "_gmw"),
            Engine::Gmw => ("_gmw", "_yao"),
        }
    }
}

/// Why a benchmark failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// The catalogue has no such protocol.
    #[error("the catalogue has no protocol {0}")]
    UnknownProtocol(String),
    /// The protocol takes items of other lengths.
    #[error("{id} takes items of {} to {} bits", takes.start(), takes.end())]
    ItemBits {
        /// The protocol.
        id: &'static str,
        /// The lengths it takes.
        takes: RangeInclusive<u32>,
    },
    /// The protocol does not compute the operation.
    #[error("{id} does not offer {operation}")]
    NotOffered {
        /// The protocol.
        id: &'static str,
        /// The operation.
        operation: Operation,
    },
    /// The protocol does not offer bounds.
    #[error("{0} does not offer bounds")]
    NoBounds(&'static str),
    /// The protocol takes one column of values without a sign only.
    #[error("{0} takes one value per item, without a sign")]
    PlainValues(&'static str),
    /// The smallest number of common items is above the largest.
    #[error("--min-matches is above --max-matches")]
    BoundsReversed,
    /// More common items than the smaller set has.
    #[error("there are more common items than the smaller set has items")]
    TooManyCommon,
    /// There are fewer items of that length than the sets need.
    #[error("there are not enough items of {bits} bits for these sets")]
    TooFewItems {
        /// Their length.
        bits: u32,
    },
    /// The protocol does not take this number of parties.
    #[error("{0} does not take this number of parties")]
    Parties(&'static str),
    /// The protocol takes fewer rows.
    #[error("{id} takes at most {max} rows from each party")]
    TooManyRows {
        /// The protocol.
        id: &'static str,
        /// The most that it takes.
        max: u64,
    },
    /// The processes could not be started, or not be read from.
    #[error("the two parties could not be run")]
    Process,
    /// A party ended with an error, which it has printed.
    #[error("the {0} failed")]
    Party(&'static str),
    /// A run gave a wrong result.
    #[error("a run gave a wrong result")]
    WrongResult,
}

impl From<std::io::Error> for BenchError {
    fn from(_: std::io::Error) -> Self {
        BenchError::Process
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_or_powers_of_two() {
        let both = |n| Some(Sizes { sender: n, receiver: n });
        assert_eq!("5000".parse().ok(), both(5000));
        assert_eq!("2^20".parse().ok(), both(1 << 20));
        assert_eq!("1_000".parse().ok(), both(1000));
        assert_eq!("10^6".parse().ok(), both(1_000_000));
        assert_eq!("2^20,2^12".parse().ok(), Some(Sizes { sender: 1 << 20, receiver: 1 << 12 }));
        for bad in ["", "2^", "3^4", "2^64", "2^32", "x", "1,2,3", "-1"] {
            assert!(bad.parse::<Sizes>().is_err(), "{bad}");
        }
    }
}
