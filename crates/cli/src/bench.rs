//! `vesica bench`: both parties as two processes on generated items.

mod aided;
mod figures;
mod party;
mod question;

pub(crate) use aided::{AidedPartyArgs, run_party as run_aided_party};
pub(crate) use party::{PartyArgs, run_party};

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use figures::{BenchReport, RunFigures};
use question::QuestionArgs;
use std::io::{BufRead, BufReader, Write};
use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use vesica_core::Item;
use vesica_core::params::MAX_SET_LEN;
use vesica_link::{Identity, ShapedRelay};
use vesica_net::Shape;
use vesica_protocols::{Operation, Protocol};

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
    "a size is a number below 2^32, for example 5000, or a power of two or ten, for example 2^20 or 10^6"
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
    /// Set size, or the sender's and the receiver's sizes (with a helper, those of the first and the second
    /// party), for
    /// example 2^20 or 2^20,2^12
    #[arg(long, default_value = "2^16", value_name = "N[,N]")]
    size: Sizes,
    /// Length of an item in bits: 128 for digests, less for integers of a small domain
    #[arg(long, default_value_t = Item::BITS, value_name = "BITS",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(Item::BITS)))]
    item_bits: u32,
    #[command(flatten)]
    question: QuestionArgs,
    #[command(flatten)]
    aided: aided::AidedBenchArgs,
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
    if let Ok(row) = vesica_protocols::kmrs14::find_aided(&args.protocol) {
        return aided::run(args, row, out);
    }
    let protocol = protocol(args)?;
    let args = &BenchArgs { question: args.question.clone().about(protocol), ..args.clone() };
    args.question.check(protocol, args.size)?;
    if !protocol.item_bits.contains(&args.item_bits) {
        let (id, takes) = (protocol.id, protocol.item_bits.clone());
        return Err(BenchError::ItemBits { id, takes }.into());
    }
    let Sizes { sender, receiver } = args.size;
    let items = u128::from(sender + receiver - args.question.common(args.size));
    let taken = u128::from(protocol.reserves_zero);
    if args.item_bits < Item::BITS && items + taken > 1 << args.item_bits {
        return Err(BenchError::TooFewItems { bits: args.item_bits }.into());
    }
    let keys = tempfile::tempdir().map_err(BenchError::from)?;
    let runs = (0..args.runs.get())
        .map(|_| one_run(args, protocol, keys.path()))
        .collect::<Result<Vec<_>, _>>()?;
    let report = BenchReport::new(protocol, args, runs);
    if args.json {
        let json = serde_json::to_string_pretty(&report).map_err(|_| BenchError::Process)?;
        writeln!(out, "{json}")?;
    } else {
        report.print(out)?;
    }
    if report.result_ok { Ok(()) } else { Err(BenchError::WrongResult.into()) }
}

/// The row that the options choose.
fn protocol(args: &BenchArgs) -> Result<&'static Protocol, BenchError> {
    let find = |suffix: &str| {
        let id = format!("{}{suffix}", args.protocol);
        vesica_protocols::find(&id).map_err(|_| BenchError::UnknownProtocol(id))
    };
    if let Some(engine) = args.engine {
        let (own, other) = engine.suffixes();
        // Only a protocol with a choice of engines has a row for the other engine.
        return find(own).or_else(|unknown| match find(other) {
            Ok(_) => find(""),
            Err(_) => Err(unknown),
        });
    }
    match (args.ot, args.paper) {
        (Some(Transfers::Iknp), _) => find("_iknp"),
        // Likewise for the transfers.
        (Some(Transfers::Silent), _) => find("_iknp").and_then(|_| find("")),
        (None, true) => find("_paper"),
        (None, false) => find(""),
    }
}

fn one_run(
    args: &BenchArgs,
    protocol: &Protocol,
    directory: &Path,
) -> Result<RunFigures, BenchError> {
    let keys = tempfile::tempdir_in(directory)?;
    let make = |name: &str| -> Result<_, BenchError> {
        let identity = Identity::generate().map_err(|_| BenchError::Process)?;
        let path = keys.path().join(name);
        identity.save(&path).map_err(|_| BenchError::Process)?;
        Ok((path, identity.public()))
    };
    let (sender_key, sender) = make("sender")?;
    let (receiver_key, receiver) = make("receiver")?;
    let command = |role: &str, key: &Path, peer: String, flag: &str, address: String| {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["bench-party", protocol.id, "--role", role])
            .arg("--size")
            .arg(format!("{},{}", args.size.sender, args.size.receiver))
            .arg("--item-bits")
            .arg(args.item_bits.to_string())
            .args(args.question.to_words())
            .arg("--threads")
            .arg(args.threads.to_string())
            .arg("--key")
            .arg(key)
            .args(["--peer", &peer, flag, &address])
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        Ok::<_, std::io::Error>(command)
    };

    let listening = ["--listen", "127.0.0.1:0"];
    let mut receiving = Process::start(
        command("receiver", &receiver_key, sender.to_string(), listening[0], listening[1].into())?,
        "receiver",
    )?;
    let address = receiving.line()?;
    let address = address.parse().map_err(|_| BenchError::Party("receiver"))?;
    let shape = args.network.shape();
    let relay = match shape.is_unshaped() {
        true => None,
        false => {
            let any = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
            Some(ShapedRelay::start(any, address, shape).map_err(|_| BenchError::Process)?)
        }
    };
    let target = relay.as_ref().map_or(address, ShapedRelay::address);
    let sending = Process::start(
        command("sender", &sender_key, receiver.to_string(), "--connect", target.to_string())?,
        "sender",
    )?;
    let sender = sending.figures()?;
    let receiver = receiving.figures()?;
    Ok(RunFigures { sender, receiver })
}

/// A party's process. It is killed when dropped, so that a failed run leaves no process behind.
struct Process {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    role: &'static str,
}

impl Process {
    fn start(mut command: Command, role: &'static str) -> Result<Self, BenchError> {
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().ok_or(BenchError::Process)?;
        Ok(Self { child, lines: BufReader::new(stdout).lines(), role })
    }

    fn line(&mut self) -> Result<String, BenchError> {
        self.lines.next().ok_or(BenchError::Party(self.role))?.map_err(BenchError::from)
    }

    fn id(&self) -> u32 {
        self.child.id()
    }

    fn figures<F: serde::de::DeserializeOwned>(mut self) -> Result<F, BenchError> {
        let line = self.line()?;
        let figures = serde_json::from_str(&line).map_err(|_| BenchError::Party(self.role))?;
        let status = self.child.wait()?;
        if status.success() { Ok(figures) } else { Err(BenchError::Party(self.role)) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
