//! The error messages: what is wrong, and what to do next.
//!
//! All error messages of the project are here, one function for each family of errors. They start in lower case and
//! end without a full stop. They name files, lines, columns, peers and phases; never a key, an item or the value of a
//! cell.

pub(crate) mod agreement;
mod engine;
mod files;
pub(crate) mod helper;
pub(crate) mod input;
pub(crate) mod link;
mod shares;
mod tables;
mod with_helper;

use crate::args::LogFormat;
use crate::bench::BenchError;
use crate::demo::DemoError;
use crate::failure::{Failure, code};
use crate::logging;
use std::io::{self, Write};
use std::process::ExitCode;
use vesica_engine::explain::grouped;
use vesica_heap::OutOfMemoryMessage;

pub(crate) const REPORT_DEFECT: &str = "this is a defect of Vesica, not of your data: please \
                                        report it with the version (`vesica --version`) and the \
                                        command line";

/// The message for a failure.
pub(crate) struct Message {
    /// What is wrong.
    pub(crate) error: String,
    /// What to do next.
    pub(crate) hint: String,
    /// The exit code.
    pub(crate) code: u8,
}

impl Message {
    /// A fault on this side: data, settings or files.
    pub(crate) fn here(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { error: error.into(), hint: hint.into(), code: code::HERE }
    }

    fn with_code(self, code: u8) -> Self {
        Self { code, ..self }
    }

    /// Prints the message on standard error and gives the exit code.
    pub(crate) fn print(&self) -> ExitCode {
        let Message { error, hint, code } = self;
        let (error, hint) = (harmless(error), harmless(hint));
        // Standard error gets the message once: as one line if it carries a JSON log, otherwise as these two.
        let on_stderr = logging::on_stderr();
        if on_stderr != Some(LogFormat::Text) {
            tracing::error!(hint, exit_code = code, "{error}");
        }
        if on_stderr != Some(LogFormat::Json) {
            let mut stderr = io::stderr().lock();
            let _ = writeln!(stderr, "error: {error}");
            let _ = writeln!(stderr, "hint: {hint}");
        }
        ExitCode::from(*code)
    }
}

/// `text` without characters that could move the cursor or colour the terminal: file and column names come from
/// other people. Line ends stay.
fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// The system refuses to start a thread.
pub(crate) fn no_threads() -> Message {
    Message::here(
        "the system cannot give this process any more threads",
        "raise the limit on processes and threads (ulimit -u, or the limit of the container) or on \
         memory (ulimit -v), or use fewer with --threads",
    )
}

macro_rules! no_memory {
    () => {
        "the system cannot give this process any more memory"
    };
}

macro_rules! no_memory_hint {
    () => {
        "raise the limit (ulimit -v, or the limit of the container), or use less memory: fewer \
         --threads, or a smaller --memory in a run with a helper"
    };
}

/// What [`no_memory()`] prints, prepared in advance: without memory no text can be built.
pub(crate) const OUT_OF_MEMORY: OutOfMemoryMessage = OutOfMemoryMessage {
    text: concat!("error: ", no_memory!(), "\nhint: ", no_memory_hint!(), "\n"),
    exit_code: code::HERE,
};

/// The system refuses an allocation.
pub(crate) fn no_memory() -> Message {
    Message::here(no_memory!(), no_memory_hint!())
}

/// The error line of a defect.
pub(crate) fn defect(what: &str) -> String {
    format!("internal error: {what}")
}

/// The message of `failure`.
pub(crate) fn of(failure: &Failure) -> Message {
    match failure {
        Failure::Engine { error, endpoint } => engine::error(error, endpoint.as_ref()),
        Failure::Aided(failure) => with_helper::error(failure),
        Failure::Helper(failure) => helper::failure(failure),
        Failure::OnlyWithHelper { option } => Message::here(
            format!("{option} is only for runs with a helper, and the agreement has no helper"),
            format!(
                "leave out {option}: a run between two parties keeps no state and always \
                     starts from the beginning"
            ),
        )
        .with_code(code::USAGE),
        Failure::NotWithHelper { option } => Message::here(
            format!(
                "{option} cannot be used here: the agreement has a helper, and all parties \
                     connect to it"
            ),
            "give the helper's address, for example --connect helper.example:7500",
        )
        .with_code(code::USAGE),
        Failure::NoHelperAddress { helper } => Message::here(
            format!("--connect is missing: the address of {helper} is not known"),
            "give the helper's address, for example --connect helper.example:7500",
        )
        .with_code(code::USAGE),
        Failure::OtherParty { asked, is } => Message::here(
            format!("the key file belongs to {is}, not to {asked}"),
            format!("give the key file of {asked}, or leave out --as"),
        ),
        Failure::NoSuchParty { asked, known } => Message::here(
            format!("the agreement has no party {asked:?}"),
            format!("its parties are {}", list(known)),
        ),
        Failure::ColumnTwice { key } => Message::here(
            format!("--column is given twice for the key {key:?}"),
            "give one column for each key",
        )
        .with_code(code::USAGE),
        Failure::NoAddress => Message::here(
            "neither --listen nor --connect is given",
            "one side listens, for example --listen 0.0.0.0:7400; the other connects to it, for \
             example --connect partner.example:7400",
        )
        .with_code(code::USAGE),
        Failure::NoKey => Message::here(
            "meeting the other side needs your key file",
            "add --key FILE, or leave out --listen and --connect",
        )
        .with_code(code::USAGE),
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
        Failure::PartyCount { found, with_helper: false } => Message::here(
            format!("an agreement has two parties; number of --party options: {found}"),
            "give --party twice, for example --party shop --party publisher; with --helper you can \
             give up to 16",
        )
        .with_code(code::USAGE),
        Failure::PartyCount { found, with_helper: true } => Message::here(
            format!(
                "an agreement with a helper has 2 to 16 parties; number of --party options: \
                     {found}"
            ),
            "give one --party for each, for example --party north --party south --party east",
        )
        .with_code(code::USAGE),
        Failure::Shares(error) => shares::error(error),
        Failure::OtherAgreement => Message::here(
            "the shares were made under a different agreement",
            "give the agreement of that run: the hash that `vesica agree show` prints must equal \
             the field \"agreement\" in the files of shares",
        ),
        Failure::NoKeysShared => Message::here(
            "the files hold shares of values only, no keys",
            "leave out --keys and --agreement",
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
                    format!("the run is over, and its result is in place in {}", path.display()),
                ),
                (None, Some(path)) => Message::here(
                    lost,
                    format!("the run is over, and its report is in place in {}", path.display()),
                ),
                (None, None) => Message::here(
                    lost,
                    "the run is over, and its answer is lost; next time keep it with --report FILE \
                     or --output FILE",
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
                    "the run is over, and its result is in place in {}; only the report is lost",
                    result.display()
                ),
                (None, true) => "the run is over; only the report is lost".to_owned(),
                (None, false) => {
                    "the run is over, and its answer is lost with the report; run it again"
                        .to_owned()
                }
            },
        ),
        Failure::Faults(faults) => input::faults(faults),
        Failure::InState { what, path, folder } => Message::here(
            format!(
                "the {what} file {} is in {}, which is removed when the run is over",
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
        BenchError::NotOffered { id, operation } => Message::here(
            format!("{id} does not offer {operation}"),
            "`vesica protocols --all` lists the protocols of each operation",
        ),
        BenchError::NoBounds(id) => Message::here(
            format!("{id} does not offer bounds on the number of common items"),
            "leave out --min-matches and --max-matches, or choose another protocol: `vesica \
             protocols ID` shows whether it offers bounds",
        ),
        BenchError::PlainValues(id) => Message::here(
            format!("{id} takes only one value per item, without a sign"),
            "leave out --value-columns and --value-signed, or choose a protocol that takes several",
        ),
        BenchError::BoundsReversed => Message::here(
            "--min-matches is above --max-matches",
            "make --min-matches the smaller one",
        )
        .with_code(code::USAGE),
        BenchError::TooManyCommon => Message::here(
            "there are more common items than the smaller set has items",
            "make --common smaller, or the sets larger",
        )
        .with_code(code::USAGE),
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
        BenchError::WrongResult => Message {
            error: defect("a run gave a wrong result"),
            hint: REPORT_DEFECT.to_owned(),
            code: code::BUG,
        },
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
        DemoError::WrongResult(what) => Message {
            error: defect(&format!("the demo's result is wrong: {what}")),
            hint: REPORT_DEFECT.to_owned(),
            code: code::BUG,
        },
    }
}

/// `"a", "b" and "c"`.
pub(crate) fn list<T: AsRef<str>>(words: &[T]) -> String {
    and(&words.iter().map(|word| format!("{:?}", word.as_ref())).collect::<Vec<_>>())
}

/// `1 row`, `2 rows`.
pub(crate) fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// `a, b and c`.
pub(crate) fn and<T: AsRef<str>>(words: &[T]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        None => String::new(),
        Some((only, [])) => (*only).to_owned(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reads_like_a_sentence() {
        assert_eq!(list(&["a"]), "\"a\"");
        assert_eq!(list(&["a", "b", "c"]), "\"a\", \"b\" and \"c\"");
        assert_eq!(list::<&str>(&[]), "");
        assert_eq!(and(&["a", "b"]), "a and b");
    }

    #[test]
    fn control_characters_in_names_are_replaced() {
        assert_eq!(harmless("a\u{1b}[2Jb\r\nc"), "a\u{fffd}[2Jb\u{fffd}\nc");
    }
}
