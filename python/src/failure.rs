//! Errors as the exceptions of the package.

use pyo3::prelude::*;
use std::panic;
use vesica_engine::agreement::AgreementError;
use vesica_engine::{ConfigFault, Error, Incompatible};
use vesica_link::IdentityError;
use vesica_records::InputError;

/// The exception classes of `vesica._errors`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Data,
    Settings,
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
            Kind::Mismatch => "AgreementMismatch",
            Kind::Peer => "PeerError",
            Kind::Network => "NetworkError",
            Kind::Cancelled => "Cancelled",
            Kind::Internal => "InternalError",
        }
    }

    fn of(error: &Error) -> Self {
        match error {
            Error::Input(_) => Kind::Data,
            Error::Config(_) | Error::AlreadyFinished => Kind::Settings,
            Error::PeerIncompatible(Incompatible::Link(_)) => Kind::Peer,
            Error::PeerIncompatible(_) => Kind::Mismatch,
            Error::PeerMisbehaved { .. } | Error::Refused { .. } | Error::Letter { .. } => {
                Kind::Peer
            }
            Error::Transport { .. } => Kind::Network,
            Error::Interrupted { .. } => Kind::Cancelled,
            _ => Kind::Internal,
        }
    }
}

/// A field in which two agreements differ: its name, the value here, the value there.
type Difference = (String, Option<String>, Option<String>);

/// Why something could not be done, until it becomes an exception.
#[derive(Clone, Debug)]
pub(crate) struct Failed {
    kind: Kind,
    message: String,
    hint: String,
    differences: Vec<Difference>,
}

impl Failed {
    pub(crate) fn new(kind: Kind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: hint.into(), differences: Vec::new() }
    }

    pub(crate) fn run(error: &Error) -> Self {
        let mut failed = Self::new(Kind::of(error), error.to_string(), "");
        if let Error::PeerIncompatible(Incompatible::Agreement(differences)) = error {
            failed.differences = differences
                .iter()
                .map(|one| (one.field.clone(), one.here.clone(), one.there.clone()))
                .collect();
        }
        failed
    }

    pub(crate) fn input(error: InputError) -> Self {
        Self::run(&vesica_engine::InputFault::from(error).into())
    }

    pub(crate) fn agreement(error: AgreementError) -> Self {
        Self::run(&ConfigFault::from(error).into())
    }

    pub(crate) fn identity(error: &IdentityError) -> Self {
        Self::new(Kind::Settings, error.to_string(), "")
    }

    /// The failure of work that ended by a panic, which has no text: it could quote data.
    pub(crate) fn panic() -> Self {
        Self::new(Kind::Internal, "internal error", "this is a defect of Vesica: please report it")
    }

    /// The exception.
    pub(crate) fn raise(&self, py: Python<'_>) -> PyErr {
        let make = || {
            let class = py.import("vesica._errors")?.getattr(self.kind.class())?;
            class.call1((&self.message, &self.hint, self.differences.clone()))
        };
        make().map_or_else(|error| error, PyErr::from_value)
    }
}

/// Panics become exceptions, so nothing is printed for them.
pub(crate) fn keep_panics_quiet() {
    panic::set_hook(Box::new(|_| ()));
}
