//! Metrics of the service, for Prometheus. The only names in them are the parties' names from the
//! settings.

use crate::locks::{Lock, Rank};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use std::sync::atomic::AtomicU64;
use vesica_core::Refusal;

/// Upper bound of the first bucket for comparison times, in seconds; each next bucket is twice as
/// wide, up to about twenty minutes.
const FIRST_BUCKET: f64 = 0.005;
const BUCKETS: u16 = 18;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct PartyLabel {
    party: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Direction {
    direction: &'static str,
}

/// The outcome of a run, for counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    Opened,
    Finished,
    Ended,
    Expired,
    Revoked,
    Failed,
}

impl Counted {
    const ALL: [Counted; 6] = [
        Counted::Opened,
        Counted::Finished,
        Counted::Ended,
        Counted::Expired,
        Counted::Revoked,
        Counted::Failed,
    ];

    fn label(self) -> &'static str {
        match self {
            Counted::Opened => "opened",
            Counted::Finished => "finished",
            Counted::Ended => "ended",
            Counted::Expired => "expired",
            Counted::Revoked => "revoked",
            Counted::Failed => "failed",
        }
    }
}

/// Payload bytes of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    pub(super) received: u64,
    pub(super) sent: u64,
}

/// Figures that are read on request.
pub(super) struct Now {
    pub(super) open_runs: u64,
    pub(super) waiting_runs: u64,
    pub(super) running_runs: u64,
    pub(super) stored_bytes: u64,
    pub(super) stored_labels: u64,
    pub(super) reserved_bytes: u64,
    pub(super) free_disk_bytes: u64,
    /// Of the served parties.
    pub(super) parties: Vec<PartyNow>,
}

/// Figures of one party.
pub(super) struct PartyNow {
    pub(super) name: String,
    pub(super) connections: u32,
    pub(super) stored_bytes: u64,
    pub(super) reserved_bytes: u64,
}

/// A figure for each party.
type ByParty = Family<PartyLabel, Gauge<u64, AtomicU64>>;

/// All counters and gauges.
pub(super) struct Metrics {
    registry: Registry,
    runs: Family<Outcome, Counter>,
    connections: ByParty,
    party_stored: ByParty,
    party_reserved: ByParty,
    bytes: Family<Direction, Counter>,
    labels: Counter,
    refusals: Family<Reason, Counter>,
    backend_seconds: Histogram,
    open_runs: Gauge<u64, AtomicU64>,
    waiting_runs: Gauge<u64, AtomicU64>,
    running_runs: Gauge<u64, AtomicU64>,
    stored_bytes: Gauge<u64, AtomicU64>,
    stored_labels: Gauge<u64, AtomicU64>,
    reserved_bytes: Gauge<u64, AtomicU64>,
    free_disk_bytes: Gauge<u64, AtomicU64>,
    /// Held while a page is made of figures that belong together.
    one_page: Lock<()>,
}

impl Metrics {
    pub(super) fn new(backend: &'static str) -> Self {
        let mut registry = Registry::with_prefix("vesica_helper");
        let metrics = Self {
            runs: Family::default(),
            connections: Family::default(),
            party_stored: Family::default(),
            party_reserved: Family::default(),
            bytes: Family::default(),
            labels: Counter::default(),
            refusals: Family::default(),
            backend_seconds: Histogram::new(exponential_buckets(FIRST_BUCKET, 2.0, BUCKETS)),
            open_runs: Gauge::default(),
            waiting_runs: Gauge::default(),
            running_runs: Gauge::default(),
            stored_bytes: Gauge::default(),
            stored_labels: Gauge::default(),
            reserved_bytes: Gauge::default(),
            free_disk_bytes: Gauge::default(),
            one_page: Lock::new(Rank::Leaf, ()),
            registry: Registry::default(),
        };
        let build = vec![("version", env!("CARGO_PKG_VERSION")), ("backend", backend)];
        registry.register("build", "The running service", Info::new(build));
        registry.register("runs", "Runs by outcome", metrics.runs.clone());
        registry.register("open_runs", "Runs that are open", metrics.open_runs.clone());
        let runs = metrics.waiting_runs.clone();
        registry.register("waiting_runs", "Runs that wait for a worker", runs);
        let runs = metrics.running_runs.clone();
        registry.register("running_runs", "Runs being computed", runs);
        let connections = metrics.connections.clone();
        registry.register("connections", "Open connections, by party", connections);
        registry.register("labels_received", "Labels received", metrics.labels.clone());
        registry.register("stored_labels", "Labels kept", metrics.stored_labels.clone());
        let (bytes, unit) = (metrics.bytes.clone(), Unit::Bytes);
        registry.register_with_unit("payload", "Bytes of slots in and out", unit, bytes);
        let (bytes, unit) = (metrics.stored_bytes.clone(), Unit::Bytes);
        registry.register_with_unit("stored", "Bytes kept", unit, bytes);
        for (name, help, bytes) in [
            ("reserved", "Bytes reserved for open runs", &metrics.reserved_bytes),
            ("free_disk", "Free bytes on the disk", &metrics.free_disk_bytes),
        ] {
            registry.register_with_unit(name, help, Unit::Bytes, bytes.clone());
        }
        for (name, help, bytes) in [
            ("party_stored", "Stored bytes of the slots of a party", &metrics.party_stored),
            ("party_reserved", "Bytes reserved for a party", &metrics.party_reserved),
        ] {
            registry.register_with_unit(name, help, Unit::Bytes, bytes.clone());
        }
        let (seconds, unit) = (metrics.backend_seconds.clone(), Unit::Seconds);
        registry.register_with_unit("backend", "Time of each comparison of lists", unit, seconds);
        registry.register("refusals", "Refusals by reason", metrics.refusals.clone());
        // All rows exist from the beginning, so that their rates are known.
        for counted in Counted::ALL {
            drop(metrics.runs.get_or_create(&Outcome { outcome: counted.label() }));
        }
        for direction in ["in", "out"] {
            drop(metrics.bytes.get_or_create(&Direction { direction }));
        }
        Self { registry, ..metrics }
    }

    pub(super) fn run(&self, counted: Counted) {
        self.runs.get_or_create(&Outcome { outcome: counted.label() }).inc();
    }

    pub(super) fn moved(&self, traffic: &Traffic) {
        self.bytes.get_or_create(&Direction { direction: "in" }).inc_by(traffic.received);
        self.bytes.get_or_create(&Direction { direction: "out" }).inc_by(traffic.sent);
    }

    pub(super) fn labels_received(&self, count: u64) {
        self.labels.inc_by(count);
    }

    pub(super) fn refused(&self, refusal: Refusal) {
        self.refusals.get_or_create(&Reason { reason: reason(refusal) }).inc();
    }

    pub(super) fn compared(&self, seconds: f64) {
        self.backend_seconds.observe(seconds);
    }

    /// All metrics as text.
    pub(super) fn text(&self, now: &Now) -> String {
        let _one = self.one_page.lock();
        self.open_runs.set(now.open_runs);
        self.waiting_runs.set(now.waiting_runs);
        self.running_runs.set(now.running_runs);
        self.stored_bytes.set(now.stored_bytes);
        self.stored_labels.set(now.stored_labels);
        self.reserved_bytes.set(now.reserved_bytes);
        self.free_disk_bytes.set(now.free_disk_bytes);
        // Parties that are no longer served have no row.
        for rows in [&self.connections, &self.party_stored, &self.party_reserved] {
            rows.clear();
        }
        for party in &now.parties {
            let row = PartyLabel { party: party.name.clone() };
            self.connections.get_or_create(&row).set(party.connections.into());
            self.party_stored.get_or_create(&row).set(party.stored_bytes);
            self.party_reserved.get_or_create(&row).set(party.reserved_bytes);
        }
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = text::encode(&mut out, &self.registry);
        out
    }
}

/// The label of each refusal, without the party.
pub(super) fn reason(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Version => "version",
        Refusal::UnknownIdentity => "unknown_identity",
        Refusal::NotAParty => "not_a_party",
        Refusal::BadRun => "bad_run",
        Refusal::AlreadyThere => "already_there",
        Refusal::OverLimit(_) => "over_limit",
        Refusal::Malformed { .. } => "malformed",
        Refusal::OpenedOther { .. } => "opened_other",
        Refusal::OpenedDifferently => "opened_differently",
        Refusal::TooFew { .. } => "too_few",
        Refusal::TooLate => "too_late",
        Refusal::AtOdds => "at_odds",
        Refusal::Broken => "broken",
        Refusal::Ended { .. } => "ended",
        Refusal::Expired => "expired",
        Refusal::Storage => "storage",
        Refusal::NoRoom => "no_room",
        Refusal::TooOften => "too_often",
        Refusal::Revoked { .. } => "revoked",
        Refusal::Backend => "backend",
        Refusal::ShuttingDown => "shutting_down",
        _ => "internal",
    }
}
