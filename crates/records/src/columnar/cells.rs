//! The text form of a typed cell: what a profile sees, and what a text file gets.
//!
//! | type | text |
//! |---|---|
//! | string, binary | as it is; binary must be UTF-8 |
//! | fixed-size binary | lower-case hexadecimal |
//! | integer | decimal, `-42` |
//! | decimal | with as many digits after the point as its scale, `12.30` |
//! | boolean | `true`, `false` |
//! | date | `2024-02-01` |
//! | time | `12:34:56`, then 3, 6 or 9 digits of the fraction if it is not zero |
//! | timestamp | `2024-02-01T12:34:56`, fraction as above; with a time zone in UTC with `Z` |
//! | floating point | shortest decimal that reads back the same; never a key |
//! | dictionary | that of its values |
//! | null | empty |

use arrow::array::{
    Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, LargeStringArray, StringArray,
    StringBuilder, StringViewArray,
};
use arrow::compute::{CastOptions, cast, cast_with_options};
use arrow::datatypes::{DataType, TimeUnit};
use arrow::error::ArrowError;

/// A column of cells in text form.
pub(crate) enum TextColumn {
    View(StringViewArray),
    Plain(StringArray),
    Large(LargeStringArray),
}

/// Why a column has no text form.
pub(crate) enum NoText {
    /// The binary value in this row of the batch is not UTF-8, from this byte on.
    NotUtf8 { row: usize, byte: usize },
    /// The values contradict their type.
    Damaged,
}

impl TextColumn {
    /// The text form of an array whose type [`has_text_form`].
    pub(crate) fn new(array: &ArrayRef) -> Result<Self, NoText> {
        let damaged = |_: ArrowError| NoText::Damaged;
        let any = array.as_any();
        match array.data_type() {
            DataType::Utf8View => {
                any.downcast_ref().cloned().map(TextColumn::View).ok_or(NoText::Damaged)
            }
            DataType::Utf8 => {
                any.downcast_ref().cloned().map(TextColumn::Plain).ok_or(NoText::Damaged)
            }
            DataType::LargeUtf8 => {
                any.downcast_ref().cloned().map(TextColumn::Large).ok_or(NoText::Damaged)
            }
            DataType::Binary => utf8(any.downcast_ref().ok_or(NoText::Damaged)?),
            DataType::LargeBinary | DataType::BinaryView => {
                Self::new(&cast(array, &DataType::Binary).map_err(damaged)?)
            }
            DataType::FixedSizeBinary(_) => {
                Ok(hexadecimal(any.downcast_ref().ok_or(NoText::Damaged)?))
            }
            DataType::Date64 => Self::new(&cast(array, &DataType::Date32).map_err(damaged)?),
            DataType::Timestamp(unit, Some(zone)) if &**zone != UTC => {
                let utc = DataType::Timestamp(*unit, Some(UTC.into()));
                Self::new(&cast(array, &utc).map_err(damaged)?)
            }
            DataType::Dictionary(_, values) => Self::new(&cast(array, values).map_err(damaged)?),
            _ => {
                // A failed cast must be an error, not a null.
                let options = CastOptions { safe: false, ..CastOptions::default() };
                let text = cast_with_options(array, &DataType::Utf8, &options).map_err(damaged)?;
                Self::new(&text)
            }
        }
    }

    /// The cell in a row of the batch; empty for a null.
    #[inline]
    pub(crate) fn cell(&self, row: usize) -> &[u8] {
        match self {
            TextColumn::View(array) if array.is_valid(row) => array.value(row).as_bytes(),
            TextColumn::Plain(array) if array.is_valid(row) => array.value(row).as_bytes(),
            TextColumn::Large(array) if array.is_valid(row) => array.value(row).as_bytes(),
            _ => &[],
        }
    }
}

const UTC: &str = "+00:00";

fn utf8(array: &BinaryArray) -> Result<TextColumn, NoText> {
    let mut text = StringBuilder::with_capacity(array.len(), array.value_data().len());
    for row in 0..array.len() {
        if array.is_null(row) {
            text.append_null();
            continue;
        }
        match std::str::from_utf8(array.value(row)) {
            Ok(value) => text.append_value(value),
            Err(error) => return Err(NoText::NotUtf8 { row, byte: error.valid_up_to() }),
        }
    }
    Ok(TextColumn::Plain(text.finish()))
}

fn hexadecimal(array: &FixedSizeBinaryArray) -> TextColumn {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = StringBuilder::new();
    let mut value = String::new();
    for row in 0..array.len() {
        if array.is_null(row) {
            text.append_null();
            continue;
        }
        value.clear();
        for byte in array.value(row) {
            value.push(char::from(DIGITS[usize::from(byte >> 4)]));
            value.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        text.append_value(&value);
    }
    TextColumn::Plain(text.finish())
}

/// Whether cells of the type can be written as text.
pub(crate) fn has_text_form(data_type: &DataType) -> bool {
    data_type.is_floating() || can_be_key(data_type)
}

/// Whether a cell of the type may have no text form, although the type has one.
pub(crate) fn may_lack_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => may_lack_text(values),
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::Date32
        | DataType::Date64
        | DataType::Timestamp(..)
        | DataType::Time32(..)
        | DataType::Time64(..) => true,
        _ => false,
    }
}

/// Whether cells of the type can be compared as text. Floating-point numbers cannot: what is
/// equal after one export need not be after another.
pub(crate) fn can_be_key(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => {
            !matches!(**values, DataType::Dictionary(..)) && can_be_key(values)
        }
        DataType::Null
        | DataType::Boolean
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_)
        | DataType::Date32
        | DataType::Date64
        | DataType::Timestamp(..)
        | DataType::Time32(TimeUnit::Second | TimeUnit::Millisecond)
        | DataType::Time64(TimeUnit::Microsecond | TimeUnit::Nanosecond) => true,
        other => {
            other.is_integer()
                || matches!(
                    other,
                    DataType::Decimal32(..)
                        | DataType::Decimal64(..)
                        | DataType::Decimal128(..)
                        | DataType::Decimal256(..)
                )
        }
    }
}
