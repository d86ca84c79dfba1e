//! The rules of an agreement: several keys of a row, any of which may match.

use super::error::{AgreementError, AgreementFault};
use super::limits::{MAX_KEYS_OF_RULE, MAX_NAME_CHARS, MAX_ROWS, MAX_RULES};
use super::parties::PartyTerms;
use super::table::{At, Field, Table, check_text, unknown_word};
use super::terms::{Key, Rule, RuleColumn};
use vesica_core::Operation;
use vesica_records::{MAX_CHARS, Transform, max_outputs};

const RULE_FIELDS: &[Field] = &[
    Field { name: "name", meaning: "what the rule is called" },
    Field { name: "columns", meaning: "the names of the keys whose values must all be equal" },
    Field { name: "most", meaning: "the most keys that a row can have under the rule" },
];
const RULE_FIELD_NAMES: &[&str] = &["name", "columns", "most"];

/// Between a key and the transforms of its values.
const PIPE: char = '|';

/// The rules in their order; none if the agreement has no `[[rule]]`, so that all keys together
/// must be equal.
pub(super) fn rules(
    table: &Table<'_>,
    operation: Operation,
    keys: &[Key],
) -> Result<Vec<Rule>, AgreementError> {
    let Some(list) = table.tables("rule", RULE_FIELDS)? else { return Ok(Vec::new()) };
    if operation != Operation::Intersection {
        let goes_with = Operation::Intersection;
        let fault = AgreementFault::OfAnotherOperation { field: "rule", goes_with, operation };
        return Err(table.error(list.span, fault));
    }
    let found = list.value.len();
    if !(1..=MAX_RULES).contains(&found) {
        return Err(table.error(list.span, AgreementFault::RuleCount { found, max: MAX_RULES }));
    }
    let mut rules: Vec<Rule> = Vec::with_capacity(found);
    for fields in &list.value {
        fields.refuse_unknown(RULE_FIELD_NAMES)?;
        let rule = rule(fields, keys)?;
        if rules.iter().any(|other| other.name == rule.name) {
            let fault = AgreementFault::DuplicateRule { name: rule.name };
            return Err(fields.error_here(fault));
        }
        if let Some(same) = rules.iter().find(|other| other.columns == rule.columns) {
            let fault = AgreementFault::SameRule { name: rule.name, other: same.name.clone() };
            return Err(fields.error_here(fault));
        }
        rules.push(rule);
    }
    let is_used =
        |key: &usize| rules.iter().flat_map(|rule| &rule.columns).any(|column| column.key == *key);
    if let Some(key) = (0..keys.len()).find(|key| !is_used(key)) {
        let fault = AgreementFault::UnusedKey { name: keys[key].name.clone() };
        return Err(table.error(list.span, fault));
    }
    Ok(rules)
}

fn rule(table: &Table<'_>, keys: &[Key]) -> Result<Rule, AgreementError> {
    let name = table.required("name", Table::text)?;
    check_text(table, &name, MAX_NAME_CHARS)?;
    let list = table.required("columns", Table::texts)?;
    let mut columns: Vec<RuleColumn> = Vec::with_capacity(list.value.len());
    for word in list.value {
        let (name, span) = (word.value.to_owned(), word.span.clone());
        let column = column(table, word, keys)?;
        if columns.contains(&column) {
            return Err(table.error(span, AgreementFault::DuplicateColumn { name }));
        }
        columns.push(column);
    }
    if columns.is_empty() {
        let (found, max) = (0, keys.len());
        return Err(table.error(list.span, AgreementFault::KeyCount { found, max }));
    }
    // The order in which they are written does not matter.
    columns.sort_by_cached_key(|column| (column.key, column.transforms_in_words()));
    let of_column = |column: &RuleColumn| max_outputs(&column.transforms, MAX_CHARS);
    let can_have = columns.iter().map(of_column).fold(1, usize::saturating_mul);
    let most = table.number("most", 1..=MAX_KEYS_OF_RULE)?.map(|at| at.value as usize);
    let most = match (most, can_have) {
        (None, 1) => 1,
        (None, _) => {
            let fault =
                AgreementFault::NoMost { rule: name.value.to_owned(), max: MAX_KEYS_OF_RULE };
            return Err(table.error(list.span, fault));
        }
        (Some(most), can_have) => most.min(can_have),
    };
    Ok(Rule { name: name.value.to_owned(), columns, most })
}

/// A key, and its transforms after bars: `surname | soundex`.
fn column(table: &Table<'_>, word: At<&str>, keys: &[Key]) -> Result<RuleColumn, AgreementError> {
    // The name of a key can have a bar itself.
    if let Some(key) = keys.iter().position(|key| key.name == word.value) {
        return Ok(RuleColumn { key, transforms: Vec::new() });
    }
    let mut parts = word.value.split(PIPE).map(str::trim);
    let name = parts.next().unwrap_or_default();
    let Some(key) = keys.iter().position(|key| key.name == name) else {
        let known: Vec<&str> = keys.iter().map(|key| &*key.name).collect();
        return Err(unknown_word(table, At { value: name, ..word }, &known));
    };
    let parsed: Result<Vec<Transform>, _> = parts.map(str::parse).collect();
    let transforms = parsed.map_err(|cause| {
        let fault = AgreementFault::BadTransform { field: word.field.clone(), cause };
        table.error(word.span.clone(), fault)
    })?;
    Ok(RuleColumn { key, transforms })
}

impl RuleColumn {
    /// The transforms as they are written after the name of the key.
    fn transforms_in_words(&self) -> String {
        self.transforms.iter().map(|transform| format!(" {PIPE} {transform}")).collect()
    }

    /// The column as it is written: the name of its key, and the transforms.
    pub fn in_words(&self, keys: &[Key]) -> String {
        keys[self.key].name.clone() + &self.transforms_in_words()
    }
}

/// Refuses parties whose sets could exceed what protocols take: a row has items under each rule.
pub(super) fn check_sizes(table: &Table<'_>, parties: &[PartyTerms]) -> Result<(), AgreementError> {
    match parties.iter().find(|party| party.max_items() > MAX_ROWS) {
        Some(party) => Err(table.error_here(AgreementFault::TooManyItems {
            party: party.name.clone(),
            max_rows: party.max_rows,
            per_row: party.items_per_row,
            max: MAX_ROWS,
        })),
        None => Ok(()),
    }
}
