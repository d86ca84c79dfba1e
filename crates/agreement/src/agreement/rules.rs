//! The rules of an agreement: several keys of a row, any of which may match.

use super::error::{AgreementError, AgreementFault};
use super::limits::{MAX_KEYS, MAX_KEYS_OF_RULE, MAX_NAME_CHARS, MAX_ROWS, MAX_RULES};
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
) -> Result<Vec<Rule>, AgreementError> {
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
    rules.sort_by(|one, two| one.name.cmp(&two.name));
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
    if !(1..=MAX_KEYS).contains(&columns.len()) {
        let (found, max) = (columns.len(), MAX_KEYS);
        return Err(table.error(list.span, AgreementFault::KeyCount { found, max }));
    }
    // The order in which they are written does not matter.
    columns.sort_by_cached_key(|column| (column.key, column.in_words(keys)));
    let can_have = most_keys(&columns);
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

/// The most keys that a row can have of these columns.
fn most_keys(columns: &[RuleColumn]) -> usize {
    let of_column = |column: &RuleColumn| max_outputs(&column.transforms, MAX_CHARS);
    columns.iter().map(of_column).fold(1, usize::saturating_mul)
}

impl Rule {
    /// Whether a row can have several keys under the rule, so that the agreement must say how many.
    pub fn can_give_several(&self) -> bool {
        most_keys(&self.columns) > 1
    }
}

impl RuleColumn {
    /// The column as it is written: the name of its key, and the transforms.
    pub fn in_words(&self, keys: &[Key]) -> String {
        let transforms = self.transforms.iter().map(|transform| format!(" {PIPE} {transform}"));
        keys[self.key].name.clone() + &transforms.collect::<String>()
    }

    /// The same with the versions of the transforms.
    pub(super) fn canonical(&self, keys: &[Key]) -> String {
        let transforms = self.transforms.iter();
        let with_version = transforms
            .map(|transform| format!(" {PIPE} {transform}{VERSION}{}", transform.version()));
        keys[self.key].name.clone() + &with_version.collect::<String>()
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
