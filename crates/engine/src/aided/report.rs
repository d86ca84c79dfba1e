//! What a run with a helper did, for machines.

use super::job::AidedJob;
use crate::Resources;
use crate::clock::PhaseClock;
use crate::report::{InputReport, ParameterReport, PhaseReport, ResourcesReport};
use serde::Serialize;
use vesica_net::Meter;
use vesica_protocols::kmrs14::Outcome;

/// Name and version of the report's layout; a field is added without a new version, never changed.
pub const AIDED_SCHEMA: &str = "vesica-aided-report/1";

/// What one party's run with a helper did. Holds counts, names and parameters, never a key, an item or a row.
///
/// The layout is documented in `docs/report.md`.
#[derive(Clone, Debug, Serialize)]
pub struct AidedReport {
    /// [`AIDED_SCHEMA`].
    pub schema: &'static str,
    /// Version of this software.
    pub vesica_version: &'static str,
    /// When this process began to take part.
    pub started_at: String,
    /// When the run ended.
    pub finished_at: String,
    /// What was agreed.
    pub agreement: AidedAgreementReport,
    /// This party's name.
    pub party: String,
    /// All parties, in the order of the agreement.
    pub parties: Vec<AidedPartyReport>,
    /// The helper.
    pub helper: HelperReport,
    /// How it was computed.
    pub protocol: AidedProtocolReport,
    /// What this party's file held.
    pub input: InputReport,
    /// What this party learned.
    pub result: AidedResultReport,
    /// Bytes on the network.
    pub network: AidedNetworkReport,
    /// Time by phase.
    pub phases: Vec<PhaseReport>,
    /// Time and memory of this process.
    pub resources: ResourcesReport,
}

/// What was agreed.
#[derive(Clone, Debug, Serialize)]
pub struct AidedAgreementReport {
    /// Its title.
    pub title: String,
    /// Its hash, in hex.
    pub hash: String,
    /// What is computed: `intersection`.
    pub operation: &'static str,
    /// The names of those who receive the result.
    pub receives: Vec<String>,
}

/// One party.
#[derive(Clone, Debug, Serialize)]
pub struct AidedPartyReport {
    /// Its name in the agreement.
    pub name: String,
    /// Its public identity.
    pub identity: String,
    /// Its different keys, as its list says.
    pub keys: u64,
}

/// The helper.
#[derive(Clone, Debug, Serialize)]
pub struct HelperReport {
    /// Its name in the agreement.
    pub name: String,
    /// Its public identity.
    pub identity: String,
}

/// How the result was computed.
#[derive(Clone, Debug, Serialize)]
pub struct AidedProtocolReport {
    /// Its id in the catalogue.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// Against what kind of helper it protects.
    pub helper_security: &'static str,
    /// What is taken for granted.
    pub assumption: &'static str,
    /// Copies of each item.
    pub copies: u32,
    /// Dummies of each kind.
    pub dummies: u32,
    /// −log2 of the largest chance that a wrong answer of the helper goes unnoticed, for sets of these sizes.
    pub cheating_bits: f64,
    /// Its parameters.
    pub parameters: Vec<ParameterReport>,
}

/// What this party learned.
#[derive(Clone, Debug, Serialize)]
pub struct AidedResultReport {
    /// Whether this party receives the result.
    pub learned: bool,
    /// Keys that all parties have, when this party receives them.
    pub matched_keys: Option<u64>,
    /// Rows written, when this party receives them.
    pub rows_written: Option<u64>,
    /// `passed`; a run that fails it has no report. `none` for a party that receives no answer to check.
    pub self_check: &'static str,
}

/// Bytes between this party and the helper, in this process.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AidedNetworkReport {
    /// Bytes of slots that the formula of the catalogue counts, from this party to the helper.
    pub formula_sent: u64,
    /// The same from the helper to this party.
    pub formula_received: u64,
    /// Payload bytes sent, requests and the parties' meeting included.
    pub payload_sent: u64,
    /// Payload bytes received.
    pub payload_received: u64,
    /// All bytes sent over TCP, TLS included.
    pub wire_sent: u64,
    /// All bytes received over TCP, TLS included.
    pub wire_received: u64,
}

/// What a finished run knows about itself.
pub(super) struct Parts<'a> {
    pub(super) job: &'a AidedJob,
    pub(super) party: u8,
    pub(super) started_at: jiff::Timestamp,
    pub(super) counts: InputReport,
    pub(super) keyed: u64,
    pub(super) scales: &'a [u32],
    pub(super) outcome: &'a Outcome,
    pub(super) rows_written: Option<u64>,
    pub(super) wire_bytes: (u64, u64),
    pub(super) clock: &'a PhaseClock,
    pub(super) meter: &'a Meter,
    pub(super) used: Resources,
}

impl Parts<'_> {
    pub(super) fn report(self) -> AidedReport {
        let agreement = &self.job.agreement;
        let (spec, row, party) = (agreement.spec(), agreement.protocol(), usize::from(self.party));
        let keys: Vec<u64> = self.outcome.list_lens.iter().map(|len| spec.items(*len)).collect();
        let (formula_sent, formula_received) = spec.bytes(self.scales, &keys)[party];
        let (payload_sent, payload_received) = self.meter.bytes_under("");
        let (wire_sent, wire_received) = self.wire_bytes;
        let distinct = keys[party];
        let formats = spec.formats(self.scales).unwrap_or_default();
        let label_bits = formats.iter().map(|format| format.label_bits()).min().unwrap_or(0);
        let measured = |name, value, source| ParameterReport { name, value, source };
        let mut parameters = vec![measured(
            "bits of a label in this run",
            label_bits.to_string(),
            "40 + log2 of the sum of N_i N_j over all pairs of parties, up to whole bytes",
        )];
        parameters.extend(row.parameters.iter().map(|parameter| {
            measured(parameter.name, parameter.value.to_owned(), parameter.source)
        }));
        AidedReport {
            schema: AIDED_SCHEMA,
            vesica_version: env!("CARGO_PKG_VERSION"),
            started_at: self.started_at.to_string(),
            finished_at: jiff::Timestamp::now().to_string(),
            agreement: AidedAgreementReport {
                title: agreement.title.clone(),
                hash: agreement.hash().to_string(),
                operation: vesica_core::Operation::Intersection.name(),
                receives: agreement
                    .receivers
                    .iter()
                    .map(|party| agreement.parties[*party].name.clone())
                    .collect(),
            },
            party: agreement.parties[party].name.clone(),
            parties: agreement
                .parties
                .iter()
                .zip(&keys)
                .map(|(party, keys)| AidedPartyReport {
                    name: party.name.clone(),
                    identity: party.identity.to_string(),
                    keys: *keys,
                })
                .collect(),
            helper: HelperReport {
                name: agreement.helper.name.clone(),
                identity: agreement.helper.identity.to_string(),
            },
            protocol: AidedProtocolReport {
                id: row.id,
                name: row.name,
                source: row.source,
                helper_security: row.helper_security.name(),
                assumption: row.assumption,
                copies: spec.copies,
                dummies: spec.dummies,
                cheating_bits: spec.check().bits(keys.iter().copied().max().unwrap_or(1)),
                parameters,
            },
            input: InputReport {
                distinct,
                duplicates: self.keyed.saturating_sub(distinct),
                ..self.counts
            },
            result: AidedResultReport {
                learned: self.outcome.matched.is_some(),
                matched_keys: self.outcome.matched.as_ref().map(|matched| matched.items),
                rows_written: self.rows_written,
                self_check: if self.outcome.matched.is_some() { "passed" } else { "none" },
            },
            network: AidedNetworkReport {
                formula_sent,
                formula_received,
                payload_sent,
                payload_received,
                wire_sent,
                wire_received,
            },
            phases: self.clock.report(&Meter::new()),
            resources: ResourcesReport {
                threads: self.job.threads.get(),
                kernels: vesica_simd::Backend::active().name(),
                used: self.used,
            },
        }
    }
}
