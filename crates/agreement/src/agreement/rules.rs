//! The rules of an agreement: several keys of a row, any of which may match.

use super::error::{AgreementError, AgreementFault};
use super::limits::{MAX_KEYS, MAX_KEYS_OF_RULE, MAX_NAME_CHARS, MAX_ROWS, MAX_RULES};
use super::parties::PartyTerms;
use super::table::{At, Field, Table, check_text, unknown_word};
use super::terms::Key;
use vesica_core::Operation;
use vesica_records::{KeyRule, RuleColumn, Transform, max_keys, unsuited};

const RULE_FIELDS: &[Field] = &[
    Field { name: "name", meaning: "what the rule is called" },
    Field { name: "columns", meaning: "the names of the keys whose values must all be equal" },
    Field { name: "most", meaning: "the most keys that a row can have under the rule" },
];
const RULE_FIELD_NAMES: &[&str] = &["name", "columns", "most"];

/// Between a key and the transforms of its values.
const PIPE: char = '|';

/// Between a transform and its version, in the canonical form.
const VERSION: char = '@';

/// Most transforms of a column.
const MAX_TRANSFORMS: usize = 8;

/// The rules, sorted by name; none if the agreement has no `[[rule]]`, so that all keys together
/// must be equal.
pub(super) fn rules(
    table: &Table<'_>,
    operation: Operation,
    keys: &[Key],
) -> Result<Vec<KeyRule>, AgreementError> {
    let Some(list) = table.tables("rule", RULE_FIELDS)? else { return Ok(Vec::new()) };
    if operation != Operation::Intersection {
        let goes_with = Operation::Intersection;
        let fault = AgreementFault::OfAnotherOperation { field: "rule", goes_with, operation };
        return Err(table.error(list.span, fault));
    }
    for field in ["min_matches", "max_matches"] {
        if let Some(at) = table.any(field)? {
            return Err(table.error(at.span, AgreementFault::NotWithRules { field }));
        }
    }
    if let Some(key) = keys.iter().find(|key| key.name.contains(PIPE)) {
        let name = key.name.clone();
        return Err(table.error(list.span, AgreementFault::PipeInKey { name }));
    }
    let found = list.value.len();
    if !(1..=MAX_RULES).contains(&found) {
        return Err(table.error(list.span, AgreementFault::RuleCount { found, max: MAX_RULES }));
    }
    let mut rules: Vec<KeyRule> = Vec::with_capacity(found);
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
    rules.sort_by(|one, two| one.name.cmp(&two.name));
    Ok(rules)
}

/// Whether the result says under which rules a row matches.
pub(super) fn show_rules(table: &Table<'_>, rules: &[KeyRule]) -> Result<bool, AgreementError> {
    match table.flag("show_rules")? {
        Some(flag) if rules.is_empty() => {
            Err(table.error(flag.span, AgreementFault::NoRulesToShow))
        }
        Some(flag) if flag.value => match rules.iter().find(|rule| rule.name.contains(';')) {
            Some(rule) => {
                let name = rule.name.clone();
                Err(table.error(flag.span, AgreementFault::SemicolonInRule { name }))
            }
            None => Ok(true),
        },
        _ => Ok(false),
    }
}

fn rule(table: &Table<'_>, keys: &[Key]) -> Result<KeyRule, AgreementError> {
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
    if !(1..=MAX_KEYS).contains(&columns.len()) {
        let (found, max) = (columns.len(), MAX_KEYS);
        return Err(table.error(list.span, AgreementFault::KeyCount { found, max }));
    }
    // The order in which they are written does not matter.
    columns.sort_by_cached_key(|column| (column.key, column.in_words(&keys[column.key].name)));
    let can_have = max_keys(&columns);
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
    Ok(KeyRule { name: name.value.to_owned(), columns, most })
}

/// A key, and its transforms after bars: `surname | soundex`.
fn column(table: &Table<'_>, word: At<&str>, keys: &[Key]) -> Result<RuleColumn, AgreementError> {
    let mut parts = word.value.split(PIPE).map(str::trim);
    let name = parts.next().unwrap_or_default();
    let Some(key) = keys.iter().position(|key| key.name == name) else {
        let known: Vec<&str> = keys.iter().map(|key| &*key.name).collect();
        return Err(unknown_word(table, At { value: name, ..word }, &known));
    };
    let transforms: Vec<Transform> =
        parts.map(|part| transform(table, &word, part)).collect::<Result<_, _>>()?;
    if transforms.len() > MAX_TRANSFORMS {
        let (field, found) = (word.field, transforms.len());
        let fault = AgreementFault::TransformCount { field, found, max: MAX_TRANSFORMS };
        return Err(table.error(word.span, fault));
    }
    let profile = keys[key].profile;
    if let Some(at) = unsuited(profile, &transforms) {
        let before = RuleColumn { key, transforms: transforms[..at].to_vec() }.in_words(name);
        let (field, transform) = (word.field, transforms[at].name());
        let profile = profile.name();
        let fault = AgreementFault::UnsuitedTransform { field, transform, before, profile };
        return Err(table.error(word.span, fault));
    }
    Ok(RuleColumn { key, transforms })
}

/// A transform, possibly with the version that it must have: `soundex@1`.
fn transform(table: &Table<'_>, word: &At<&str>, text: &str) -> Result<Transform, AgreementError> {
    let (name, asked) = text.split_once(VERSION).map_or((text, None), |(a, b)| (a, Some(b)));
    let transform: Transform = name.parse().map_err(|cause| {
        let fault = AgreementFault::BadTransform { field: word.field.clone(), cause };
        table.error(word.span.clone(), fault)
    })?;
    let here = transform.version();
    match asked {
        Some(asked) if asked != here.to_string() => {
            let (transform, asked) = (transform.name(), asked.to_owned());
            let fault = AgreementFault::TransformVersion { transform, asked, here };
            Err(table.error(word.span.clone(), fault))
        }
        _ => Ok(transform),
    }
}

/// The column as the canonical form has it: with the versions of the transforms.
pub(super) fn canonical(column: &RuleColumn, keys: &[Key]) -> String {
    let transforms = column.transforms.iter();
    let with_version =
        transforms.map(|transform| format!(" {PIPE} {transform}{VERSION}{}", transform.version()));
    keys[column.key].name.clone() + &with_version.collect::<String>()
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
