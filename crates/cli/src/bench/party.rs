//! One party of a benchmark, in its own process.

use super::options::BenchArgs;
use super::subject::Subject;
use crate::failure::Failure;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;
use vesica_engine::bench::{BenchParty, run_party as run_bench_party};
use vesica_engine::{ConfigFault, Error};
use vesica_link::{CancelToken, Endpoint, Identity, LinkEvent, LinkOptions, PublicIdentity};

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
    let subject = Subject::new(&args.bench)?;
    let part = subject.part(args.party, &args.identities, args.helper, args.folder.clone());
    let bench = BenchParty {
        part: part.ok_or(Error::Bug("a benchmark party was not told of all others"))?,
        threads: args.bench.threads,
        identity: Identity::load(&args.key)
            .map_err(|error| Error::Config(ConfigFault::Identity(error)))?,
        link: LinkOptions {
            endpoint,
            wait: Duration::from_secs(120),
            idle: Duration::from_secs(60),
            total: None,
            proxy: None,
        },
    };
    let out = std::cell::RefCell::new(out);
    let on_event = |event: LinkEvent| {
        if let LinkEvent::Listening { address } = event {
            let mut out = out.borrow_mut();
            // If the parent has ended, the run ends by itself.
            let _ = writeln!(out, "{address}").and_then(|()| out.flush());
        }
    };
    let figures = run_bench_party(bench, &on_event, &CancelToken::new())?;
    let json = serde_json::to_string(&figures).map_err(|_| Error::Bug("figures have no JSON"))?;
    let no_output = |_| Error::Bug("the benchmark's figures could not be printed");
    Ok(writeln!(out.borrow_mut(), "{json}").map_err(no_output)?)
}
