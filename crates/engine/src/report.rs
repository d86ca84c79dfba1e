//! The report of a finished run.

use crate::clock::PhaseClock;
use crate::matching::{Checked, OfBoard, OfSession};
use crate::output::{ColumnSum, NamedAnswer, RunResult};
use crate::{Phase, meeting};
use std::num::NonZeroUsize;
use vesica_agreement::choice::{Choice, Reason};
use vesica_agreement::{Agreement, AidedAgreement, ColumnTerms, Question};
use vesica_core::Role;
use vesica_core::params::STATISTICAL_SECURITY_BITS;
use vesica_expressions::Answer;
use vesica_net::Meter;
use vesica_protocols::{Parameter, TrustModel};
use vesica_report::{
    AgreementReport, AnswerReport, CandidateReport, HelperReport, InputReport, NetworkReport,
    ParameterReport, PartyReport, ProtocolReport, Report, Resources, ResourcesReport, ResultReport,
    SCHEMA, SizesReport, SumReport,
};
use vesica_tables::Written;

/// What a finished run, with or without a helper, reports.
pub(crate) struct Parts<'a> {
    pub(crate) agreement: &'a Agreement,
    /// This party's position.
    pub(crate) party: usize,
    pub(crate) started_at: jiff::Timestamp,
    /// The format of this party's file.
    pub(crate) format: String,
    /// The rows in the result file, if there are any.
    pub(crate) written: Option<Written>,
    /// Whether the result file has all rows, with a mark.
    pub(crate) is_marked: bool,
    pub(crate) clock: &'a PhaseClock,
    pub(crate) meter: &'a Meter,
    pub(crate) threads: NonZeroUsize,
    pub(crate) used: Resources,
    pub(crate) peak_scratch_bytes: u64,
}

/// The fields that differ between the kinds of runs.
struct Of {
    wire_version: Option<u16>,
    parties: Vec<PartyReport>,
    helper: Option<HelperReport>,
    protocol: ProtocolReport,
    input: InputReport,
    self_check_items: u64,
    result: ResultReport,
    network: NetworkReport,
    phases: Meter,
}

impl Parts<'_> {
    /// The report of a run over a session.
    pub(crate) fn of_session(self, checked: &Checked<OfSession>) -> Report {
        let (agreement, run) = (self.agreement, &checked.of);
        let (sent, received) = self.meter.bytes_under(Phase::Matching.name());
        let party = |position: usize| {
            let is_own = position == self.party;
            let (role, keys) = if is_own {
                (Some(run.role), run.sizes.here)
            } else {
                (run.role.other(), run.sizes.there)
            };
            self.party_report(position, role, keys)
        };
        let of = Of {
            wire_version: Some(meeting::WIRE_VERSION),
            parties: (0..agreement.parties.len()).map(party).collect(),
            helper: None,
            protocol: protocol_report(agreement, &run.choice),
            input: InputReport::new(&self.format, &checked.counts),
            self_check_items: agreement.self_check_items(),
            result: self.result(&checked.output),
            network: NetworkReport {
                formula_sent: sent,
                formula_received: received,
                payload_sent: sent,
                payload_received: received,
                wire_sent: run.wire_bytes.0,
                wire_received: run.wire_bytes.1,
                direction_changes: Some(run.direction_changes),
            },
            phases: self.meter.clone(),
        };
        self.report(of)
    }

    /// The report of a run over the board of `agreement`'s helper.
    pub(crate) fn of_board(
        self,
        agreement: AidedAgreement<'_>,
        checked: &Checked<OfBoard>,
    ) -> Report {
        let (spec, run) = (agreement.spec(), &checked.of);
        let keys: Vec<u64> = run.list_lens.iter().map(|len| spec.items(*len)).collect();
        let (formula_sent, formula_received) = spec.bytes(&run.scales, &keys)[self.party];
        let (payload_sent, payload_received) = self.meter.bytes_under("");
        let distinct = keys[self.party];
        let helper = agreement.helper();
        let parties = keys.iter().enumerate();
        let of = Of {
            wire_version: None,
            parties: parties.map(|(party, keys)| self.party_report(party, None, *keys)).collect(),
            helper: Some(HelperReport {
                name: helper.name.clone(),
                identity: helper.identity.to_string(),
                copies: spec.copies,
                dummies: spec.dummies,
                cheating_bits: spec.check().bits(keys.iter().copied().max().unwrap_or(1)),
            }),
            protocol: aided_protocol_report(agreement, &run.scales),
            input: InputReport {
                distinct,
                duplicates: run.keyed.saturating_sub(distinct),
                ..InputReport::new(&self.format, &checked.counts)
            },
            self_check_items: 2 * u64::from(spec.dummies),
            result: ResultReport {
                self_check: if checked.output.rows().is_some() { "passed" } else { "none" },
                ..self.result(&checked.output)
            },
            network: NetworkReport {
                formula_sent,
                formula_received,
                payload_sent,
                payload_received,
                wire_sent: run.wire_bytes.0,
                wire_received: run.wire_bytes.1,
                direction_changes: None,
            },
            // The clock has the bytes of the phases.
            phases: Meter::new(),
        };
        self.report(of)
    }

    fn report(self, of: Of) -> Report {
        Report {
            schema: SCHEMA,
            vesica_version: env!("CARGO_PKG_VERSION"),
            wire_version: of.wire_version,
            started_at: self.started_at.to_string(),
            finished_at: jiff::Timestamp::now().to_string(),
            repeats: None,
            agreement: agreement_report(self.agreement),
            party: self.agreement.parties[self.party].name.clone(),
            parties: of.parties,
            helper: of.helper,
            protocol: of.protocol,
            input: of.input,
            sizes: SizesReport {
                hidden: self.agreement.hide_sizes,
                self_check_items: of.self_check_items,
            },
            result: of.result,
            network: of.network,
            phases: self.clock.report(&of.phases),
            resources: ResourcesReport {
                threads: self.threads.get(),
                kernels: vesica_simd::Backend::active().name(),
                peak_scratch_bytes: self.peak_scratch_bytes,
                used: self.used,
            },
        }
    }

    fn party_report(&self, position: usize, role: Option<Role>, keys: u64) -> PartyReport {
        let terms = &self.agreement.parties[position];
        PartyReport {
            name: terms.name.clone(),
            identity: terms.identity.to_string(),
            role: role.map(|role| role.to_string()),
            keys,
        }
    }

    fn result(&self, output: &RunResult) -> ResultReport {
        let learned = self.agreement.receivers.contains(&self.party);
        let marked = self.written.filter(|_| self.is_marked);
        ResultReport {
            rows_written: self.written.map(|written| written.rows),
            rows_marked: marked.map(|written| written.wanted),
            ..result_report(self.agreement, learned, output)
        }
    }
}

fn agreement_report(agreement: &Agreement) -> AgreementReport {
    let values = agreement.question.values();
    let groups = values.and_then(|values| values.groups.as_ref());
    let factors = agreement.question.factors();
    let summed = match &agreement.question {
        Question::Sum(sum) => Some(sum),
        _ => None,
    };
    let only = summed.filter(|sum| sum.width() == 1 && sum.groups.is_none());
    AgreementReport {
        title: agreement.title.clone(),
        hash: agreement.hash().to_string(),
        operation: agreement.operation().name(),
        receives: agreement.receiver_names().map(str::to_owned).collect(),
        threshold: match agreement.question {
            Question::Threshold { min } => Some(min),
            _ => None,
        },
        sum_of: summed.map(|sum| sum.of.clone()),
        sum_column: only.map(|sum| sum.columns.concat()),
        sum_bits: summed.map(|sum| sum.bits),
        values_of: values.map(|values| values.of.clone()),
        value_columns: values.map(|values| values.columns.clone()),
        columns_of: agreement.columns.as_ref().map(|columns| columns.of.clone()),
        columns: agreement.columns.as_ref().map(ColumnTerms::names),
        group_column: groups.map(|groups| groups.by.clone()),
        groups: groups.map(|groups| groups.names.clone()),
        value_bits: values.map(|values| values.bits),
        factors_of: factors.map(|factors| factors.of.clone()),
        factor_column: factors.map(|factors| factors.columns.concat()),
        factor_bits: factors.map(|factors| factors.bits),
        values_signed: values.map(|values| values.signed),
        duplicates: values.map(|values| values.duplicates.name()),
        key_bytes: match agreement.question {
            Question::Union { key_bytes } => Some(key_bytes),
            _ => None,
        },
        compute: agreement.question.computed().map(|(_, of)| of.expression.text().to_owned()),
        circuit: agreement.question.computed().map(|(_, of)| of.circuit()),
        min_matches: agreement.bounds.min,
        max_matches: agreement.bounds.max,
    }
}

/// The result, without the written rows.
fn result_report(agreement: &Agreement, learned: bool, output: &RunResult) -> ResultReport {
    let sums = match output {
        RunResult::Sums { columns, .. } => Some(columns),
        _ => None,
    };
    let sum = |one: &ColumnSum| SumReport { column: one.column.clone(), sum: one.sum.to_string() };
    ResultReport {
        learned,
        within_bounds: (!agreement.bounds.are_none())
            .then_some(*output != RunResult::OutsideBounds),
        matched_keys: output.keys_in_common(),
        threshold_reached: match output {
            RunResult::Threshold { reached, .. } => Some(*reached),
            _ => None,
        },
        sum: sums.filter(|sums| sums.len() == 1).map(|sums| sums[0].sum.to_string()),
        sums: sums.map(|sums| sums.iter().map(sum).collect()),
        answers: match output {
            RunResult::Answers { answers, .. } => Some(answers.iter().map(answer).collect()),
            _ => None,
        },
        union_keys: match output {
            RunResult::Union(union) => Some(union.len() as u64),
            RunResult::Ids(ids) => Some(ids.len() as u64),
            _ => None,
        },
        new_keys: match output {
            RunResult::Union(union) => Some(union.new_keys()),
            _ => None,
        },
        shared_entries: match output {
            RunResult::Shares { file, .. } => Some(file.entries as u64),
            _ => None,
        },
        rows_written: None,
        rows_marked: None,
        self_check: if agreement.self_check == 0 { "none" } else { "passed" },
    }
}

fn answer(of: &NamedAnswer) -> AnswerReport {
    let (number, holds) = match of.answer {
        Answer::Number(number) => (Some(number.to_string()), None),
        Answer::Condition(holds) => (None, Some(holds)),
    };
    AnswerReport { name: of.name.clone(), number, holds }
}

fn protocol_report(agreement: &Agreement, choice: &Choice) -> ProtocolReport {
    let (row, params) = (choice.row, &choice.roles.params);
    let network = match choice.reason {
        Reason::Measured(network) => Some(network),
        _ => None,
    };
    let mut parameters: Vec<ParameterReport> = row.parameters.iter().map(parameter).collect();
    // The protocol does not compare sets without items.
    parameters.extend((!params.has_empty_set()).then(|| {
        let compared = (row.compared)(params);
        ParameterReport {
            name: compared.name,
            value: format!("{} bits", compared.bits),
            source: "what the protocol compares at the announced sizes, self-check items included",
        }
    }));
    parameters.push(ParameterReport {
        name: "statistical security λ",
        value: format!("{STATISTICAL_SECURITY_BITS} bits"),
        source: "a wrong result has probability at most 2^-λ",
    });
    ProtocolReport {
        id: row.id,
        name: row.name,
        source: row.source,
        trust_model: TrustModel::TwoParties.name(),
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

fn aided_protocol_report(agreement: AidedAgreement<'_>, scales: &[u32]) -> ProtocolReport {
    let row = agreement.protocol();
    let formats = agreement.spec().formats(scales).unwrap_or_default();
    let label_bits = formats.iter().map(|format| format.label_bits()).min().unwrap_or(0);
    let mut parameters = vec![ParameterReport {
        name: "bits of a label in this run",
        value: label_bits.to_string(),
        source: "40 + log2 of the sum of N_i N_j over all pairs of parties, up to whole bytes",
    }];
    parameters.extend(row.parameters.iter().map(parameter));
    ProtocolReport {
        id: row.id,
        name: row.name,
        source: row.source,
        trust_model: TrustModel::Helper.name(),
        security: row.helper_security.name(),
        assumption: row.assumption,
        agreed: agreement.protocol_word(),
        reason: "the agreement settles it".to_owned(),
        candidates: Vec::new(),
        round_trip_s: None,
        to_receiver_bytes_per_s: None,
        to_sender_bytes_per_s: None,
        parameters,
    }
}

fn parameter(parameter: &Parameter) -> ParameterReport {
    ParameterReport {
        name: parameter.name,
        value: parameter.value.to_owned(),
        source: parameter.source,
    }
}
