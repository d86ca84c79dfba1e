//! The part of a report about the rows of this party.

use crate::report::{
    FloatsReport, FrequentReport, InputReport, MisfitReport, PartReport, RefusedReport, RuleReport,
};
use vesica_records::{FrequentKey, KeyCounts, Misfit, PartShape};

impl InputReport {
    /// Of a file of this format, with these counts of its rows.
    pub fn new(format: &str, counts: &KeyCounts) -> Self {
        Self {
            format: format.to_owned(),
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
            misfits: counts.misfits.iter().map(MisfitReport::from).collect(),
            frequent_keys: counts.frequent.iter().map(FrequentReport::from).collect(),
            duplicates: counts.duplicates,
            distinct: counts.distinct,
            without_value: counts.without_value,
            floats: counts
                .floats
                .iter()
                .map(|row| FloatsReport { column: row.column.clone(), count: row.count })
                .collect(),
            rules: counts
                .by_rule
                .iter()
                .map(|rule| RuleReport {
                    name: rule.name.clone(),
                    rows: rule.rows,
                    too_many: rule.too_many,
                    not_taken: rule.not_taken,
                })
                .collect(),
        }
    }
}

impl From<&Misfit> for MisfitReport {
    fn from(misfit: &Misfit) -> Self {
        Self {
            column: misfit.column.clone(),
            profile: misfit.profile.to_string(),
            refused: misfit.refused,
            values: misfit.values,
            better: misfit.better_in_words(),
        }
    }
}

impl From<&FrequentKey> for FrequentReport {
    fn from(key: &FrequentKey) -> Self {
        let FrequentKey { count, is_exact, first, shapes, .. } = key;
        let part = |part: &PartShape| PartReport {
            column: part.column.clone(),
            pattern: part.pattern.clone(),
        };
        Self {
            count: *count,
            is_exact: *is_exact,
            first: first.to_string(),
            shapes: shapes.iter().map(part).collect(),
        }
    }
}
