//! From text to a checked agreement with a helper.

use super::{AidedAgreement, AidedFault, AidedTerms, HelperTerms, finds_cheats};
use crate::agreement::parse::{
    BOTH, HELPER, PlacedParty, check_text, check_version, expires, identity, keys, placed_parties,
    self_check, title, unknown_word,
};
use crate::agreement::table::{At, Field, Table};
use crate::agreement::{AgreementError, PartyTerms};
use std::ops::Range;
use toml::de::DeValue;
use vesica_link::PublicIdentity;
use vesica_protocols::kmrs14::{
    Check, MAX_COPIES, MAX_DUMMIES, MAX_PARTIES, MAX_ROWS, Variant, aided,
};
use vesica_protocols::{Operation, Security};
use vesica_tables::document;

/// Longest name of a helper, in characters.
pub const MAX_HELPER_NAME_CHARS: usize = 32;

/// What a helper is called where the agreement does not say.
const HELPER_NAME_DEFAULT: &str = "helper";

pub(super) const ALL: &str = "all";

/// Dummies below are hardly any.
const MIN_DUMMIES: u32 = 2;

const FIELDS: &[Field] = &[
    Field { name: "version", meaning: "the version of the agreement's format; now 1" },
    Field { name: "title", meaning: "a name for the people who read it" },
    Field { name: "operation", meaning: "what is computed; with a helper \"intersection\"" },
    Field { name: "receives", meaning: "who receives the result: \"all\", or names of parties" },
    Field { name: "security", meaning: "the least security against the helper that all accept" },
    Field { name: "helper", meaning: "the server that all parties talk to" },
    Field { name: "key", meaning: "the columns whose values are compared" },
    Field { name: "party", meaning: "the organisations, two to sixteen" },
];
const FIELD_NAMES: &[&str] = &[
    "version",
    "title",
    "operation",
    "receives",
    "security",
    "protocol",
    "expires",
    "self_check",
    "hide_sizes",
    "helper",
    "key",
    "party",
];

/// Fields of agreements between two parties alone.
const OTHER_FIELDS: [&str; 7] =
    ["hide_sizes", "threshold", "min_matches", "max_matches", "sum", "union", "shares"];

const HELPER_FIELDS: &[Field] = &[
    Field { name: "identity", meaning: "the helper's public identity" },
    Field { name: "copies", meaning: "how often each key is sent; goes with dummies" },
    Field { name: "dummies", meaning: "how many made-up keys test the answer; goes with copies" },
];
const HELPER_FIELD_NAMES: &[&str] = &["name", "identity", "copies", "dummies"];

impl AidedAgreement {
    /// Reads the agreement with a helper in `text`.
    ///
    /// # Errors
    /// Any [`AgreementError`], with the place where one is known.
    pub fn parse(text: &str) -> Result<Self, AgreementError> {
        let document = document(text)?;
        let table = Table::new(text, String::new(), document.get_ref(), document.span(), FIELDS);
        // First, so that a later format is called one, whatever its fields.
        check_version(&table)?;
        let helper = table.required(HELPER, Table::table)?;
        refuse_others(&table)?;
        table.refuse_unknown(FIELD_NAMES)?;

        let title = title(&table)?;
        operation(&table)?;
        let security = security(&table)?;
        let parties = parties(text, &table)?;
        let variant = variant(&table, &security, &parties)?;
        refuse_rows(&table, variant, &parties)?;
        let receivers = receivers(&table, variant, &parties)?;
        let keys = keys(&table)?;
        let fields =
            Table::new(text, "helper.".to_owned(), helper.value, helper.span, HELPER_FIELDS);
        let (name, identity) = named_helper(&fields, &parties)?;
        let (check, at) = check(&table, &fields, variant, &parties)?;
        let most = most_rows(&parties);
        if security.value == Security::Malicious && !finds_cheats(check, most) {
            return Err(refused(&table, at, AidedFault::CheckTooWeak { check }));
        }
        let parties: Vec<PartyTerms> = parties.into_iter().map(|party| party.terms).collect();
        let helper = HelperTerms { name, identity, check };
        let security = security.value;
        let expires = expires(&table)?;
        let terms =
            AidedTerms { title, receivers, security, variant, expires, helper, keys, parties };
        let agreement = Self { terms };
        let spec = agreement.spec();
        if !spec.is_sound() {
            let rows = spec.parties.iter().map(|party| spec.list_len(party.max_rows));
            let labels = rows.max().unwrap_or_default();
            return Err(refused(&table, at, AidedFault::ListsTooLong { check, labels }));
        }
        Ok(agreement)
    }
}

fn refused(table: &Table<'_>, span: Range<usize>, fault: AidedFault) -> AgreementError {
    table.error(span, fault)
}

/// Refuses fields that only agreements between two parties have, so that they are called that.
fn refuse_others(table: &Table<'_>) -> Result<(), AgreementError> {
    for field in OTHER_FIELDS {
        let Some(at) = table.any(field)? else { continue };
        // That sizes are not hidden goes without saying.
        if !(field == "hide_sizes" && matches!(at.value, DeValue::Boolean(false))) {
            return Err(refused(table, at.span, AidedFault::NotWithHelper { field }));
        }
    }
    Ok(())
}

fn operation(table: &Table<'_>) -> Result<(), AgreementError> {
    let word = table.required("operation", Table::text)?;
    let known: Vec<&str> = Operation::ALL.iter().map(|operation| operation.name()).collect();
    match Operation::ALL.iter().find(|operation| operation.name() == word.value) {
        Some(Operation::Intersection) => Ok(()),
        Some(operation) => {
            let fault = AidedFault::OtherOperation { operation: *operation };
            Err(refused(table, word.span, fault))
        }
        None => Err(unknown_word(table, word, &known)),
    }
}

fn security(table: &Table<'_>) -> Result<At<Security>, AgreementError> {
    const ALL: [Security; 2] = [Security::SemiHonest, Security::Malicious];
    let word = table.required("security", Table::text)?;
    match ALL.into_iter().find(|security| security.name() == word.value) {
        Some(value) => Ok(At { value, span: word.span, field: word.field }),
        None => Err(unknown_word(table, word, &ALL.map(Security::name))),
    }
}

fn parties(text: &str, table: &Table<'_>) -> Result<Vec<PlacedParty>, AgreementError> {
    // These words say in `receives` that every party receives the result.
    let list = placed_parties(text, table, &[ALL, BOTH], MAX_ROWS)?;
    let parties = list.value;
    if !(2..=MAX_PARTIES).contains(&parties.len()) {
        let fault = AidedFault::PartyCount { found: parties.len() };
        return Err(refused(table, list.span, fault));
    }
    for (position, second) in parties.iter().enumerate() {
        let same = |first: &&PlacedParty| first.terms.identity == second.terms.identity;
        if let Some(first) = parties[..position].iter().find(same) {
            let [first, second_name] =
                [&first.terms, &second.terms].map(|terms| terms.name.clone());
            let fault = AidedFault::SameIdentity { first, second: second_name };
            return Err(refused(table, second.identity.clone(), fault));
        }
    }
    Ok(parties)
}

/// The protocol that is named, or else the one that offers the security.
fn variant(
    table: &Table<'_>,
    security: &At<Security>,
    parties: &[PlacedParty],
) -> Result<Variant, AgreementError> {
    let found = parties.len();
    let (row, span) = match table.text("protocol")? {
        Some(word) => match aided().find(|row| row.id == word.value) {
            Some(row) => (row, word.span),
            None => {
                let known: Vec<&str> = aided().map(|row| row.id).collect();
                return Err(unknown_word(table, word, &known));
            }
        },
        None => {
            let will_do = match security.value {
                Security::Malicious if found == 2 => Variant::Malicious,
                _ => Variant::SemiHonest,
            };
            (will_do.row(), security.span.clone())
        }
    };
    let protocol = row.id;
    if !row.parties.contains(&found) {
        let fault = AidedFault::TooManyParties { protocol, most: *row.parties.end(), found };
        return Err(refused(table, span, fault));
    }
    let (offers, asked) = (row.helper_security, security.value);
    if offers < asked {
        let fault = AidedFault::TooWeak { protocol, offers, asked, parties: found };
        return Err(refused(table, span, fault));
    }
    Ok(row.variant)
}

/// Refuses more rows than the protocol takes, which are less than any has for one only.
fn refuse_rows(
    table: &Table<'_>,
    variant: Variant,
    parties: &[PlacedParty],
) -> Result<(), AgreementError> {
    let too_many = |party: &&PlacedParty| party.terms.max_rows > variant.max_rows();
    let Some(PlacedParty { terms, max_rows, .. }) = parties.iter().find(too_many) else {
        return Ok(());
    };
    let field = format!("party.{}.max_rows", terms.name);
    let fault = AidedFault::OneRow { field, found: terms.max_rows, protocol: variant.row().id };
    Err(refused(table, max_rows.clone(), fault))
}

/// The positions of those who receive the result.
fn receivers(
    table: &Table<'_>,
    variant: Variant,
    parties: &[PlacedParty],
) -> Result<Vec<usize>, AgreementError> {
    let is_list = matches!(table.any("receives")?, Some(At { value: DeValue::Array(_), .. }));
    let (receivers, span) = if is_list {
        let list = table.required("receives", Table::texts)?;
        if list.value.is_empty() {
            return Err(refused(table, list.span, AidedFault::NoReceiver));
        }
        let mut receivers = Vec::with_capacity(list.value.len());
        for word in list.value {
            let (name, span) = (word.value.to_owned(), word.span.clone());
            let position = position(table, word, parties, &[])?;
            if receivers.contains(&position) {
                return Err(refused(table, span, AidedFault::ReceiverTwice { name }));
            }
            receivers.push(position);
        }
        receivers.sort_unstable();
        (receivers, list.span)
    } else {
        let word = table.required("receives", Table::text)?;
        let span = word.span.clone();
        let is_all = word.value == ALL || (word.value == BOTH && parties.len() == 2);
        let receivers = match is_all {
            true => (0..parties.len()).collect(),
            false => vec![position(table, word, parties, &[ALL])?],
        };
        (receivers, span)
    };
    let row = variant.row();
    if row.all_receive && receivers.len() < parties.len() {
        return Err(refused(table, span, AidedFault::IsForAll { protocol: row.id }));
    }
    Ok(receivers)
}

/// The position of the party of that name; what else there could be are `words`.
fn position(
    table: &Table<'_>,
    word: At<&str>,
    parties: &[PlacedParty],
    words: &[&str],
) -> Result<usize, AgreementError> {
    match parties.iter().position(|party| party.terms.name == word.value) {
        Some(position) => Ok(position),
        None => {
            let names = parties.iter().map(|party| &*party.terms.name);
            let known: Vec<&str> = names.chain(words.iter().copied()).collect();
            Err(unknown_word(table, word, &known))
        }
    }
}

fn named_helper(
    fields: &Table<'_>,
    parties: &[PlacedParty],
) -> Result<(String, PublicIdentity), AgreementError> {
    fields.refuse_unknown(HELPER_FIELD_NAMES)?;
    let (name, span) = match fields.text("name")? {
        Some(name) => {
            check_text(fields, &name, MAX_HELPER_NAME_CHARS)?;
            (name.value.to_owned(), name.span)
        }
        None => (HELPER_NAME_DEFAULT.to_owned(), fields.span()),
    };
    if parties.iter().any(|party| party.terms.name == name) {
        return Err(refused(fields, span, AidedFault::SameName { name }));
    }
    let identity = identity(fields)?;
    if let Some(party) = parties.iter().find(|party| party.terms.identity == identity.value) {
        let fault = AidedFault::SameIdentity { first: name, second: party.terms.name.clone() };
        return Err(refused(fields, identity.span, fault));
    }
    Ok((name, identity.value))
}

/// How often each item is sent, and how many dummies there are; and where that stands.
fn check(
    table: &Table<'_>,
    fields: &Table<'_>,
    variant: Variant,
    parties: &[PlacedParty],
) -> Result<(Check, Range<usize>), AgreementError> {
    let copies = fields.number("copies", (1, MAX_COPIES.into()))?;
    let dummies = fields.number("dummies", (MIN_DUMMIES.into(), MAX_DUMMIES.into()))?;
    let is_given = copies.is_some() || dummies.is_some();
    if let (true, Some(at)) = (is_given || variant != Variant::SemiHonest, table.any("self_check")?)
    {
        let fault = AidedFault::DummiesAreSelfCheck { protocol: variant.row().id };
        return Err(refused(table, at.span, fault));
    }
    if is_given {
        let copies = fields.required("copies", |_, _| Ok(copies))?;
        let dummies = fields.required("dummies", |_, _| Ok(dummies))?;
        // Both are at most 2^24.
        let check = Check { copies: copies.value as u32, dummies: dummies.value as u32 };
        return Ok((check, copies.span));
    }
    let check = match variant {
        Variant::SemiHonest => {
            Check { copies: 1, dummies: self_check(table, Operation::Intersection)? }
        }
        _ => Check::cheapest(most_rows(parties)),
    };
    Ok((check, fields.span()))
}

/// The largest number of rows that a party may have.
fn most_rows(parties: &[PlacedParty]) -> u64 {
    parties.iter().map(|party| party.terms.max_rows).max().unwrap_or(1)
}
