//! What an agreement asks about the common keys, and within which bounds it is answered.

use super::error::{AgreementError, AgreementFault};
use super::parse::{MAX_NAME_CHARS, check_text, unknown_word};
use super::table::{At, Field, Table};
use super::{MAX_ROWS, PartyTerms};
use vesica_core::{Bounds, Operation};

const SUM_FIELDS: &[Field] = &[
    Field { name: "of", meaning: "the party whose rows hold the values" },
    Field { name: "column", meaning: "the column that holds them in its file" },
    Field { name: "bits", meaning: "the value of a key is below 2^bits" },
];
const SUM_FIELD_NAMES: &[&str] = &["of", "column", "bits"];

/// Most bits of a value that is summed: with the bits that count the self-check items, it fits in 64.
pub const SUM_MAX_BITS: u32 = 40;

/// What is asked about the keys in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Which they are.
    Intersection,
    /// How many they are.
    Cardinality,
    /// Whether they are at least `min`.
    Threshold {
        /// The least number of common keys that gives yes; at least one.
        min: u64,
    },
    /// What the values of one party's rows with these keys add up to.
    Sum(SumTerms),
}

impl Question {
    /// The operation.
    pub fn operation(&self) -> Operation {
        match self {
            Question::Intersection => Operation::Intersection,
            Question::Cardinality => Operation::Cardinality,
            Question::Threshold { .. } => Operation::Threshold,
            Question::Sum(_) => Operation::Sum,
        }
    }
}

/// The values that are summed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumTerms {
    /// The party whose rows hold them.
    pub of: String,
    /// Their column, unless that party maps it to another one.
    pub column: String,
    /// The value of a key is below 2^`bits`; 1 to [`SUM_MAX_BITS`].
    pub bits: u32,
}

/// How many keys must be in common for an answer; outside, nobody learns more than that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchBounds {
    /// The fewest.
    pub min: Option<u64>,
    /// The most.
    pub max: Option<u64>,
}

impl MatchBounds {
    /// Whether there are none.
    pub fn are_none(&self) -> bool {
        self.min.is_none() && self.max.is_none()
    }

    /// Whether `count` common keys are inside.
    pub fn contain(&self, count: u64) -> bool {
        self.min.is_none_or(|min| min <= count) && self.max.is_none_or(|max| count <= max)
    }

    /// The bounds of a run in which `more` items are common besides the keys.
    pub(crate) fn shifted(&self, more: u64) -> vesica_core::Result<Bounds> {
        let shifted = |bound: Option<u64>| bound.map(|count| count.saturating_add(more));
        Bounds::new(shifted(self.min), shifted(self.max))
    }
}

pub(super) fn operation(table: &Table<'_>) -> Result<Operation, AgreementError> {
    let word = table.required("operation", Table::text)?;
    let known: Vec<&str> = Operation::ALL.iter().map(|operation| operation.name()).collect();
    match Operation::ALL.iter().find(|operation| operation.name() == word.value) {
        Some(operation) => Ok(*operation),
        None => Err(unknown_word(table, word, &known)),
    }
}

/// The question of `operation` and its bounds, which must leave more than one answer.
pub(super) fn read(
    text: &str,
    table: &Table<'_>,
    operation: Operation,
    parties: &[PartyTerms; 2],
) -> Result<(Question, MatchBounds), AgreementError> {
    let count = |name| table.number(name, (1, MAX_ROWS));
    let [threshold, min, max] = [count("threshold")?, count("min_matches")?, count("max_matches")?];
    let sum = table.table("sum")?;
    let most = parties.iter().map(|party| party.max_rows).min().unwrap_or(MAX_ROWS);
    let is_out_of_reach = |count: &&At<u64>| count.value > most;
    if let Some(count) = [&threshold, &min].into_iter().flatten().find(is_out_of_reach) {
        let fault =
            AgreementFault::OutOfReach { field: count.field.clone(), found: count.value, most };
        return Err(table.error(count.span.clone(), fault));
    }
    if let (Some(min), Some(max)) = (&min, &max)
        && min.value > max.value
    {
        let fault = AgreementFault::MatchesReversed { min: min.value, max: max.value };
        return Err(table.error(min.span.clone(), fault));
    }
    let bounds = MatchBounds { min: min.map(|at| at.value), max: max.map(|at| at.value) };

    let of_another = |span: std::ops::Range<usize>, field: &'static str, goes_with| {
        Err(table.error(span, AgreementFault::OfAnotherOperation { field, goes_with, operation }))
    };
    if let (Some(at), true) = (&threshold, operation != Operation::Threshold) {
        return of_another(at.span.clone(), "threshold", Operation::Threshold);
    }
    if let (Some(at), true) = (&sum, operation != Operation::Sum) {
        return of_another(at.span.clone(), "sum", Operation::Sum);
    }
    let question = match operation {
        Operation::Cardinality => Question::Cardinality,
        Operation::Threshold => {
            let at = table.required("threshold", |_, _| Ok(threshold))?;
            check_open(table, &at, bounds)?;
            Question::Threshold { min: at.value }
        }
        Operation::Sum => {
            let at = table.required("sum", |_, _| Ok(sum))?;
            let fields = Table::new(text, "sum.".to_owned(), at.value, at.span, SUM_FIELDS);
            Question::Sum(sum_terms(&fields, parties)?)
        }
        _ => Question::Intersection,
    };
    Ok((question, bounds))
}

/// Refuses a threshold that the bounds have answered.
fn check_open(
    table: &Table<'_>,
    threshold: &At<u64>,
    bounds: MatchBounds,
) -> Result<(), AgreementError> {
    let found = threshold.value;
    let settled = match bounds {
        MatchBounds { min: Some(bound), .. } if found <= bound => Some(("min_matches", bound)),
        MatchBounds { max: Some(bound), .. } if found > bound => Some(("max_matches", bound)),
        _ => None,
    };
    match settled {
        Some((by, bound)) => {
            let fault = AgreementFault::ThresholdSettled { threshold: found, by, bound };
            Err(table.error(threshold.span.clone(), fault))
        }
        None => Ok(()),
    }
}

fn sum_terms(table: &Table<'_>, parties: &[PartyTerms; 2]) -> Result<SumTerms, AgreementError> {
    table.refuse_unknown(SUM_FIELD_NAMES)?;
    let of = table.required("of", Table::text)?;
    if !parties.iter().any(|party| party.name == of.value) {
        let [first, second] = parties;
        return Err(unknown_word(table, of, &[&first.name, &second.name]));
    }
    let column = table.required("column", Table::text)?;
    check_text(table, &column, MAX_NAME_CHARS)?;
    let bits = table.required("bits", |t, name| t.number(name, (1, SUM_MAX_BITS.into())))?;
    Ok(SumTerms {
        of: of.value.to_owned(),
        column: column.value.to_owned(),
        bits: bits.value as u32,
    })
}
