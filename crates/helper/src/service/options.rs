//! The options of a service.

use crate::store::Keeping;
use std::path::PathBuf;
use std::time::Duration;
use vesica_label_joins::Backend;
use vesica_link::{Identity, PublicIdentity};
use vesica_net::Pool;
use vesica_server_aided::kmrs14::MAX_ROWS;

/// A party that the helper serves, and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartyLimits {
    /// Its name in logs and metrics.
    pub name: String,
    /// Its identity.
    pub identity: PublicIdentity,
    /// Most rows it may have in a run.
    pub max_rows: u64,
    /// Most runs it may take part in at once.
    pub max_runs: u32,
    /// Most runs that it may begin and end in a minute, together. It may do as many at once after a
    /// time without any.
    pub max_runs_a_minute: u32,
    /// Most connections it may have at once.
    pub max_connections: u32,
    /// Most bytes reserved for it, in all runs together: what it puts, and what the helper writes
    /// for it.
    pub max_stored_bytes: u64,
}

impl PartyLimits {
    /// Default limit of runs at once.
    pub const MAX_RUNS: u32 = 64;
    /// Default limit of runs started and ended in a minute, together.
    pub const MAX_RUNS_A_MINUTE: u32 = 240;
    /// Default limit of connections at once.
    pub const MAX_CONNECTIONS: u32 = 64;
    /// Default limit of stored bytes: 256 GiB.
    pub const MAX_STORED_BYTES: u64 = 256 << 30;

    /// The party `name` with the default limits.
    pub fn new(name: impl Into<String>, identity: PublicIdentity) -> Self {
        Self {
            name: name.into(),
            identity,
            max_rows: MAX_ROWS,
            max_runs: Self::MAX_RUNS,
            max_runs_a_minute: Self::MAX_RUNS_A_MINUTE,
            max_connections: Self::MAX_CONNECTIONS,
            max_stored_bytes: Self::MAX_STORED_BYTES,
        }
    }
}

/// The options of a [`Service`](crate::Service).
pub struct ServiceOptions {
    /// The helper's identity.
    pub identity: Identity,
    /// The address to listen on: `host:port`, port 0 for a free one.
    pub listen: String,
    /// The parties it serves, at least one.
    pub parties: Vec<PartyLimits>,
    /// Compares the lists.
    pub backend: Box<dyn Backend>,
    /// Where slots are stored.
    pub keeping: Keeping,
    /// The directory of the service; created if missing.
    pub state_dir: PathBuf,
    /// How long an unfinished run is kept.
    pub keep: Duration,
    /// A party that sends nothing for this long is considered gone.
    pub idle: Duration,
    /// The threads for all computations together.
    pub pool: Pool,
    /// Most runs computed at once, at least 1. Each may use its part of `memory_bytes`.
    pub workers: usize,
    /// Approximate memory for computations and connections together: connections get a quarter, for
    /// slots being received and sent.
    pub memory_bytes: u64,
    /// Most bytes of the disk for all runs together; `None` for `max_stored_percent` of its size.
    pub max_stored_bytes: Option<u64>,
    /// The share of the disk's size for all runs together, unless `max_stored_bytes` says it.
    pub max_stored_percent: u8,
    /// Bytes of the disk to leave free.
    pub keep_free_bytes: u64,
    /// Where health and metrics are served over HTTP; `None` if they are not.
    pub metrics: Option<MetricsOptions>,
}

/// Where health and metrics are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricsOptions {
    /// `host:port`, port 0 for a free one.
    pub listen: String,
    /// Whether other machines may reach it: it has neither encryption nor authentication.
    pub allow_remote: bool,
}

impl ServiceOptions {
    /// Default time to keep an unfinished run.
    pub const KEEP: Duration = Duration::from_secs(7 * 24 * 3600);
    /// Default time that a party may be silent.
    pub const IDLE: Duration = Duration::from_secs(30);
    /// Default number of bytes of the disk to leave free: 1 GiB.
    pub const KEEP_FREE_BYTES: u64 = 1 << 30;
    /// Default share of the disk's size for all runs together, in percent.
    pub const MAX_STORED_PERCENT: u8 = 80;
    /// Default number of runs computed at once.
    pub const WORKERS: usize = 2;
}
