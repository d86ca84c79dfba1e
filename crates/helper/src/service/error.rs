//! Why a service does not start.

use crate::store::StoreError;
use vesica_label_joins::BackendError;
use vesica_link::LinkError;

/// Why a service could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The port cannot be opened.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The directory cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The backend is not reachable.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The address for health and metrics cannot be used.
    #[error("health and metrics cannot be served at their address ({0})")]
    Metrics(std::io::ErrorKind),
    /// The address for health and metrics is reachable from other machines.
    #[error("the address for health and metrics is not on the loopback interface")]
    MetricsNotLoopback,
    /// Two parties have the same identity or the same name.
    #[error("the party {name:?} is listed twice, by name or identity")]
    SameParty {
        /// The name.
        name: String,
    },
    /// A party has the helper's identity.
    #[error("the party {name:?} has the helper's own identity")]
    OwnIdentity {
        /// Its name.
        name: String,
    },
    /// The machine has no thread left.
    #[error("the machine has no thread for the service ({0})")]
    NoThread(std::io::ErrorKind),
}
