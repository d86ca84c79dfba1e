//! What a service is started with.

use crate::store::Keeping;
use std::path::PathBuf;
use std::time::Duration;
use vesica_backends::Backend;
use vesica_link::{Identity, PublicIdentity};
use vesica_net::Pool;
use vesica_protocols::kmrs14::MAX_ROWS;

/// A party that the helper serves, and how much of the helper it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartyLimits {
    /// Its name in logs and metrics.
    pub name: String,
    /// Its identity.
    pub identity: PublicIdentity,
    /// Most rows that it may have in a run.
    pub max_rows: u64,
    /// Most runs that it may take part in at once.
    pub max_runs: u32,
    /// Most connections that it may have at once.
    pub max_connections: u32,
    /// Most bytes that may be reserved for it, in all runs together: what it puts, and what the helper writes for it.
    pub max_stored_bytes: u64,
}

impl PartyLimits {
    /// Most runs at once, unless said otherwise.
    pub const MAX_RUNS: u32 = 64;
    /// Most connections at once, unless said otherwise.
    pub const MAX_CONNECTIONS: u32 = 64;
    /// Most bytes kept, unless said otherwise: 256 GiB.
    pub const MAX_STORED_BYTES: u64 = 256 << 30;

    /// The party `name` with the limits that hold unless said otherwise.
    pub fn new(name: impl Into<String>, identity: PublicIdentity) -> Self {
        Self {
            name: name.into(),
            identity,
            max_rows: MAX_ROWS,
            max_runs: Self::MAX_RUNS,
            max_connections: Self::MAX_CONNECTIONS,
            max_stored_bytes: Self::MAX_STORED_BYTES,
        }
    }
}

/// What a [`Service`](crate::Service) is started with.
pub struct ServiceOptions {
    /// Who the helper is.
    pub identity: Identity,
    /// Where it listens: `host:port`, port 0 for a free one.
    pub listen: String,
    /// Whom it serves, at least one.
    pub parties: Vec<PartyLimits>,
    /// Where lists are compared.
    pub backend: Box<dyn Backend>,
    /// Where slots are kept.
    pub keeping: Keeping,
    /// The directory of the service; made when it is not there.
    pub state_dir: PathBuf,
    /// How long a run is kept that is not finished.
    pub keep: Duration,
    /// A party from which nothing comes for this long is gone.
    pub idle: Duration,
    /// The threads of all computations together.
    pub pool: Pool,
    /// How many runs are computed at once, at least 1. Each may take its part of `memory_bytes`.
    pub workers: usize,
    /// About how much memory computations and connections may take together: connections a quarter, for slots on their
    /// way in and out.
    pub memory_bytes: u64,
    /// Most bytes of the disk for all runs together; `None` for as many as it has.
    pub max_stored_bytes: Option<u64>,
    /// Bytes of the disk that are left free.
    pub keep_free_bytes: u64,
    /// Where health and metrics are served by HTTP, if anywhere.
    pub metrics: Option<MetricsOptions>,
}

/// Where health and metrics are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricsOptions {
    /// `host:port`, port 0 for a free one.
    pub listen: String,
    /// Whether other machines may reach it: neither encrypted nor asked who they are.
    pub allow_remote: bool,
}

impl ServiceOptions {
    /// How long a run is kept that is not finished, unless said otherwise.
    pub const KEEP: Duration = Duration::from_secs(7 * 24 * 3600);
    /// How long a party may be silent, unless said otherwise.
    pub const IDLE: Duration = Duration::from_secs(30);
    /// Bytes of the disk that are left free, unless said otherwise: 1 GiB.
    pub const KEEP_FREE_BYTES: u64 = 1 << 30;
    /// Runs computed at once, unless said otherwise.
    pub const WORKERS: usize = 2;
}
