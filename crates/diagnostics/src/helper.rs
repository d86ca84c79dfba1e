//! Failures of the helper's service, and why a helper cannot be reached.

use crate::tables::Written;
use crate::words::in_lower_case;
use crate::{Message, Speech, Who, files, link, no_threads};
use std::io::ErrorKind;
use vesica_core::{Error, Refusal, TransportError};
use vesica_helper::{OptionsError, Settings, SettingsError, SettingsFault, StartError, StoreError};
use vesica_label_joins::{BackendError, BadUrl};
use vesica_link::{Endpoint, LinkError, ParseIdentityError};

/// Why a helper could not start.
#[derive(Debug)]
pub enum HelperFailure {
    /// The settings file.
    Settings(SettingsError),
    /// The values of the settings.
    Options {
        /// What is wrong.
        error: OptionsError,
        /// The helper's addresses.
        at: HelperPlaces,
    },
    /// The start of the service.
    Start {
        /// What is wrong.
        error: StartError,
        /// The helper's addresses.
        at: HelperPlaces,
    },
}

/// The addresses of a helper.
#[derive(Clone, Debug)]
pub struct HelperPlaces {
    /// Where parties connect to.
    pub listen: String,
    /// Where the pages on health and metrics are, or `off`.
    pub metrics: String,
    /// The backend, without its password.
    pub backend: String,
}

impl HelperPlaces {
    /// The addresses in `settings`.
    pub fn of(settings: &Settings) -> Self {
        Self {
            listen: settings.listen.clone(),
            metrics: settings.metrics.as_ref().map_or("off", |metrics| &metrics.listen).to_owned(),
            backend: match &settings.backend {
                Some(url) => vesica_label_joins::redacted(url),
                None => format!("disk:{}", settings.state.display()),
            },
        }
    }
}

/// A helper that could not start.
pub fn failure(failure: &HelperFailure, say: Speech) -> Message {
    match failure {
        HelperFailure::Settings(error) => settings(error, say),
        HelperFailure::Options { error: OptionsError::Backend(error), at }
        | HelperFailure::Start { error: StartError::Backend(error), at } => backend(error, at),
        HelperFailure::Options { error: OptionsError::Threads(_), .. } => no_threads(say),
        HelperFailure::Options { error, .. } => Message::here(
            error.to_string(),
            format!(
                "the machine may lack memory or threads: {} sets how many threads are used",
                say.threads()
            ),
        ),
        HelperFailure::Start { error, at } => start(error, at, say),
    }
}

fn start(error: &StartError, at: &HelperPlaces, say: Speech) -> Message {
    match error {
        StartError::Link(LinkError::PortInUse) => Message::here(
            format!("the port of {} is in use by another program", at.listen),
            format!(
                "choose another port with {} and tell the parties, or end the other program",
                say.listen()
            ),
        ),
        StartError::Link(error) => {
            link::setting(error, Some(&Endpoint::Listen(at.listen.clone())), say)
        }
        StartError::Store(StoreError::InUse { path }) => Message::here(
            format!("another helper uses the directory {}", path.display()),
            format!("end it, or give this one its own directory with {}", say.state()),
        ),
        StartError::Store(StoreError::NotOurs { path }) => Message::here(
            format!(
                "the helper's directory {} belongs to another user of this machine",
                path.display()
            ),
            format!(
                "run the helper as that user, or give it its own directory with {}",
                say.state()
            ),
        ),
        StartError::Store(StoreError::Writable { path, mode }) => Message::here(
            format!(
                "other users can write in the helper's directory {} (mode {mode:03o})",
                path.display()
            ),
            format!(
                "run `chmod 700 {}` if no other user has changed anything in it; otherwise remove \
                 it: its runs are then lost",
                path.display()
            ),
        ),
        StartError::Store(StoreError::Unusable { path, kind: ErrorKind::DirectoryNotEmpty }) => {
            Message::here(
                format!("{} is not a helper's directory: it contains other files", path.display()),
                format!(
                    "give the helper its own directory with {}; if this is a helper's directory \
                     that lost its file `lock`, create an empty file of that name in it",
                    say.state()
                ),
            )
        }
        StartError::Store(StoreError::Unusable { path, kind }) => Message::here(
            format!(
                "the helper's directory {} cannot be used: {}",
                path.display(),
                files::cause(*kind)
            ),
            files::write_hint(*kind),
        ),
        StartError::Metrics(kind) => Message::here(
            format!(
                "health and metrics cannot be served at {}: {}",
                at.metrics,
                match kind {
                    ErrorKind::AddrInUse => "the port is in use by another program".to_owned(),
                    kind => files::cause(*kind),
                }
            ),
            format!("choose another address with {}, or {}", say.metrics(), say.metrics_off()),
        ),
        StartError::MetricsNotLoopback => Message::here(
            format!("other machines could read health and metrics at {}", at.metrics),
            "use an address of 127.0.0.1, or allow it with metrics_for_others = true in the \
             settings: the pages are not encrypted, and anyone who can connect can read them",
        ),
        StartError::SameParty { name } => Message::here(
            format!("the settings list the party {name:?} twice, by its name or by its identity"),
            "give each party its own table, with its own identity",
        ),
        StartError::NoThread(_) => no_threads(say),
        error => Message::here(error.to_string(), "check the settings and the options"),
    }
}

fn backend(error: &BackendError, at: &HelperPlaces) -> Message {
    let url = &at.backend;
    match error {
        BackendError::BadUrl(error) => Message::here(
            format!("{url} is not a usable backend: {error}"),
            match error {
                BadUrl::Encoding => {
                    "write each character of a password other than a-z, A-Z and 0-9 as a percent \
                     sign and two hexadecimal digits"
                }
                _ => {
                    "a backend is memory:, disk:DIRECTORY, redis://HOST:PORT/0, \
                     postgres://USER@HOST/DATABASE or cluster:DIRECTORY"
                }
            },
        ),
        BackendError::Unreachable(kind) => Message {
            error: format!("the backend {url} cannot be reached: {}", files::cause(*kind)),
            hint: "start the database; are host and port right?".to_owned(),
            who: Who::Network,
        },
        BackendError::Refused => Message::here(
            format!(
                "the backend {url} refuses the helper's login, or does not grant it the rights it \
                 needs"
            ),
            "check user and password; the user needs the right to write, and in PostgreSQL the \
             right to create temporary tables",
        ),
        BackendError::WeakAuthentication => Message::here(
            format!("the backend {url} asks for the password in a way that would reveal it"),
            "configure PostgreSQL to use scram-sha-256 (in pg_hba.conf), and set the password \
             again",
        ),
        BackendError::Directory(kind) => Message::here(
            format!("the directory of the backend {url} cannot be used: {}", files::cause(*kind)),
            files::write_hint(*kind),
        ),
        BackendError::OutOfSpace => Message::here(
            format!("the backend {url} is out of space"),
            "give it more memory or disk",
        ),
        error => Message::here(
            format!("the backend {url} cannot be used: {error}"),
            "see the log of the database",
        ),
    }
}

/// A settings file that cannot be used.
pub fn settings(error: &SettingsError, say: Speech) -> Message {
    let written = Written {
        name: "settings",
        example: say.either(
            "`vesica helper --help` shows an example of the settings",
            "the page of the documentation about the helper has an example of the settings",
        ),
    };
    let (what, hint) = match &*error.fault {
        SettingsFault::File(fault) => return written.unreadable(error, fault),
        SettingsFault::Table(fault) => written.words(fault),
        SettingsFault::Backend(error) => (
            error.to_string(),
            "a backend is memory:, disk:DIRECTORY, redis://HOST:PORT/0, \
             postgres://USER@HOST/DATABASE or cluster:DIRECTORY"
                .to_owned(),
        ),
        SettingsFault::PartyName { name } => (
            format!("{name:?} cannot be the name of a party"),
            in_lower_case(name).unwrap_or_else(|| {
                "a name has 1 to 32 characters out of a-z, 0-9, - and _".to_owned()
            }),
        ),
        SettingsFault::Identity { name, error } => (
            format!("the identity of {name:?} is not valid"),
            match error {
                ParseIdentityError::IsSecret => {
                    "it is a SECRET key, which no one else may see: that party must make a new one \
                     with `vesica keygen`, and give you the public line that it prints"
                }
                _ => {
                    "put here the whole line that `vesica keygen` printed for that party; it \
                      begins with vesica1"
                }
            }
            .to_owned(),
        ),
        SettingsFault::SameIdentity { one, other } => (
            format!("the parties {one:?} and {other:?} have the same identity"),
            "each party must make its own key with `vesica keygen`".to_owned(),
        ),
        SettingsFault::NoParty => (
            "no party is listed, and a helper serves only the parties in its settings".to_owned(),
            "add a table for each party, for example [party.north] with identity = \"vesica1...\""
                .to_owned(),
        ),
        fault => (fault.to_string(), written.example.to_owned()),
    };
    Message::here(format!("{}: {what}", written.place(error)), hint)
}

/// Why a helper cannot be reached or cannot serve now, in a few words.
pub fn away(error: &Error) -> String {
    match error {
        Error::Refused(refusal) => match refusal {
            Refusal::Storage => "its disk is full or faulty".to_owned(),
            Refusal::NoRoom => "it has no room for this run now".to_owned(),
            Refusal::TooOften => "this party begins and ends runs too often".to_owned(),
            Refusal::Backend => "its database cannot be reached".to_owned(),
            Refusal::ShuttingDown => "it is shutting down".to_owned(),
            refusal => refusal.to_string(),
        },
        Error::Transport(TransportError::Io(kind)) => files::cause(*kind),
        Error::Transport(TransportError::Idle(_)) => "it does not respond".to_owned(),
        _ => "the connection was lost".to_owned(),
    }
}
