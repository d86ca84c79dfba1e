//! The rules of an agreement: several keys of a row, any of which may match.

use super::error::{AgreementError, AgreementFault};
use super::limits::{MAX_NAME_CHARS, MAX_ROWS, MAX_RULES};
use super::parties::PartyTerms;
use super::table::{Field, Table, check_text, unknown_word};
use super::terms::{Key, Rule};
use vesica_core::Operation;

const RULE_FIELDS: &[Field] = &[
    Field { name: "name", meaning: "what the rule is called" },
    Field { name: "columns", meaning: "the names of the keys whose values must all be equal" },
];
const RULE_FIELD_NAMES: &[&str] = &["name", "columns"];

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
    let is_used = |key: &usize| rules.iter().any(|rule| rule.columns.contains(key));
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
    let mut columns = Vec::with_capacity(list.value.len());
    for word in list.value {
        let Some(key) = keys.iter().position(|key| key.name == word.value) else {
            let known: Vec<&str> = keys.iter().map(|key| &*key.name).collect();
            return Err(unknown_word(table, word, &known));
        };
        if columns.contains(&key) {
            let fault = AgreementFault::DuplicateColumn { name: word.value.to_owned() };
            return Err(table.error(word.span, fault));
        }
        columns.push(key);
    }
    if columns.is_empty() {
        let (found, max) = (0, keys.len());
        return Err(table.error(list.span, AgreementFault::KeyCount { found, max }));
    }
    // The order in which they are written does not matter.
    columns.sort_unstable();
    Ok(Rule { name: name.value.to_owned(), columns })
}

/// Refuses parties whose sets could exceed what protocols take: each row has an item for each rule.
pub(super) fn check_sizes(
    table: &Table<'_>,
    parties: &[PartyTerms],
    rules: &[Rule],
) -> Result<(), AgreementError> {
    match parties.iter().find(|party| party.max_items() > MAX_ROWS) {
        Some(party) => Err(table.error_here(AgreementFault::TooManyItems {
            party: party.name.clone(),
            max_rows: party.max_rows,
            rules: rules.len(),
            max: MAX_ROWS,
        })),
        None => Ok(()),
    }
}
