//! `vesica run`.

mod patience;
mod summary;

use super::output::{NamedFile, Pending};
use super::{AGREEMENT, REFUSED, REPORT, open_report, output, seat};
use crate::args::RunArgs;
use crate::failure::{Failure, code};
use crate::interrupt::cancel_on_interrupt;
use crate::logging;
use crate::messages;
use crate::progress::Reporter;
use patience::Patience;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::available_parallelism;
use vesica_agreement::Agreement;
use vesica_core::{Operation, StopReason};
use vesica_diagnostics::Who;
use vesica_diagnostics::arguments::ArgumentFault;
use vesica_diagnostics::with_helper::AidedFailure;
use vesica_engine::{ConfigFault, Error, Finished, InputFault, Job, Report, leave_word};
use vesica_link::{Identity, LinkOptions};
use vesica_tables::{OutputOptions, Source};

/// What a run needs in addition to agreement, key and address.
struct Files {
    report: Option<Pending>,
    source: Source,
    columns: BTreeMap<String, String>,
}

fn files(args: &RunArgs, agreement: &Agreement, party: Option<&str>) -> Result<Files, Failure> {
    refuse_lost_answer(args, agreement, party)?;
    Ok(Files {
        report: open_report(args.report.as_deref())?,
        source: Source::open(&args.data.input, &args.data.form.read_options())?,
        columns: args.data.column_choices()?,
    })
}

pub(crate) fn run(args: &RunArgs, out: &mut impl Write) -> Result<ExitCode, Failure> {
    match run_once(args, out) {
        Err(failure) if is_for_later(args, &failure) => {
            tracing::info!(exit_code = code::NOT_FINISHED, "not finished");
            Ok(ExitCode::from(code::NOT_FINISHED))
        }
        done => done,
    }
}

/// Whether to print nothing: a scheduler will call again, and would mail what is printed.
fn is_for_later(args: &RunArgs, failure: &Failure) -> bool {
    args.talk.quiet && args.exchange.is_once() && messages::of(failure).who == Who::Later
}

fn run_once(args: &RunArgs, out: &mut impl Write) -> Result<ExitCode, Failure> {
    refuse_shared_files(args)?;
    let log = logging::start(&args.talk);
    let agreement = Agreement::load(&args.agreement)?;
    let state = args.state.options();
    let link = match args.exchange.link_options(&args.place) {
        Some(link) => Some(link),
        None => args.place.link_options_for(&agreement, state.folder.is_some())?,
    }
    .ok_or_else(|| no_address(&agreement))?;
    let store = args.exchange.store()?;
    let keeps_state = agreement.helper.is_some() || store.is_some() || state.folder.is_some();
    if state.restart && !keeps_state {
        return Err(ArgumentFault::NothingToRestart.into());
    }
    if let (Some(_), Some(_)) = (&agreement.helper, &store) {
        return Err(ArgumentFault::ExchangeWithHelper.into());
    }
    let identity = Identity::load(&args.key)?;
    let party = seat::party(&agreement, Some(&identity), args.party.as_deref())?;
    let folder =
        party.as_ref().filter(|_| keeps_state).map(|party| state.folder_of(&agreement, party));
    let cancel = cancel_on_interrupt();
    let ready = log
        .and_then(|()| folder.as_deref().map_or(Ok(()), |folder| refuse_within(args, folder)))
        .and_then(|()| files(args, &agreement, party.as_deref()));
    let Files { report: report_file, source, columns } = ready.inspect_err(|failure| {
        // Agreement and key are valid, so the other side will wait for this one: tell it why this
        // side stops.
        leave_word(&agreement, &identity, &link, reason(failure), &cancel);
    })?;
    log_start(&agreement, party.as_deref());

    let reporter = Arc::new(Reporter::new(&args.talk, &agreement, party.as_deref()));
    let job = Job {
        agreement: agreement.clone(),
        identity,
        source,
        columns,
        output: args.output.clone().map(|path| OutputOptions { path, force: args.force }),
        mark: args.mark.clone(),
        order: args.order.clone().map(|path| OutputOptions { path, force: args.force }),
        refused: args.data.refused_output(),
        link: link.clone(),
        store,
        workers: None,
        threads: args.threads.unwrap_or(available_parallelism().unwrap_or(NonZeroUsize::MIN)),
        memory_bytes: args.memory.bytes(),
        scratch: args.memory.scratch.clone(),
        state,
        allow_insecure: args.insecure,
        strict: args.data.strict,
    };
    let patience = Patience::start(&reporter, link.wait, &cancel);
    // With a helper the folder of the run is removed only after this. A process that is killed
    // before it has reported the result can then report it when it is next started.
    let announce_result = |Finished { report, .. }: Finished| -> Result<ExitCode, Failure> {
        reporter.finish();
        tracing::info!(wall_s = report.resources.used.wall_s, "done");
        let output = args.output.as_deref();
        announce(args, &report, report_file, out, |out| {
            summary::write(output, &agreement, &report, out)
        })?;
        Ok(if summary::is_outside(&report) {
            ExitCode::from(code::NO_ANSWER)
        } else {
            ExitCode::SUCCESS
        })
    };
    let result = vesica_engine::run_and(job, reporter.clone(), &cancel, |finished| {
        ControlFlow::Continue(announce_result(finished))
    });
    let absent = patience.end();
    reporter.finish();
    let done = match result {
        Ok(announced) => announced,
        Err(Error::AlreadyFinished) => {
            if !args.talk.quiet {
                writeln!(out, "{}", summary::already_finished(args.output.as_deref()))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => Err(failure(error, &agreement, &link, folder, absent)),
    };
    if done.is_ok() {
        reporter.print_warnings();
    }
    done
}

/// The failure of a run that had started.
fn failure(
    error: Error,
    agreement: &Agreement,
    link: &LinkOptions,
    folder: Option<PathBuf>,
    absent: Option<Vec<String>>,
) -> Failure {
    let what = match (error, absent) {
        (Error::Interrupted { .. }, Some(parties)) => {
            AidedFailure::Absent { parties, wait: link.wait }
        }
        (error, _) => AidedFailure::Run(error),
    };
    match what {
        AidedFailure::Run(error) if agreement.helper.is_none() => {
            Failure::of_engine(error, Some(&link.endpoint))
        }
        what => Failure::with_helper(what, agreement, link, folder),
    }
}

fn log_start(agreement: &Agreement, party: Option<&str>) {
    let (hash, version) = (agreement.hash(), env!("CARGO_PKG_VERSION"));
    match (&agreement.helper, party) {
        (Some(helper), party) => {
            tracing::info!(agreement = %hash, party, helper = helper.name, version, "start");
        }
        (None, Some(party)) => {
            let peer = &*agreement.peer_of(party).name;
            tracing::info!(agreement = %hash, peer, version, "start");
        }
        (None, None) => tracing::info!(agreement = %hash, version, "start"),
    }
}

/// The failure of a command line without an address.
pub(super) fn no_address(agreement: &Agreement) -> Failure {
    match &agreement.helper {
        Some(helper) => ArgumentFault::NoHelperAddress { helper: helper.name.clone() }.into(),
        None => ArgumentFault::NoAddress.into(),
    }
}

/// Refuses files in the folder of the run, which is removed at its end.
fn refuse_within(args: &RunArgs, folder: &Path) -> Result<(), Failure> {
    for (what, path) in [
        ("output", args.output.as_deref()),
        ("order", args.order.as_deref()),
        ("report", args.report.as_deref()),
        (REFUSED, args.data.refused.as_deref()),
        ("log", args.talk.log_file.as_deref()),
        ("input", Some(args.data.input.as_path())),
    ] {
        path.map_or(Ok(()), |path| output::refuse_within(NamedFile { what, path }, folder))?;
    }
    Ok(())
}

/// The reason that is sent to the peer for a failure before the session.
fn reason(failure: &Failure) -> StopReason {
    match failure {
        Failure::Engine { error, .. } if matches!(**error, Error::Input(InputFault::Data(_))) => {
            StopReason::Input
        }
        _ => StopReason::Config,
    }
}

/// Prints the summary and writes the report. If one of them fails, for example on a full disk, the
/// other is still attempted: the result file is already in place.
fn announce<W: Write>(
    args: &RunArgs,
    report: &Report,
    report_file: Option<Pending>,
    out: &mut W,
    summary: impl FnOnce(&mut W) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let printed =
        if args.talk.quiet { Ok(()) } else { summary(out).and_then(|()| Ok(out.flush()?)) };
    if let Some(file) = report_file {
        let text = serde_json::to_string_pretty(report).expect("a report has a JSON form");
        let is_printed = !args.talk.quiet && printed.is_ok();
        file.write(&(text + "\n")).map_err(|failure| match failure {
            Failure::Unwritable { path, kind, .. } => {
                Failure::ReportLost { path, kind, result: args.output.clone(), is_printed }
            }
            failure => failure,
        })?;
    }
    printed.map_err(|failure| summary_lost(failure, args))
}

/// The failure to write the summary of a run to standard output.
fn summary_lost(failure: Failure, args: &RunArgs) -> Failure {
    match failure {
        // A reader that has closed the pipe does not want the summary.
        Failure::Stdout(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let (result, report) = (args.output.clone(), args.report.clone());
            Failure::SummaryLost { error, result, report }
        }
        failure => failure,
    }
}

/// Refuses a run whose answer would be lost: rows without a file for them, or a figure without a
/// file when standard output is closed or `--quiet` is given.
fn refuse_lost_answer(
    args: &RunArgs,
    agreement: &Agreement,
    party: Option<&str>,
) -> Result<(), Failure> {
    let is_figure = matches!(
        agreement.operation(),
        Operation::Cardinality | Operation::Threshold | Operation::Sum | Operation::InnerProduct
    ) || agreement.question.computed().is_some();
    let Some(party) = party.filter(|party| agreement.is_receiver_of_result(party)) else {
        return Ok(());
    };
    match &args.output {
        Some(_) => Ok(()),
        None if !is_figure => {
            Err(Error::from(ConfigFault::OutputMissing { party: party.to_owned() }).into())
        }
        None if args.report.is_none() && (args.talk.quiet || stdout_is_closed()) => {
            Err(Failure::AnswerLost { quiet: args.talk.quiet })
        }
        None => Ok(()),
    }
}

/// Whether this process started without a standard output. The standard library then opens
/// `/dev/null` instead, for reading and writing; a deliberate redirection opens it for writing
/// only. If this cannot be determined, standard output is taken to be open.
fn stdout_is_closed() -> bool {
    const READ_WRITE: u32 = 2;
    let Ok(null) = fs::metadata("/dev/null") else { return false };
    let Ok(copy) = io::stdout().as_fd().try_clone_to_owned() else { return false };
    let is_null = File::from(copy).metadata().is_ok_and(|file| file.rdev() == null.rdev());
    let Ok(info) = fs::read_to_string("/proc/self/fdinfo/1") else { return false };
    let flags = info
        .lines()
        .find_map(|line| line.strip_prefix("flags:"))
        .and_then(|octal| u32::from_str_radix(octal.trim(), 8).ok());
    is_null && flags.is_some_and(|flags| flags & 3 == READ_WRITE)
}

/// Refuses a run in which one file would replace another.
fn refuse_shared_files(args: &RunArgs) -> Result<(), Failure> {
    let mut taken = vec![
        NamedFile { what: AGREEMENT, path: &args.agreement },
        NamedFile { what: "key", path: &args.key },
        NamedFile { what: "input", path: &args.data.input },
    ];
    if let Some(path) = args.output.as_deref() {
        // The engine compares with the input, and recognises links and other spellings.
        let file = NamedFile { what: "output", path };
        output::refuse_same(file, &taken[..2])?;
        taken.push(file);
    }
    if let Some(path) = args.order.as_deref() {
        let file = NamedFile { what: "order", path };
        output::refuse_same(file, &taken)?;
        taken.push(file);
    }
    if let Some(path) = args.report.as_deref() {
        let file = NamedFile { what: REPORT, path };
        output::refuse_same(file, &taken)?;
        taken.push(file);
    }
    if let Some(path) = args.data.refused.as_deref() {
        let file = NamedFile { what: REFUSED, path };
        output::refuse_same(file, &taken)?;
        taken.push(file);
    }
    if let Some(path) = args.talk.log_file.as_deref() {
        output::refuse_same(NamedFile { what: "log", path }, &taken)?;
    }
    Ok(())
}
