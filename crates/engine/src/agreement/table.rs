//! Strict reading of TOML tables: every field is known, of its type, and where it is.

use super::error::{AgreementError, AgreementFault, Position};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A field of a table and what it says.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
}

/// A value and its place in the text.
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) span: Range<usize>,
    pub(crate) field: String,
}

/// One table of the text, whose fields are all known.
pub(crate) struct Table<'a> {
    text: &'a str,
    /// Path with a dot at its end, or nothing for the whole document.
    prefix: String,
    table: &'a DeTable<'a>,
    span: Range<usize>,
    fields: &'static [Field],
}

impl<'a> Table<'a> {
    /// The table at `prefix`, without looking at its fields.
    pub(crate) fn new(
        text: &'a str,
        prefix: String,
        table: &'a DeTable<'a>,
        span: Range<usize>,
        fields: &'static [Field],
    ) -> Self {
        Self { text, prefix, table, span, fields }
    }

    /// Refuses fields that are not among `known`, the names of the table's fields.
    pub(crate) fn refuse_unknown(
        &self,
        known: &'static [&'static str],
    ) -> Result<(), AgreementError> {
        let first = self
            .table
            .keys()
            .filter(|name| !known.contains(&name.get_ref().as_ref()))
            .min_by_key(|name| name.span().start);
        let Some(name) = first else { return Ok(()) };
        let fault = AgreementFault::UnknownField {
            field: self.path(name.get_ref()),
            nearest: nearest(name.get_ref(), known.iter().copied()),
            known,
        };
        Err(self.error(name.span(), fault))
    }

    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// The error of `fault` at `span`.
    pub(crate) fn error(&self, span: Range<usize>, fault: AgreementFault) -> AgreementError {
        located(self.text, span, fault)
    }

    /// The error of `fault` at the table itself; the whole document has no place.
    pub(crate) fn error_here(&self, fault: AgreementFault) -> AgreementError {
        if self.prefix.is_empty() {
            return AgreementError { path: None, at: None, fault: Box::new(fault) };
        }
        self.error(self.span.clone(), fault)
    }

    /// Where the table stands.
    pub(crate) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Whether there is a field of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.table.contains_key(name)
    }

    fn value(&self, name: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.get(name)
    }

    /// A value that must be there.
    pub(crate) fn required<T>(
        &self,
        name: &'static str,
        read: impl FnOnce(&Self, &'static str) -> Result<Option<At<T>>, AgreementError>,
    ) -> Result<At<T>, AgreementError> {
        read(self, name)?.ok_or_else(|| {
            let meaning =
                self.fields.iter().find(|field| field.name == name).map_or("", |f| f.meaning);
            self.error_here(AgreementFault::MissingField { field: self.path(name), meaning })
        })
    }

    fn typed<T>(
        &self,
        name: &'static str,
        expected: &'static str,
        read: impl FnOnce(&'a DeValue<'a>) -> Option<T>,
    ) -> Result<Option<At<T>>, AgreementError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let (span, field) = (value.span(), self.path(name));
        match read(value.get_ref()) {
            Some(value) => Ok(Some(At { value, span, field })),
            None => {
                let found = with_article(value.get_ref());
                Err(self.error(span, AgreementFault::WrongType { field, expected, found }))
            }
        }
    }

    pub(crate) fn text(&self, name: &'static str) -> Result<Option<At<&'a str>>, AgreementError> {
        self.typed(name, "a text in quotes", DeValue::as_str)
    }

    pub(crate) fn flag(&self, name: &'static str) -> Result<Option<At<bool>>, AgreementError> {
        self.typed(name, "true or false", DeValue::as_bool)
    }

    /// A list of texts, each with its place.
    pub(crate) fn texts(
        &self,
        name: &'static str,
    ) -> Result<Option<At<Vec<At<&'a str>>>>, AgreementError> {
        let expected = "a list of texts";
        let Some(list) = self.typed(name, expected, DeValue::as_array)? else { return Ok(None) };
        let mut texts = Vec::with_capacity(list.value.len());
        for (i, value) in list.value.iter().enumerate() {
            let (span, field) = (value.span(), format!("{}[{}]", list.field, i + 1));
            match value.get_ref().as_str() {
                Some(value) => texts.push(At { value, span, field }),
                None => {
                    let (expected, found) = ("a text in quotes", with_article(value.get_ref()));
                    let fault = AgreementFault::WrongType { field, expected, found };
                    return Err(self.error(span, fault));
                }
            }
        }
        Ok(Some(At { value: texts, span: list.span, field: list.field }))
    }

    fn wide_integer(&self, name: &'static str) -> Result<Option<At<i128>>, AgreementError> {
        self.typed(name, "a whole number", |value: &DeValue<'_>| {
            let integer = value.as_integer()?;
            i128::from_str_radix(integer.as_str(), integer.radix()).ok()
        })
    }

    /// A whole number that may be below zero; those that no 64 bits hold become the nearest that they do.
    pub(crate) fn integer(&self, name: &'static str) -> Result<Option<At<i64>>, AgreementError> {
        Ok(self.wide_integer(name)?.map(|At { value, span, field }| At {
            value: value.clamp(i64::MIN.into(), i64::MAX.into()) as i64,
            span,
            field,
        }))
    }

    /// A whole number from `range`.
    pub(crate) fn number(
        &self,
        name: &'static str,
        (min, max): (u64, u64),
    ) -> Result<Option<At<u64>>, AgreementError> {
        let Some(At { value, span, field }) = self.wide_integer(name)? else {
            return Ok(None);
        };
        match u64::try_from(value) {
            Ok(value) if (min..=max).contains(&value) => Ok(Some(At { value, span, field })),
            _ => {
                let found = value.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
                Err(self.error(span, AgreementFault::OutOfRange { field, found, min, max }))
            }
        }
    }

    /// A value of any type.
    pub(crate) fn any(
        &self,
        name: &'static str,
    ) -> Result<Option<At<&'a DeValue<'a>>>, AgreementError> {
        self.typed(name, "", Some)
    }

    /// A table.
    pub(crate) fn table(
        &self,
        name: &'static str,
    ) -> Result<Option<At<&'a DeTable<'a>>>, AgreementError> {
        self.typed(name, "a table", DeValue::as_table)
    }

    /// A list of tables, each with its place.
    pub(crate) fn tables(
        &self,
        name: &'static str,
        fields: &'static [Field],
    ) -> Result<Option<At<Vec<Table<'a>>>>, AgreementError> {
        let expected = "a list of tables, each under its own [[key]]";
        let Some(list) = self.typed(name, expected, DeValue::as_array)? else { return Ok(None) };
        let mut tables = Vec::with_capacity(list.value.len());
        for (i, value) in list.value.iter().enumerate() {
            let path = format!("{}[{}]", list.field, i + 1);
            let Some(table) = value.get_ref().as_table() else {
                let found = with_article(value.get_ref());
                let fault = AgreementFault::WrongType { field: path, expected: "a table", found };
                return Err(self.error(value.span(), fault));
            };
            tables.push(Table::new(self.text, path + ".", table, value.span(), fields));
        }
        Ok(Some(At { value: tables, span: list.span, field: list.field }))
    }
}

/// The error of `fault` at `span` of `text`.
pub(crate) fn located(text: &str, span: Range<usize>, fault: AgreementFault) -> AgreementError {
    let at = Some(Position::of(text, span.start));
    AgreementError { path: None, at, fault: Box::new(fault) }
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

/// The one of `known` that `word` most resembles, if it resembles one.
pub(crate) fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let word = word.to_lowercase();
    known
        .map(|candidate| (strsim::jaro_winkler(&word, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|one, two| one.0.total_cmp(&two.0))
        .map(|(_, candidate)| candidate)
}
