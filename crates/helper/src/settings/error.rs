//! Faults in settings, and their positions.

use vesica_label_joins::BackendError;
use vesica_link::ParseIdentityError;
use vesica_strict_toml::{Fault, FileFault, Located, TableFault};

/// Settings that cannot be used.
pub type SettingsError = Located<SettingsFault>;

impl Fault for SettingsFault {
    const TEXT: &'static str = "settings";
}

/// A fault in settings. Contains words of the file, but never the backend's address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsFault {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileFault),
    /// A fault in the form of its tables.
    #[error(transparent)]
    Table(#[from] TableFault),
    /// The backend's address.
    #[error("\"helper.backend\": {0}")]
    Backend(BackendError),
    /// A party's name with other characters than allowed.
    #[error("the party name {name:?} is not of a-z, 0-9, - and _, at most 32")]
    PartyName {
        /// The name.
        name: String,
    },
    /// A party's identity.
    #[error("the identity of {name:?}: {error}")]
    Identity {
        /// The party.
        name: String,
        /// What is wrong with it.
        error: ParseIdentityError,
    },
    /// Two parties have the same identity.
    #[error("the parties {one:?} and {other:?} have the same identity")]
    SameIdentity {
        /// The first.
        one: String,
        /// The second.
        other: String,
    },
    /// No party is served.
    #[error("no party is defined: each has its own table, such as [party.acme]")]
    NoParty,
}
