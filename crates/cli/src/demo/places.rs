//! The files of the demo, and why it can end early.

use std::io;
use std::path::{Path, PathBuf};

/// Why the demo ended early.
#[derive(Debug)]
pub(crate) enum DemoError {
    /// A file of the demo could not be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        kind: io::ErrorKind,
    },
    /// The directory holds files that no demo made.
    NotOurs(PathBuf),
    /// A process could not be run, or the terminal could not be written to.
    Process(io::ErrorKind),
    /// A command ended with an error, which it has printed.
    Command(String),
    /// The result is not the expected one: a defect of Vesica.
    WrongResult(&'static str),
}

impl From<io::Error> for DemoError {
    fn from(error: io::Error) -> Self {
        DemoError::Process(error.kind())
    }
}

pub(super) fn file_error(path: &Path, error: &io::Error) -> DemoError {
    DemoError::File { path: path.to_path_buf(), kind: error.kind() }
}

/// The places of the demo's files.
pub(super) struct Places {
    pub(super) agreement: PathBuf,
    pub(super) grocer: Organisation,
    pub(super) airline: Organisation,
}

/// One organisation's files.
pub(super) struct Organisation {
    pub(super) name: &'static str,
    pub(super) key: PathBuf,
    pub(super) input: PathBuf,
    pub(super) output: PathBuf,
    pub(super) report: PathBuf,
    pub(super) log: PathBuf,
}

impl Organisation {
    pub(super) fn new(directory: &Path, name: &'static str, input: &str) -> Self {
        let directory = directory.join(name);
        Self {
            name,
            key: directory.join(format!("{name}.key")),
            input: directory.join(input),
            output: directory.join("matched.csv"),
            report: directory.join("report.json"),
            log: directory.join("run.log"),
        }
    }
}
