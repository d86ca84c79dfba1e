use crate::agreement::{Agreement, Question};
use crate::answer::Answer;
use crate::choice::{Choice, Reason};
use crate::clock::PhaseClock;
use crate::run::{Matched, Seats};
use crate::{Phase, Resources, meeting};
use serde::Serialize;
use std::num::NonZeroUsize;
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
    /// How many common keys the answer yes takes, where that is asked.
    pub threshold: Option<u64>,
    /// The party whose values are summed, where that is asked.
    pub sum_of: Option<String>,
    /// Their column in the agreement, where it is one.
    pub sum_column: Option<String>,
    /// The bits of a value that is summed.
    pub sum_bits: Option<u32>,
    /// The party whose values are summed or shared, where there are values.
    pub values_of: Option<String>,
    /// Their columns in the agreement.
    pub value_columns: Option<Vec<String>>,
    /// The bits of a value.
    pub value_bits: Option<u32>,
    /// Whether values may be below zero.
    pub values_signed: Option<bool>,
    /// What becomes of the values of rows with the same key: `sum`, `first` or `refuse`.
    pub duplicates: Option<&'static str>,
    /// The most bytes of a key in a union.
    pub key_bytes: Option<u32>,
    /// The fewest common keys for an answer.
    pub min_matches: Option<u64>,
    /// The most common keys for an answer.
    pub max_matches: Option<u64>,
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
    /// Rows with a key whose value in the summed column is empty and counts as 0.
    pub without_value: u64,
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
#[derive(Clone, Debug, Serialize)]
pub struct ResultReport {
    /// Whether this side receives the result.
    pub learned: bool,
    /// Whether the number of common keys is within the agreed bounds, where there are any; both
    /// sides learn it. Outside, there is no other result.
    pub within_bounds: Option<bool>,
    /// Keys in common, when this side receives them or their number.
    pub matched_keys: Option<u64>,
    /// Whether the threshold is reached, when this side receives that.
    pub threshold_reached: Option<bool>,
    /// The sum in decimal digits, when this side receives it and it is one.
    pub sum: Option<String>,
    /// The sums of all columns, when this side receives them.
    pub sums: Option<Vec<SumReport>>,
    /// Keys that either party has, when this side receives them, or identifiers in the list, with those of
    /// padding.
    pub union_keys: Option<u64>,
    /// Keys that only the peer has, when this side receives them.
    pub new_keys: Option<u64>,
    /// Entries in this side's file of shares, when it receives one.
    pub shared_entries: Option<u64>,
    /// Rows written, when this side receives them.
    pub rows_written: Option<u64>,
    /// Whether the self-check passed here; a run that fails it has no report.
    pub self_check: &'static str,
}

/// The sum of one column.
#[derive(Clone, Debug, Serialize)]
pub struct SumReport {
    /// The column in the agreement.
    pub column: String,
    /// The sum in decimal digits.
    pub sum: String,
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
            without_value: counts.without_value,
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
        let values = agreement.question.values();
        let summed = match &agreement.question {
            Question::Sum(sum) => Some(sum),
            _ => None,
        };
        let only = summed.filter(|sum| sum.columns.len() == 1);
        Report {
            schema: SCHEMA,
            vesica_version: env!("CARGO_PKG_VERSION"),
            wire_version: meeting::WIRE_VERSION,
            started_at: self.started_at.to_string(),
            finished_at: jiff::Timestamp::now().to_string(),
            agreement: AgreementReport {
                title: agreement.title.clone(),
                hash: agreement.hash().to_string(),
                operation: agreement.operation().name(),
                receives: agreement.receives.to_string(),
                threshold: match agreement.question {
                    Question::Threshold { min } => Some(min),
                    _ => None,
                },
                sum_of: summed.map(|sum| sum.of.clone()),
                sum_column: only.map(|sum| sum.columns.concat()),
                sum_bits: summed.map(|sum| sum.bits),
                values_of: values.map(|values| values.of.clone()),
                value_columns: values.map(|values| values.columns.clone()),
                value_bits: values.map(|values| values.bits),
                values_signed: values.map(|values| values.signed),
                duplicates: values.map(|values| values.duplicates.name()),
                key_bytes: match agreement.question {
                    Question::Union { key_bytes } => Some(key_bytes),
                    _ => None,
                },
                min_matches: agreement.bounds.min,
                max_matches: agreement.bounds.max,
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
            result: result_report(agreement, seats, matched.answer.as_ref(), self.rows_written),
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

fn result_report(
    agreement: &Agreement,
    seats: &Seats,
    answer: Option<&Answer>,
    rows_written: Option<u64>,
) -> ResultReport {
    let outside = matches!(answer, Some(Answer::OutsideBounds));
    ResultReport {
        learned: seats.learns(agreement),
        within_bounds: (!agreement.bounds.are_none()).then_some(!outside),
        matched_keys: match answer {
            Some(Answer::Items(items)) => Some(items.len() as u64),
            Some(Answer::Count(count)) => Some(*count),
            Some(Answer::Sums { count, .. }) => *count,
            _ => None,
        },
        threshold_reached: match answer {
            Some(Answer::AtLeast(yes)) => Some(*yes),
            _ => None,
        },
        sum: match answer {
            Some(Answer::Sums { sums, .. }) if sums.len() == 1 => Some(sums[0].to_string()),
            _ => None,
        },
        sums: match (answer, agreement.question.values()) {
            (Some(Answer::Sums { sums, .. }), Some(values)) => {
                let sums = values.columns.iter().zip(sums);
                let row = |(column, sum): (&String, &i128)| SumReport {
                    column: column.clone(),
                    sum: sum.to_string(),
                };
                Some(sums.map(row).collect())
            }
            _ => None,
        },
        union_keys: match answer {
            Some(Answer::Union(union)) => Some(union.keys.len() as u64),
            Some(Answer::Ids(ids)) => Some(ids.all.len() as u64),
            _ => None,
        },
        new_keys: match answer {
            Some(Answer::Union(union)) => Some(union.new),
            _ => None,
        },
        shared_entries: match answer {
            Some(Answer::Shares(shares)) => Some(shares.len as u64),
            _ => None,
        },
        rows_written,
        self_check: "passed",
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
