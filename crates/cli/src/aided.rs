//! A party's side of runs with a helper.

pub(crate) mod check;
mod patience;
mod summary;
mod teller;

use crate::args::RunArgs;
use crate::commands::{open_report, output, run as two_party, seat};
use crate::failure::{Aided, AidedFailure, Failure};
use crate::settings::ByteSize;
use clap::{Args, ValueHint};
use patience::Patience;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::available_parallelism;
use teller::AidedTeller;
use vesica_engine::aided::{
    AidedAgreement, AidedJob, AidedReport, MEMORY_BYTES_DEFAULT, run_aided,
};
use vesica_engine::{ConfigFault, Error, Observer};
use vesica_link::Identity;
use vesica_records::{OutputOptions, Source};

/// Characters of the agreement's hash in the name of a folder.
const HASH_CHARS: usize = 16;

/// A run with a helper.
#[derive(Args, Debug)]
#[command(next_help_heading = "With a helper")]
pub(crate) struct AidedArgs {
    /// The folder for intermediate data, and for what an interrupted run needs to go on; it is made,
    /// and removed with the run's end [default: vesica-run-HASH-PARTY]
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    state: Option<PathBuf>,
    /// About how much memory intermediate data takes before it goes to that folder [default: 512MiB]
    #[arg(long, value_name = "SIZE")]
    memory: Option<ByteSize>,
    /// Forget a run that was interrupted, end it for the others, and begin a new one
    #[arg(long)]
    restart: bool,
}

impl AidedArgs {
    /// An option that was given, which only goes with a helper.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--state", self.state.is_some()),
            ("--memory", self.memory.is_some()),
            ("--restart", self.restart),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }
}

/// `vesica run` under an agreement with a helper.
pub(crate) fn run(
    args: &RunArgs,
    agreement: AidedAgreement,
    out: &mut impl Write,
) -> Result<ExitCode, Failure> {
    if args.place.listen.is_some() {
        return Err(Failure::NotWithHelper { option: "--listen" });
    }
    let helper = agreement.helper.name.clone();
    let link = args
        .place
        .aided_link_options()
        .ok_or_else(|| Failure::NoHelperAddress { helper: helper.clone() })?;
    let address = args.place.connect.clone().unwrap_or_default();
    let identity = Identity::load(&args.key)?;
    let party = seat::aided_party(&agreement, Some(&identity), args.party.as_deref())?
        .ok_or(Error::Config(ConfigFault::NotAParty { identity: identity.public() }))?;
    let name = agreement.parties[party].name.clone();
    let report_file = open_report(args.report.as_deref())?;
    let hash = agreement.hash();
    tracing::info!(agreement = %hash, party = name, helper, version = env!("CARGO_PKG_VERSION"), "start");

    let folder = state_folder(&args.aided, &hash.to_string(), &name);
    for (what, path) in [
        ("output", args.output.as_deref()),
        ("report", args.report.as_deref()),
        ("log", args.talk.log_file.as_deref()),
        ("input", Some(args.data.input.as_path())),
    ] {
        path.map_or(Ok(()), |path| output::refuse_within((what, path), &folder))?;
    }
    let cancel = two_party::cancel_on_interrupt();
    let teller = Arc::new(AidedTeller::new(&args.talk, &agreement, party));
    let wait = link.wait;
    let job = AidedJob {
        identity,
        source: Source::open(&args.data.input, &args.data.form.read_options())?,
        columns: args.data.column_choices()?,
        output: args
            .output
            .as_ref()
            .map(|path| OutputOptions { path: path.clone(), force: args.force }),
        helper: address.clone(),
        link,
        threads: args
            .threads
            .unwrap_or_else(|| available_parallelism().unwrap_or(NonZeroUsize::MIN)),
        memory_bytes: args.aided.memory.map_or(MEMORY_BYTES_DEFAULT, ByteSize::bytes),
        state: folder.clone(),
        restart: args.aided.restart,
        strict: args.data.strict,
        agreement: agreement.clone(),
    };
    let observer: Arc<dyn Observer> = Arc::clone(&teller) as Arc<dyn Observer>;
    let patience = Patience::start(&teller, wait, &cancel);
    // Before the folder of the run is gone, which is how it is known at the next time that all was said.
    let say = |report: &AidedReport| -> Result<(), Failure> {
        teller.finish();
        tracing::info!(wall_s = report.resources.used.wall_s, "done");
        two_party::announce(args, report, report_file, out, |out| {
            summary::write(args.output.as_deref(), &agreement, report, out)
        })
    };
    let result = run_aided(job, observer, &cancel, say);
    let absent = patience.end();
    teller.finish();
    if let Err(Error::AlreadyFinished) = result {
        if !args.talk.quiet {
            writeln!(out, "{}", summary::already_finished(args.output.as_deref()))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    result.map_err(|error| {
        let what = match (error, absent) {
            (Error::Interrupted { .. }, Some(parties)) => AidedFailure::Absent { parties, wait },
            (error, _) => AidedFailure::Run(error),
        };
        Failure::Aided(Box::new(Aided { what, helper, address, folder: Some(folder) }))
    })??;
    Ok(ExitCode::SUCCESS)
}

/// The folder of the run of one party under the agreement of that hash.
fn state_folder(args: &AidedArgs, hash: &str, party: &str) -> PathBuf {
    args.state.clone().unwrap_or_else(|| {
        let hash = hash.get(..HASH_CHARS).unwrap_or(hash);
        format!("vesica-run-{hash}-{party}").into()
    })
}
