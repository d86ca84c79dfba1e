//! From text to a checked agreement.

use super::error::{AgreementError, AgreementFault, TextFault};
use super::limits::{
    EXCLUDED_MAX_BYTES, FORMAT_VERSION, MAX_EXCLUDED, MAX_FILE_BYTES, MAX_KEYS, MAX_NAME_CHARS,
    MAX_TITLE_CHARS, NEVER, PARTITION_ROWS_MAX, PARTITION_ROWS_MIN, REPEATS_DEFAULT, REPEATS_MAX,
};
use super::parties::{PartyTerms, parties, receivers};
use super::question::{Question, self_check};
use super::rules::{check_sizes, rules, show_rules};
use super::selection::Selection;
use super::table::{At, Field, Table, check_text, unknown_word};
use super::terms::{Key, Terms};
use super::{Agreement, columns, helper, question, selection};
use jiff::civil::Date;
use std::path::Path;
use toml::de::DeValue;
use vesica_protocols::{Operation, Pairwise, Security};
use vesica_records::Profile;
use vesica_strict_toml::{FileFault, document};

/// The table that makes an agreement one with a helper.
const HELPER: &str = "helper";

const FIELDS: &[Field] = &[
    Field { name: "version", meaning: "the version of the agreement format, currently 2" },
    Field { name: "title", meaning: "a title for readers" },
    Field { name: "operation", meaning: "what is computed" },
    Field { name: "receives", meaning: "who receives the result: \"all\", or names of parties" },
    Field { name: "security", meaning: "the least security that all parties accept" },
    Field { name: "threshold", meaning: "the number of common keys from which the answer is yes" },
    Field { name: "sum", meaning: "the party and the columns whose values are summed" },
    Field { name: "product", meaning: "the columns of both parties whose products are summed" },
    Field { name: "shares", meaning: "the party and the columns whose values are shared" },
    Field { name: "key", meaning: "the columns whose values are compared" },
    Field { name: "rule", meaning: "keys of several columns, any of which may match" },
    Field { name: "columns", meaning: "the columns that come along with common keys" },
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
    "partition_counts",
    "early_reveal",
    "partition_rows",
    "max_repeats",
    "threshold",
    "min_matches",
    "max_matches",
    "show_rules",
    "sum",
    "product",
    "union",
    "shares",
    "helper",
    "key",
    "rule",
    "columns",
    "party",
];
const KEY_FIELDS: &[Field] = &[
    Field { name: "name", meaning: "the column's name in the files" },
    Field { name: "profile", meaning: "how its values are made comparable" },
];
const KEY_FIELD_NAMES: &[&str] = &["name", "profile", "profile_version", "never"];

impl Agreement {
    /// Reads the agreement in the file `path`.
    ///
    /// # Errors
    /// Any [`AgreementError`], with the path.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, AgreementError> {
        vesica_strict_toml::load(path.as_ref(), MAX_FILE_BYTES, Self::parse)
    }

    /// Reads the agreement in `text`.
    ///
    /// # Errors
    /// Any [`AgreementError`], with its place if that is known. An agreement whose canonical form
    /// is longer than [`MAX_FILE_BYTES`] is one too, since parties send each other that form.
    pub fn parse(text: &str) -> Result<Self, AgreementError> {
        let agreement = Self::parse_any(text)?;
        if agreement.canonical().len() as u64 > MAX_FILE_BYTES {
            let fault = FileFault::TooLong { max_bytes: MAX_FILE_BYTES };
            return Err(AgreementError::without_place(fault.into()));
        }
        Ok(agreement)
    }

    fn parse_any(text: &str) -> Result<Self, AgreementError> {
        let document = document(text)?;
        let table = Table::new(text, String::new(), document.get_ref(), document.span(), FIELDS);
        // The version comes first, so that a later format is reported as such even if its fields
        // differ.
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
        let is_for_both = operation.is_for_both() && !question::is_computed(&table, operation)?;
        if is_for_both && receivers.len() < placed.len() {
            let at = table.required("receives", |t, name| t.any(name))?;
            return Err(table.error(at.span, AgreementFault::IsForBoth { operation }));
        }
        let keys = keys(&table)?;
        let rules = rules(&table, operation, &keys)?;
        let helper = match helper {
            Some(At { value, span, .. }) => {
                let fields =
                    Table::new(text, "helper.".to_owned(), value, span, helper::HELPER_FIELDS);
                Some(helper::read(&table, &fields, &security, &placed)?)
            }
            None => None,
        };
        let items_per_row = rules.iter().map(|rule| rule.most as u64).sum::<u64>().max(1);
        let mut parties: Vec<PartyTerms> = placed.into_iter().map(|party| party.terms).collect();
        parties.iter_mut().for_each(|party| party.items_per_row = items_per_row);
        check_sizes(&table, &parties)?;
        let (question, bounds) = question::read(text, &table, operation, &parties)?;
        let has_rules = !rules.is_empty();
        let columns = columns::read(&table, operation, &parties, &receivers, has_rules)?;
        let partition_counts = partition_counts(&table, &question)?;
        let mut terms = Terms {
            title,
            question,
            bounds,
            receivers,
            security: security.value,
            expires: expires(&table)?,
            self_check: 0,
            hide_sizes: table.flag("hide_sizes")?.is_some_and(|flag| flag.value),
            partition_counts,
            early_reveal: true,
            partition_rows: partition_rows(&table)?,
            max_repeats: max_repeats(&table)?,
            helper: None,
            keys,
            show_rules: show_rules(&table, &rules)?,
            rules,
            columns,
            parties,
        };
        let Some((helper, variant, at)) = helper else {
            terms.self_check = self_check(&table, operation)?;
            let (selection, integers) = selection::read(&table, &terms)?;
            terms.early_reveal = early_reveal(&table, &selection, operation)?;
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

/// The operation, which with a helper is the intersection.
fn operation(table: &Table<'_>, with_helper: bool) -> Result<Operation, AgreementError> {
    let operation = question::operation(table)?;
    if with_helper && operation != Operation::Intersection {
        let at = table.required("operation", Table::text)?;
        return Err(table.error(at.span, AgreementFault::OperationWithHelper { operation }));
    }
    Ok(operation)
}

/// Whether a union or private ids may be computed in partitions. Not with hidden sizes: a side
/// would see the sizes of each partition.
fn partition_counts(table: &Table<'_>, question: &Question) -> Result<bool, AgreementError> {
    let Some(flag) = table.flag("partition_counts")? else { return Ok(false) };
    if !question.can_count_partitions() {
        let fault = AgreementFault::NoPartitionCounts { operation: question.operation() };
        return Err(table.error(flag.span, fault));
    }
    let hides = table.flag("hide_sizes")?.is_some_and(|flag| flag.value);
    if flag.value && hides {
        Err(table.error(flag.span, AgreementFault::PartitionCountsShowSizes))
    } else {
        Ok(flag.value)
    }
}

/// Whether matches are revealed early, where the named protocol can do that.
fn early_reveal(
    table: &Table<'_>,
    selection: &Selection,
    operation: Operation,
) -> Result<bool, AgreementError> {
    let Some(flag) = table.flag("early_reveal")? else { return Ok(true) };
    let can = operation == Operation::Intersection
        && matches!(selection, Selection::Named(row) if row.pairwise == Pairwise::Early);
    if can { Ok(flag.value) } else { Err(table.error(flag.span, AgreementFault::NoEarlyReveal)) }
}

/// How many rows a partition has at most on average.
fn partition_rows(table: &Table<'_>) -> Result<u64, AgreementError> {
    let number = table.number("partition_rows", PARTITION_ROWS_MIN..=PARTITION_ROWS_MAX)?;
    Ok(number.map_or(PARTITION_ROWS_MAX, |number| number.value))
}

/// The maximum number of consecutive retries after abandoned runs.
fn max_repeats(table: &Table<'_>) -> Result<u32, AgreementError> {
    let number = table.number("max_repeats", 0..=REPEATS_MAX.into())?;
    Ok(number.map_or(REPEATS_DEFAULT, |number| number.value as u32))
}

fn security(table: &Table<'_>, with_helper: bool) -> Result<At<Security>, AgreementError> {
    const ALL: [Security; 4] =
        [Security::SemiHonest, Security::Malicious, Security::OneSided, Security::Insecure];
    // Protocols with a helper have the first two.
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
        let (profile, never) = (profile(fields)?, never(fields)?);
        keys.push(Key { name: name.value.to_owned(), profile, never });
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

/// The values that are excluded from a column.
fn never(table: &Table<'_>) -> Result<Vec<String>, AgreementError> {
    let Some(At { value: list, span, field }) = table.texts("never")? else {
        return Ok(Vec::new());
    };
    let found = list.len();
    if !(1..=MAX_EXCLUDED).contains(&found) {
        let fault = AgreementFault::ExcludedCount { field, found, max: MAX_EXCLUDED };
        return Err(table.error(span, fault));
    }
    let mut never: Vec<String> = Vec::with_capacity(found);
    for text in list {
        if text.value.len() > EXCLUDED_MAX_BYTES {
            let fault = TextFault::TooManyBytes { max_bytes: EXCLUDED_MAX_BYTES };
            return Err(table.error(text.span, AgreementFault::Text { field: text.field, fault }));
        }
        check_text(table, &text, EXCLUDED_MAX_BYTES)?;
        // Cells are compared without blanks at their ends too.
        let value = text.value.trim().to_owned();
        match never.binary_search(&value) {
            Err(at) => never.insert(at, value),
            Ok(_) => {
                let fault = AgreementFault::ExcludedTwice { field: text.field, value };
                return Err(table.error(text.span, fault));
            }
        }
    }
    Ok(never)
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
