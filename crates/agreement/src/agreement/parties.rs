//! The parties in the text of an agreement, and which of them receive the result.

use super::error::{AgreementError, AgreementFault};
use super::limits::{ALL, MAX_ROWS, MIN_ROWS_DEFAULT};
use super::table::{At, Field, Table, identity, unknown_word};
use std::ops::Range;
use toml::de::DeValue;
use vesica_link::PublicIdentity;
use vesica_protocols::kmrs14::{MAX_PARTIES, MAX_ROWS as MAX_AIDED_ROWS};

const MAX_PARTY_NAME_LEN: usize = 32;

const PARTY_FIELDS: &[Field] = &[
    Field { name: "identity", meaning: "the party's public identity" },
    Field { name: "max_rows", meaning: "the most rows the party's file may have" },
];
const PARTY_FIELD_NAMES: &[&str] = &["identity", "max_rows", "min_rows"];

/// The terms of one party.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartyTerms {
    /// Its name in the agreement.
    pub name: String,
    /// Its public identity.
    pub identity: PublicIdentity,
    /// Most rows its file may have.
    pub max_rows: u64,
    /// Fewest different keys it must have.
    pub min_rows: u64,
    /// Most items that a row can have, under all rules.
    pub items_per_row: u64,
}

impl PartyTerms {
    /// Most items of its set, without self-check items.
    pub fn max_items(&self) -> u64 {
        self.max_rows.saturating_mul(self.items_per_row)
    }
}

/// A party, with the places of its fields.
pub(super) struct PlacedParty {
    pub(super) terms: PartyTerms,
    pub(super) identity: Range<usize>,
    pub(super) max_rows: Range<usize>,
}

/// The parties: two, or with a helper up to sixteen. No two of them have the same identity.
pub(super) fn parties(
    text: &str,
    table: &Table<'_>,
    with_helper: bool,
) -> Result<Vec<PlacedParty>, AgreementError> {
    let (most, max_rows) = if with_helper { (MAX_PARTIES, MAX_AIDED_ROWS) } else { (2, MAX_ROWS) };
    let list = placed_parties(text, table, max_rows)?;
    let parties = list.value;
    if !(2..=most).contains(&parties.len()) {
        let fault = AgreementFault::PartyCount { found: parties.len(), most };
        return Err(table.error(list.span, fault));
    }
    for (position, second) in parties.iter().enumerate() {
        let same = |first: &&PlacedParty| first.terms.identity == second.terms.identity;
        if let Some(first) = parties[..position].iter().find(same) {
            let [first, other] = [first, second].map(|party| party.terms.name.clone());
            let fault = AgreementFault::SameIdentity { first, second: other };
            return Err(table.error(second.identity.clone(), fault));
        }
    }
    Ok(parties)
}

/// Any number of parties, sorted by name; none is named `all`.
fn placed_parties(
    text: &str,
    table: &Table<'_>,
    max_rows: u64,
) -> Result<At<Vec<PlacedParty>>, AgreementError> {
    let list = table.required("party", Table::table)?;
    let named = Table::new(text, "party.".to_owned(), list.value, list.span.clone(), &[]);
    let mut parties = Vec::new();
    for (name, fields) in named.named_tables(PARTY_FIELDS)? {
        let known_characters = name.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_'
        });
        if !known_characters || !(1..=MAX_PARTY_NAME_LEN).contains(&name.len()) || name == ALL {
            return Err(fields.error_here(AgreementFault::PartyName { name: name.to_owned() }));
        }
        fields.refuse_unknown(PARTY_FIELD_NAMES)?;
        parties.push(party(name, &fields, max_rows)?);
    }
    parties.sort_by(|one, two| one.terms.name.cmp(&two.terms.name));
    Ok(At { value: parties, span: list.span, field: list.field })
}

fn party(name: &str, table: &Table<'_>, most: u64) -> Result<PlacedParty, AgreementError> {
    let identity = identity(table)?;
    let At { value: max_rows, span: max_rows_span, .. } =
        table.required("max_rows", |t, name| t.number(name, 1..=most))?;
    let min_rows = table.number("min_rows", 0..=most)?;
    if let Some(At { value: min, span, .. }) = &min_rows
        && *min > max_rows
    {
        let fault =
            AgreementFault::RowsReversed { party: name.to_owned(), min: *min, max: max_rows };
        return Err(table.error(span.clone(), fault));
    }
    let min_rows = min_rows.map_or(MIN_ROWS_DEFAULT, |number| number.value);
    let terms = PartyTerms {
        name: name.to_owned(),
        identity: identity.value,
        max_rows,
        min_rows,
        items_per_row: 1,
    };
    Ok(PlacedParty { terms, identity: identity.span, max_rows: max_rows_span })
}

/// The positions of the parties that receive the result, ascending: `"all"`, a name, or a list of
/// names.
pub(super) fn receivers(
    table: &Table<'_>,
    parties: &[PlacedParty],
) -> Result<Vec<usize>, AgreementError> {
    let is_list = matches!(table.any("receives")?, Some(At { value: DeValue::Array(_), .. }));
    if !is_list {
        let word = table.required("receives", Table::text)?;
        return if word.value == ALL {
            Ok((0..parties.len()).collect())
        } else {
            Ok(vec![position(table, word, parties, &[ALL])?])
        };
    }
    let list = table.required("receives", Table::texts)?;
    if list.value.is_empty() {
        return Err(table.error(list.span, AgreementFault::NoReceiver));
    }
    let mut receivers = Vec::with_capacity(list.value.len());
    for word in list.value {
        let (name, span) = (word.value.to_owned(), word.span.clone());
        let position = position(table, word, parties, &[])?;
        if receivers.contains(&position) {
            return Err(table.error(span, AgreementFault::ReceiverTwice { name }));
        }
        receivers.push(position);
    }
    receivers.sort_unstable();
    Ok(receivers)
}

/// The position of the party that `word` names, which may also be one of `others`.
fn position(
    table: &Table<'_>,
    word: At<&str>,
    parties: &[PlacedParty],
    others: &[&str],
) -> Result<usize, AgreementError> {
    match parties.iter().position(|party| party.terms.name == word.value) {
        Some(position) => Ok(position),
        None => {
            let names = parties.iter().map(|party| &*party.terms.name);
            let known: Vec<&str> = names.chain(others.iter().copied()).collect();
            Err(unknown_word(table, word, &known))
        }
    }
}
