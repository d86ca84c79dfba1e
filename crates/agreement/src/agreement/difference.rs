//! Where two agreements differ, field by field.

use super::Agreement;
use super::limits::{EXCLUDED_MAX_BYTES, MAX_EXCLUDED, MAX_FILE_BYTES, MAX_KEYS, MAX_RULES};
use super::table::is_treacherous;
use std::collections::{BTreeMap, BTreeSet};
use toml::Value;

/// The longest value of a peer's agreement that is shown, in characters.
const SHOWN_MAX_CHARS: usize = 200;

/// Most fields, and the longest path in bytes, that any agreement has; more is not read.
const MAX_FIELDS: usize = 512 + MAX_KEYS * MAX_EXCLUDED + MAX_RULES * (MAX_KEYS + 2);
const MAX_PATH_LEN: usize = 1024 + 8 * EXCLUDED_MAX_BYTES;

/// The list of a key that is a set: its values stand in the path, in quotes, which no name of a
/// field ends with.
const SET: &str = ".never";

/// One field in which two agreements differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The field's path, for example `party.shop.max_rows` or `key.email.profile`.
    pub field: String,
    /// Its value on this side; `None` if it is missing.
    pub here: Option<String>,
    /// Its value on the other side; `None` if it is missing.
    pub there: Option<String>,
}

/// A peer's text is not a canonical agreement of any version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the peer's text is not a canonical agreement")]
pub struct DifferenceError;

impl Agreement {
    /// The fields in which `other` differs, sorted by name. Empty exactly when the two are equal.
    pub fn differences(&self, other: &Agreement) -> Vec<Difference> {
        self.differences_from(&other.canonical()).expect("a canonical form is valid")
    }

    /// The fields in which a peer's canonical form differs. It may come from another version of
    /// Vesica and name fields, profiles or protocols that this one does not know.
    ///
    /// The text is untrusted: values are shortened, and control characters are replaced.
    ///
    /// # Errors
    /// [`DifferenceError`] if it is not TOML, too long, too deep, or has too many fields.
    pub fn differences_from(&self, canonical: &str) -> Result<Vec<Difference>, DifferenceError> {
        let (here, there) = (flatten(&self.canonical())?, flatten(canonical)?);
        let fields: BTreeSet<&String> = here.keys().chain(there.keys()).collect();
        Ok(fields
            .into_iter()
            .filter(|field| here.get(*field) != there.get(*field))
            .map(|field| Difference {
                field: shown(field),
                here: here.get(field).map(|value| shown(value)),
                there: there.get(field).map(|value| shown(value)),
            })
            .collect())
    }
}

/// The values of a text by their paths; the paths of keys contain their names.
fn flatten(text: &str) -> Result<BTreeMap<String, String>, DifferenceError> {
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(DifferenceError);
    }
    check_flat(text)?;
    let table: toml::Table = text.parse().map_err(|_| DifferenceError)?;
    let mut fields = BTreeMap::new();
    walk(String::new(), &Value::Table(table), &mut fields)?;
    Ok(fields)
}

/// Refuses what no canonical form contains: inline tables, comments and literal strings.
///
/// Inline tables of dotted keys nest so deeply that reading them recursively would exhaust the
/// stack, so they must be found before the text is parsed.
fn check_flat(text: &str) -> Result<(), DifferenceError> {
    let (mut in_string, mut escaped) = (false, false);
    for c in text.chars() {
        match (in_string, c) {
            (true, _) if escaped => escaped = false,
            (true, '\\') => escaped = true,
            (true, '\n') | (false, '{' | '#' | '\'') => return Err(DifferenceError),
            (_, '"') => in_string = !in_string,
            _ => {}
        }
    }
    Ok(())
}

fn walk(
    path: String,
    value: &Value,
    fields: &mut BTreeMap<String, String>,
) -> Result<(), DifferenceError> {
    if path.len() > MAX_PATH_LEN || fields.len() >= MAX_FIELDS {
        return Err(DifferenceError);
    }
    let below = |name: &str| match path.as_str() {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    match value {
        Value::Table(table) => {
            for (name, value) in table {
                walk(below(name), value, fields)?;
            }
        }
        Value::Array(list) => {
            for (i, value) in list.iter().enumerate() {
                if let (Some(entry), true) = (value.as_str(), path.ends_with(SET)) {
                    walk(format!("{path}[{entry:?}]"), value, fields)?;
                    continue;
                }
                let name = value.get("name").and_then(Value::as_str);
                walk(below(name.unwrap_or(&(i + 1).to_string())), value, fields)?;
            }
        }
        Value::String(text) => {
            fields.insert(path, text.clone());
        }
        value => {
            fields.insert(path, value.to_string());
        }
    }
    Ok(())
}

fn shown(text: &str) -> String {
    let clean = |c| if is_treacherous(c) { '\u{fffd}' } else { c };
    let mut shown: String = text.chars().take(SHOWN_MAX_CHARS).map(clean).collect();
    if text.chars().nth(SHOWN_MAX_CHARS).is_some() {
        shown.push('…');
    }
    shown
}
