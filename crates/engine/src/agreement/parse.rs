//! From text to a checked agreement.

use super::error::{AgreementError, AgreementFault, TextFault};
use super::table::{At, Field, Table, nearest};
use super::{
    Agreement, FORMAT_VERSION, Key, MAX_ROWS, MIN_ROWS_DEFAULT, PartyTerms, Receives,
    SELF_CHECK_DEFAULT, SELF_CHECK_MAX, SELF_CHECK_MIN, Terms, question, selection,
};
use jiff::civil::Date;
use std::ops::Range;
use std::path::Path;
use toml::de::DeValue;
use vesica_link::PublicIdentity;
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

pub(crate) const BOTH: &str = "both";
pub(super) const AUTO: &str = "auto";
pub(crate) const NEVER: &str = "never";

/// The table that makes an agreement one with a helper.
pub(crate) const HELPER: &str = "helper";

const MAX_PARTY_NAME_LEN: usize = 32;

const FIELDS: &[Field] = &[
    Field { name: "version", meaning: "the version of the agreement's format; now 1" },
    Field { name: "title", meaning: "a name for the people who read it" },
    Field { name: "operation", meaning: "what is computed" },
    Field { name: "receives", meaning: "who receives the result" },
    Field { name: "security", meaning: "the least security both sides accept" },
    Field { name: "threshold", meaning: "how many common keys make the answer yes" },
    Field { name: "sum", meaning: "which column of whose rows is summed" },
    Field { name: "shares", meaning: "which columns of whose rows are shared" },
    Field { name: "key", meaning: "the columns whose values are compared" },
    Field { name: "party", meaning: "the two organisations" },
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
    "key",
    "party",
];
const KEY_FIELDS: &[Field] = &[
    Field { name: "name", meaning: "the column's name in both files" },
    Field { name: "profile", meaning: "how its values are made comparable" },
];
const KEY_FIELD_NAMES: &[&str] = &["name", "profile", "profile_version"];
const PARTY_FIELDS: &[Field] = &[
    Field { name: "identity", meaning: "the party's public identity" },
    Field { name: "max_rows", meaning: "the most rows the party may bring" },
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
    /// Any [`AgreementError`], with the place where one is known.
    pub fn parse(text: &str) -> Result<Self, AgreementError> {
        let document = document(text)?;
        let table = Table::new(text, String::new(), document.get_ref(), document.span(), FIELDS);
        // First, so that a later format is called one, whatever its fields.
        check_version(&table)?;
        if let Some(at) = table.any(HELPER)? {
            return Err(table.error(at.span, AgreementFault::HasHelper));
        }
        table.refuse_unknown(FIELD_NAMES)?;

        let title = title(&table)?;
        let operation = question::operation(&table)?;
        let security = security(&table)?;
        let parties = parties(text, &table)?;
        let receives = receives(&table, &parties)?;
        if operation.is_for_both() && receives != Receives::Both {
            let at = table.required("receives", Table::text)?;
            return Err(table.error(at.span, AgreementFault::IsForBoth { operation }));
        }
        let keys = keys(&table)?;
        let (question, bounds) = question::read(text, &table, operation, &parties)?;
        let terms = Terms {
            title,
            question,
            bounds,
            receives,
            security,
            expires: expires(&table)?,
            self_check: self_check(&table, operation)?,
            hide_sizes: table.flag("hide_sizes")?.is_some_and(|flag| flag.value),
            keys,
            parties,
        };
        let (selection, integers) = selection::read(&table, &terms)?;
        Ok(Self { terms, selection, integers })
    }
}

pub(crate) fn check_version(table: &Table<'_>) -> Result<(), AgreementError> {
    let version = table.required("version", |t, name| t.number(name, (0, u64::MAX)))?;
    if version.value == FORMAT_VERSION {
        return Ok(());
    }
    let fault = AgreementFault::UnknownVersion { found: version.value };
    Err(table.error(version.span, fault))
}

pub(crate) fn title(table: &Table<'_>) -> Result<String, AgreementError> {
    let title = table.required("title", Table::text)?;
    check_text(table, &title, MAX_TITLE_CHARS)?;
    Ok(title.value.to_owned())
}

/// Whether a terminal would show `c` as something else than one visible character in its place.
pub(super) fn is_treacherous(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}' | '\u{feff}'
        )
}

pub(crate) fn check_text(
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

pub(crate) fn unknown_word(table: &Table<'_>, word: At<&str>, known: &[&str]) -> AgreementError {
    let fault = AgreementFault::UnknownWord {
        nearest: nearest(word.value, known.iter().copied()).map(str::to_owned),
        found: word.value.to_owned(),
        field: word.field,
        known: known.iter().map(|word| (*word).to_owned()).collect(),
    };
    table.error(word.span, fault)
}

fn security(table: &Table<'_>) -> Result<Security, AgreementError> {
    const ALL: [Security; 3] = [Security::SemiHonest, Security::Malicious, Security::Insecure];
    let word = table.required("security", Table::text)?;
    match ALL.into_iter().find(|security| security.name() == word.value) {
        Some(security) => Ok(security),
        None => Err(unknown_word(table, word, &ALL.map(Security::name))),
    }
}

/// A party, and where its fields stand.
pub(crate) struct PlacedParty {
    pub(crate) terms: PartyTerms,
    pub(crate) identity: Range<usize>,
    pub(crate) max_rows: Range<usize>,
}

fn parties(text: &str, table: &Table<'_>) -> Result<[PartyTerms; 2], AgreementError> {
    // "both" says in `receives` that both parties receive the result.
    let list = placed_parties(text, table, &[BOTH], MAX_ROWS)?;
    let parties: Vec<PartyTerms> = list.value.into_iter().map(|party| party.terms).collect();
    let parties: [PartyTerms; 2] = parties.try_into().map_err(|parties: Vec<_>| {
        table.error(list.span.clone(), AgreementFault::PartyCount { found: parties.len() })
    })?;
    let [first, second] = &parties;
    if first.identity == second.identity {
        return Err(table.error(list.span, AgreementFault::SameIdentity));
    }
    Ok(parties)
}

/// Any number of parties, sorted by name; none is named by a `reserved` word.
pub(crate) fn placed_parties(
    text: &str,
    table: &Table<'_>,
    reserved: &[&str],
    max_rows: u64,
) -> Result<At<Vec<PlacedParty>>, AgreementError> {
    let list = table.required("party", Table::table)?;
    let named = Table::new(text, "party.".to_owned(), list.value, list.span.clone(), &[]);
    let mut parties = Vec::new();
    for (name, fields) in named.named_tables(PARTY_FIELDS)? {
        let known_characters = name.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_'
        });
        if !known_characters
            || !(1..=MAX_PARTY_NAME_LEN).contains(&name.len())
            || reserved.contains(&name)
        {
            return Err(fields.error_here(AgreementFault::PartyName { name: name.to_owned() }));
        }
        fields.refuse_unknown(PARTY_FIELD_NAMES)?;
        parties.push(party(name, &fields, max_rows)?);
    }
    parties.sort_by(|one, two| one.terms.name.cmp(&two.terms.name));
    Ok(At { value: parties, span: list.span, field: list.field })
}

/// The identity in the table's field of that name.
pub(crate) fn identity(table: &Table<'_>) -> Result<At<PublicIdentity>, AgreementError> {
    let At { value, span, field } = table.required("identity", Table::text)?;
    match value.parse() {
        Ok(value) => Ok(At { value, span, field }),
        Err(cause) => Err(table.error(span, AgreementFault::BadIdentity { field, cause })),
    }
}

fn party(name: &str, table: &Table<'_>, most: u64) -> Result<PlacedParty, AgreementError> {
    let identity = identity(table)?;
    let At { value: max_rows, span: max_rows_span, .. } =
        table.required("max_rows", |t, name| t.number(name, (1, most)))?;
    let min_rows = table.number("min_rows", (0, most))?;
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

fn receives(table: &Table<'_>, parties: &[PartyTerms; 2]) -> Result<Receives, AgreementError> {
    let word = table.required("receives", Table::text)?;
    if word.value == BOTH {
        return Ok(Receives::Both);
    }
    match parties.iter().find(|party| party.name == word.value) {
        Some(party) => Ok(Receives::One(party.name.clone())),
        None => {
            let [first, second] = parties;
            Err(unknown_word(table, word, &[&first.name, &second.name, BOTH]))
        }
    }
}

pub(crate) fn self_check(table: &Table<'_>, operation: Operation) -> Result<u32, AgreementError> {
    if !question::is_of_shares(operation) {
        let range = (SELF_CHECK_MIN.into(), SELF_CHECK_MAX.into());
        let number = table.number("self_check", range)?;
        return Ok(number.map_or(SELF_CHECK_DEFAULT, |number| number.value as u32));
    }
    match table.number("self_check", (0, SELF_CHECK_MAX.into()))? {
        Some(At { value: found @ 1.., span, .. }) => {
            Err(table.error(span, AgreementFault::NoSelfCheck { found, operation }))
        }
        _ => Ok(0),
    }
}

pub(crate) fn keys(table: &Table<'_>) -> Result<Vec<Key>, AgreementError> {
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
    if let Some(asked) = table.number("profile_version", (1, u64::MAX))?
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

pub(crate) fn expires(table: &Table<'_>) -> Result<Option<Date>, AgreementError> {
    let Some(At { value, span, .. }) = table.any("expires")? else { return Ok(None) };
    let date = match value {
        DeValue::String(word) if word == NEVER => return Ok(None),
        DeValue::Datetime(datetime) if datetime.time.is_none() => {
            // The TOML reader knows which days a month has; the calendar knows the years.
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
