//! Every failure in words: what is wrong, and the next thing to do.
//!
//! All sentences of the project that tell of a failure stand here, one function for each family
//! of errors. They start in lower case and end without a full stop. They name files, lines,
//! columns, peers and phases; never a key, an item or the value of a cell.

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

pub(crate) const REPORT_DEFECT: &str = "this is a defect of Vesica, not of your data: please report it with \
     the version (`vesica --version`) and the command line";

/// What is said about a failure.
pub(crate) struct Message {
    /// What is wrong.
    pub(crate) error: String,
    /// The next thing to do.
    pub(crate) hint: String,
    /// The exit code.
    pub(crate) code: u8,
}

impl Message {
    /// Something here is wrong: data, settings or files.
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
        // Standard error says it once: a collector of JSON lines gets one, anyone else these two.
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

/// A text without characters that would move the cursor or colour the terminal: file names and
/// column names are other people's words. Line ends stay.
fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// The machine gives no more threads.
pub(crate) fn no_threads() -> Message {
    Message::here(
        "the system gives this process no more threads",
        "raise the limit on processes and threads (ulimit -u, or the limit of the container) or on memory (ulimit -v), \
         or take fewer with --threads",
    )
}

macro_rules! no_memory {
    () => {
        "the system gives this process no more memory"
    };
}

macro_rules! no_memory_hint {
    () => {
        "raise the limit (ulimit -v, or the limit of the container), or take less: fewer --threads, with a helper a \
         smaller --memory"
    };
}

/// What [`no_memory()`] prints, made beforehand: nothing can be made then.
pub(crate) const OUT_OF_MEMORY: OutOfMemoryMessage = OutOfMemoryMessage {
    text: concat!("error: ", no_memory!(), "\nhint: ", no_memory_hint!(), "\n"),
    exit_code: code::HERE,
};

/// The machine gives no more memory.
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
            format!("{option} goes with a helper, and the agreement has none"),
            format!("leave out {option}: a run between two parties keeps nothing, and begins anew"),
        )
        .with_code(code::USAGE),
        Failure::NotWithHelper { option } => Message::here(
            format!("{option} is given, and the agreement has a helper, to which all parties connect"),
            "say where the helper is, as --connect helper.example:7500",
        )
        .with_code(code::USAGE),
        Failure::NoHelperAddress { helper } => Message::here(
            format!("--connect is not given: where is {helper}?"),
            "say where the helper is, as --connect helper.example:7500",
        )
        .with_code(code::USAGE),
        Failure::OtherParty { asked, is } => Message::here(
            format!("the key file is that of {is}, not of {asked}"),
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
            "one side listens, as --listen 0.0.0.0:7400; the other connects to it, as --connect \
             partner.example:7400",
        )
        .with_code(code::USAGE),
        Failure::NoKey => Message::here(
            "meeting the other side needs your key file",
            "add --key FILE, or leave out --listen and --connect",
        )
        .with_code(code::USAGE),
        Failure::Clock => Message::here(
            "the clock of this machine says that it is before 1970",
            "set the clock: agreements expire by it, and reports and logs carry its time",
        ),
        Failure::Kernels { name, available } => Message::here(
            format!("VESICA_SIMD is {name:?}, which this processor does not have"),
            format!("unset it, or choose one of {}", available.join(", ")),
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
            format!("{} is a link, a pipe or a device, not a place for the {what}", path.display()),
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
            format!("an agreement has two parties, not {found}"),
            "give --party twice, as --party shop --party publisher; with --helper there can be more",
        )
        .with_code(code::USAGE),
        Failure::PartyCount { found, with_helper: true } => Message::here(
            format!("an agreement with a helper has 2 to 16 parties, not {found}"),
            "give --party for each, as --party north --party south --party east",
        )
        .with_code(code::USAGE),
        Failure::Shares(error) => shares::error(error),
        Failure::OtherAgreement => Message::here(
            "the agreement is not the one that the shares were made under",
            "give the agreement of that run: `vesica agree show` prints its hash, the field \
             \"agreement\" of the shares",
        ),
        Failure::NoKeysShared => Message::here(
            "the files hold shares of values alone, and no keys",
            "leave out --keys and --agreement",
        ),
        Failure::Stdout(error) => Message::here(
            format!("standard output cannot be written: {}", files::cause(error.kind())),
            files::write_hint(error.kind()),
        ),
        Failure::Untold { error, result, report } => {
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
                    "the run is over, and what it said is lost; --report FILE or --output FILE keeps it",
                ),
            }
        }
        Failure::NowhereToTell { quiet: false } => Message::here(
            "standard output is closed: the answer would be lost",
            "add --output FILE or --report FILE, or let standard output go somewhere",
        ),
        Failure::NowhereToTell { quiet: true } => Message::here(
            "--quiet prints no answer, and no file is given for it: the answer would be lost",
            "add --output FILE or --report FILE, or leave out --quiet",
        ),
        Failure::Unreported { path, kind, result, is_told } => Message::here(
            format!("the report file {} cannot be written: {}", path.display(), files::cause(*kind)),
            match (result, is_told) {
                (Some(result), _) => format!(
                    "the run is over, and its result is in place in {}; only the report is lost",
                    result.display()
                ),
                (None, true) => "the run is over; only the report is lost".to_owned(),
                (None, false) => {
                    "the run is over, and its answer is lost with the report; run it again".to_owned()
                }
            },
        ),
        Failure::Faults(faults) => input::faults(faults),
        Failure::InState { what, path, folder } => Message::here(
            format!(
                "the {what} file {} would be in {}, which is removed when the run is over",
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
        "`vesica protocols` lists the protocols there are",
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
            "--item-bits sets their length; `vesica protocols ID` says of each which it takes",
        ),
        BenchError::NotOffered { id, operation } => Message::here(
            format!("{id} does not offer {operation}"),
            "`vesica protocols` says of each what it computes",
        ),
        BenchError::NoBounds(id) => Message::here(
            format!("{id} does not offer bounds on the number of common items"),
            "`vesica protocols ID` says of each whether it does; leave out --min-matches and \
             --max-matches otherwise",
        ),
        BenchError::PlainValues(id) => Message::here(
            format!("{id} takes one value of an item, without a sign"),
            "leave out --value-columns and --value-signed, or choose a protocol that takes several",
        ),
        BenchError::BoundsReversed => Message::here(
            "--min-matches is above --max-matches",
            "make --min-matches the smaller one",
        )
        .with_code(code::USAGE),
        BenchError::TooManyCommon => Message::here(
            "there are more common items than the smaller set has",
            "make --common smaller, or the sets larger",
        )
        .with_code(code::USAGE),
        BenchError::Parties(id) => Message::here(
            format!("{id} is for another number of parties"),
            "`vesica protocols` says for how many; give it with --parties",
        ),
        BenchError::TooManyRows { id, max } => Message::here(
            format!("{id} takes at most {max} rows of a party"),
            "give a smaller --size",
        ),
        BenchError::TooFewItems { bits } => Message::here(
            format!("there are not enough items of {bits} bits for these sets"),
            "take smaller sets or more bits",
        ),
        BenchError::Process => Message::here(
            "the two processes of the benchmark could not be run",
            "the machine may lack memory, processes or space for temporary files",
        ),
        BenchError::Party(role) => Message::here(
            format!("the {role} of the benchmark failed"),
            "its own message stands above; a smaller --size takes less memory",
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
            "give a directory that can be written, as `vesica demo --dir /tmp/demo`",
        ),
        DemoError::NotOurs(path) => Message::here(
            format!("{} holds files that no demo made", path.display()),
            "give an empty or a new directory with --dir",
        ),
        DemoError::Process(kind) => Message::here(
            format!("the demo could not run a process: {}", files::cause(*kind)),
            "the machine may lack memory or processes",
        ),
        DemoError::Command(command) => Message::here(
            format!("`vesica {command}` failed in the demo"),
            "its own message stands above",
        ),
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
    fn other_peoples_words_cannot_steer_the_terminal() {
        assert_eq!(harmless("a\u{1b}[2Jb\r\nc"), "a\u{fffd}[2Jb\u{fffd}\nc");
    }
}
