//! The values of an agreement: their party, columns and length, and how rows with the same key are treated.

use super::error::{AgreementError, AgreementFault};
use super::limits::{MAX_NAME_CHARS, PACKED_MAX_BITS};
use super::parties::PartyTerms;
use super::table::{At, Field, Table, check_text, unknown_word};
use vesica_records::Duplicates;

/// Most columns of values. A protocol takes one more, for the self-check of a sum.
pub const MAX_VALUE_COLUMNS: usize = 15;

/// Most bits of a value.
pub const VALUE_MAX_BITS: u32 = 64;

pub(super) const SUM_FIELDS: &[Field] = &[
    Field { name: "of", meaning: "the party whose rows hold the values" },
    Field { name: "column", meaning: "the column that holds them in its file" },
    Field { name: "bits", meaning: "the value of a key is below 2^bits" },
];
pub(super) const SUM_FIELD_NAMES: &[&str] =
    &["of", "column", "columns", "bits", "signed", "duplicates"];
pub(super) const SHARES_FIELD_NAMES: &[&str] =
    &["of", "column", "columns", "bits", "signed", "duplicates", "default"];

/// The values of one party's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueTerms {
    /// The party whose rows hold them.
    pub of: String,
    /// Their columns, at least one; the party may map them to other columns of its file.
    pub columns: Vec<String>,
    /// The value of a key is below 2^`bits`; with a sign from −2^(`bits`−1) to 2^(`bits`−1) − 1. At most
    /// [`VALUE_MAX_BITS`].
    pub bits: u32,
    /// Whether values may be below zero.
    pub signed: bool,
    /// How rows with the same key are treated.
    pub duplicates: Duplicates,
}

impl ValueTerms {
    /// Whether it is one column of whole numbers from 0 with room for a self-check beside them:
    /// every protocol that computes sums takes these.
    pub fn are_plain(&self) -> bool {
        self.columns.len() == 1 && !self.signed && self.bits <= PACKED_MAX_BITS
    }
}

/// The values in `table`, whose fields are `known`.
pub(super) fn read(
    table: &Table<'_>,
    parties: &[PartyTerms],
    known: &'static [&'static str],
) -> Result<ValueTerms, AgreementError> {
    table.refuse_unknown(known)?;
    let of = party(table, table.required("of", Table::text)?, parties)?;
    let columns = table.required("column", |table, _| columns(table))?;
    let bits = table.required("bits", |t, name| t.number(name, 1..=VALUE_MAX_BITS.into()))?;
    Ok(ValueTerms {
        of,
        columns: columns.value,
        bits: bits.value as u32,
        signed: table.flag("signed")?.is_some_and(|flag| flag.value),
        duplicates: duplicates(table)?,
    })
}

/// The values of a table `[shares]`, which may hold none.
pub(super) fn read_if_any(
    table: &Table<'_>,
    parties: &[PartyTerms],
) -> Result<Option<ValueTerms>, AgreementError> {
    table.refuse_unknown(SHARES_FIELD_NAMES)?;
    let is_any = SHARES_FIELD_NAMES.iter().any(|name| *name != "of" && table.has(name));
    if is_any {
        return read(table, parties, SHARES_FIELD_NAMES).map(Some);
    }
    if let Some(of) = table.text("of")? {
        party(table, of, parties)?;
    }
    Ok(None)
}

fn party(
    table: &Table<'_>,
    word: At<&str>,
    parties: &[PartyTerms],
) -> Result<String, AgreementError> {
    if !parties.iter().any(|party| party.name == word.value) {
        let names: Vec<&str> = parties.iter().map(|party| &*party.name).collect();
        return Err(unknown_word(table, word, &names));
    }
    Ok(word.value.to_owned())
}

/// `column = "a"` or `columns = ["a", "b"]`.
fn columns(table: &Table<'_>) -> Result<Option<At<Vec<String>>>, AgreementError> {
    let (one, several) = (table.text("column")?, table.texts("columns")?);
    let (list, span) = match (one, several) {
        (None, None) => return Ok(None),
        (Some(one), None) => {
            let span = one.span.clone();
            (vec![one], span)
        }
        (None, Some(several)) => (several.value, several.span),
        (Some(_), Some(several)) => {
            return Err(table.error(several.span, AgreementFault::ColumnAndColumns));
        }
    };
    if !(1..=MAX_VALUE_COLUMNS).contains(&list.len()) {
        let fault = AgreementFault::ColumnCount { found: list.len(), max: MAX_VALUE_COLUMNS };
        return Err(table.error(span, fault));
    }
    let mut columns: Vec<String> = Vec::new();
    for column in list {
        check_text(table, &column, MAX_NAME_CHARS)?;
        if columns.iter().any(|other| other == column.value) {
            let fault = AgreementFault::DuplicateColumn { name: column.value.to_owned() };
            return Err(table.error(column.span, fault));
        }
        columns.push(column.value.to_owned());
    }
    Ok(Some(At { value: columns, span, field: table.path("columns") }))
}

fn duplicates(table: &Table<'_>) -> Result<Duplicates, AgreementError> {
    let Some(word) = table.text("duplicates")? else { return Ok(Duplicates::default()) };
    match Duplicates::ALL.iter().find(|policy| policy.name() == word.value) {
        Some(policy) => Ok(*policy),
        None => {
            let known: Vec<&str> = Duplicates::ALL.iter().map(|policy| policy.name()).collect();
            Err(unknown_word(table, word, &known))
        }
    }
}

/// `default`, which must be one of `values`.
pub(super) fn default(table: &Table<'_>, values: &ValueTerms) -> Result<i64, AgreementError> {
    let Some(At { value, span, field }) = table.integer("default")? else { return Ok(0) };
    let (bits, signed) = (values.bits, values.signed);
    let (min, max) = match signed {
        true => (-(1_i128 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    };
    if !(min..=max).contains(&i128::from(value)) {
        let fault = AgreementFault::DoesNotFit { field, found: value, bits, signed };
        return Err(table.error(span, fault));
    }
    Ok(value)
}
