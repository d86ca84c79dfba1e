//! From text to a checked agreement.

use super::error::{AgreementError, AgreementFault, TextFault};
use super::selection::Selection;
use super::table::{At, Field, Table, nearest};
use super::{
    Agreement, FORMAT_VERSION, Key, MAX_ROWS, MIN_ROWS_DEFAULT, PartyTerms, SELF_CHECK_DEFAULT,
    SELF_CHECK_MAX, SELF_CHECK_MIN, Terms, helper, question, selection,
};
use jiff::civil::Date;
use std::ops::Range;
use std::path::Path;
use toml::de::DeValue;
use vesica_link::PublicIdentity;
use vesica_protocols::kmrs14::{MAX_PARTIES, MAX_ROWS as MAX_AIDED_ROWS};
use vesica_protocols::{Operation, Security};
use vesica_records::Profile;
use vesica_tables::document;

/// Longest agreement file, in bytes.
pub const MAX_FILE_BYTES: u64 = 64 << 10;
/// Longest title, in characters.
pub const MAX_TITLE_CHARS: usize = 200;
/// Longest column name, in characters.
pub const MAX_NAME_CHARS: usize = 200;
/// Most columns in a key.
pub const MAX_KEYS: usize = 16;

/// In `receives`: every party.
pub(super) const ALL: &str = "all";
pub(super) const AUTO: &str = "auto";
pub(super) const NEVER: &str = "never";

/// The table that makes an agreement one with a helper.
const HELPER: &str = "helper";

const MAX_PARTY_NAME_LEN: usize = 32;

const FIELDS: &[Field] = &[
    Field { name: "version", meaning: "the version of the agreement format, currently 2" },
    Field { name: "title", meaning: "a title for readers" },
    Field { name: "operation", meaning: "what is computed" },
    Field { name: "receives", meaning: "who receives the result: \"all\", or names of parties" },
    Field { name: "security", meaning: "the least security that all parties accept" },
    Field { name: "threshold", meaning: "the number of common keys from which the answer is yes" },
    Field { name: "sum", meaning: "the party and the columns whose values are summed" },
    Field { name: "shares", meaning: "the party and the columns whose values are shared" },
    Field { name: "key", meaning: "the columns whose values are compared" },
    Field { name: "party", meaning: "the organisations" },
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
    "threshold",
    "min_matches",
    "max_matches",
    "sum",
    "union",
    "shares",
    "helper",
    "key",
    "party",
];
const KEY_FIELDS: &[Field] = &[
    Field { name: "name", meaning: "the column's name in the files" },
    Field { name: "profile", meaning: "how its values are made comparable" },
];
const KEY_FIELD_NAMES: &[&str] = &["name", "profile", "profile_version"];
const PARTY_FIELDS: &[Field] = &[
    Field { name: "identity", meaning: "the party's public identity" },
    Field { name: "max_rows", meaning: "the most rows the party's file may have" },
];
const PARTY_FIELD_NAMES: &[&str] = &["identity", "max_rows", "min_rows"];

impl Agreement {
    /// Reads the agreement in the file `path`.
    ///
    /// # Errors
    /// Any [`AgreementError`], with the path.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, AgreementError> {
        vesica_tables::load(path.as_ref(), MAX_FILE_BYTES, Self::parse)
    }

    /// Reads the agreement in `text`.
    ///
    /// # Errors
    /// Any [`AgreementError`], with its place if that is known.
    pub fn parse(text: &str) -> Result<Self, AgreementError> {
        let document = document(text)?;
        let table = Table::new(text, String::new(), document.get_ref(), document.span(), FIELDS);
        // The version comes first, so that a later format is reported as such even if its fields differ.
        check_version(&table)?;
        let helper = table.table(HELPER)?;
        if helper.is_some() {
            helper::refuse_others(&table)?;
        }
        table.refuse_unknown(FIELD_NAMES)?;

        let title = title(&table)?;
        let operation = operation(&table, helper.is_some())?;
        let security = security(&table, helper.is_some())?;
        let placed = parties(text, &table, helper.is_some())?;
        let receivers = receivers(&table, &placed)?;
        if operation.is_for_both() && receivers.len() < placed.len() {
            let at = table.required("receives", |t, name| t.any(name))?;
            return Err(table.error(at.span, AgreementFault::IsForBoth { operation }));
        }
        let keys = keys(&table)?;
        let helper = match helper {
            Some(At { value, span, .. }) => {
                let fields =
                    Table::new(text, "helper.".to_owned(), value, span, helper::HELPER_FIELDS);
                Some(helper::read(&table, &fields, &security, &placed)?)
            }
            None => None,
        };
        let parties: Vec<PartyTerms> = placed.into_iter().map(|party| party.terms).collect();
        let (question, bounds) = question::read(text, &table, operation, &parties)?;
        let mut terms = Terms {
            title,
            question,
            bounds,
            receivers,
            security: security.value,
            expires: expires(&table)?,
            self_check: 0,
            hide_sizes: table.flag("hide_sizes")?.is_some_and(|flag| flag.value),
            helper: None,
            keys,
            parties,
        };
        let Some((helper, variant, at)) = helper else {
            terms.self_check = self_check(&table, operation)?;
            let (selection, integers) = selection::read(&table, &terms)?;
            return Ok(Self { terms, selection, integers });
        };
        helper::refuse_receivers(&table, variant, &terms)?;
        terms.helper = Some(helper);
        let agreement = Self { terms, selection: Selection::Helper(variant), integers: None };
        if let Some(aided) = agreement.with_helper() {
            helper::refuse_long_lists(&table, at, aided)?;
        }
        Ok(agreement)
    }
}

fn check_version(table: &Table<'_>) -> Result<(), AgreementError> {
    let version = table.required("version", |t, name| t.number(name, 0..=u64::MAX))?;
    if version.value == FORMAT_VERSION {
        return Ok(());
    }
    let fault = AgreementFault::UnknownVersion { found: version.value };
    Err(table.error(version.span, fault))
}

fn title(table: &Table<'_>) -> Result<String, AgreementError> {
    let title = table.required("title", Table::text)?;
    check_text(table, &title, MAX_TITLE_CHARS)?;
    Ok(title.value.to_owned())
}

/// Whether a terminal could show `c` as anything but one visible character in its place.
pub(super) fn is_treacherous(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}' | '\u{feff}'
        )
}

pub(super) fn check_text(
    table: &Table<'_>,
    text: &At<&str>,
    max_chars: usize,
) -> Result<(), AgreementError> {
    let fault = if text.value.trim().is_empty() {
        TextFault::Empty
    } else if text.value.chars().count() > max_chars {
        TextFault::TooLong { max_chars }
    } else if text.value.chars().any(is_treacherous) {
        TextFault::ControlCharacter
    } else {
        return Ok(());
    };
    let field = text.field.clone();
    Err(table.error(text.span.clone(), AgreementFault::Text { field, fault }))
}

pub(super) fn unknown_word(table: &Table<'_>, word: At<&str>, known: &[&str]) -> AgreementError {
    let fault = AgreementFault::UnknownWord {
        nearest: nearest(word.value, known.iter().copied()).map(str::to_owned),
        found: word.value.to_owned(),
        field: word.field,
        known: known.iter().map(|word| (*word).to_owned()).collect(),
    };
    table.error(word.span, fault)
}

/// The operation, which with a helper is the intersection.
fn operation(table: &Table<'_>, with_helper: bool) -> Result<Operation, AgreementError> {
    let operation = question::operation(table)?;
    if with_helper && operation != Operation::Intersection {
        let at = table.required("operation", Table::text)?;
        return Err(table.error(at.span, AgreementFault::OperationWithHelper { operation }));
    }
    Ok(operation)
}

fn security(table: &Table<'_>, with_helper: bool) -> Result<At<Security>, AgreementError> {
    const ALL: [Security; 3] = [Security::SemiHonest, Security::Malicious, Security::Insecure];
    // No protocol with a helper is insecure.
    let known = if with_helper { &ALL[..2] } else { &ALL };
    let word = table.required("security", Table::text)?;
    match known.iter().find(|security| security.name() == word.value) {
        Some(security) => Ok(At { value: *security, span: word.span, field: word.field }),
        None => {
            let known: Vec<&str> = known.iter().map(|security| security.name()).collect();
            Err(unknown_word(table, word, &known))
        }
    }
}

/// A party, with the places of its fields.
pub(super) struct PlacedParty {
    pub(super) terms: PartyTerms,
    pub(super) identity: Range<usize>,
    pub(super) max_rows: Range<usize>,
}

/// The parties: two, or with a helper up to sixteen. No two of them have the same identity.
fn parties(
    text: &str,
    table: &Table<'_>,
    with_helper: bool,
) -> Result<Vec<PlacedParty>, AgreementError> {
    let (most, max_rows) = match with_helper {
        true => (MAX_PARTIES, MAX_AIDED_ROWS),
        false => (2, MAX_ROWS),
    };
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

/// The identity in the table's field of that name.
pub(super) fn identity(table: &Table<'_>) -> Result<At<PublicIdentity>, AgreementError> {
    let At { value, span, field } = table.required("identity", Table::text)?;
    match value.parse() {
        Ok(value) => Ok(At { value, span, field }),
        Err(cause) => Err(table.error(span, AgreementFault::BadIdentity { field, cause })),
    }
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
    let terms = PartyTerms { name: name.to_owned(), identity: identity.value, max_rows, min_rows };
    Ok(PlacedParty { terms, identity: identity.span, max_rows: max_rows_span })
}

/// The positions of the parties that receive the result, ascending: `"all"`, a name, or a list of names.
fn receivers(table: &Table<'_>, parties: &[PlacedParty]) -> Result<Vec<usize>, AgreementError> {
    let is_list = matches!(table.any("receives")?, Some(At { value: DeValue::Array(_), .. }));
    if !is_list {
        let word = table.required("receives", Table::text)?;
        return match word.value == ALL {
            true => Ok((0..parties.len()).collect()),
            false => Ok(vec![position(table, word, parties, &[ALL])?]),
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

pub(super) fn self_check(table: &Table<'_>, operation: Operation) -> Result<u32, AgreementError> {
    if !question::is_of_shares(operation) {
        let range = u64::from(SELF_CHECK_MIN)..=SELF_CHECK_MAX.into();
        let number = table.number("self_check", range)?;
        return Ok(number.map_or(SELF_CHECK_DEFAULT, |number| number.value as u32));
    }
    match table.number("self_check", 0..=SELF_CHECK_MAX.into())? {
        Some(At { value: found @ 1.., span, .. }) => {
            Err(table.error(span, AgreementFault::NoSelfCheck { found, operation }))
        }
        _ => Ok(0),
    }
}

fn keys(table: &Table<'_>) -> Result<Vec<Key>, AgreementError> {
    let list = table.required("key", |t, name| t.tables(name, KEY_FIELDS))?;
    let found = list.value.len();
    if !(1..=MAX_KEYS).contains(&found) {
        let fault = AgreementFault::KeyCount { found, max: MAX_KEYS };
        return Err(table.error(list.span, fault));
    }
    let mut keys: Vec<Key> = Vec::with_capacity(found);
    for fields in &list.value {
        fields.refuse_unknown(KEY_FIELD_NAMES)?;
        let name = fields.required("name", Table::text)?;
        check_text(fields, &name, MAX_NAME_CHARS)?;
        if keys.iter().any(|key| key.name == name.value) {
            let fault = AgreementFault::DuplicateKey { name: name.value.to_owned() };
            return Err(fields.error(name.span, fault));
        }
        keys.push(Key { name: name.value.to_owned(), profile: profile(fields)? });
    }
    keys.sort_by(|one, two| one.name.cmp(&two.name));
    Ok(keys)
}

fn profile(table: &Table<'_>) -> Result<Profile, AgreementError> {
    let word = table.required("profile", Table::text)?;
    let profile: Profile = word.value.parse().map_err(|cause| {
        let fault = AgreementFault::BadProfile { field: word.field.clone(), cause };
        table.error(word.span.clone(), fault)
    })?;
    if let Some(asked) = table.number("profile_version", 1..=u64::MAX)?
        && asked.value != u64::from(profile.version())
    {
        let fault = AgreementFault::ProfileVersion {
            profile: profile.name(),
            asked: asked.value,
            here: profile.version(),
        };
        return Err(table.error(asked.span, fault));
    }
    Ok(profile)
}

fn expires(table: &Table<'_>) -> Result<Option<Date>, AgreementError> {
    let Some(At { value, span, .. }) = table.any("expires")? else { return Ok(None) };
    let date = match value {
        DeValue::String(word) if word == NEVER => return Ok(None),
        DeValue::Datetime(datetime) if datetime.time.is_none() => {
            // The TOML reader checks the day of the month; the calendar checks the year.
            datetime.date.and_then(|date| {
                let number = |n: u8| i8::try_from(n).ok();
                let year = i16::try_from(date.year).ok()?;
                Date::new(year, number(date.month)?, number(date.day)?).ok()
            })
        }
        _ => None,
    };
    match date {
        Some(date) => Ok(Some(date)),
        None => Err(table.error(span, AgreementFault::BadDate)),
    }
}
