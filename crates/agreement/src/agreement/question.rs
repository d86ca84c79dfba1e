//! The question of an agreement about the common keys, and the bounds for an answer.

use super::computation::{self, Computation};
use super::error::{AgreementError, AgreementFault};
use super::limits::{MAX_ROWS, SELF_CHECK_DEFAULT, SELF_CHECK_MAX, SELF_CHECK_MIN};
use super::parties::PartyTerms;
use super::table::{At, Table, unknown_word};
use super::values::{self, ValueTerms};
use vesica_core::{Bounds, Operation};

const UNION_FIELD_NAMES: &[&str] = &["key_bytes"];

/// Most bytes of a key's text in a union.
pub const KEY_MAX_BYTES: u32 = 4096 - TEXT_LEN_BYTES;
/// Most bytes of a key's text in a union, by default.
pub const KEY_BYTES_DEFAULT: u32 = 64;
/// Bytes of the length before a text.
pub const TEXT_LEN_BYTES: u32 = 2;

/// What is asked about the keys in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Which keys are common.
    Intersection,
    /// How many keys are common.
    Cardinality,
    /// Whether at least `min` keys are common.
    Threshold {
        /// The least number of common keys that gives yes; at least one.
        min: u64,
    },
    /// The sum of the values of one party's rows with these keys.
    Sum(ValueTerms),
    /// The sum of the products of both parties' values of these keys.
    InnerProduct {
        /// One party's values, of one or several columns.
        values: ValueTerms,
        /// The other party's, of one column.
        factors: ValueTerms,
    },
    /// Which keys either party has.
    Union {
        /// Most bytes of a key's text; at most [`KEY_MAX_BYTES`].
        key_bytes: u32,
    },
    /// A random identifier of each key that either party has.
    PrivateId,
    /// Shares of the common keys, and of one party's values of them.
    Shares(Option<ValueTerms>),
    /// What an expression gives over one party's values of the common keys, computed on their
    /// shares, which no party gets.
    Computed {
        /// The values.
        values: ValueTerms,
        /// What is computed.
        computation: Computation,
    },
    /// Shares of one party's values of the common keys, and of a default for its others.
    SharedValues {
        /// The values.
        values: ValueTerms,
        /// The value used for a key that is not common.
        default: i64,
    },
}

impl Question {
    /// The operation.
    pub fn operation(&self) -> Operation {
        match self {
            Question::Intersection => Operation::Intersection,
            Question::Cardinality => Operation::Cardinality,
            Question::Threshold { .. } => Operation::Threshold,
            Question::Sum(_) => Operation::Sum,
            Question::InnerProduct { .. } => Operation::InnerProduct,
            Question::Union { .. } => Operation::Union,
            Question::PrivateId => Operation::PrivateId,
            Question::Shares(_) | Question::Computed { .. } => Operation::Shares,
            Question::SharedValues { .. } => Operation::SharedValues,
        }
    }

    /// Whether an agreement can allow that large sets are split although this reveals the counts of
    /// each partition.
    pub fn can_count_partitions(&self) -> bool {
        matches!(self, Question::Union { .. } | Question::PrivateId)
    }

    /// The values that the question is about, if any; of an inner product the values that may be of
    /// several columns.
    pub fn values(&self) -> Option<&ValueTerms> {
        match self {
            Question::Sum(values)
            | Question::SharedValues { values, .. }
            | Question::Computed { values, .. }
            | Question::InnerProduct { values, .. } => Some(values),
            Question::Shares(values) => values.as_ref(),
            _ => None,
        }
    }

    /// The values that an expression is computed on, and the computation, if there is one.
    pub fn computed(&self) -> Option<(&ValueTerms, &Computation)> {
        match self {
            Question::Computed { values, computation } => Some((values, computation)),
            _ => None,
        }
    }

    /// The other party's values that an inner product multiplies with.
    pub fn factors(&self) -> Option<&ValueTerms> {
        match self {
            Question::InnerProduct { factors, .. } => Some(factors),
            _ => None,
        }
    }

    /// What each sum of the answer is called, in their order; none if the answer has no sums.
    pub fn sum_names(&self) -> Vec<String> {
        match self {
            Question::Sum(values) => values.names(),
            Question::InnerProduct { values, factors } => {
                let times = factors.columns.concat();
                values.columns.iter().map(|column| format!("{column}*{times}")).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Whether answers are computed on the shares of `operation`, so that one party alone can receive
/// them.
pub(super) fn is_computed(table: &Table<'_>, operation: Operation) -> Result<bool, AgreementError> {
    let shares = table.table("shares")?;
    let has_expression = shares.is_some_and(|at| at.value.contains_key("compute"));
    Ok(operation == Operation::Shares && has_expression)
}

/// Whether the result of `operation` is shares, in which self-check items cannot be told from keys.
fn is_of_shares(operation: Operation) -> bool {
    matches!(operation, Operation::Shares | Operation::SharedValues)
}

/// How many keys must be in common for an answer; outside the bounds no party learns more than
/// that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchBounds {
    /// The fewest common keys.
    pub min: Option<u64>,
    /// The most common keys.
    pub max: Option<u64>,
}

impl MatchBounds {
    /// Whether there are no bounds.
    pub fn are_none(&self) -> bool {
        self.min.is_none() && self.max.is_none()
    }

    /// Whether `count` common keys are within the bounds.
    pub fn contain(&self, count: u64) -> bool {
        self.min.is_none_or(|min| min <= count) && self.max.is_none_or(|max| count <= max)
    }

    /// The bounds of a run in which `more` items are common in addition to the keys.
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

/// How many self-check items of each kind a party adds for `operation`.
pub(super) fn self_check(table: &Table<'_>, operation: Operation) -> Result<u32, AgreementError> {
    if !is_of_shares(operation) {
        let range = u64::from(SELF_CHECK_MIN)..=SELF_CHECK_MAX.into();
        let number = table.number("self_check", range)?;
        return Ok(number.map_or(SELF_CHECK_DEFAULT, |number| number.value as u32));
    }
    match table.number("self_check", 0..=SELF_CHECK_MAX.into())? {
        Some(At { value: found @ 1.., span, .. }) => {
            Err(table.error(span, AgreementFault::NoSelfCheck { found, operation }))
        }
        _ => Ok(0),
    }
}

/// The question of `operation` and its bounds, which must leave more than one answer.
pub(super) fn read(
    text: &str,
    table: &Table<'_>,
    operation: Operation,
    parties: &[PartyTerms],
) -> Result<(Question, MatchBounds), AgreementError> {
    let count = |name| table.number(name, 1..=MAX_ROWS);
    let [threshold, min, max] = [count("threshold")?, count("min_matches")?, count("max_matches")?];
    let [sum, product] = [table.table("sum")?, table.table("product")?];
    let [union, shares] = [table.table("union")?, table.table("shares")?];
    let is_uncounted = matches!(operation, Operation::Union | Operation::PrivateId);
    let given = [("min_matches", &min), ("max_matches", &max)];
    if let (true, Some((field, Some(at)))) =
        (is_uncounted, given.into_iter().find(|(_, at)| at.is_some()))
    {
        return Err(table.error(at.span.clone(), AgreementFault::NoBounds { field, operation }));
    }
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
    if let (Some(at), true) = (&product, operation != Operation::InnerProduct) {
        return of_another(at.span.clone(), "product", Operation::InnerProduct);
    }
    if let (Some(at), true) = (&union, operation != Operation::Union) {
        return of_another(at.span.clone(), "union", Operation::Union);
    }
    if let (Some(at), false) = (&shares, is_of_shares(operation)) {
        return of_another(at.span.clone(), "shares", Operation::Shares);
    }
    let below = |name: &str, at: At<_>| {
        Table::new(text, format!("{name}."), at.value, at.span, values::SUM_FIELDS)
    };
    let question = match operation {
        Operation::Cardinality => Question::Cardinality,
        Operation::Threshold => {
            let at = table.required("threshold", |_, _| Ok(threshold))?;
            check_open(table, &at, bounds)?;
            Question::Threshold { min: at.value }
        }
        Operation::Sum => {
            let fields = below("sum", table.required("sum", |_, _| Ok(sum))?);
            Question::Sum(values::read(&fields, parties, values::SUM_FIELD_NAMES)?)
        }
        Operation::InnerProduct => {
            let fields = below("product", table.required("product", |_, _| Ok(product))?);
            let (values, factors) = values::read_product(&fields, parties)?;
            Question::InnerProduct { values, factors }
        }
        Operation::Union => Question::Union {
            key_bytes: match union {
                Some(at) => key_bytes(&below("union", at))?,
                None => KEY_BYTES_DEFAULT,
            },
        },
        Operation::PrivateId => Question::PrivateId,
        Operation::Shares => match shares {
            Some(at) => {
                let fields = below("shares", at);
                refuse_default(&fields)?;
                let values = values::read_if_any(&fields, parties)?;
                let computation = computation::read(text, &fields, values.as_ref(), parties)?;
                match (values, computation) {
                    (Some(values), Some(computation)) => Question::Computed { values, computation },
                    (values, _) => Question::Shares(values),
                }
            }
            None => Question::Shares(None),
        },
        Operation::SharedValues => {
            let fields = below("shares", table.required("shares", |_, _| Ok(shares))?);
            refuse_computation(&fields)?;
            let values = values::read(&fields, parties, values::SHARES_FIELD_NAMES)?;
            let default = values::default(&fields, &values)?;
            Question::SharedValues { values, default }
        }
        _ => Question::Intersection,
    };
    Ok((question, bounds))
}

/// Refuses a threshold whose answer follows from the bounds.
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

fn key_bytes(table: &Table<'_>) -> Result<u32, AgreementError> {
    table.refuse_unknown(UNION_FIELD_NAMES)?;
    let bytes = table.number("key_bytes", 1..=KEY_MAX_BYTES.into())?;
    Ok(bytes.map_or(KEY_BYTES_DEFAULT, |at| at.value as u32))
}

/// Refuses an expression: it is computed on shares of common keys alone.
fn refuse_computation(table: &Table<'_>) -> Result<(), AgreementError> {
    for field in ["compute", "circuit"] {
        if let Some(at) = table.any(field)? {
            let (goes_with, operation) = (Operation::Shares, Operation::SharedValues);
            let fault = AgreementFault::OfAnotherOperation { field, goes_with, operation };
            return Err(table.error(at.span, fault));
        }
    }
    Ok(())
}

/// Refuses a default: it is the value of keys that are not common, which only shared values
/// include.
fn refuse_default(table: &Table<'_>) -> Result<(), AgreementError> {
    match table.integer("default")? {
        Some(at) => {
            let (goes_with, operation) = (Operation::SharedValues, Operation::Shares);
            let fault =
                AgreementFault::OfAnotherOperation { field: "default", goes_with, operation };
            Err(table.error(at.span, fault))
        }
        None => Ok(()),
    }
}
