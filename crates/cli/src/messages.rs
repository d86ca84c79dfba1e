//! The error messages of failures that only the command has, and the printing of all messages.
//!
//! All others are in `vesica-diagnostics`. The same rules hold: messages start in lower case and
//! end without a full stop. They name files, lines, columns, peers and phases; never a key, an item
//! or the value of a cell.

use crate::demo::DemoError;
use crate::failure::{Failure, code};
use crate::settings::LogFormat;
use serde_json::json;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::{Mutex, OnceLock};
use vesica_bench_runs::BenchError;
use vesica_diagnostics::words::list;
use vesica_diagnostics::{
    Message, NO_MEMORY, Speech, Who, arguments, checked, defect, engine, files, helper, input,
    no_memory, no_threads, runs, shares, stores, with_helper,
};
use vesica_heap::{OutOfMemoryMessage, set_message};

/// Messages name the options of the command.
pub(crate) const SPEECH: Speech = Speech::Command;

/// The format of the log lines on standard error; not set if none go there.
static LOG_ON_STDERR: OnceLock<LogFormat> = OnceLock::new();

/// The exit code of a failure after which `who` must act.
pub(crate) fn exit_code(who: Who) -> u8 {
    match who {
        Who::Caller => code::USAGE,
        Who::You => code::HERE,
        Who::Peers => code::PEER,
        Who::Network => code::NETWORK,
        Who::Later => code::NOT_FINISHED,
        Who::Vesica => code::BUG,
        Who::Nobody => code::INTERRUPTED,
    }
}

/// Prints `message` on standard error and returns the exit code.
pub(crate) fn print(message: &Message) -> ExitCode {
    let (error, hint) = (harmless(&message.error), harmless(&message.hint));
    let code = exit_code(message.who);
    // Standard error gets the message once: as one line if it carries a JSON log, otherwise as the
    // two lines here.
    let on_stderr = LOG_ON_STDERR.get().copied();
    if on_stderr != Some(LogFormat::Text) {
        tracing::error!(hint, exit_code = code, "{error}");
    }
    if on_stderr != Some(LogFormat::Json) {
        let mut stderr = io::stderr().lock();
        let _ = writeln!(stderr, "error: {error}");
        let _ = writeln!(stderr, "hint: {hint}");
    }
    ExitCode::from(code)
}

/// `text` without characters that could move the cursor or colour the terminal: other people choose
/// file and column names. Line ends stay.
fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// The message for exhausted memory.
pub(crate) const OUT_OF_MEMORY: OutOfMemoryMessage =
    OutOfMemoryMessage { text: NO_MEMORY, exit_code: code::HERE };

/// Notes that log lines of this `format` go to standard error, so that messages match them. With
/// JSON, the message for exhausted memory becomes a line of JSON too.
pub(crate) fn log_is_on_stderr(format: LogFormat) {
    let _ = LOG_ON_STDERR.set(format);
    if format != LogFormat::Json {
        return;
    }
    let Message { error, hint, who } = no_memory(SPEECH);
    let code = exit_code(who);
    let fields = json!({ "message": error, "hint": hint, "exit_code": code });
    let text = format!("{}\n", json!({ "level": "ERROR", "fields": fields }));
    set_message(OutOfMemoryMessage { text: text.leak(), exit_code: code });
}

/// Prints the message of `failure` and returns the exit code.
pub(crate) fn report(failure: &Failure) -> ExitCode {
    // The reader of the output has closed it, as `head` does: this is not an error.
    if let Failure::Stdout(error) = failure
        && error.kind() == io::ErrorKind::BrokenPipe
    {
        return ExitCode::SUCCESS;
    }
    print(&of(failure))
}

/// Reports a panic as a defect of Vesica, with its place, and ends the process with exit code 70.
pub(crate) fn turn_panics_into_messages() {
    std::panic::set_hook(Box::new(|panic| {
        // A damaged file, not a defect: the panic is caught and becomes an error.
        if vesica_tables::panic_is_caught() {
            return;
        }
        // Another thread that panics waits for this one, which ends the process.
        let _told = TOLD.lock();
        let text = panic.payload_as_str().unwrap_or_default();
        let place = panic.location().map(|at| format!("{}:{}", at.file(), at.line()));
        let message = of_panic(text, place);
        print(&message);
        std::process::exit(exit_code(message.who).into());
    }));
}

/// Held by the thread that reports why the process ends.
static TOLD: Mutex<()> = Mutex::new(());

/// How the panic messages of the standard library and rayon start when the system has no thread for
/// them, or no memory for a thread's stacks. Nothing else identifies these panics.
const NO_THREAD: [&str; 4] = [
    "failed to spawn thread",
    "failed to allocate an alternative stack",
    "failed to set up alternative stack guard page",
    "The global thread pool has not been initialized",
];

/// The message for a panic with this `text` at `place`.
fn of_panic(text: &str, place: Option<String>) -> Message {
    if NO_THREAD.iter().any(|begin| text.starts_with(begin)) {
        return no_threads(SPEECH);
    }
    defect(&place.unwrap_or_else(|| "an unknown place".to_owned()), SPEECH)
}

/// The message of `failure`.
pub(crate) fn of(failure: &Failure) -> Message {
    match failure {
        Failure::Engine { error, endpoint } => engine::error(error, endpoint.as_ref(), SPEECH),
        Failure::Aided(failure) => with_helper::error(failure, SPEECH),
        Failure::Helper(failure) => helper::failure(failure, SPEECH),
        Failure::HelperDirectoryTwice { option, other } => Message::here(
            format!("{option} and {other} both name the helper's directory"),
            format!("leave out {option}"),
        )
        .by(Who::Caller),
        Failure::Runs { fault, place } => runs::error(*fault, place),
        Failure::Arguments(fault) => arguments::error(fault, SPEECH),
        Failure::Place { shown, error } => stores::error(shown, error, SPEECH),
        Failure::ColumnTwice { key } => Message::here(
            format!("--column is given twice for the key {key:?}"),
            "give one column for each key",
        )
        .by(Who::Caller),
        Failure::Clock => Message::here(
            "the clock of this machine shows a time before 1970",
            "set the clock: it decides when agreements expire, and reports and logs use its time",
        ),
        Failure::Kernels { name, available } => Message::here(
            format!("VESICA_SIMD is {name:?}, which this processor does not have"),
            format!("unset it, or choose one of: {}", available.join(", ")),
        ),
        Failure::Unwritable { what, path, kind } => Message::here(
            format!(
                "the {what} file {} cannot be written: {}",
                path.display(),
                files::cause(*kind)
            ),
            files::write_hint(*kind),
        ),
        Failure::NotAFile { what, path } => Message::here(
            format!(
                "{} is a link, a pipe or a device; the {what} needs a regular file",
                path.display()
            ),
            "name a regular file, or one that does not exist yet",
        ),
        Failure::Exists { what, path } => Message::here(
            format!("the {what} file {} already exists", path.display()),
            "choose another name, or add --force to replace it",
        ),
        Failure::SameFile { what, other, path } => Message::here(
            format!("the {what} file {} is the {other} file", path.display()),
            format!("choose another name for the {what}"),
        ),
        Failure::UnknownProtocol { id } => unknown_protocol(id),
        Failure::NotAKey { given, keys } => Message::here(
            format!("--never names {given:?}, which is not a key column of the agreement"),
            format!("the key columns are {}; add one with --key", list(keys)),
        )
        .by(Who::Caller),
        Failure::PartyCount { found, with_helper: false } => Message::here(
            format!("an agreement has two parties; number of --party options: {found}"),
            "give --party twice, for example --party shop --party publisher; with --helper you can \
             give up to 16",
        )
        .by(Who::Caller),
        Failure::PartyCount { found, with_helper: true } => Message::here(
            format!(
                "an agreement with a helper has 2 to 16 parties; number of --party options: \
                     {found}"
            ),
            "give one --party for each, for example --party north --party south --party east",
        )
        .by(Who::Caller),
        Failure::Shares(error) => shares::error(error, SPEECH),
        Failure::OtherAgreement => Message::here(
            "the shares were made under a different agreement",
            "give the agreement of that run: the hash that `vesica agree show` prints must equal \
             the field \"agreement\" in the files of shares",
        ),
        Failure::NoKeysShared => Message::here(
            "the files hold shares of values only, no keys",
            "leave out --keys and --agreement",
        ),
        Failure::SecretsOnTerminal => Message::here(
            "the terminal would show what the shares keep secret",
            "give a file, for example --output common.csv, or --output - to print it anyway",
        ),
        Failure::Stdout(error) => Message::here(
            format!("standard output cannot be written: {}", files::cause(error.kind())),
            files::write_hint(error.kind()),
        ),
        Failure::SummaryLost { error, result, report } => {
            let cause = files::cause(error.kind());
            let lost = format!("the summary cannot be written to standard output: {cause}");
            match (result, report) {
                (Some(path), _) => Message::here(
                    lost,
                    format!("the run has finished, and its result is in {}", path.display()),
                ),
                (None, Some(path)) => Message::here(
                    lost,
                    format!("the run has finished, and its report is in {}", path.display()),
                ),
                (None, None) => Message::here(
                    lost,
                    "the run has finished, and its answer is lost; next time keep it with --report \
                     FILE or --output FILE",
                ),
            }
        }
        Failure::AnswerLost { quiet: false } => Message::here(
            "standard output is closed: the answer would be lost",
            "add --output FILE or --report FILE, or redirect standard output to a file or a pipe",
        ),
        Failure::AnswerLost { quiet: true } => Message::here(
            "--quiet prints no answer, and no file is given to write it to: the answer would be \
             lost",
            "add --output FILE or --report FILE, or leave out --quiet",
        ),
        Failure::ReportLost { path, kind, result, is_printed } => Message::here(
            format!(
                "the report file {} cannot be written: {}",
                path.display(),
                files::cause(*kind)
            ),
            match (result, is_printed) {
                (Some(result), _) => format!(
                    "the run has finished, and its result is in {}; only the report is lost",
                    result.display()
                ),
                (None, true) => "the run has finished; only the report is lost".to_owned(),
                (None, false) => {
                    "the run has finished, and its answer is lost with the report; run it again"
                        .to_owned()
                }
            },
        ),
        Failure::Checked(error) => checked::data(error, SPEECH),
        Failure::Faults(faults) => input::faults(faults, SPEECH),
        Failure::InState { what, path, folder } => Message::here(
            format!(
                "the {what} file {} is in {}, which is removed at the end of the run",
                path.display(),
                folder.display()
            ),
            format!("choose another place for the {what}, or another --state"),
        ),
        Failure::Bench(error) => bench(error),
        Failure::Demo(error) => demo(error),
    }
}

fn unknown_protocol(id: &str) -> Message {
    Message::here(
        format!("there is no protocol {id:?}"),
        "`vesica protocols --all` lists all protocols",
    )
}

fn bench(error: &BenchError) -> Message {
    match error {
        BenchError::UnknownProtocol(id) => unknown_protocol(id),
        BenchError::ItemBits { id, takes } => Message::here(
            match (takes.start(), takes.end()) {
                (least, most) if least == most => format!("{id} takes items of {most} bits only"),
                (least, most) => format!("{id} takes items of {least} to {most} bits"),
            },
            "--item-bits sets the length; `vesica protocols ID` shows which lengths a protocol \
             takes",
        ),
        BenchError::NotOffered { id, what } => Message::here(
            format!("{id} does not offer {what}"),
            "`vesica protocols --all` lists the protocols of each operation",
        ),
        BenchError::NoBounds(id) => Message::here(
            format!("{id} does not offer bounds on the number of common items"),
            "leave out --min-matches and --max-matches, or choose another protocol: `vesica \
             protocols ID` shows whether it offers bounds",
        ),
        BenchError::NoEarlyReveal(id) => Message::here(
            format!("{id} reveals matches only at the end in any case"),
            "leave out --no-early-reveal",
        ),
        BenchError::PlainValues(id) => Message::here(
            format!("{id} takes only one value per item, without a sign"),
            "leave out --value-columns and --value-signed, or choose a protocol that takes several",
        ),
        BenchError::BoundsReversed => Message::here(
            "--min-matches is above --max-matches",
            "make --min-matches the smaller one",
        )
        .by(Who::Caller),
        BenchError::TooManyCommon => Message::here(
            "there are more common items than the smaller set has items",
            "make --common smaller, or the sets larger",
        )
        .by(Who::Caller),
        BenchError::Parties(id) => Message::here(
            format!("{id} does not take this number of parties"),
            "`vesica protocols ID` shows how many it takes; --parties sets the number",
        ),
        BenchError::TooManyRows { id, max } => Message::here(
            format!("{id} takes at most {max} rows from each party"),
            "give a smaller --size",
        ),
        BenchError::TooFewItems { bits } => Message::here(
            format!("there are not enough items of {bits} bits for these sets"),
            "choose smaller sets or longer items",
        ),
        BenchError::Process => Message::here(
            "the two processes of the benchmark could not be run",
            "the machine may lack memory, processes or space for temporary files",
        ),
        BenchError::Party(role) => Message::here(
            format!("the {role} of the benchmark failed"),
            "see its message above; a smaller --size needs less memory",
        ),
        BenchError::WrongResult => defect("a run gave a wrong result", SPEECH),
    }
}

fn demo(error: &DemoError) -> Message {
    match error {
        DemoError::File { path, kind } => Message::here(
            format!("the demo cannot use {}: {}", path.display(), files::cause(*kind)),
            "give a directory that you can write to, for example `vesica demo --dir /tmp/demo`",
        ),
        DemoError::NotOurs(path) => Message::here(
            format!("{} contains files that were not made by the demo", path.display()),
            "give an empty directory, or a new one, with --dir",
        ),
        DemoError::Process(kind) => Message::here(
            format!("the demo could not run a process: {}", files::cause(*kind)),
            "the machine may lack memory or processes",
        ),
        DemoError::Command(command) => {
            Message::here(format!("`vesica {command}` failed in the demo"), "see its message above")
        }
        DemoError::WrongResult(what) => {
            defect(&format!("the demo's result is wrong: {what}"), SPEECH)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_in_names_are_replaced() {
        assert_eq!(harmless("a\u{1b}[2Jb\r\nc"), "a\u{fffd}[2Jb\u{fffd}\nc");
    }

    #[test]
    fn a_panic_for_lack_of_a_thread_is_not_a_defect() {
        for words in [
            "failed to spawn thread: Os { code: 11, kind: WouldBlock, message: \"Resource \
             temporarily unavailable\" }",
            "failed to allocate an alternative stack: Cannot allocate memory (os error 12)",
            "The global thread pool has not been initialized.: ThreadPoolBuildError { kind: \
             IOError(..) }",
        ] {
            let Message { error, who, .. } = of_panic(words, Some("std/thread.rs:1".to_owned()));
            assert_eq!(
                (&*error, who),
                ("the system cannot give this process any more threads", Who::You)
            );
        }
    }

    #[test]
    fn the_prepared_message_is_that_of_any_failure() {
        let Message { error, hint, who } = no_memory(SPEECH);
        let words = OUT_OF_MEMORY;
        assert_eq!(words.text, format!("error: {error}\nhint: {hint}\n"));
        assert_eq!(words.exit_code, exit_code(who));
    }

    #[test]
    fn any_other_panic_is_a_defect_and_shows_only_its_place() {
        let message = of_panic("index out of bounds: user@example.com", Some("a.rs:7".to_owned()));
        assert_eq!((&*message.error, message.who), ("internal error: a.rs:7", Who::Vesica));
        assert_eq!(of_panic("", None).who, Who::Vesica);
    }
}
