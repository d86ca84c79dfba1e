//! Why a command failed, and with which exit code.

use crate::args::Arguments;
use crate::bench::BenchError;
use crate::demo::DemoError;
use crate::messages::{self, SPEECH};
use clap::CommandFactory;
use clap::error::ErrorKind;
use serde_json::json;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use vesica_agreement::{Agreement, AgreementError};
use vesica_engine::shares::SharesError;
use vesica_engine::{ConfigFault, Error, InputFault};
use vesica_heap::{OutOfMemoryMessage, set_message};
use vesica_link::{Endpoint, IdentityError, LinkOptions};
use vesica_messages::arguments::ArgumentFault;
use vesica_messages::helper::HelperFailure;
use vesica_messages::with_helper::{Aided, AidedFailure};
use vesica_messages::{Message, Who, defect, no_memory, no_threads};
use vesica_records::{Faults, InputError, OutputError};

/// Exit codes.
pub(crate) mod code {
    /// Not a failure: the run is finished, and its agreement allows no answer.
    pub(crate) const NO_ANSWER: u8 = 1;
    pub(crate) const USAGE: u8 = 2;
    pub(crate) const HERE: u8 = 3;
    pub(crate) const PEER: u8 = 4;
    pub(crate) const NETWORK: u8 = 5;
    pub(crate) const BUG: u8 = 70;
    pub(crate) const INTERRUPTED: u8 = 130;
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A run, or its files and settings.
    Engine {
        error: Box<Error>,
        /// The address of the peer, or the one to listen on.
        endpoint: Option<Endpoint>,
    },
    /// A run with a helper.
    Aided(Box<Aided>),
    /// The helper's service.
    Helper(Box<HelperFailure>),
    /// Two options both name the helper's directory.
    HelperDirectoryTwice { option: &'static str, other: &'static str },
    /// Addresses, keys and names that do not go together.
    Arguments(ArgumentFault),
    /// One key was given two columns.
    ColumnTwice { key: String },
    /// `VESICA_SIMD` names kernels that this machine does not have.
    Kernels { name: String, available: Vec<&'static str> },
    /// A file that the command writes itself could not be written.
    Unwritable { what: &'static str, path: PathBuf, kind: io::ErrorKind },
    /// A file to be written has the name of something that is not a regular file.
    NotAFile { what: &'static str, path: PathBuf },
    /// A file that the command writes itself exists.
    Exists { what: &'static str, path: PathBuf },
    /// Two files of one command are the same.
    SameFile { what: &'static str, other: &'static str, path: PathBuf },
    /// The catalogue has no such protocol.
    UnknownProtocol { id: String },
    /// More or fewer parties than a new agreement takes.
    PartyCount { found: usize, with_helper: bool },
    /// Files of shares that cannot be combined.
    Shares(SharesError),
    /// The shares were made under another agreement than the given one.
    OtherAgreement,
    /// The files hold shares of values only, no keys.
    NoKeysShared,
    /// Standard output could not be written.
    Stdout(io::Error),
    /// The summary of a run could not be written to standard output.
    SummaryLost { error: io::Error, result: Option<PathBuf>, report: Option<PathBuf> },
    /// The answer of a run would be lost: standard output is closed or `--quiet` is given, and there is no file
    /// for it.
    AnswerLost { quiet: bool },
    /// The report of a run could not be written. The answer is in the result file, or printed, or lost.
    ReportLost { path: PathBuf, kind: io::ErrorKind, result: Option<PathBuf>, is_printed: bool },
    /// Rows of the input are faulty.
    Faults(Box<Faults>),
    /// A file of a run is in the folder of the run, which is removed at its end.
    InState { what: &'static str, path: PathBuf, folder: PathBuf },
    /// The machine's clock shows a time before 1970.
    Clock,
    /// The benchmark.
    Bench(BenchError),
    /// The demo.
    Demo(DemoError),
}

impl Failure {
    /// The failure of a run with a peer at `endpoint`.
    pub(crate) fn of_engine(error: Error, endpoint: Option<&Endpoint>) -> Self {
        Failure::Engine { error: Box::new(error), endpoint: endpoint.cloned() }
    }

    /// The failure of a run of `agreement` with a helper at the address of `link`; `folder` is the
    /// folder of the run, or `None` for a check.
    pub(crate) fn with_helper(
        what: AidedFailure,
        agreement: &Agreement,
        link: &LinkOptions,
        folder: Option<PathBuf>,
    ) -> Self {
        Failure::Aided(Box::new(Aided::new(what, agreement, link, folder)))
    }

    /// Prints the message and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        // The reader of our output has closed it, as `head` does: this is not an error.
        if let Failure::Stdout(error) = self
            && error.kind() == io::ErrorKind::BrokenPipe
        {
            return ExitCode::SUCCESS;
        }
        messages::print(&messages::of(self))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::of_engine(error, None)
    }
}

impl From<AgreementError> for Failure {
    fn from(error: AgreementError) -> Self {
        Error::Config(ConfigFault::Agreement(error)).into()
    }
}

impl From<IdentityError> for Failure {
    fn from(error: IdentityError) -> Self {
        Error::Config(ConfigFault::Identity(error)).into()
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Error::from(error).into()
    }
}

impl From<InputFault> for Failure {
    fn from(fault: InputFault) -> Self {
        Error::Input(fault).into()
    }
}

impl From<HelperFailure> for Failure {
    fn from(failure: HelperFailure) -> Self {
        Failure::Helper(Box::new(failure))
    }
}

impl From<ArgumentFault> for Failure {
    fn from(fault: ArgumentFault) -> Self {
        Failure::Arguments(fault)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Stdout(error)
    }
}

impl From<SharesError> for Failure {
    fn from(error: SharesError) -> Self {
        Failure::Shares(error)
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        Error::from(error).into()
    }
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        Failure::Bench(error)
    }
}

impl From<DemoError> for Failure {
    fn from(error: DemoError) -> Self {
        Failure::Demo(error)
    }
}

/// Prints what is wrong with the command line, or the requested help or version.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        let message = Message {
            error: "no command is given".to_owned(),
            hint: "choose one of the commands above; `vesica demo` shows what Vesica does"
                .to_owned(),
            who: Who::Caller,
        };
        return messages::print(&message);
    }
    let text = error.render().to_string();
    let (text, _) = text.split_once("\n\nFor more information").unwrap_or((text.trim_end(), ""));
    let mut command = Arguments::command();
    let mut name = "vesica".to_owned();
    for word in std::env::args().skip(1) {
        let Some(below) = command.find_subcommand(&word) else { break };
        name = format!("{name} {word}");
        command = below.clone();
    }
    let mut stderr = io::stderr().lock();
    let _ = writeln!(stderr, "{text}");
    let _ = writeln!(stderr, "hint: `{name} --help` shows every option, with an example");
    ExitCode::from(code::USAGE)
}

/// Makes the message for exhausted memory a line of JSON.
pub(crate) fn use_json_message_for_no_memory() {
    let Message { error, hint, who } = no_memory(SPEECH);
    let code = messages::exit_code(who);
    let fields = json!({ "message": error, "hint": hint, "exit_code": code });
    let text = format!("{}\n", json!({ "level": "ERROR", "fields": fields }));
    set_message(OutOfMemoryMessage { text: text.leak(), exit_code: code });
}

/// Reports a panic as a defect of ours, with its place, and ends the process with exit code 70.
pub(crate) fn turn_panics_into_messages() {
    std::panic::set_hook(Box::new(|panic| {
        // A damaged file, not a defect: the panic is caught and becomes an error.
        if vesica_records::panic_is_caught() {
            return;
        }
        let text = panic.payload_as_str().unwrap_or_default();
        let place = panic.location().map(|at| format!("{}:{}", at.file(), at.line()));
        let message = of_panic(text, place);
        messages::print(&message);
        std::process::exit(messages::exit_code(message.who).into());
    }));
}

/// How the panic messages of the standard library and rayon begin when the system has no thread for them, or no
/// memory for a thread's stacks. Nothing else identifies these panics.
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

#[cfg(test)]
mod tests {
    use super::*;

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
        let words = messages::OUT_OF_MEMORY;
        assert_eq!(words.text, format!("error: {error}\nhint: {hint}\n"));
        assert_eq!(words.exit_code, messages::exit_code(who));
    }

    #[test]
    fn any_other_panic_is_a_defect_and_shows_only_its_place() {
        let message = of_panic("index out of bounds: user@example.com", Some("a.rs:7".to_owned()));
        assert_eq!((&*message.error, message.who), ("internal error: a.rs:7", Who::Vesica));
        assert_eq!(of_panic("", None).who, Who::Vesica);
    }
}
