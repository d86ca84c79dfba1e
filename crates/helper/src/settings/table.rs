//! Strict reading of TOML tables: every field is known and of its type, and errors say where.

use super::error::{Position, SettingsError, SettingsFault};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A field of a table and what it says.
pub(super) struct Field(pub(super) &'static str, pub(super) &'static str);

/// Least likeness of two words of which one may be meant as the other.
const ALIKE: f64 = 0.7;

/// The whole text.
pub(super) fn document(text: &str) -> Result<DeTable<'_>, SettingsError> {
    DeTable::parse(text).map(Spanned::into_inner).map_err(|error| {
        let at = error.span().map(|span| Position::of(text, span.start));
        SettingsError { path: None, at, fault: Box::new(SettingsFault::Syntax(error)) }
    })
}

/// A party's table: its name, its fields and its place.
type Named<'a> = (String, &'a DeTable<'a>, Range<usize>);

/// One table of the text.
pub(super) struct Table<'a> {
    text: &'a str,
    /// Path with a dot at its end, or nothing for the whole document.
    prefix: String,
    table: &'a DeTable<'a>,
    span: Range<usize>,
    fields: &'static [Field],
}

impl<'a> Table<'a> {
    pub(super) fn new(
        text: &'a str,
        prefix: String,
        table: &'a DeTable<'a>,
        span: Range<usize>,
        fields: &'static [Field],
    ) -> Self {
        Self { text, prefix, table, span, fields }
    }

    /// Refuses the first field that the table does not have.
    pub(super) fn refuse_unknown_fields(&self) -> Result<(), SettingsError> {
        let known: Vec<&'static str> = self.fields.iter().map(|field| field.0).collect();
        self.refuse_unknown(&known)
    }

    /// Refuses the first field that is not among `known`.
    pub(super) fn refuse_unknown(&self, known: &[&'static str]) -> Result<(), SettingsError> {
        let first = self
            .table
            .keys()
            .filter(|name| !known.contains(&name.get_ref().as_ref()))
            .min_by_key(|name| name.span().start);
        let Some(name) = first else { return Ok(()) };
        let word = name.get_ref().to_lowercase();
        let nearest = known
            .iter()
            .map(|known| (strsim::jaro_winkler(&word, known), *known))
            .filter(|(likeness, _)| *likeness > ALIKE)
            .max_by(|one, two| one.0.total_cmp(&two.0))
            .map(|(_, known)| known);
        let field = format!("{}{}", self.prefix, name.get_ref());
        Err(self.error(name.span(), SettingsFault::UnknownField { field, nearest }))
    }

    /// The error of `fault` at `span`.
    pub(super) fn error(&self, span: Range<usize>, fault: SettingsFault) -> SettingsError {
        let at = Some(Position::of(self.text, span.start));
        SettingsError { path: None, at, fault: Box::new(fault) }
    }

    /// The error of `fault` at the table itself; the whole document has no place.
    pub(super) fn error_here(&self, fault: SettingsFault) -> SettingsError {
        if self.prefix.is_empty() {
            return SettingsError { path: None, at: None, fault: Box::new(fault) };
        }
        self.error(self.span.clone(), fault)
    }

    fn typed<T>(
        &self,
        name: &str,
        expected: &'static str,
        read: impl FnOnce(&'a DeValue<'a>) -> Option<T>,
    ) -> Result<Option<(T, Range<usize>)>, SettingsError> {
        let Some(value) = self.table.get(name) else { return Ok(None) };
        match read(value.get_ref()) {
            Some(read) => Ok(Some((read, value.span()))),
            None => {
                let (field, found) =
                    (format!("{}{name}", self.prefix), with_article(value.get_ref()));
                let fault = SettingsFault::WrongType { field, expected, found };
                Err(self.error(value.span(), fault))
            }
        }
    }

    pub(super) fn text(
        &self,
        name: &str,
    ) -> Result<Option<(&'a str, Range<usize>)>, SettingsError> {
        self.typed(name, "a text in quotes", DeValue::as_str)
    }

    /// A text that must be there.
    pub(super) fn required_text(
        &self,
        name: &str,
    ) -> Result<(&'a str, Range<usize>), SettingsError> {
        self.text(name)?.ok_or_else(|| {
            let meaning = self.fields.iter().find(|field| field.0 == name).map_or("", |f| f.1);
            let field = format!("{}{name}", self.prefix);
            self.error_here(SettingsFault::MissingField { field, meaning })
        })
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, SettingsError> {
        Ok(self.typed(name, "true or false", DeValue::as_bool)?.map(|(flag, _)| flag))
    }

    /// A whole number from `min` to `max`.
    pub(super) fn number(
        &self,
        name: &str,
        (min, max): (u64, u64),
    ) -> Result<Option<u64>, SettingsError> {
        let read = |value: &DeValue<'_>| {
            let integer = value.as_integer()?;
            i128::from_str_radix(integer.as_str(), integer.radix()).ok()
        };
        let Some((value, span)) = self.typed(name, "a whole number", read)? else {
            return Ok(None);
        };
        match u64::try_from(value) {
            Ok(value) if (min..=max).contains(&value) => Ok(Some(value)),
            _ => {
                let field = format!("{}{name}", self.prefix);
                let found = value.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
                Err(self.error(span, SettingsFault::OutOfRange { field, found, min, max }))
            }
        }
    }

    pub(super) fn table(
        &self,
        name: &str,
    ) -> Result<Option<(&'a DeTable<'a>, Range<usize>)>, SettingsError> {
        self.typed(name, "a table", DeValue::as_table)
    }

    /// All fields, which must be tables, in the order of the text.
    pub(super) fn tables(&self) -> Result<Vec<Named<'a>>, SettingsError> {
        let mut tables = Vec::new();
        for name in self.table.keys() {
            if let Some((table, _)) = self.table(name.get_ref())? {
                tables.push((name.get_ref().to_string(), table, name.span()));
            }
        }
        tables.sort_by_key(|(_, _, span)| span.start);
        Ok(tables)
    }
}

fn with_article(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a decimal number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
