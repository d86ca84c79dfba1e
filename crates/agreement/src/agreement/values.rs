//! The values of an agreement: their party, columns and length, and how rows with the same key are
//! treated.

use super::error::{AgreementError, AgreementFault};
use super::limits::{MAX_NAME_CHARS, PACKED_MAX_BITS};
use super::parties::PartyTerms;
use super::table::{At, Field, Table, check_text, unknown_word};
use vesica_core::Values;
use vesica_records::Duplicates;

/// Most columns of values.
pub const MAX_VALUE_COLUMNS: usize = 15;

/// Most sums: columns times groups. A protocol takes one more column, for the self-check.
pub const MAX_SUMS: usize = Values::MAX_COLUMNS as usize - 1;

/// Most bits of a value.
pub const VALUE_MAX_BITS: u32 = 64;

pub(super) const SUM_FIELDS: &[Field] = &[
    Field { name: "of", meaning: "the party whose rows hold the values" },
    Field { name: "column", meaning: "the column that holds them in its file" },
    Field { name: "bits", meaning: "the value of a key is below 2^bits" },
    Field { name: "compute", meaning: "what is computed on the shares" },
];
pub(super) const SUM_FIELD_NAMES: &[&str] =
    &["of", "column", "columns", "by", "groups", "bits", "signed", "duplicates"];
pub(super) const PRODUCT_FIELD_NAMES: &[&str] =
    &["of", "column", "columns", "bits", "signed", "duplicates", "times", "times_bits"];
pub(super) const SHARES_FIELD_NAMES: &[&str] =
    &["of", "column", "columns", "bits", "signed", "duplicates", "default", "compute", "circuit"];

/// The values of one party's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueTerms {
    /// The party whose rows hold them.
    pub of: String,
    /// Their columns; the party may map them to other columns of its file. At least one, or none
    /// with `groups`: then a row has the value 1.
    pub columns: Vec<String>,
    /// With a sum for each group of rows.
    pub groups: Option<GroupTerms>,
    /// The value of a key is below 2^`bits`; with a sign from −2^(`bits`−1) to 2^(`bits`−1) − 1. At
    /// most [`VALUE_MAX_BITS`].
    pub bits: u32,
    /// Whether values may be below zero.
    pub signed: bool,
    /// How rows with the same key are treated.
    pub duplicates: Duplicates,
}

/// The groups of rows that have a sum each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupTerms {
    /// The column of the party's file that names the group of a row; the party may map it to
    /// another one.
    pub by: String,
    /// The groups, at least one.
    pub names: Vec<String>,
}

impl ValueTerms {
    /// How many values a key has: one for each column in each group.
    pub fn width(&self) -> usize {
        self.columns.len().max(1) * self.groups.as_ref().map_or(1, |groups| groups.names.len())
    }

    /// What each value of a key is called, in their order: its column, its group, or
    /// `column[group]`.
    pub fn names(&self) -> Vec<String> {
        match &self.groups {
            Some(groups) => names_of_sums(&self.columns, &groups.names),
            None => self.columns.clone(),
        }
    }

    /// All columns that are read.
    pub fn all_columns(&self) -> Vec<String> {
        let by = self.groups.iter().map(|groups| &groups.by);
        self.columns.iter().chain(by).cloned().collect()
    }

    /// Whether these are one column of whole numbers from 0 that leave room for a self-check: every
    /// protocol that computes sums takes these.
    pub fn are_plain(&self) -> bool {
        self.width() == 1 && !self.signed && self.bits <= PACKED_MAX_BITS
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
    let groups = groups(table)?;
    let columns = match groups {
        Some(_) => columns(table)?.map_or(Vec::new(), |at| at.value),
        None => table.required("column", |table, _| columns(table))?.value,
    };
    if let Some(groups) = &groups {
        check_groups(table, groups, &columns)?;
    }
    let bits = table.required("bits", |t, name| t.number(name, 1..=VALUE_MAX_BITS.into()))?;
    let signed = table.flag("signed")?.filter(|flag| flag.value);
    if let (Some(signed), true) = (&signed, columns.is_empty()) {
        return Err(table.error(signed.span.clone(), AgreementFault::SignedCounts));
    }
    Ok(ValueTerms {
        of,
        columns,
        groups: groups.map(|at| at.value),
        bits: bits.value as u32,
        signed: signed.is_some(),
        duplicates: duplicates_of(table, Duplicates::ALL)?,
    })
}

/// The values of a table `[product]`, and the other party's values that they are multiplied with.
pub(super) fn read_product(
    table: &Table<'_>,
    parties: &[PartyTerms],
) -> Result<(ValueTerms, ValueTerms), AgreementError> {
    let values = read(table, parties, PRODUCT_FIELD_NAMES)?;
    let times = table.required("times", Table::text)?;
    check_text(table, &times, MAX_NAME_CHARS)?;
    let bits = table
        .required("times_bits", |t, name| t.number(name, 1..=Values::MAX_FACTOR_BITS.into()))?;
    let other = parties.iter().find(|party| party.name != values.of);
    let factors = ValueTerms {
        of: other.map_or(String::new(), |party| party.name.clone()),
        columns: vec![times.value.to_owned()],
        groups: None,
        bits: bits.value as u32,
        signed: false,
        duplicates: values.duplicates,
    };
    Ok((values, factors))
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

pub(super) fn party(
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

/// The name of the sum of each column in each group.
fn names_of_sums(columns: &[String], groups: &[String]) -> Vec<String> {
    if columns.is_empty() {
        return groups.to_vec();
    }
    let of = |column| groups.iter().map(move |group| format!("{column}[{group}]"));
    columns.iter().flat_map(of).collect()
}

/// `by = "region"` and `groups = ["north", "south"]`.
fn groups(table: &Table<'_>) -> Result<Option<At<GroupTerms>>, AgreementError> {
    let (by, list) = match (table.text("by")?, table.texts("groups")?) {
        (None, None) => return Ok(None),
        (Some(by), Some(list)) => (by, list),
        (Some(by), None) => return Err(table.error(by.span, AgreementFault::OnlyOneOfGroups)),
        (None, Some(list)) => return Err(table.error(list.span, AgreementFault::OnlyOneOfGroups)),
    };
    check_text(table, &by, MAX_NAME_CHARS)?;
    let mut names: Vec<String> = Vec::new();
    for group in list.value {
        check_text(table, &group, MAX_NAME_CHARS)?;
        let name = group.value.trim();
        if names.iter().any(|other| other == name) {
            let fault = AgreementFault::DuplicateGroup { name: name.to_owned() };
            return Err(table.error(group.span, fault));
        }
        names.push(name.to_owned());
    }
    let value = GroupTerms { by: by.value.to_owned(), names };
    Ok(Some(At { value, span: list.span, field: table.path("groups") }))
}

/// Refuses too many sums, or none, and a column that is both summed and grouped by.
fn check_groups(
    table: &Table<'_>,
    groups: &At<GroupTerms>,
    columns: &[String],
) -> Result<(), AgreementError> {
    let GroupTerms { by, names } = &groups.value;
    let sums = names.len() * columns.len().max(1);
    let fault = if !(1..=MAX_SUMS).contains(&sums) {
        AgreementFault::SumCount { found: sums, max: MAX_SUMS }
    } else if columns.contains(by) {
        AgreementFault::DuplicateColumn { name: by.clone() }
    } else {
        // Names such as a[b] for a column can make two sums alike.
        let all = names_of_sums(columns, names);
        match all.iter().enumerate().find(|(i, name)| all[..*i].contains(name)) {
            Some((_, name)) => AgreementFault::DuplicateColumn { name: name.clone() },
            None => return Ok(()),
        }
    };
    Err(table.error(groups.span.clone(), fault))
}

/// How rows with the same key are treated: one of the `known` ways, the first of them by default.
pub(super) fn duplicates_of(
    table: &Table<'_>,
    known: &[Duplicates],
) -> Result<Duplicates, AgreementError> {
    let Some(word) = table.text("duplicates")? else { return Ok(known[0]) };
    match known.iter().find(|policy| policy.name() == word.value) {
        Some(policy) => Ok(*policy),
        None => {
            let known: Vec<&str> = known.iter().map(|policy| policy.name()).collect();
            Err(unknown_word(table, word, &known))
        }
    }
}

/// `default`, which must be one of `values`.
pub(super) fn default(table: &Table<'_>, values: &ValueTerms) -> Result<i64, AgreementError> {
    let Some(At { value, span, field }) = table.integer("default")? else { return Ok(0) };
    let (bits, signed) = (values.bits, values.signed);
    let (min, max) = if signed {
        (-(1_i128 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    };
    if !(min..=max).contains(&i128::from(value)) {
        let fault = AgreementFault::DoesNotFit { field, found: value, bits, signed };
        return Err(table.error(span, fault));
    }
    Ok(value)
}
