//! Tables whose fields are known, typed and located.

use super::{Fault, Located, TableFault};
use std::marker::PhantomData;
use std::ops::{Range, RangeInclusive};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Least similarity of an unknown field to the known field it may stand for.
const ALIKE: f64 = 0.7;

/// A field of a table and its meaning.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its meaning, shown if it is missing.
    pub meaning: &'static str,
}

/// A value and its place in the text.
#[derive(Clone, Debug)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Its byte range in the text.
    pub span: Range<usize>,
    /// The path of its field.
    pub field: String,
}

/// A list of strings, each with its place.
pub type Texts<'a> = At<Vec<At<&'a str>>>;

/// Parses the text as TOML.
///
/// # Errors
/// [`TableFault::Syntax`].
pub fn document<F: Fault>(text: &str) -> Result<Spanned<DeTable<'_>>, Located<F>> {
    DeTable::parse(text).map_err(|mut cause| {
        // The error would hold the whole text.
        cause.set_input(None);
        let offset = cause.span().unwrap_or_default().start;
        Located::at(text, offset, TableFault::Syntax(cause).into())
    })
}

/// One table of the text. Every reader returns `None` for a missing field, and an error with its
/// position for a field of another type.
#[derive(Debug)]
pub struct Table<'a, F> {
    text: &'a str,
    /// Path with a dot at its end, or empty for the whole document.
    prefix: String,
    table: &'a DeTable<'a>,
    span: Range<usize>,
    fields: &'static [Field],
    faults: PhantomData<fn() -> F>,
}

impl<'a, F: Fault> Table<'a, F> {
    /// The table of `text` at `prefix`, which ends with a dot or is empty; does not check its
    /// fields. `fields` has the meanings of required fields, for errors.
    pub fn new(
        text: &'a str,
        prefix: String,
        table: &'a DeTable<'a>,
        span: Range<usize>,
        fields: &'static [Field],
    ) -> Self {
        Self { text, prefix, table, span, fields, faults: PhantomData }
    }

    /// Refuses fields that are not in `known`.
    ///
    /// # Errors
    /// [`TableFault::UnknownField`] for the first unknown field in the text.
    pub fn refuse_unknown(&self, known: &'static [&'static str]) -> Result<(), Located<F>> {
        let first = self
            .table
            .keys()
            .filter(|name| !known.contains(&name.get_ref().as_ref()))
            .min_by_key(|name| name.span().start);
        let Some(name) = first else { return Ok(()) };
        let fault = TableFault::UnknownField {
            field: self.path(name.get_ref()),
            nearest: nearest(name.get_ref(), known.iter().copied()),
            known,
        };
        Err(self.error(name.span(), fault))
    }

    /// The path of the field `name`.
    pub fn path(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// The error of `fault` at `span`.
    pub fn error(&self, span: Range<usize>, fault: impl Into<F>) -> Located<F> {
        Located::at(self.text, span.start, fault.into())
    }

    /// The error of `fault` at the table itself; the whole document has no position.
    pub fn error_here(&self, fault: impl Into<F>) -> Located<F> {
        if self.prefix.is_empty() {
            return Located::without_place(fault.into());
        }
        self.error(self.span.clone(), fault)
    }

    /// The table's byte range.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Whether the table has a field of this name.
    pub fn has(&self, name: &str) -> bool {
        self.table.contains_key(name)
    }

    /// A required value.
    ///
    /// # Errors
    /// [`TableFault::MissingField`], and the errors of `read`.
    pub fn required<T>(
        &self,
        name: &'static str,
        read: impl FnOnce(&Self, &'static str) -> Result<Option<At<T>>, Located<F>>,
    ) -> Result<At<T>, Located<F>> {
        read(self, name)?.ok_or_else(|| {
            let meaning =
                self.fields.iter().find(|field| field.name == name).map_or("", |f| f.meaning);
            self.error_here(TableFault::MissingField { field: self.path(name), meaning })
        })
    }

    fn typed<T>(
        &self,
        name: &str,
        expected: &'static str,
        read: impl FnOnce(&'a DeValue<'a>) -> Option<T>,
    ) -> Result<Option<At<T>>, Located<F>> {
        let Some(value) = self.table.get(name) else { return Ok(None) };
        let (span, field) = (value.span(), self.path(name));
        match read(value.get_ref()) {
            Some(value) => Ok(Some(At { value, span, field })),
            None => {
                let found = with_article(value.get_ref());
                Err(self.error(span, TableFault::WrongType { field, expected, found }))
            }
        }
    }

    /// A string.
    ///
    /// # Errors
    /// [`TableFault::WrongType`].
    pub fn text(&self, name: &str) -> Result<Option<At<&'a str>>, Located<F>> {
        self.typed(name, "a text in quotes", DeValue::as_str)
    }

    /// A Boolean.
    ///
    /// # Errors
    /// [`TableFault::WrongType`].
    pub fn flag(&self, name: &str) -> Result<Option<At<bool>>, Located<F>> {
        self.typed(name, "true or false", DeValue::as_bool)
    }

    /// A list of strings, each with its place.
    ///
    /// # Errors
    /// [`TableFault::WrongType`].
    pub fn texts(&self, name: &str) -> Result<Option<Texts<'a>>, Located<F>> {
        let expected = "a list of texts";
        let Some(list) = self.typed(name, expected, DeValue::as_array)? else { return Ok(None) };
        let mut texts = Vec::with_capacity(list.value.len());
        for (i, value) in list.value.iter().enumerate() {
            let (span, field) = (value.span(), format!("{}[{}]", list.field, i + 1));
            match value.get_ref().as_str() {
                Some(value) => texts.push(At { value, span, field }),
                None => {
                    let (expected, found) = ("a text in quotes", with_article(value.get_ref()));
                    let fault = TableFault::WrongType { field, expected, found };
                    return Err(self.error(span, fault));
                }
            }
        }
        Ok(Some(At { value: texts, span: list.span, field: list.field }))
    }

    fn wide_integer(&self, name: &str) -> Result<Option<At<i128>>, Located<F>> {
        self.typed(name, "a whole number", |value: &DeValue<'_>| {
            let integer = value.as_integer()?;
            i128::from_str_radix(integer.as_str(), integer.radix()).ok()
        })
    }

    /// A whole number that may be negative; a number that does not fit 64 bits is clamped.
    ///
    /// # Errors
    /// [`TableFault::WrongType`].
    pub fn integer(&self, name: &str) -> Result<Option<At<i64>>, Located<F>> {
        Ok(self.wide_integer(name)?.map(|At { value, span, field }| At {
            value: nearest_i64(value),
            span,
            field,
        }))
    }

    /// A whole number from `min` to `max`.
    ///
    /// # Errors
    /// [`TableFault::WrongType`], [`TableFault::OutOfRange`].
    pub fn number(
        &self,
        name: &str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<At<u64>>, Located<F>> {
        let Some(At { value, span, field }) = self.wide_integer(name)? else {
            return Ok(None);
        };
        match u64::try_from(value) {
            Ok(value) if range.contains(&value) => Ok(Some(At { value, span, field })),
            _ => {
                let found = nearest_i64(value);
                let (min, max) = range.into_inner();
                Err(self.error(span, TableFault::OutOfRange { field, found, min, max }))
            }
        }
    }

    /// A value of any type.
    ///
    /// # Errors
    /// None.
    pub fn any(&self, name: &str) -> Result<Option<At<&'a DeValue<'a>>>, Located<F>> {
        self.typed(name, "", Some)
    }

    /// A table.
    ///
    /// # Errors
    /// [`TableFault::WrongType`].
    pub fn table(&self, name: &str) -> Result<Option<At<&'a DeTable<'a>>>, Located<F>> {
        self.typed(name, "a table", DeValue::as_table)
    }

    /// A list of tables, each with its place.
    ///
    /// # Errors
    /// [`TableFault::WrongType`].
    pub fn tables(
        &self,
        name: &str,
        fields: &'static [Field],
    ) -> Result<Option<At<Vec<Self>>>, Located<F>> {
        let expected = "a list of tables, each under its own [[key]]";
        let Some(list) = self.typed(name, expected, DeValue::as_array)? else { return Ok(None) };
        let mut tables = Vec::with_capacity(list.value.len());
        for (i, value) in list.value.iter().enumerate() {
            let path = format!("{}[{}]", list.field, i + 1);
            let Some(table) = value.get_ref().as_table() else {
                let found = with_article(value.get_ref());
                let fault = TableFault::WrongType { field: path, expected: "a table", found };
                return Err(self.error(value.span(), fault));
            };
            tables.push(Table::new(self.text, path + ".", table, value.span(), fields));
        }
        Ok(Some(At { value: tables, span: list.span, field: list.field }))
    }

    /// All fields of this table, which must be tables `[NAME]`, in the order of the text. The place
    /// of each is that of its name.
    ///
    /// # Errors
    /// [`TableFault::WrongType`].
    pub fn named_tables(
        &self,
        fields: &'static [Field],
    ) -> Result<Vec<(&'a str, Self)>, Located<F>> {
        let mut tables = Vec::with_capacity(self.table.len());
        for (name, value) in self.table {
            let (path, place) = (self.path(name.get_ref()), name.span());
            let Some(table) = value.get_ref().as_table() else {
                // `[party]` with the fields of one party directly below it.
                let found = with_article(value.get_ref());
                let expected = "a table [party.NAME]";
                let fault = TableFault::WrongType { field: path, expected, found };
                return Err(self.error(place, fault));
            };
            tables.push((
                name.get_ref().as_ref(),
                Table::new(self.text, path + ".", table, place, fields),
            ));
        }
        tables.sort_by_key(|(_, table)| table.span.start);
        Ok(tables)
    }
}

fn nearest_i64(value: i128) -> i64 {
    value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
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

/// The entry of `known` that resembles `word` most, if it is similar enough.
pub fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let word = word.to_lowercase();
    known
        .map(|candidate| (strsim::jaro_winkler(&word, candidate), candidate))
        .filter(|(likeness, _)| *likeness > ALIKE)
        .max_by(|one, two| one.0.total_cmp(&two.0))
        .map(|(_, candidate)| candidate)
}
