//! Consequences of an agreement for a party's file: columns, items, limits.

use crate::answer::text_limit;
use crate::{ConfigFault, Error};
use std::collections::BTreeMap;
use vesica_agreement::{Agreement, PartyTerms, Question};
use vesica_core::hash::ItemHash;
use vesica_link::Identity;
use vesica_records::payloads::PayloadColumns;
use vesica_records::{Extra, Groups, KeyColumn, KeyItems, KeyLimits, ValueColumns};
use vesica_tables::{OutputError, Source, check_added};

const ITEM_LABEL: &str = "vesica v1 item";

/// The position of the party with this identity.
///
/// # Errors
/// [`ConfigFault::NotAParty`], and [`ConfigFault::Expired`] for an agreement past its last day.
pub(crate) fn own_position(agreement: &Agreement, identity: &Identity) -> Result<usize, Error> {
    let public = identity.public();
    let party =
        agreement.party_of(&public).ok_or_else(|| ConfigFault::not_a_party(agreement, public))?;
    match agreement.expires {
        Some(on) if agreement.is_expired(jiff::Timestamp::now()) => {
            Err(ConfigFault::Expired { on }.into())
        }
        _ => Ok(agreement.position(party)),
    }
}

/// The key columns of `agreement` as the file of `party` names them, if that is known.
///
/// # Errors
/// [`ConfigFault::UnknownKey`] if a name in `columns` is neither a key of the agreement nor a
/// column of values, or one that is sent, that this party's file may have.
pub fn key_columns(
    agreement: &Agreement,
    party: Option<&str>,
    columns: &BTreeMap<String, String>,
) -> Result<Vec<KeyColumn>, Error> {
    let mut known: Vec<String> = agreement.keys.iter().map(|key| key.name.clone()).collect();
    for values in [agreement.question.values(), agreement.question.factors()].into_iter().flatten()
    {
        if party.is_none_or(|party| party == values.of) {
            known.extend(values.all_columns());
        }
    }
    if let Some(sent) = &agreement.columns
        && party.is_none_or(|party| party == sent.of)
    {
        known.extend(sent.columns.iter().map(|(name, _)| name.clone()));
    }
    if let Some(given) = columns.keys().find(|name| !known.contains(name)) {
        return Err(ConfigFault::UnknownKey { given: given.clone(), known }.into());
    }
    Ok(agreement
        .keys
        .iter()
        .map(|key| KeyColumn {
            name: key.name.clone(),
            column: named_here(&key.name, columns),
            profile: key.profile,
            never: key.never.clone(),
        })
        .collect())
}

/// The columns whose values `party` brings, as its file names them; `None` if it brings none.
pub fn value_columns(
    agreement: &Agreement,
    party: &str,
    columns: &BTreeMap<String, String>,
) -> Option<ValueColumns> {
    let values = agreement.values_of(party)?;
    Some(ValueColumns {
        columns: values.columns.iter().map(|column| named_here(column, columns)).collect(),
        groups: values.groups.as_ref().map(|groups| Groups {
            by: named_here(&groups.by, columns),
            names: groups.names.clone(),
        }),
        bits: values.bits,
        signed: values.signed,
        duplicates: values.duplicates,
    })
}

/// The columns that `party` sends, as its file names them; `None` if it sends none.
pub fn payload_columns(
    agreement: &Agreement,
    party: &str,
    columns: &BTreeMap<String, String>,
) -> Option<PayloadColumns> {
    let sent = agreement.columns_of(party)?;
    let here = sent.columns.iter().map(|(name, of)| (named_here(name, columns), *of));
    Some(PayloadColumns { columns: here.collect(), duplicates: sent.duplicates })
}

/// What a run reads in addition to the keys under `agreement`; `values` and `payloads` are this
/// party's.
pub fn extra<'a>(
    agreement: &Agreement,
    values: Option<&'a ValueColumns>,
    payloads: Option<&'a PayloadColumns>,
) -> Extra<'a> {
    let texts = text_limit(agreement);
    // A result with keys also has their rows, and so does the order of shares: without values,
    // either party may turn out to be the one whose rows are shared.
    let has_order = match &agreement.question {
        Question::Shares(None) => true,
        Question::Shares(Some(_)) | Question::SharedValues { .. } => values.is_some(),
        _ => false,
    };
    // A party that sends columns and receives the result needs the way back to its rows.
    let rows = texts.is_some() || has_order || payloads.is_some();
    Extra { values, texts, payloads, rows, refused: None }
}

fn named_here(name: &str, columns: &BTreeMap<String, String>) -> String {
    columns.get(name).map_or(name, String::as_str).to_owned()
}

/// The limits for a file under `terms`.
pub fn key_limits(terms: &PartyTerms, strict: bool) -> KeyLimits {
    KeyLimits { max_rows: Some(terms.max_rows), strict, may_be_empty: terms.min_rows == 0 }
}

/// Checks that a file of `party`, if it is known, has no column with the name of one that the
/// result adds.
///
/// # Errors
/// [`OutputError::ColumnTaken`].
pub fn check_result_columns(
    agreement: &Agreement,
    party: Option<&str>,
    source: &Source,
) -> Result<(), OutputError> {
    check_added(source, &vesica_own_rows::added_columns(agreement, party, None))
}

/// The names of the columns that the rows of `party`'s result get; of an unknown party those that
/// every party's result gets.
pub fn added_columns(agreement: &Agreement, party: Option<&str>) -> Vec<String> {
    vesica_own_rows::added_columns(agreement, party, None).names().map(str::to_owned).collect()
}

/// How encoded keys become items under `agreement`: as integers if [`Agreement::integer_items`]
/// says so, as digests otherwise.
///
/// A digest is bound to the agreement, not the session, so that a file can be read before the peer
/// is there; the protocols bind the session.
pub fn key_items(agreement: &Agreement, columns: &[KeyColumn]) -> KeyItems {
    let integers = agreement
        .integer_items()
        .and_then(|integers| KeyItems::integers(columns, integers.first_key()));
    integers.unwrap_or_else(|| {
        let hash = ItemHash::new(ITEM_LABEL, &[agreement.hash().as_bytes()]);
        KeyItems::under_rules(hash, agreement.rules.clone())
    })
}
