//! What a run did, for machines.

use crate::resources::Resources;
use serde::Serialize;

/// Name and version of the report's layout; a field is added without a new version, never changed.
pub const SCHEMA: &str = "vesica-report/2";

/// What a run did. Holds counts, names and parameters, never a key, an item or a row.
///
/// The layout is documented in `docs/report.md`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Version of this software.
    pub vesica_version: &'static str,
    /// Version of the wire format of a session between two parties; `None` with a helper.
    pub wire_version: Option<u16>,
    /// When the run started; with a helper, when this process began to take part.
    pub started_at: String,
    /// When the run ended.
    pub finished_at: String,
    /// How many runs under this agreement were abandoned before this one, since the last one that
    /// finished; `None` if this side keeps no state, or with a helper.
    pub repeats: Option<u32>,
    /// What was agreed.
    pub agreement: AgreementReport,
    /// This party's name.
    pub party: String,
    /// All parties, in the order of the agreement.
    pub parties: Vec<PartyReport>,
    /// The helper, if there is one.
    pub helper: Option<HelperReport>,
    /// How it was computed.
    pub protocol: ProtocolReport,
    /// What this party's file held.
    pub input: InputReport,
    /// What was added to the sets.
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

impl Report {
    /// This party among [`Report::parties`].
    pub fn own(&self) -> Option<&PartyReport> {
        self.parties.iter().find(|party| party.name == self.party)
    }
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
    /// The names of the parties that receive the result.
    pub receives: Vec<String>,
    /// How many common keys the answer yes takes, if the operation asks for it.
    pub threshold: Option<u64>,
    /// The party whose values are summed, if the operation is a sum.
    pub sum_of: Option<String>,
    /// Their column in the agreement, if there is only one.
    pub sum_column: Option<String>,
    /// The bits of a value that is summed.
    pub sum_bits: Option<u32>,
    /// The party whose values are summed or shared, if there are values.
    pub values_of: Option<String>,
    /// Their columns in the agreement.
    pub value_columns: Option<Vec<String>>,
    /// The party whose columns come along with common keys, if there are some.
    pub columns_of: Option<String>,
    /// Their names in the agreement.
    pub columns: Option<Vec<String>>,
    /// The column that names the group of a row, if there is a sum for each group.
    pub group_column: Option<String>,
    /// The groups.
    pub groups: Option<Vec<String>>,
    /// The bits of a value.
    pub value_bits: Option<u32>,
    /// The party whose values others are multiplied with, in an inner product.
    pub factors_of: Option<String>,
    /// Their column in the agreement.
    pub factor_column: Option<String>,
    /// The bits of such a value.
    pub factor_bits: Option<u32>,
    /// Whether values may be below zero.
    pub values_signed: Option<bool>,
    /// How values of rows with the same key combine: `sum`, `first` or `refuse`.
    pub duplicates: Option<&'static str>,
    /// The most bytes of a key in a union.
    pub key_bytes: Option<u32>,
    /// The expression that is computed on shares, if there is one.
    pub compute: Option<String>,
    /// How its circuit is evaluated: `garbled` or `gmw`.
    pub circuit: Option<&'static str>,
    /// The fewest common keys for an answer.
    pub min_matches: Option<u64>,
    /// The most common keys for an answer.
    pub max_matches: Option<u64>,
}

/// One party.
#[derive(Clone, Debug, Serialize)]
pub struct PartyReport {
    /// Its name in the agreement.
    pub name: String,
    /// Its public identity.
    pub identity: String,
    /// Its role in a protocol of two parties; `None` with a helper.
    pub role: Option<String>,
    /// Its different keys as announced; its `max_rows` if sizes are hidden.
    pub keys: u64,
}

/// The helper.
#[derive(Clone, Debug, Serialize)]
pub struct HelperReport {
    /// Its name in the agreement.
    pub name: String,
    /// Its public identity.
    pub identity: String,
    /// Copies of each item.
    pub copies: u32,
    /// Dummies of each kind.
    pub dummies: u32,
    /// −log2 of the largest probability that a wrong answer of the helper goes unnoticed, for sets
    /// of these sizes.
    pub cheating_bits: f64,
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
    /// Whom the parties trust: `two parties` or `helper`.
    pub trust_model: &'static str,
    /// Against whom it protects; with a helper, against what kind of helper.
    pub security: &'static str,
    /// The hardness assumptions.
    pub assumption: &'static str,
    /// What the agreement says: the protocol's id, or `auto`.
    pub agreed: &'static str,
    /// Why this protocol was chosen.
    pub reason: String,
    /// All candidates, with the estimated cost of each.
    pub candidates: Vec<CandidateReport>,
    /// The round trip in seconds, if it was measured for the choice.
    pub round_trip_s: Option<f64>,
    /// Bytes a second from the sender to the receiver, if measured.
    pub to_receiver_bytes_per_s: Option<u64>,
    /// Bytes a second from the receiver to the sender, if measured.
    pub to_sender_bytes_per_s: Option<u64>,
    /// Its parameters.
    pub parameters: Vec<ParameterReport>,
}

/// A protocol that could have run.
#[derive(Clone, Debug, Serialize)]
pub struct CandidateReport {
    /// Its id in the catalogue.
    pub id: &'static str,
    /// The estimated seconds at these sizes, over the network as measured or, without a
    /// measurement, over a nominal one.
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
    /// The columns whose profile refused more than 3 % of their values.
    pub misfits: Vec<MisfitReport>,
    /// The keys in more than 1 % of the rows and in more than 20, at most five.
    pub frequent_keys: Vec<FrequentReport>,
    /// Rows whose key had been seen before.
    pub duplicates: u64,
    /// Different keys: the set.
    pub distinct: u64,
    /// Rows with a key whose value in the summed column is empty and counts as 0.
    pub without_value: u64,
    /// Columns compared as text in which most keys look like floating-point numbers.
    pub floats: Vec<FloatsReport>,
    /// The rows under each rule; empty without rules.
    pub rules: Vec<RuleReport>,
}

/// The rows under one rule.
#[derive(Clone, Debug, Serialize)]
pub struct RuleReport {
    /// Its name in the agreement.
    pub name: String,
    /// Rows with a key.
    pub rows: u64,
    /// Rows without one, as they have more keys than were agreed.
    pub too_many: u64,
    /// Rows without one, as a transform does not take one of their values.
    pub not_taken: u64,
}

/// Keys of one column that look like floating-point numbers, such as `123.0`.
#[derive(Clone, Debug, Serialize)]
pub struct FloatsReport {
    /// The column in the file.
    pub column: String,
    /// How many rows.
    pub count: u64,
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

/// A column whose profile refused many of its values.
#[derive(Clone, Debug, Serialize)]
pub struct MisfitReport {
    /// The column in the file.
    pub column: String,
    /// Its profile in the agreement.
    pub profile: String,
    /// How many values it refused.
    pub refused: u64,
    /// Of how many.
    pub values: u64,
    /// The profile that would take most of the refused ones, or two joined by "or"; `None` if none
    /// is known.
    pub better: Option<String>,
}

/// A key of many rows.
#[derive(Clone, Debug, Serialize)]
pub struct FrequentReport {
    /// How many rows have it, at least.
    pub count: u64,
    /// Whether exactly `count` rows have it.
    pub is_exact: bool,
    /// Where one of the first of them is.
    pub first: String,
    /// The shape of each column of the key.
    pub shapes: Vec<PartReport>,
}

/// The shape of one column of a key.
#[derive(Clone, Debug, Serialize)]
pub struct PartReport {
    /// The column in the file.
    pub column: String,
    /// The pattern, which hides letters and digits.
    pub pattern: String,
}

/// What was added to the sets.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SizesReport {
    /// Whether both sets were padded to their `max_rows`.
    pub hidden: bool,
    /// Self-check items each party added, shared and own together; with a helper its dummies of
    /// both kinds.
    pub self_check_items: u64,
}

/// What this side learned.
#[derive(Clone, Debug, Serialize)]
pub struct ResultReport {
    /// Whether this side receives the result.
    pub learned: bool,
    /// Whether the number of common keys is within the agreed bounds, if there are any; both sides
    /// learn it. Outside, there is no other result.
    pub within_bounds: Option<bool>,
    /// Keys in common, when this side receives them or their number.
    pub matched_keys: Option<u64>,
    /// Whether the threshold is reached, when this side receives that.
    pub threshold_reached: Option<bool>,
    /// The sum in decimal digits, when this side receives it and it is one.
    pub sum: Option<String>,
    /// The sums of all columns, when this side receives them.
    pub sums: Option<Vec<SumReport>>,
    /// What the expression gives, when this side receives it: an answer for each of its parts and
    /// each bucket.
    pub answers: Option<Vec<AnswerReport>>,
    /// Keys that either party has, when this side receives them, or identifiers in the list, with
    /// those of padding.
    pub union_keys: Option<u64>,
    /// Keys that only the peer has, when this side receives them.
    pub new_keys: Option<u64>,
    /// Entries in this side's file of shares, when it receives one.
    pub shared_entries: Option<u64>,
    /// Rows in the result file, when this side receives rows.
    pub rows_written: Option<u64>,
    /// When the file has all rows with a mark: those of them whose key is in common, in the union
    /// or has an identifier.
    pub rows_marked: Option<u64>,
    /// `passed`; or `none` if the operation has no self-check items, or if with a helper this party
    /// receives no answer to check. A run that fails the self-check has no report.
    pub self_check: &'static str,
}

/// What a part of an expression gives: a number, or whether a condition holds.
#[derive(Clone, Debug, Serialize)]
pub struct AnswerReport {
    /// Its text in the agreement; of a bucket with its limits.
    pub name: String,
    /// The number in decimal digits, if it is one.
    pub number: Option<String>,
    /// Whether the condition holds, if it is one.
    pub holds: Option<bool>,
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
    /// Payload bytes that the catalogue's formula counts, from this party to the peer or the
    /// helper.
    pub formula_sent: u64,
    /// Payload bytes by that formula from the peer or the helper to this party.
    pub formula_received: u64,
    /// Payload bytes that this party sent. With a helper they include requests and the parties'
    /// meeting.
    pub payload_sent: u64,
    /// Payload bytes that this party received.
    pub payload_received: u64,
    /// All bytes this side sent over TCP, TLS included.
    pub wire_sent: u64,
    /// All bytes this side received over TCP, TLS included.
    pub wire_received: u64,
    /// Times this side changed between sending and receiving in a session of two parties; `None`
    /// with a helper. Blocks that are answered while others are under way count too, so large runs
    /// have more than the flights that wait for each other.
    pub direction_changes: Option<u64>,
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
    /// Most bytes that were in files of intermediate data at a time.
    pub peak_scratch_bytes: u64,
    /// CPU threads it was allowed to use.
    pub threads: usize,
    /// The vector kernels in use.
    pub kernels: &'static str,
    /// Wall seconds, CPU seconds, peak memory.
    #[serde(flatten)]
    pub used: Resources,
}
