use crate::agreement::Agreement;
use crate::choice::{Choice, Reason};
use crate::run::{Matched, Seats};
use crate::{Phase, Resources, meeting};
use serde::Serialize;
use std::num::NonZeroUsize;
use std::time::Duration;
use vesica_core::PsiParams;
use vesica_core::params::STATISTICAL_SECURITY_BITS;
use vesica_link::PublicIdentity;
use vesica_net::Meter;
use vesica_records::KeyCounts;

/// Name and version of the report's layout; a field is added without a new version, never changed.
pub const SCHEMA: &str = "vesica-report/1";

/// What a run did. Holds counts, names and parameters, never a key, an item or a row.
///
/// The layout is documented in `docs/report.md`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Version of this software.
    pub vesica_version: &'static str,
    /// Version of the session's wire format.
    pub wire_version: u16,
    /// When the run started.
    pub started_at: String,
    /// When the run ended.
    pub finished_at: String,
    /// What was agreed.
    pub agreement: AgreementReport,
    /// This side.
    pub party: PartyReport,
    /// The other side.
    pub peer: PartyReport,
    /// How it was computed.
    pub protocol: ProtocolReport,
    /// What this side's file held.
    pub input: InputReport,
    /// Set sizes.
    pub sizes: SizesReport,
    /// What this side learned.
    pub result: ResultReport,
    /// Bytes on the network.
    pub network: NetworkReport,
    /// Time and payload bytes by phase; the phases of the protocol are below `matching`.
    pub phases: Vec<PhaseReport>,
    /// Time and memory of this process.
    pub resources: ResourcesReport,
}

/// What was agreed.
#[derive(Clone, Debug, Serialize)]
pub struct AgreementReport {
    /// Its title.
    pub title: String,
    /// Its hash, in hex.
    pub hash: String,
    /// What is computed.
    pub operation: &'static str,
    /// Who receives the result: a party's name, or `both`.
    pub receives: String,
}

/// One side.
#[derive(Clone, Debug, Serialize)]
pub struct PartyReport {
    /// Its name in the agreement.
    pub name: String,
    /// Its role in the protocol.
    pub role: String,
    /// Its public identity.
    pub identity: String,
}

/// How the result was computed.
#[derive(Clone, Debug, Serialize)]
pub struct ProtocolReport {
    /// Its id in the catalogue.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// Against whom it protects.
    pub security: &'static str,
    /// What is believed to be hard.
    pub assumption: &'static str,
    /// What the agreement says: the protocol's id, or `auto`.
    pub agreed: &'static str,
    /// Why this one.
    pub reason: String,
    /// All that could have run, with what each was estimated to take.
    pub candidates: Vec<CandidateReport>,
    /// The round trip in seconds, when it was measured for the choice.
    pub round_trip_s: Option<f64>,
    /// Bytes a second from the sender to the receiver, when measured.
    pub to_receiver_bytes_per_s: Option<u64>,
    /// Bytes a second from the receiver to the sender, when measured.
    pub to_sender_bytes_per_s: Option<u64>,
    /// Its parameters.
    pub parameters: Vec<ParameterReport>,
}

/// A protocol that could have run.
#[derive(Clone, Debug, Serialize)]
pub struct CandidateReport {
    /// Its id in the catalogue.
    pub id: &'static str,
    /// Seconds it was estimated to take at these sizes, over the network as measured or, where
    /// nothing was measured, over a nominal one.
    pub estimated_s: f64,
    /// Its payload bytes at these sizes.
    pub bytes: u64,
}

/// One parameter.
#[derive(Clone, Debug, Serialize)]
pub struct ParameterReport {
    /// What it is.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// Where it comes from.
    pub source: &'static str,
}

/// What this side's file held.
#[derive(Clone, Debug, Serialize)]
pub struct InputReport {
    /// The file's format.
    pub format: String,
    /// Data rows.
    pub rows: u64,
    /// Rows skipped because a key column was empty.
    pub empty: u64,
    /// Rows skipped because a value was refused by its profile.
    pub refused: u64,
    /// The refused rows by column and reason.
    pub refused_by: Vec<RefusedReport>,
    /// Rows whose key had been seen before.
    pub duplicates: u64,
    /// Different keys: the set.
    pub distinct: u64,
}

/// Refused values of one column for one reason.
#[derive(Clone, Debug, Serialize)]
pub struct RefusedReport {
    /// The column in the file.
    pub column: String,
    /// Why.
    pub reason: String,
    /// How many.
    pub count: u64,
}

/// Set sizes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SizesReport {
    /// This side's set as announced to the peer.
    pub announced_here: u64,
    /// The peer's set as announced by it.
    pub announced_there: u64,
    /// Whether both sets were padded to their `max_rows`.
    pub hidden: bool,
    /// Self-check items each side added, shared and own together.
    pub self_check_items: u64,
}

/// What this side learned.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ResultReport {
    /// Whether this side receives the result.
    pub learned: bool,
    /// Keys in common, when it does.
    pub matched_keys: Option<u64>,
    /// Rows written, when it does.
    pub rows_written: Option<u64>,
    /// Whether the self-check passed here; a run that fails it has no report.
    pub self_check: &'static str,
}

/// Bytes on the network.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NetworkReport {
    /// Payload bytes of the protocol that this side sent: the catalogue's formula.
    pub payload_sent: u64,
    /// Payload bytes of the protocol that this side received.
    pub payload_received: u64,
    /// All bytes this side sent over TCP, TLS included.
    pub wire_sent: u64,
    /// All bytes this side received over TCP, TLS included.
    pub wire_received: u64,
    /// Times this side changed between sending and receiving. Blocks that are answered while others
    /// are under way count too, so large runs have more than the flights that wait for each other.
    pub direction_changes: u64,
}

/// Time and payload bytes of one phase.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseReport {
    /// The phase, or `matching/…` for a part of the protocol.
    pub name: String,
    /// Wall seconds. Phases that run side by side overlap.
    pub wall_s: f64,
    /// Payload bytes sent.
    pub bytes_sent: u64,
    /// Payload bytes received.
    pub bytes_received: u64,
}

/// Time and memory of this process.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ResourcesReport {
    /// CPU threads it was allowed to use.
    pub threads: usize,
    /// The vector kernels in use.
    pub kernels: &'static str,
    /// Wall seconds, CPU seconds, peak memory.
    #[serde(flatten)]
    pub used: Resources,
}

impl InputReport {
    pub(crate) fn new(format: String, counts: &KeyCounts) -> Self {
        Self {
            format,
            rows: counts.rows,
            empty: counts.empty,
            refused: counts.refused,
            refused_by: counts
                .refused_by
                .iter()
                .map(|row| RefusedReport {
                    column: row.column.clone(),
                    reason: row.reason.to_string(),
                    count: row.count,
                })
                .collect(),
            duplicates: counts.duplicates,
            distinct: counts.distinct,
        }
    }
}

/// What a finished run knows about itself.
pub(crate) struct Parts<'a> {
    pub(crate) agreement: &'a Agreement,
    pub(crate) identity: PublicIdentity,
    pub(crate) seats: &'a Seats,
    pub(crate) started_at: jiff::Timestamp,
    pub(crate) matched: &'a Matched,
    pub(crate) input: InputReport,
    pub(crate) rows_written: Option<u64>,
    pub(crate) wire_bytes: (u64, u64),
    pub(crate) clock: &'a PhaseClock,
    pub(crate) meter: &'a Meter,
    pub(crate) threads: NonZeroUsize,
    pub(crate) used: Resources,
}

impl Parts<'_> {
    pub(crate) fn report(self) -> Report {
        let Parts { agreement, seats, matched, .. } = self;
        let (payload_sent, payload_received) = self.meter.bytes_under(Phase::Matching.name());
        let (wire_sent, wire_received) = self.wire_bytes;
        Report {
            schema: SCHEMA,
            vesica_version: env!("CARGO_PKG_VERSION"),
            wire_version: meeting::WIRE_VERSION,
            started_at: self.started_at.to_string(),
            finished_at: jiff::Timestamp::now().to_string(),
            agreement: AgreementReport {
                title: agreement.title.clone(),
                hash: agreement.hash().to_string(),
                operation: agreement.operation.name(),
                receives: agreement.receives.to_string(),
            },
            party: PartyReport {
                name: seats.party.clone(),
                role: seats.role.to_string(),
                identity: self.identity.to_string(),
            },
            peer: PartyReport {
                name: seats.peer.clone(),
                role: seats.role.other().map(|role| role.to_string()).unwrap_or_default(),
                identity: agreement.peer_of(&seats.party).identity.to_string(),
            },
            protocol: protocol_report(agreement, &matched.choice, &matched.params),
            input: self.input,
            sizes: SizesReport {
                announced_here: matched.announced_here,
                announced_there: matched.announced_there,
                hidden: agreement.hide_sizes,
                self_check_items: 2 * u64::from(agreement.self_check),
            },
            result: ResultReport {
                learned: matched.items.is_some(),
                matched_keys: matched.items.as_ref().map(|items| items.len() as u64),
                rows_written: self.rows_written,
                self_check: "passed",
            },
            network: NetworkReport {
                payload_sent,
                payload_received,
                wire_sent,
                wire_received,
                direction_changes: matched.direction_changes,
            },
            phases: self.clock.report(self.meter),
            resources: ResourcesReport {
                threads: self.threads.get(),
                kernels: vesica_simd::Backend::active().name(),
                used: self.used,
            },
        }
    }
}

fn protocol_report(agreement: &Agreement, choice: &Choice, params: &PsiParams) -> ProtocolReport {
    let row = choice.row;
    let network = match choice.reason {
        Reason::Measured(network) => Some(network),
        _ => None,
    };
    let mut parameters: Vec<ParameterReport> = row
        .parameters
        .iter()
        .map(|parameter| ParameterReport {
            name: parameter.name,
            value: parameter.value.to_owned(),
            source: parameter.source,
        })
        .collect();
    parameters.push(ParameterReport {
        name: "tag length in this run",
        value: format!("{} bits", 8 * params.tag_len_bytes()),
        source: "from the announced sizes and λ",
    });
    parameters.push(ParameterReport {
        name: "statistical security λ",
        value: format!("{STATISTICAL_SECURITY_BITS} bits"),
        source: "a wrong result has probability at most 2^-λ",
    });
    ProtocolReport {
        id: row.id,
        name: row.name,
        source: row.source,
        security: row.security.name(),
        assumption: row.assumption,
        agreed: agreement.protocol_word(),
        reason: choice.to_string(),
        candidates: choice
            .candidates
            .iter()
            .map(|estimate| CandidateReport {
                id: estimate.row.id,
                estimated_s: estimate.seconds(),
                bytes: estimate.bytes,
            })
            .collect(),
        round_trip_s: network.map(|network| network.round_trip_ns as f64 / 1e9),
        to_receiver_bytes_per_s: network.map(|network| network.to_receiver_bytes_per_s),
        to_sender_bytes_per_s: network.map(|network| network.to_sender_bytes_per_s),
        parameters,
    }
}

/// Wall time of the engine's own phases; those on the wire are in the meter.
#[derive(Default)]
pub(crate) struct PhaseClock {
    phases: Vec<(Phase, Duration)>,
}

impl PhaseClock {
    pub(crate) fn add(&mut self, phase: Phase, elapsed: Duration) {
        self.phases.push((phase, elapsed));
    }

    pub(crate) fn report(&self, meter: &Meter) -> Vec<PhaseReport> {
        let own = self.phases.iter().map(|(phase, elapsed)| PhaseReport {
            name: phase.name().to_owned(),
            wall_s: elapsed.as_secs_f64(),
            bytes_sent: 0,
            bytes_received: 0,
        });
        let metered = meter.report().into_iter().filter(|row| !row.label.is_empty());
        let metered = metered.map(|row| PhaseReport {
            name: row.label,
            wall_s: row.wall.as_secs_f64(),
            bytes_sent: row.bytes_sent,
            bytes_received: row.bytes_received,
        });
        own.chain(metered).collect()
    }
}
