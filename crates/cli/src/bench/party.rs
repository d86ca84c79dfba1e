//! One party of a benchmark, in its own process.

use super::options::BenchArgs;
use crate::failure::Failure;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;
use vesica_bench_runs::Seat;
use vesica_engine::Error;
use vesica_link::{Endpoint, PublicIdentity};

/// One party of a benchmark; started by `vesica bench` with its own options.
#[derive(Args, Debug)]
pub(crate) struct PartyArgs {
    #[command(flatten)]
    bench: BenchArgs,
    /// Its number; 0 is the sender
    #[arg(long)]
    party: usize,
    #[arg(long)]
    key: PathBuf,
    /// The options of all parties
    #[arg(long, value_delimiter = ',')]
    identities: Vec<PublicIdentity>,
    #[arg(long)]
    helper: Option<PublicIdentity>,
    #[arg(long, conflicts_with = "connect")]
    listen: Option<String>,
    #[arg(long)]
    connect: Option<String>,
    /// Intermediate data
    #[arg(long)]
    folder: PathBuf,
}

/// Runs the party. Prints the address that it listens on, if it listens, and then its figures as
/// JSON.
pub(crate) fn run_party(args: &PartyArgs, out: &mut impl Write) -> Result<(), Failure> {
    let endpoint = match (&args.listen, &args.connect) {
        (Some(address), _) => Endpoint::Listen(address.clone()),
        (None, Some(address)) => Endpoint::Connect(address.clone()),
        (None, None) => return Err(Error::Bug("a benchmark party has no address").into()),
    };
    let seat = Seat {
        party: args.party,
        key: args.key.clone(),
        identities: args.identities.clone(),
        helper: args.helper,
        endpoint,
        folder: args.folder.clone(),
    };
    Ok(vesica_bench_runs::run_party(&args.bench.subject()?, seat, out)?)
}
