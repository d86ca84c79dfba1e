//! Serialises [`Checked`]: every field has one form, so that other programs can rely on it.

use crate::checked::{Checked, CheckedKey, Limits, Refused, RuleRead};
use serde::{Serialize, Serializer};
use vesica_records::{
    FaultCount, FloatTexts, FrequentKey, Misfit, PartShape, RefusedCount, Shape, SingleQuoted,
};
use vesica_tables::{InputError, Place};

/// All of [`Checked`]. Counts are of rows.
#[derive(Serialize)]
struct Figures<'a> {
    party: Option<&'a str>,
    rows: Option<u64>,
    /// Without a key.
    empty: Option<u64>,
    /// With a key that its profile refuses.
    refused: Option<u64>,
    /// With a key that an earlier row has.
    duplicates: Option<u64>,
    /// Different keys.
    distinct: Option<u64>,
    /// With a key and an empty value, which counts as 0.
    without_value: Option<u64>,
    /// With a key under each rule; left out without rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rules: Vec<RuleFigures<'a>>,
    refused_by: Vec<Rows<'a>>,
    /// With a key in single quotes, which are compared too.
    single_quoted: Vec<Rows<'a>>,
    /// With a number that looks like a floating-point one, in columns where most do.
    floats: Vec<Rows<'a>>,
    /// Keys of many rows.
    frequent: Vec<FrequentFigures<'a>>,
    /// Columns whose profile refuses many of their values.
    misfits: Vec<MisfitFigures<'a>>,
    key: Vec<KeyFigures<'a>>,
    value_columns: &'a [String],
    sent_columns: &'a [String],
    faults: Vec<Fault<'a>>,
    /// Whether the last fault hides the rest of the data.
    is_cut: bool,
    limits: Option<LimitFigures>,
    needs: Option<NeedFigures>,
    /// The last day of the agreement, if it has passed.
    expired: Option<String>,
    /// Why a run would refuse the rows.
    refusal: Option<RefusalFigures>,
}

/// Keys under one rule.
#[derive(Serialize)]
struct RuleFigures<'a> {
    name: &'a str,
    rows: u64,
    /// Rows with more keys than were agreed, which have none.
    too_many: u64,
    /// Rows with a value that a transform does not take, which have none.
    not_taken: u64,
    /// Different keys.
    distinct: Option<u64>,
    /// Keys of more than one row.
    repeated: Option<u64>,
}

/// Rows of one column that have something in common.
#[derive(Serialize)]
struct Rows<'a> {
    column: &'a str,
    /// Completes the sentence "the column …".
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    count: u64,
    first: Vec<PlaceFigures<'a>>,
}

/// Rows with the same fault in the same column.
#[derive(Serialize)]
struct Fault<'a> {
    kind: &'static str,
    column: Option<&'a str>,
    /// Details in addition to the kind.
    detail: Option<String>,
    count: u64,
    first: Vec<PlaceFigures<'a>>,
}

#[derive(Serialize)]
struct FrequentFigures<'a> {
    /// At least this many rows; exactly this many if `is_exact`.
    count: u64,
    is_exact: bool,
    first: Vec<PlaceFigures<'a>>,
    /// Of each column of the key.
    shapes: Vec<PartFigures<'a>>,
}

#[derive(Serialize)]
struct PartFigures<'a> {
    column: &'a str,
    pattern: &'a str,
}

#[derive(Serialize)]
struct MisfitFigures<'a> {
    column: &'a str,
    profile: String,
    refused: u64,
    /// With a value in every column of the key; under rules, in this one.
    values: u64,
    /// The profile that accepts most of them, or two joined by "or"; null if none is known.
    better: Option<String>,
}

#[derive(Serialize)]
struct KeyFigures<'a> {
    name: &'a str,
    column: &'a str,
    profile: String,
    /// Number of first rows examined for the other fields.
    rows: u64,
    shapes: Vec<ShapeFigures<'a>>,
    /// With another shape.
    other: u64,
    normalised: u64,
    empty: u64,
    refused: Vec<ReasonFigures>,
}

#[derive(Serialize)]
struct ShapeFigures<'a> {
    pattern: &'a str,
    count: u64,
}

#[derive(Serialize)]
struct ReasonFigures {
    reason: String,
    count: u64,
}

/// A line or a row, in the whole input or in a file of a folder.
#[derive(Default, Serialize)]
struct PlaceFigures<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<u64>,
}

#[derive(Serialize)]
struct LimitFigures {
    min_rows: u64,
    max_rows: u64,
    /// Null where the keys were not counted.
    has_too_few_keys: Option<bool>,
    has_too_many_rows: bool,
}

/// The memory and disk that a run needs, in bytes.
#[derive(Serialize)]
struct NeedFigures {
    /// Disk space, an upper bound.
    disk: u64,
    /// Free disk space there.
    free_disk: u64,
    /// The minimum memory against the largest set of the other side; null if no protocol splits
    /// sets.
    least_memory: Option<u64>,
}

#[derive(Serialize)]
struct RefusalFigures {
    kind: &'static str,
    text: String,
}

impl Serialize for Checked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        figures(self).serialize(serializer)
    }
}

fn figures(checked: &Checked) -> Figures<'_> {
    let read = checked.read.as_ref();
    let counts = read.map(|read| &read.counts);
    Figures {
        party: checked.party.as_deref(),
        rows: counts.map(|counts| counts.rows),
        empty: counts.map(|counts| counts.empty),
        refused: counts.map(|counts| counts.refused),
        duplicates: read.and_then(|read| read.duplicates()),
        distinct: read.and_then(|read| read.distinct),
        without_value: counts.map(|counts| counts.without_value),
        rules: read.iter().flat_map(|read| &read.rules).map(rule).collect(),
        refused_by: counts.iter().flat_map(|counts| &counts.refused_by).map(refused).collect(),
        single_quoted: counts.iter().flat_map(|counts| &counts.single_quoted).map(quoted).collect(),
        floats: counts.iter().flat_map(|counts| &counts.floats).map(floats).collect(),
        frequent: counts.iter().flat_map(|counts| &counts.frequent).map(frequent).collect(),
        misfits: counts.iter().flat_map(|counts| &counts.misfits).map(misfit).collect(),
        key: checked.key.iter().map(key).collect(),
        value_columns: &checked.value_columns,
        sent_columns: &checked.sent_columns,
        faults: checked.faults.kinds().iter().map(fault).collect(),
        is_cut: checked.faults.is_cut(),
        limits: checked.limits.map(|limits| limit(checked, limits)),
        needs: checked.needs.as_ref().map(|needs| NeedFigures {
            disk: needs.disk_bytes,
            free_disk: needs.free_bytes,
            least_memory: needs.least_memory_bytes,
        }),
        expired: checked.expired.map(|on| on.to_string()),
        refusal: checked.refused.as_ref().map(refusal),
    }
}

fn rule(read: &RuleRead) -> RuleFigures<'_> {
    let RuleRead { name, rows, too_many, not_taken, distinct, repeated } = read;
    let (too_many, not_taken) = (*too_many, *not_taken);
    RuleFigures { name, rows: *rows, too_many, not_taken, distinct: *distinct, repeated: *repeated }
}

fn places(first: &[Place]) -> Vec<PlaceFigures<'_>> {
    first.iter().map(place).collect()
}

fn place(place: &Place) -> PlaceFigures<'_> {
    let none = PlaceFigures::default();
    match place {
        Place::Line(line) => PlaceFigures { line: Some(*line), ..none },
        Place::Row(row) => PlaceFigures { row: Some(*row), ..none },
        Place::PartLine { part, line } => {
            PlaceFigures { file: Some(part), line: Some(*line), ..none }
        }
        Place::PartRow { part, row } => PlaceFigures { file: Some(part), row: Some(*row), ..none },
    }
}

fn refused(rows: &RefusedCount) -> Rows<'_> {
    let RefusedCount { column, reason, count, first } = rows;
    Rows { column, reason: Some(reason.to_string()), count: *count, first: places(first) }
}

fn quoted(rows: &SingleQuoted) -> Rows<'_> {
    let SingleQuoted { column, count, first } = rows;
    Rows { column, reason: None, count: *count, first: places(first) }
}

fn floats(rows: &FloatTexts) -> Rows<'_> {
    let FloatTexts { column, count, first } = rows;
    Rows { column, reason: None, count: *count, first: places(first) }
}

fn frequent(key: &FrequentKey) -> FrequentFigures<'_> {
    let FrequentKey { count, is_exact, first, shapes, .. } = key;
    FrequentFigures {
        count: *count,
        is_exact: *is_exact,
        first: places(std::slice::from_ref(first)),
        shapes: shapes
            .iter()
            .map(|PartShape { column, pattern }| PartFigures { column, pattern })
            .collect(),
    }
}

fn misfit(misfit: &Misfit) -> MisfitFigures<'_> {
    MisfitFigures {
        column: &misfit.column,
        profile: misfit.profile.to_string(),
        refused: misfit.refused,
        values: misfit.values,
        better: misfit.better_in_words(),
    }
}

fn key(key: &CheckedKey) -> KeyFigures<'_> {
    let shapes = &key.shapes;
    KeyFigures {
        name: &key.name,
        column: &shapes.column,
        profile: key.profile.to_string(),
        rows: key.shape_rows(),
        shapes: shapes
            .shapes
            .iter()
            .map(|Shape { pattern, count }| ShapeFigures { pattern, count: *count })
            .collect(),
        other: shapes.other,
        normalised: shapes.normalised,
        empty: shapes.empty,
        refused: shapes
            .refused
            .iter()
            .map(|(reason, count)| ReasonFigures { reason: reason.to_string(), count: *count })
            .collect(),
    }
}

fn fault(rows: &FaultCount) -> Fault<'_> {
    let (kind, column, detail) = parts(&rows.example);
    Fault { kind, column, detail, count: rows.count, first: places(&rows.first) }
}

/// The kind of a fault, its column, and the details that all rows with it share.
fn parts(error: &InputError) -> (&'static str, Option<&str>, Option<String>) {
    match error {
        InputError::Ragged { expected, .. } => {
            ("ragged", None, Some(format!("{expected} fields were expected")))
        }
        InputError::InvalidUtf8 { column, .. } => ("not_utf8", column.as_deref(), None),
        InputError::Stray { stray, .. } => ("stray", None, Some(stray.to_string())),
        InputError::Misquoted { column, how, .. } => {
            ("misquoted", Some(column), Some(how.to_string()))
        }
        InputError::UnterminatedQuote { .. } => ("unterminated_quote", None, None),
        InputError::RecordTooLong { limit_bytes, .. } => {
            ("record_too_long", None, Some(format!("more than {limit_bytes} bytes")))
        }
        InputError::BadValue { column, fault, .. } => {
            ("bad_value", Some(column), Some(fault.to_string()))
        }
        InputError::TotalTooLarge { column, bits, .. } => {
            ("total_too_large", Some(column), Some(format!("more than {bits} bits")))
        }
        InputError::DuplicateKey { .. } => ("duplicate_key", None, None),
        InputError::KeyTooLong { column, max_bytes, .. } => {
            ("key_too_long", Some(column), Some(format!("more than {max_bytes} bytes")))
        }
        InputError::Refused { column, reason, .. } => {
            ("refused", Some(column), Some(reason.to_string()))
        }
        // No other error concerns a row.
        error => ("other", None, Some(error.to_string())),
    }
}

fn limit(checked: &Checked, limits: Limits) -> LimitFigures {
    let Limits { min_rows, max_rows } = limits;
    LimitFigures {
        min_rows,
        max_rows,
        has_too_few_keys: checked.has_too_few_keys(),
        has_too_many_rows: checked.has_too_many_rows(),
    }
}

fn refusal(refused: &Refused) -> RefusalFigures {
    let kind = match refused {
        Refused::Data(InputError::TooManyRows { .. }) => "too_many_rows",
        Refused::Data(InputError::NoRows { .. }) => "no_rows",
        Refused::Data(InputError::NoKeys { .. }) => "no_keys",
        Refused::Data(InputError::Interrupted) => "interrupted",
        Refused::Data(_) => "data",
        Refused::Faults => "faults",
        Refused::TooFewKeys { .. } => "too_few_keys",
        Refused::Expired { .. } => "expired",
        Refused::Memory { .. } => "memory",
        Refused::Disk { .. } => "disk",
        Refused::Output(_) => "output",
        Refused::Scratch { .. } => "scratch",
    };
    RefusalFigures { kind, text: refused.to_string() }
}
