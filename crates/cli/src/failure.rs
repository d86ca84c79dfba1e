//! Why a command failed, and with which exit code.

use crate::demo::DemoError;
use std::io;
use std::path::PathBuf;
use vesica_agreement::{Agreement, AgreementError};
use vesica_bench_runs::BenchError;
use vesica_diagnostics::arguments::ArgumentFault;
use vesica_diagnostics::helper::HelperFailure;
use vesica_diagnostics::with_helper::{Aided, AidedFailure};
use vesica_engine::shares::SharesError;
use vesica_engine::{ConfigFault, Error, InputFault};
use vesica_link::{Endpoint, IdentityError, LinkOptions};
use vesica_records::Faults;
use vesica_store_backends::StoresError;
use vesica_store_session::RunsError;
use vesica_tables::{InputError, OutputError};

/// Exit codes.
pub(crate) mod code {
    /// Not a failure: the run has finished, and its agreement allows no answer.
    pub(crate) const NO_ANSWER: u8 = 1;
    pub(crate) const USAGE: u8 = 2;
    pub(crate) const HERE: u8 = 3;
    pub(crate) const PEER: u8 = 4;
    pub(crate) const NETWORK: u8 = 5;
    pub(crate) const BUG: u8 = 70;
    /// Not finished: the run waits for the other side. `EX_TEMPFAIL` of sysexits.h.
    pub(crate) const NOT_FINISHED: u8 = 75;
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
    /// Addresses, keys and names that contradict each other.
    Arguments(ArgumentFault),
    /// The place of --exchange, without secrets.
    Place { shown: String, error: StoresError },
    /// Two columns were given for one key.
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
    /// A value is excluded from a column that is not a key of a new agreement.
    NotAKey { given: String, keys: Vec<String> },
    /// More or fewer parties than a new agreement takes.
    PartyCount { found: usize, with_helper: bool },
    /// The runs of a store could not be listed or removed.
    Runs { fault: RunsError, place: String },
    /// Files of shares that cannot be combined.
    Shares(SharesError),
    /// The shares were made under an agreement that differs from the given one.
    OtherAgreement,
    /// The files hold shares of values only, no keys.
    NoKeysShared,
    /// What the shares hid would be shown on a terminal.
    SecretsOnTerminal,
    /// Standard output could not be written.
    Stdout(io::Error),
    /// The summary of a run could not be written to standard output.
    SummaryLost { error: io::Error, result: Option<PathBuf>, report: Option<PathBuf> },
    /// The answer of a run would be lost: standard output is closed or `--quiet` is given, and
    /// there is no file for it.
    AnswerLost { quiet: bool },
    /// The report of a run could not be written. The answer is in the result file, or printed, or
    /// lost.
    ReportLost { path: PathBuf, kind: io::ErrorKind, result: Option<PathBuf>, is_printed: bool },
    /// A check has read an input that a run cannot use, and has shown the results.
    Checked(Box<InputError>),
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
}

/// Makes a failure of each of these errors.
macro_rules! failures {
    ($($error:ty => $failure:expr;)*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                $failure(error)
            }
        })*
    };
}

failures! {
    Error => |error| Failure::of_engine(error, None);
    AgreementError => |error| Error::Config(ConfigFault::Agreement(error)).into();
    IdentityError => |error| Error::Config(ConfigFault::Identity(error)).into();
    InputError => |error| Error::from(error).into();
    InputFault => |fault| Error::Input(fault).into();
    OutputError => |error| Error::from(error).into();
    HelperFailure => |failure| Failure::Helper(Box::new(failure));
    ArgumentFault => Failure::Arguments;
    io::Error => Failure::Stdout;
    SharesError => Failure::Shares;
    BenchError => Failure::Bench;
    DemoError => Failure::Demo;
}
