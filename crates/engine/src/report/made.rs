//! The report of a finished run.

use super::{
    AgreementReport, CandidateReport, InputReport, NetworkReport, ParameterReport, PartyReport,
    ProtocolReport, RefusedReport, Report, ResourcesReport, ResultReport, SCHEMA, SizesReport,
    SumReport,
};
use crate::agreement::{Agreement, Question};
use crate::answer::Answer;
use crate::choice::{Choice, Reason};
use crate::clock::PhaseClock;
use crate::run::{Matched, Seats};
use crate::{Phase, Resources, meeting};
use std::num::NonZeroUsize;
use vesica_core::PsiParams;
use vesica_core::params::STATISTICAL_SECURITY_BITS;
use vesica_link::PublicIdentity;
use vesica_net::Meter;
use vesica_records::KeyCounts;

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
                role: matched.role.to_string(),
                identity: self.identity.to_string(),
            },
            peer: PartyReport {
                name: seats.peer.clone(),
                role: matched.role.other().map(|role| role.to_string()).unwrap_or_default(),
                identity: agreement.peer_of(&seats.party).identity.to_string(),
            },
            protocol: protocol_report(agreement, &matched.choice, &matched.params),
            input: self.input,
            sizes: SizesReport {
                announced_here: matched.announced_here,
                announced_there: matched.announced_there,
                hidden: agreement.hide_sizes,
                self_check_items: agreement.self_check_items(),
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
        self_check: if agreement.self_check == 0 { "none" } else { "passed" },
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
    // Sets without an item are not compared.
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
