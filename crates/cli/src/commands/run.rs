//! `vesica run`.

use super::output::Pending;
use super::{AGREEMENT, REPORT, open_report, output, seat};
use crate::aided;
use crate::args::RunArgs;
use crate::failure::{Failure, code};
use crate::logging;
use crate::messages::counted;
use crate::progress::{Teller, duration};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;
use vesica_core::{Operation, StopReason};
use vesica_engine::agreement::Agreement;
use vesica_engine::aided::AnyAgreement;
use vesica_engine::explain::{bytes, grouped, grouped_digits};
use vesica_engine::{Error, InputFault, Job, Observer, Report, leave_word};
use vesica_link::{CancelToken, Identity};
use vesica_records::{OutputOptions, Source};

pub(crate) fn run(args: &RunArgs, out: &mut impl Write) -> Result<ExitCode, Failure> {
    refuse_shared_files(args)?;
    let log = logging::start(&args.talk);
    match AnyAgreement::load(&args.agreement)? {
        AnyAgreement::TwoParty(agreement) => two_party(args, *agreement, log, out),
        AnyAgreement::Aided(agreement) => {
            log?;
            aided::run(args, *agreement, out)
        }
    }
}

/// What a run needs besides agreement, key and address.
struct Files {
    report: Option<Pending>,
    source: Source,
    columns: BTreeMap<String, String>,
}

fn files(args: &RunArgs, agreement: &Agreement, party: Option<&str>) -> Result<Files, Failure> {
    refuse_silence(args, agreement, party)?;
    Ok(Files {
        report: open_report(args.report.as_deref())?,
        source: Source::open(&args.data.input, &args.data.form.read_options())?,
        columns: args.data.column_choices()?,
    })
}

fn two_party(
    args: &RunArgs,
    agreement: Agreement,
    log: Result<(), Failure>,
    out: &mut impl Write,
) -> Result<ExitCode, Failure> {
    let link = args.place.link_options().ok_or(Failure::NoAddress)?;
    if let Some(option) = args.aided.given() {
        return Err(Failure::OnlyWithHelper { option });
    }
    let identity = Identity::load(&args.key)?;
    let party = seat::party(&agreement, Some(&identity), args.party.as_deref())?;
    let peer = party.as_ref().map_or(String::new(), |party| agreement.peer_of(party).name.clone());
    let cancel = cancel_on_interrupt();
    let ready = log.and_then(|()| files(args, &agreement, party.as_deref()));
    let Files { report: report_file, source, columns } = ready.inspect_err(|failure| {
        // Agreement and key are good, so that the other side will wait for this one.
        leave_word(&agreement, &identity, &link, reason(failure), &cancel);
    })?;
    let hash = agreement.hash();
    tracing::info!(agreement = %hash, peer, version = env!("CARGO_PKG_VERSION"), "start");

    let endpoint = link.endpoint.clone();
    let teller = Arc::new(Teller::new(&args.talk, &peer, &agreement));
    let job = Job {
        agreement,
        identity,
        source,
        columns,
        output: args
            .output
            .as_ref()
            .map(|path| OutputOptions { path: path.clone(), force: args.force }),
        link,
        threads: args
            .threads
            .unwrap_or_else(|| available_parallelism().unwrap_or(NonZeroUsize::MIN)),
        allow_insecure: args.insecure,
        strict: args.data.strict,
    };
    let observer: Arc<dyn Observer> = Arc::clone(&teller) as Arc<dyn Observer>;
    let result = vesica_engine::run(job, observer, &cancel);
    teller.finish();
    let report = result.map_err(|error| Failure::of_engine(error, Some(&endpoint)))?;

    tracing::info!(wall_s = report.resources.used.wall_s, "done");
    announce(args, &report, report_file, out, |out| summary(args, &report, out))?;
    Ok(match is_outside(&report) {
        true => ExitCode::from(code::NO_ANSWER),
        false => ExitCode::SUCCESS,
    })
}

/// What the peer is told of a failure before the sides have met.
fn reason(failure: &Failure) -> StopReason {
    match failure {
        Failure::Engine { error, .. } if matches!(**error, Error::Input(InputFault::Data(_))) => {
            StopReason::Input
        }
        _ => StopReason::Config,
    }
}

/// Prints the summary and writes the report. Either may fail on a full disk, and does not stop the other: the result
/// is in place already.
pub(crate) fn announce<W: Write>(
    args: &RunArgs,
    report: &impl Serialize,
    report_file: Option<Pending>,
    out: &mut W,
    summary: impl FnOnce(&mut W) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let told = match args.talk.quiet {
        true => Ok(()),
        false => summary(out).and_then(|()| Ok(out.flush()?)),
    };
    if let Some(file) = report_file {
        let text = serde_json::to_string_pretty(report).expect("a report has a JSON form");
        let is_told = !args.talk.quiet && told.is_ok();
        file.write(&(text + "\n")).map_err(|failure| match failure {
            Failure::Unwritable { path, kind, .. } => {
                Failure::Unreported { path, kind, result: args.output.clone(), is_told }
            }
            failure => failure,
        })?;
    }
    told.map_err(|failure| untold(failure, args))
}

/// What is said when standard output could not be written after a run.
fn untold(failure: Failure, args: &RunArgs) -> Failure {
    match failure {
        // Who closed a pipe did not want to know.
        Failure::Stdout(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let (result, report) = (args.output.clone(), args.report.clone());
            Failure::Untold { error, result, report }
        }
        failure => failure,
    }
}

/// Refuses a run whose answer would be lost: one figure, no file for it, and standard output closed or not to be used.
fn refuse_silence(
    args: &RunArgs,
    agreement: &Agreement,
    party: Option<&str>,
) -> Result<(), Failure> {
    let is_figure = matches!(
        agreement.operation(),
        Operation::Cardinality | Operation::Threshold | Operation::Sum
    );
    let learns = party.is_some_and(|party| agreement.is_receiver_of_result(party));
    let has_file = args.output.is_some() || args.report.is_some();
    if is_figure && learns && !has_file && (args.talk.quiet || stdout_is_closed()) {
        return Err(Failure::NowhereToTell { quiet: args.talk.quiet });
    }
    Ok(())
}

/// Whether this process began without a standard output. The standard library has put `/dev/null` in its place then,
/// for reading and writing; who sends output there on purpose opens it for writing. Where that cannot be told it is
/// taken to be open.
fn stdout_is_closed() -> bool {
    const READ_WRITE: u32 = 2;
    let Ok(null) = fs::metadata("/dev/null") else { return false };
    let Ok(copy) = io::stdout().as_fd().try_clone_to_owned() else { return false };
    let is_null = File::from(copy).metadata().is_ok_and(|file| file.rdev() == null.rdev());
    let Ok(info) = fs::read_to_string("/proc/self/fdinfo/1") else { return false };
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|octal| u32::from_str_radix(octal.trim(), 8).ok());
    is_null && flags.is_some_and(|flags| flags & 3 == READ_WRITE)
}

/// Whether there is no answer because of the agreed bounds.
fn is_outside(report: &Report) -> bool {
    report.result.within_bounds == Some(false)
}

/// No file may take another's place.
fn refuse_shared_files(args: &RunArgs) -> Result<(), Failure> {
    let mut taken: Vec<(&'static str, &std::path::Path)> =
        vec![(AGREEMENT, &args.agreement), ("key", &args.key), ("input", &args.data.input)];
    if let Some(path) = args.output.as_deref() {
        // The input is left to the engine, which knows links and other spellings.
        output::refuse_same(("output", path), &taken[..2])?;
        taken.push(("output", path));
    }
    if let Some(path) = args.report.as_deref() {
        output::refuse_same((REPORT, path), &taken)?;
        taken.push((REPORT, path));
    }
    if let Some(path) = args.talk.log_file.as_deref() {
        output::refuse_same(("log", path), &taken)?;
    }
    Ok(())
}

/// The answer in one line.
fn answer(args: &RunArgs, report: &Report) -> String {
    if is_outside(report) {
        return "outside the agreed bounds: nothing was computed".to_owned();
    }
    let result = &report.result;
    let agreed = &report.agreement;
    let written = args.output.as_ref().map(|path| format!("written to {}", path.display()));
    let and_written = written.as_ref().map_or(String::new(), |written| format!("; {written}"));
    if let (Some(keys), Some(rows), Some(written)) =
        (result.matched_keys, result.rows_written, &written)
    {
        return format!("{} in common; {} {written}", counted(keys, "key"), counted(rows, "row"));
    }
    if let Some(sums) = &result.sums {
        let sums: Vec<String> = sums
            .iter()
            .map(|sum| format!("sum of {} over common keys: {}", sum.column, signed(&sum.sum)))
            .collect();
        let count = result.matched_keys.map(|keys| format!("{} in common", counted(keys, "key")));
        let lines: Vec<String> = count.into_iter().chain(sums).collect();
        return lines.join("\n") + &and_written;
    }
    if let (Some(keys), Some(new)) = (result.union_keys, result.new_keys) {
        return format!("{} in the union, {} new{and_written}", counted(keys, "key"), grouped(new));
    }
    if let Some(ids) = result.union_keys {
        return format!("{} in the list{and_written}", counted(ids, "identifier"));
    }
    if let Some(entries) = result.shared_entries {
        let entries = match entries {
            1 => "1 entry".to_owned(),
            entries => format!("{} entries", grouped(entries)),
        };
        return format!("shares of {entries}{and_written}");
    }
    if let Some(keys) = result.matched_keys {
        return format!("{} in common{and_written}", counted(keys, "key"));
    }
    if let (Some(threshold), Some(reached)) = (agreed.threshold, result.threshold_reached) {
        let reached = if reached { "yes" } else { "no" };
        let keys = counted(threshold, "key");
        return format!("at least {keys} in common: {reached}{and_written}");
    }
    format!("done; {} receives the result", agreed.receives)
}

fn summary(args: &RunArgs, report: &Report, out: &mut impl Write) -> Result<(), Failure> {
    writeln!(out, "{}", answer(args, report))?;
    if !is_outside(report) && report.result.within_bounds.is_some() && !report.result.learned {
        writeln!(out, "the keys in common are within the agreed bounds")?;
    }
    let InputCounts { skipped } = InputCounts::new(report);
    if skipped > 0 {
        writeln!(
            out,
            "{} took no part: {} without a key, {} refused by their profile",
            counted(skipped, "row"),
            grouped(report.input.empty),
            grouped(report.input.refused),
        )?;
    }
    if report.input.without_value > 0 {
        let rows = counted(report.input.without_value, "row");
        writeln!(out, "{rows} with an empty value, counted as 0")?;
    }
    writeln!(
        out,
        "{} with {}; {} sent, {} received; {}",
        duration(Duration::from_secs_f64(report.resources.used.wall_s.max(0.0))),
        report.protocol.name,
        bytes(report.network.wire_sent),
        bytes(report.network.wire_received),
        match report.result.self_check {
            "passed" => "self-check passed",
            _ => "no self-check",
        },
    )?;
    Ok(writeln!(out, "agreement {}", report.agreement.hash)?)
}

/// What the summary says of rows that took no part.
struct InputCounts {
    skipped: u64,
}

impl InputCounts {
    fn new(report: &Report) -> Self {
        Self { skipped: report.input.empty + report.input.refused }
    }
}

/// A number with its digits in groups, whatever its sign.
fn signed(number: &str) -> String {
    match number.strip_prefix('-') {
        Some(digits) => format!("-{}", grouped_digits(digits)),
        None => grouped_digits(number),
    }
}

/// A switch that the first Ctrl-C or SIGTERM throws; the second ends the process at once. Files in the making have no
/// name yet, so that nothing is left.
pub(crate) fn cancel_on_interrupt() -> CancelToken {
    let token = CancelToken::new();
    let thrown = AtomicBool::new(false);
    let switch = token.clone();
    // Without a handler an interrupt still ends the process, only less politely.
    let _ = ctrlc::set_handler(move || {
        if thrown.swap(true, Ordering::SeqCst) {
            let _ =
                writeln!(io::stderr(), "error: stopped at once; the other side may not know why");
            let _ = writeln!(io::stderr(), "hint: one Ctrl-C lets the run end in good order");
            std::process::exit(code::INTERRUPTED.into());
        }
        // Telling the peer takes a moment, in which the second signal must be heard.
        let for_thread = switch.clone();
        if std::thread::Builder::new().spawn(move || for_thread.cancel()).is_err() {
            switch.cancel();
        }
    });
    token
}
