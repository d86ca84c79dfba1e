//! The options of a benchmark.

use super::question::QuestionArgs;
use crate::args::groups::MemoryArgs;
use crate::settings::thread_count;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::num::{NonZeroU32, NonZeroUsize};
use vesica_bench_runs::{Asked, BenchError, HelperOptions, Row, Sizes, Subject};
use vesica_core::{Item, Operation};
use vesica_net::Shape;
use vesica_protocols::Protocol;
use vesica_protocols::kmrs14::{Check, find_aided};

/// Measure a protocol: both parties as two processes, over TLS, on generated items.
///
/// The result of every run is checked. Times run from the moment when the sides are connected until
/// the later one is done.
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
    /// Set size, or the sender's and the receiver's sizes (with a helper, the first and the second
    /// party's), for example 2^20 or 2^20,2^12
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
    /// The oblivious transfers that the protocol uses, if it has a choice: iknp runs
    /// `<PROTOCOL>_iknp`
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
    #[arg(long, default_value = "loopback", value_parser = network())]
    network: Network,
    /// Number of CPU threads of each party
    #[arg(long, default_value = "1", value_name = "K", value_parser = thread_count)]
    threads: NonZeroUsize,
    /// Number of runs; the median is reported
    #[arg(long, default_value = "5", value_name = "R")]
    pub(super) runs: NonZeroU32,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

impl BenchArgs {
    /// What is measured; an error if the row does not offer it.
    pub(super) fn subject(&self) -> Result<Subject, BenchError> {
        let (row, offered) = match find_aided(&self.protocol) {
            Ok(row) => (Row::WithHelper(row, self.helper.options()), Operation::Intersection),
            Err(_) => {
                let row = self.row()?;
                let offered = row.operations.first().copied().unwrap_or(Operation::Intersection);
                (Row::TwoParties(row), offered)
            }
        };
        let (network, _, shape) = self.network;
        Subject::new(Asked {
            row,
            sizes: self.size,
            item_bits: self.item_bits,
            question: self.question.question(self.size, offered),
            network,
            shape,
            threads: self.threads,
            memory_bytes: self.memory.bytes(),
            scratch: self.memory.scratch.clone(),
        })
    }

    /// The row between two parties that the options choose.
    fn row(&self) -> Result<&'static Protocol, BenchError> {
        let find = |suffix: &str| {
            let id = format!("{}{suffix}", self.protocol);
            vesica_protocols::find(&id).map_err(|_| BenchError::UnknownProtocol(id))
        };
        if let Some(engine) = self.engine {
            let (own, other) = engine.suffixes();
            // Only a protocol with a choice of engines has a row for the other one.
            return find(own).or_else(|unknown| match find(other) {
                Ok(_) => find(""),
                Err(_) => Err(unknown),
            });
        }
        match (self.ot, self.paper) {
            (Some(Transfers::Iknp), _) => find("_iknp"),
            // The same for the transfers.
            (Some(Transfers::Silent), _) => find("_iknp").and_then(|_| find("")),
            (None, true) => find("_paper"),
            (None, false) => find(""),
        }
    }
}

/// Options of protocols with a helper.
#[derive(Args, Clone, Debug)]
struct HelperArgs {
    /// With a helper: how many parties; all but the second have the first size
    #[arg(long, default_value_t = 2, value_name = "N",
        value_parser = clap::value_parser!(u8).range(2..=16))]
    parties: u8,
    /// With a helper: where it intersects, as `vesica helper` has it [default: disk:]
    #[arg(long, value_name = "URL")]
    backend: Option<String>,
    /// With a helper: send the items themselves, to see what hiding them costs
    #[arg(long)]
    in_clear: bool,
    /// With a helper: copies of each item [default: the cheapest that is safe]
    #[arg(
        long,
        value_name = "C",
        requires = "dummies",
        value_parser = clap::value_parser!(u32).range(1..=64)
    )]
    copies: Option<u32>,
    /// With a helper: dummies of each kind [default: the cheapest that is safe]
    #[arg(
        long,
        value_name = "T",
        requires = "copies",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    dummies: Option<u32>,
}

impl HelperArgs {
    fn options(&self) -> HelperOptions {
        let check = self.copies.zip(self.dummies);
        HelperOptions {
            parties: usize::from(self.parties),
            backend: self.backend.clone(),
            in_clear: self.in_clear,
            check: check.map(|(copies, dummies)| Check { copies, dummies }),
        }
    }
}

/// The name of an emulated network, its description, and its shape.
type Network = (&'static str, &'static str, Shape);

fn network() -> impl TypedValueParser<Value = Network> {
    let values = Shape::NAMED.map(|(name, about, _)| PossibleValue::new(name).help(about));
    let named = |asked: String| Shape::NAMED.into_iter().find(|(name, ..)| *name == asked);
    PossibleValuesParser::new(values).map(move |asked| named(asked).unwrap_or(Shape::NAMED[0]))
}

/// The oblivious transfers of a protocol.
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
    /// The suffix of this engine's rows, and the other engine's.
    fn suffixes(self) -> (&'static str, &'static str) {
        match self {
            Engine::Yao => ("_yao", "_gmw"),
            Engine::Gmw => ("_gmw", "_yao"),
        }
    }
}
