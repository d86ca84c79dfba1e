//! The columns of one party's rows that the other party gets with the common keys.

use super::column_fault::ColumnFault;
use super::error::{AgreementError, AgreementFault};
use super::limits::MAX_NAME_CHARS;
use super::parties::PartyTerms;
use super::table::{At, Field, Table, check_text, unknown_word};
use super::values::{duplicates_of, party};
use vesica_core::{Operation, PayloadLen};
use vesica_records::Duplicates;
use vesica_records::payloads::{CellType, payload_len};

/// Most columns that come along.
pub const MAX_COLUMNS: usize = 32;

/// The ways in which rows with the same key can be treated.
const DUPLICATES: &[Duplicates] = &[Duplicates::Refuse, Duplicates::First];

pub(super) const COLUMN_FIELDS: &[Field] = &[
    Field { name: "of", meaning: "the party whose rows hold the columns" },
    Field { name: "names", meaning: "the columns that come along" },
    Field { name: "types", meaning: "what each of them holds" },
];
const COLUMN_FIELD_NAMES: &[&str] = &["of", "names", "types", "duplicates"];

/// The columns of one party that the other party gets with the common keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnTerms {
    /// The party whose rows hold them.
    pub of: String,
    /// Their names, which the party may map to other columns of its file, and what they hold. At
    /// least one, at most [`MAX_COLUMNS`].
    pub columns: Vec<(String, CellType)>,
    /// How rows with the same key are treated: refused, or the first one counts.
    pub duplicates: Duplicates,
}

impl ColumnTerms {
    /// What the columns are called in the agreement.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.clone()).collect()
    }

    /// What the columns hold.
    pub fn types(&self) -> Vec<CellType> {
        self.columns.iter().map(|(_, of)| *of).collect()
    }

    /// What the columns are called in the other party's result: `party_column`.
    pub fn result_names(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| format!("{}_{name}", self.of)).collect()
    }

    /// Bytes of the columns of a row.
    pub fn payload_len(&self) -> usize {
        payload_len(&self.types())
    }
}

/// The columns of the agreement, if it has any; `receivers` has the positions of the parties that
/// receive the result.
pub(super) fn read(
    table: &Table<'_>,
    operation: Operation,
    parties: &[PartyTerms],
    receivers: &[usize],
    has_rules: bool,
) -> Result<Option<ColumnTerms>, AgreementError> {
    let Some(list) = table.tables("columns", COLUMN_FIELDS)? else { return Ok(None) };
    let refuse = |fault| Err(table.error(list.span.clone(), fault));
    let [fields] = &list.value[..] else {
        return refuse(AgreementFault::Columns(ColumnFault::OfSeveral));
    };
    if operation != Operation::Intersection {
        let goes_with = Operation::Intersection;
        return refuse(AgreementFault::OfAnotherOperation {
            field: "columns",
            goes_with,
            operation,
        });
    }
    if has_rules {
        return refuse(AgreementFault::NotWithRules { field: "columns" });
    }
    for field in ["min_matches", "max_matches"] {
        if let Some(at) = table.any(field)? {
            return Err(
                table.error(at.span, AgreementFault::Columns(ColumnFault::NotWith { field }))
            );
        }
    }
    fields.refuse_unknown(COLUMN_FIELD_NAMES)?;
    let at = fields.required("of", Table::text)?;
    let span = at.span.clone();
    let of = party(fields, at, parties)?;
    if receivers.iter().all(|position| parties[*position].name == of) {
        return Err(fields.error(span, AgreementFault::Columns(ColumnFault::ForNoOne { of })));
    }
    let columns = columns(fields)?;
    let terms = ColumnTerms { of, columns, duplicates: duplicates_of(fields, DUPLICATES)? };
    let (found, most) = (terms.payload_len(), PayloadLen::MAX.bytes());
    if found > most {
        return refuse(AgreementFault::Columns(ColumnFault::TooLong { found, most }));
    }
    Ok(Some(terms))
}

/// `names = ["ward", "admitted"]` and `types = ["text 24", "date"]`.
fn columns(table: &Table<'_>) -> Result<Vec<(String, CellType)>, AgreementError> {
    let names = table.required("names", Table::texts)?;
    let types = table.required("types", Table::texts)?;
    if !(1..=MAX_COLUMNS).contains(&names.value.len()) {
        let fault = ColumnFault::Count { found: names.value.len(), max: MAX_COLUMNS };
        return Err(table.error(names.span, AgreementFault::Columns(fault)));
    }
    if names.value.len() != types.value.len() {
        let (names, found) = (names.value.len(), types.value.len());
        return Err(table.error(
            types.span,
            AgreementFault::Columns(ColumnFault::TypeCount { names, types: found }),
        ));
    }
    let mut columns: Vec<(String, CellType)> = Vec::with_capacity(names.value.len());
    for (name, word) in names.value.into_iter().zip(types.value) {
        check_text(table, &name, MAX_NAME_CHARS)?;
        if columns.iter().any(|(other, _)| other == name.value) {
            let fault = AgreementFault::DuplicateColumn { name: name.value.to_owned() };
            return Err(table.error(name.span, fault));
        }
        columns.push((name.value.to_owned(), cell_type(table, word)?));
    }
    Ok(columns)
}

fn cell_type(table: &Table<'_>, word: At<&str>) -> Result<CellType, AgreementError> {
    let known = ["integer", "date", "text 1", "text 4000"];
    word.value.parse().map_err(|_| unknown_word(table, word, &known))
}
