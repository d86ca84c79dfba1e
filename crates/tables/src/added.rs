//! The columns that a result has besides those of its file.

use crate::columnar::cells::day;
use arrow_array::{ArrayRef, Date32Array, Int64Array, StringArray};
use arrow_schema::{DataType, Field};
use std::fmt;
use std::sync::Arc;

/// The columns that a result has after those of the file.
#[derive(Default)]
pub struct Added<'a> {
    /// Columns with a cell for each row.
    pub columns: Vec<AddedColumn<'a>>,
    /// The name of a last column that says whether a row's bit is set: `1` or `0` in text, a
    /// boolean in Parquet. Then every row is written.
    pub mark: Option<&'a str>,
    /// Whether only the owner may read a result with them, for any mode of the file.
    pub owners_alone: bool,
}

impl<'a> Added<'a> {
    /// A mark alone.
    pub fn mark(name: &'a str) -> Self {
        Self { mark: Some(name), ..Self::default() }
    }

    /// The names of the columns, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| &*column.name).chain(self.mark)
    }

    /// The cells of a row; rows count from 0.
    pub(crate) fn cells(&self, row: u64) -> Vec<AddedCell> {
        self.columns.iter().map(|column| (column.of)(row)).collect()
    }
}

/// A column with a cell for each row.
pub struct AddedColumn<'a> {
    /// Its name.
    pub name: String,
    /// What its cells hold.
    pub holds: AddedType,
    /// The cell of a row; rows count from 0.
    pub of: Box<dyn Fn(u64) -> AddedCell + 'a>,
}

/// What the cells of a column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddedType {
    /// Text.
    Text,
    /// Whole numbers of 64 bits.
    Integer,
    /// Days.
    Date,
}

/// A cell of an [`AddedColumn`]. In text an empty one is empty, in Parquet null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AddedCell {
    /// Nothing.
    #[default]
    Empty,
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A day, as days after 1970-01-01.
    Days(i32),
}

/// The cell in text.
impl fmt::Display for AddedCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => Ok(()),
            Self::Text(text) => f.write_str(text),
            Self::Integer(number) => number.fmt(f),
            Self::Days(days) => f.write_str(&day(*days).unwrap_or_default()),
        }
    }
}

impl AddedType {
    pub(crate) fn field(self, name: &str) -> Field {
        let data_type = match self {
            Self::Text => DataType::Utf8,
            Self::Integer => DataType::Int64,
            Self::Date => DataType::Date32,
        };
        Field::new(name, data_type, true)
    }

    /// A column of cells; one of another type is null.
    pub fn array(self, cells: impl Iterator<Item = AddedCell>) -> ArrayRef {
        match self {
            Self::Text => Arc::new(StringArray::from_iter(cells.map(|cell| match cell {
                AddedCell::Text(text) => Some(text),
                _ => None,
            }))),
            Self::Integer => Arc::new(Int64Array::from_iter(cells.map(|cell| match cell {
                AddedCell::Integer(number) => Some(number),
                _ => None,
            }))),
            Self::Date => Arc::new(Date32Array::from_iter(cells.map(|cell| match cell {
                AddedCell::Days(days) => Some(days),
                _ => None,
            }))),
        }
    }
}
