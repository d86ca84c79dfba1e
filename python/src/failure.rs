//! Errors as exceptions of the package.

use pyo3::prelude::*;
use std::io::ErrorKind;
use std::panic;
use std::path::PathBuf;
use std::sync::Arc;
use vesica_agreement::{Agreement, AgreementError};
use vesica_diagnostics::with_helper::{Aided, AidedFailure};
use vesica_diagnostics::{
    Message, Speech, Who, agreement, engine, input, link, stores, with_helper,
};
use vesica_engine::{ConfigFault, Error, Incompatible};
use vesica_link::{IdentityError, LinkOptions};
use vesica_tables::InputError;

const SPEECH: Speech = Speech::Python;

/// The exception classes of `vesica._errors`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Data,
    Settings,
    /// The settings, until another call ends.
    InUse,
    Mismatch,
    Peer,
    Network,
    Cancelled,
    Internal,
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Kind::Data => "DataError",
            Kind::Settings => "SettingsError",
            Kind::InUse => "StateInUse",
            Kind::Mismatch => "AgreementMismatch",
            Kind::Peer => "PeerError",
            Kind::Network => "NetworkError",
            Kind::Cancelled => "Cancelled",
            Kind::Internal => "InternalError",
        }
    }

    fn of(error: &Error, who: Who) -> Self {
        match (error, who) {
            (Error::Input(_), _) => Kind::Data,
            (Error::AlreadyFinished, _) => Kind::Settings,
            (Error::Config(ConfigFault::StateInUse { .. }), _) => Kind::InUse,
            (Error::PeerIncompatible(Incompatible::Link(_)), _) => Kind::Peer,
            (Error::PeerIncompatible(_), _) => Kind::Mismatch,
            (_, Who::Caller | Who::You) => Kind::Settings,
            (_, Who::Peers) => Kind::Peer,
            (_, Who::Network | Who::Later) => Kind::Network,
            (_, Who::Nobody) => Kind::Cancelled,
            (_, Who::Vesica) => Kind::Internal,
        }
    }
}

/// A field in which two agreements differ: its name, the value here, the value there.
type Difference = (String, Option<String>, Option<String>);

/// Why something could not be done, until it becomes an exception.
#[derive(Clone, Debug)]
pub(crate) struct Failed {
    kind: Kind,
    pub(crate) message: String,
    hint: String,
    differences: Vec<Difference>,
    /// The exception that a Python object raised.
    cause: Option<Arc<PyErr>>,
}

/// What the message of a failed run needs.
pub(crate) struct Circumstances {
    pub(crate) agreement: Agreement,
    pub(crate) link: LinkOptions,
    /// The folder of a run with a helper.
    pub(crate) folder: Option<PathBuf>,
}

impl Failed {
    pub(crate) fn new(kind: Kind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: hint.into(),
            differences: Vec::new(),
            cause: None,
        }
    }

    pub(crate) fn of(kind: Kind, message: Message) -> Self {
        Self::new(kind, message.error, message.hint)
    }

    /// A store that cannot be used.
    pub(crate) fn of_place(message: Message) -> Self {
        let kind = match message.who {
            Who::Network => Kind::Network,
            _ => Kind::Settings,
        };
        Self::of(kind, message)
    }

    /// A run that ended because its store, a Python object, raised an exception.
    pub(crate) fn raised((kind, class, error): (ErrorKind, String, PyErr)) -> Self {
        let failed = Self::of_place(stores::raised(&class, kind, SPEECH));
        Self { cause: Some(Arc::new(error)), ..failed }
    }

    /// A run that failed; `absent` are the parties that did not connect in time.
    pub(crate) fn run(error: Error, absent: Option<Vec<String>>, run: &Circumstances) -> Self {
        let Circumstances { agreement, link, folder } = run;
        if let Error::AlreadyFinished = error {
            return Self::new(
                Kind::Settings,
                "this run was finished before: its result was given to an earlier process",
                "give `restart=True` for a new run",
            );
        }
        let what = match (&error, absent) {
            (Error::Interrupted { .. }, Some(parties)) => {
                let what = AidedFailure::Absent { parties, wait: link.wait };
                let aided = Aided::new(what, agreement, link, folder.clone());
                return Self::of(Kind::Network, with_helper::error(&aided, SPEECH));
            }
            _ if agreement.helper.is_none() => engine::error(&error, Some(&link.endpoint), SPEECH),
            _ => {
                let what = AidedFailure::Run(error.clone());
                let aided = Aided::new(what, agreement, link, folder.clone());
                with_helper::error(&aided, SPEECH)
            }
        };
        let mut failed = Self::of(Kind::of(&error, what.who), what);
        if let Error::PeerIncompatible(Incompatible::Agreement(differences)) = error {
            failed.differences =
                differences.into_iter().map(|one| (one.field, one.here, one.there)).collect();
        }
        failed
    }

    /// An error of this side only.
    pub(crate) fn here(error: &Error) -> Self {
        let message = engine::error(error, None, SPEECH);
        Self::of(Kind::of(error, message.who), message)
    }

    pub(crate) fn input(error: &InputError) -> Self {
        Self::of(Kind::Data, input::data(error, SPEECH))
    }

    pub(crate) fn agreement(error: &AgreementError) -> Self {
        Self::of(Kind::Settings, agreement::error(error))
    }

    pub(crate) fn identity(error: &IdentityError) -> Self {
        Self::of(Kind::Settings, link::identity(error, SPEECH))
    }

    /// The failure of work that panicked. The text of the panic could quote data, so it is left
    /// out.
    pub(crate) fn panic() -> Self {
        Self::of(Kind::Internal, vesica_diagnostics::defect("a part of a run broke", SPEECH))
    }

    /// The exception.
    pub(crate) fn raise(&self, py: Python<'_>) -> PyErr {
        let make = || {
            let class = py.import("vesica._errors")?.getattr(self.kind.class())?;
            class.call1((&self.message, &self.hint, self.differences.clone()))
        };
        let error = make().map_or_else(|error| error, PyErr::from_value);
        if let Some(cause) = &self.cause {
            error.set_cause(py, Some(cause.clone_ref(py)));
        }
        error
    }
}

/// Panics become exceptions, so nothing is printed for them.
pub(crate) fn keep_panics_quiet() {
    panic::set_hook(Box::new(|_| ()));
}
