//! One party of a benchmark, as a process of its own.

use super::Sizes;
use super::question::QuestionArgs;
use clap::{Args, ValueEnum};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;
use vesica_core::Role;
use vesica_engine::Error;
use vesica_engine::bench::{BenchParty, run_party as run_bench_party};
use vesica_link::{CancelToken, Endpoint, Identity, LinkEvent, LinkOptions, PublicIdentity};

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PartyRole {
    Sender,
    Receiver,
}

/// One party of a benchmark; started by `vesica bench`.
#[derive(Args, Debug)]
pub(crate) struct PartyArgs {
    protocol: String,
    #[arg(long, value_enum)]
    role: PartyRole,
    #[arg(long)]
    size: Sizes,
    #[arg(long)]
    item_bits: u32,
    #[command(flatten)]
    question: QuestionArgs,
    #[arg(long)]
    threads: NonZeroUsize,
    #[arg(long)]
    key: PathBuf,
    #[arg(long)]
    peer: PublicIdentity,
    #[arg(long, conflicts_with = "connect")]
    listen: Option<String>,
    #[arg(long)]
    connect: Option<String>,
}

/// Runs the party; prints the address it listens on, when it does, and then its figures as JSON.
pub(crate) fn run_party(args: &PartyArgs, out: &mut impl Write) -> Result<(), Error> {
    let endpoint = match (&args.listen, &args.connect) {
        (Some(address), _) => Endpoint::Listen(address.clone()),
        (None, Some(address)) => Endpoint::Connect(address.clone()),
        (None, None) => return Err(Error::Bug("a benchmark party has no address")),
    };
    let no_output = |_| Error::Bug("the benchmark's figures could not be printed");
    let bench = BenchParty {
        protocol: vesica_protocols::find(&args.protocol)
            .map_err(|_| Error::Bug("a benchmark party was given no protocol"))?,
        role: match args.role {
            PartyRole::Sender => Role::Sender,
            PartyRole::Receiver => Role::Receiver,
        },
        sender_len: args.size.sender,
        receiver_len: args.size.receiver,
        common_len: args.question.common(args.size),
        learns: args.question.learns(),
        query: args.question.query(args.size),
        bounds: args
            .question
            .bounds()
            .map_err(|_| Error::Bug("a benchmark party was given bounds that cannot be"))?,
        item_bits: args.item_bits,
        threads: args.threads,
        identity: Identity::load(&args.key)
            .map_err(|error| Error::Config(vesica_engine::ConfigFault::Identity(error)))?,
        peer: args.peer,
        link: LinkOptions {
            endpoint,
            wait: Duration::from_secs(120),
            idle: Duration::from_secs(60),
            total: None,
        },
    };
    let out = std::cell::RefCell::new(out);
    let on_event = |event: LinkEvent| {
        if let LinkEvent::Listening { address } = event {
            let mut out = out.borrow_mut();
            // If the parent is gone, the run ends by itself.
            let _ = writeln!(out, "{address}").and_then(|()| out.flush());
        }
    };
    let figures = run_bench_party(bench, &on_event, &CancelToken::new())?;
    let json = serde_json::to_string(&figures).map_err(|_| Error::Bug("figures have no JSON"))?;
    writeln!(out.borrow_mut(), "{json}").map_err(no_output)
}
