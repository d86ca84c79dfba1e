//! The text form of a typed cell: the input of a profile, and the content of a text file.
//!
//! | type | text |
//! |---|---|
//! | string, binary | unchanged; binary must be UTF-8 |
//! | fixed-size binary | lower-case hexadecimal; with dashes if its field says that it is a UUID |
//! | integer | decimal, `-42` |
//! | decimal | with `scale` digits after the point, `12.30`; as a key without zeros at the end, `12.3` |
//! | boolean | `true`, `false` |
//! | date | `2024-02-01` |
//! | time | `12:34:56`, then 3, 6 or 9 digits of the fraction if it is not zero |
//! | timestamp | `2024-02-01T12:34:56`, fraction as above; with a time zone in UTC with `Z` |
//! | floating point | shortest decimal that reads back the same; never a key |
//! | dictionary | the text of its values |
//! | null | empty |
//!
//! Some profiles read bytes that are no text: [`TypedForm::raw_bytes`].

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::{
    as_datetime, date32_to_datetime, time32ms_to_time, time32s_to_time, time64ns_to_time,
    time64us_to_time,
};
use arrow_array::types::{
    ArrowTimestampType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DecimalType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, FixedSizeBinaryArray, LargeStringArray, StringArray,
    StringViewArray,
};
use arrow_schema::extension::{ExtensionType, Uuid};
use arrow_schema::{DataType, Field, TimeUnit};
use arrow_select::take::take;
use std::fmt::{Display, Write};
use vesica_profiles::TypedForm;

/// A column of cells in text form.
pub(crate) enum TextColumn {
    View(StringViewArray),
    Plain(StringArray),
    Large(LargeStringArray),
}

/// How the cells of a column become text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CellForm {
    typed: TypedForm,
    /// Whether bytes of a fixed size are UUIDs, by the type that the file or the frame says.
    are_uuids: bool,
}

impl CellForm {
    /// The form of the cells of `field`, for what reads `typed`.
    pub(crate) fn new(field: &Field, typed: TypedForm) -> Self {
        Self { typed, are_uuids: is_uuid(field) }
    }

    /// The form in a text file.
    pub(crate) fn written(field: &Field) -> Self {
        Self::new(field, TypedForm::default())
    }
}

/// Whether a column says that it holds UUIDs of 16 bytes.
pub(crate) fn is_uuid(field: &Field) -> bool {
    field.extension_type_name() == Some(Uuid::NAME)
        && matches!(flat(field.data_type()), DataType::FixedSizeBinary(UUID_BYTES))
}

/// The type of the values, where a dictionary holds them.
pub(crate) fn flat(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        data_type => data_type,
    }
}

/// Bytes of a UUID.
pub(crate) const UUID_BYTES: i32 = 16;

/// Why a column has no text form.
pub(crate) enum NoText {
    /// The binary value in this row of the batch is not UTF-8 from this byte on.
    NotUtf8 { row: usize, byte: usize },
    /// The values contradict their type.
    Damaged,
}

impl TextColumn {
    /// The text form of an array whose type [`has_text_form`].
    pub(crate) fn new(array: &ArrayRef, form: CellForm) -> Result<Self, NoText> {
        let raw = form.typed.raw_bytes;
        let plain = |text: Option<StringArray>| text.map(TextColumn::Plain).ok_or(NoText::Damaged);
        match array.data_type() {
            DataType::Utf8View => {
                array.as_string_view_opt().cloned().map(TextColumn::View).ok_or(NoText::Damaged)
            }
            DataType::Utf8 => plain(array.as_string_opt().cloned()),
            DataType::LargeUtf8 => {
                array.as_string_opt().cloned().map(TextColumn::Large).ok_or(NoText::Damaged)
            }
            DataType::Binary => {
                utf8(array.as_binary_opt::<i32>().ok_or(NoText::Damaged)?.iter(), raw)
            }
            DataType::LargeBinary => {
                utf8(array.as_binary_opt::<i64>().ok_or(NoText::Damaged)?.iter(), raw)
            }
            DataType::BinaryView => {
                utf8(array.as_binary_view_opt().ok_or(NoText::Damaged)?.iter(), raw)
            }
            DataType::FixedSizeBinary(_) => {
                let array = array.as_fixed_size_binary_opt().ok_or(NoText::Damaged)?;
                Ok(hexadecimal(array, form.are_uuids))
            }
            DataType::Dictionary(..) => {
                let array = array.as_any_dictionary_opt().ok_or(NoText::Damaged)?;
                let values = take(array.values(), array.keys(), None);
                Self::new(&values.map_err(|_| NoText::Damaged)?, form)
            }
            _ => plain(text(array, form.typed.drops_zeros)),
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

/// The text form of a type that is neither text nor bytes; `None` if a value contradicts its type.
fn text(array: &ArrayRef, drops_zeros: bool) -> Option<StringArray> {
    match array.data_type() {
        DataType::Null => Some(StringArray::new_null(array.len())),
        DataType::Boolean => Some(
            array.as_boolean_opt()?.iter().map(|value| value.map(|is| is.to_string())).collect(),
        ),
        DataType::Int8 => show::<Int8Type, _>(array, Some),
        DataType::Int16 => show::<Int16Type, _>(array, Some),
        DataType::Int32 => show::<Int32Type, _>(array, Some),
        DataType::Int64 => show::<Int64Type, _>(array, Some),
        DataType::UInt8 => show::<UInt8Type, _>(array, Some),
        DataType::UInt16 => show::<UInt16Type, _>(array, Some),
        DataType::UInt32 => show::<UInt32Type, _>(array, Some),
        DataType::UInt64 => show::<UInt64Type, _>(array, Some),
        DataType::Float16 => show::<Float16Type, _>(array, Some),
        DataType::Float32 => show::<Float32Type, _>(array, |value| Some(shortest(value))),
        DataType::Float64 => show::<Float64Type, _>(array, |value| Some(shortest(value))),
        DataType::Decimal32(..) => decimals::<Decimal32Type>(array, drops_zeros),
        DataType::Decimal64(..) => decimals::<Decimal64Type>(array, drops_zeros),
        DataType::Decimal128(..) => decimals::<Decimal128Type>(array, drops_zeros),
        DataType::Decimal256(..) => decimals::<Decimal256Type>(array, drops_zeros),
        DataType::Date32 => show::<Date32Type, _>(array, day),
        DataType::Date64 => {
            show::<Date64Type, _>(array, |millis| day(i32::try_from(millis / DAY_MILLIS).ok()?))
        }
        DataType::Time32(TimeUnit::Second) => show::<Time32SecondType, _>(array, |value| {
            Some(format!("{:?}", time32s_to_time(value)?))
        }),
        DataType::Time32(TimeUnit::Millisecond) => {
            show::<Time32MillisecondType, _>(array, |value| {
                Some(format!("{:?}", time32ms_to_time(value)?))
            })
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            show::<Time64MicrosecondType, _>(array, |value| {
                Some(format!("{:?}", time64us_to_time(value)?))
            })
        }
        DataType::Time64(TimeUnit::Nanosecond) => show::<Time64NanosecondType, _>(array, |value| {
            Some(format!("{:?}", time64ns_to_time(value)?))
        }),
        DataType::Timestamp(unit, zone) => {
            // In any time zone, the value counts from 1970 in UTC.
            let zone = if zone.is_some() { "Z" } else { "" };
            match unit {
                TimeUnit::Second => moments::<TimestampSecondType>(array, zone),
                TimeUnit::Millisecond => moments::<TimestampMillisecondType>(array, zone),
                TimeUnit::Microsecond => moments::<TimestampMicrosecondType>(array, zone),
                TimeUnit::Nanosecond => moments::<TimestampNanosecondType>(array, zone),
            }
        }
        _ => None,
    }
}

const DAY_MILLIS: i64 = 86_400_000;

/// Formats each value with `show`; `None` if `show` returns `None` for one.
fn show<T: ArrowPrimitiveType, D: Display>(
    array: &ArrayRef,
    show: impl Fn(T::Native) -> Option<D>,
) -> Option<StringArray> {
    const GUESS: usize = 10;
    let array = array.as_primitive_opt::<T>()?;
    let mut text = StringBuilder::with_capacity(array.len(), GUESS * array.len());
    for value in array {
        let Some(value) = value else {
            text.append_null();
            continue;
        };
        write!(text, "{}", show(value)?).ok()?;
        // `show` has written the value.
        text.append_value("");
    }
    Some(text.finish())
}

fn shortest(value: impl ryu::Float) -> String {
    ryu::Buffer::new().format(value).to_owned()
}

fn decimals<T: DecimalType>(array: &ArrayRef, drops_zeros: bool) -> Option<StringArray> {
    let typed = array.as_primitive_opt::<T>()?;
    let (precision, scale) = (typed.precision(), typed.scale());
    show::<T, _>(array, |value| {
        let mut text = T::format_decimal(value, precision, scale);
        if drops_zeros && text.contains('.') {
            text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
        }
        Some(text)
    })
}

/// A day as text.
pub(crate) fn day(days: i32) -> Option<String> {
    Some(format!("{:?}", date32_to_datetime(days)?.date()))
}

fn moments<T: ArrowTimestampType>(array: &ArrayRef, zone: &str) -> Option<StringArray> {
    show::<T, _>(array, |value| Some(format!("{:?}{zone}", as_datetime::<T>(value)?)))
}

/// Text, but a value of `raw` bytes in hexadecimal.
fn utf8<'a>(
    cells: impl Iterator<Item = Option<&'a [u8]>>,
    raw: Option<usize>,
) -> Result<TextColumn, NoText> {
    let mut text = StringBuilder::new();
    let mut digits = String::new();
    for (row, cell) in cells.enumerate() {
        let Some(cell) = cell else {
            text.append_null();
            continue;
        };
        if raw == Some(cell.len()) {
            digits.clear();
            push_hex(cell, &mut digits);
            text.append_value(&digits);
            continue;
        }
        match std::str::from_utf8(cell) {
            Ok(value) => text.append_value(value),
            Err(error) => return Err(NoText::NotUtf8 { row, byte: error.valid_up_to() }),
        }
    }
    Ok(TextColumn::Plain(text.finish()))
}

fn hexadecimal(array: &FixedSizeBinaryArray, are_uuids: bool) -> TextColumn {
    let mut text = StringBuilder::new();
    let mut value = String::new();
    for row in 0..array.len() {
        if array.is_null(row) {
            text.append_null();
            continue;
        }
        value.clear();
        push_hex(array.value(row), &mut value);
        if are_uuids {
            // From the end, so that the places before stay.
            [20, 16, 12, 8].into_iter().for_each(|at| value.insert(at, '-'));
        }
        text.append_value(&value);
    }
    TextColumn::Plain(text.finish())
}

fn push_hex(bytes: &[u8], text: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
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

/// The type's name for a message: without what nested types carry, which can be values. The fields
/// of a struct that was made of dictionaries are named by their keys, and a list of categories has
/// them all in its metadata.
pub(crate) fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => "list".into(),
        DataType::ListView(_) | DataType::LargeListView(_) => "list".into(),
        DataType::Struct(_) => "struct".into(),
        DataType::Map(..) => "map".into(),
        DataType::Union(..) => "union".into(),
        DataType::RunEndEncoded(_, values) => {
            format!("run-end encoded {}", type_name(values.data_type()))
        }
        DataType::Dictionary(_, values) => format!("dictionary of {}", type_name(values)),
        other => other.to_string(),
    }
}

/// Whether cells of the type can be compared as text. Floating-point numbers cannot: equal numbers
/// may have different texts after another export.
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

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int8Type as KeyType;
    use arrow_array::{
        BinaryViewArray, BooleanArray, Date32Array, Date64Array, Decimal32Array, Decimal64Array,
        Decimal128Array, Decimal256Array, DictionaryArray, Float32Array, Float64Array, Int8Array,
        Int16Array, Int32Array, Int64Array, LargeBinaryArray, NullArray, Time32MillisecondArray,
        Time64MicrosecondArray, Time64NanosecondArray, TimestampMillisecondArray,
        TimestampNanosecondArray, TimestampSecondArray, UInt8Array, UInt16Array, UInt32Array,
    };
    use arrow_buffer::i256;
    use arrow_schema::{Field, UnionFields, UnionMode};
    use std::sync::Arc;

    fn texts(array: &ArrayRef) -> Option<Vec<String>> {
        let column = TextColumn::new(array, CellForm::default()).ok()?;
        let cell = |row| String::from_utf8(column.cell(row).to_vec()).unwrap();
        Some((0..array.len()).map(cell).collect())
    }

    #[test]
    fn every_type_has_its_text_up_to_its_limits() {
        let hours = 3_600_000;
        let cases: Vec<(ArrayRef, &[&str])> = vec![
            (Arc::new(NullArray::new(2)), &["", ""]),
            (Arc::new(BooleanArray::from(vec![Some(true), None])), &["true", ""]),
            (Arc::new(Int8Array::from(vec![i8::MIN, 0, i8::MAX])), &["-128", "0", "127"]),
            (Arc::new(Int16Array::from(vec![i16::MIN])), &["-32768"]),
            (Arc::new(Int32Array::from(vec![i32::MIN])), &["-2147483648"]),
            (Arc::new(Int64Array::from(vec![i64::MIN])), &["-9223372036854775808"]),
            (Arc::new(UInt8Array::from(vec![u8::MAX])), &["255"]),
            (Arc::new(UInt16Array::from(vec![u16::MAX])), &["65535"]),
            (Arc::new(UInt32Array::from(vec![u32::MAX])), &["4294967295"]),
            (
                Arc::new(Float32Array::from(vec![1.0, 0.1, 1e10, -0.0, f32::NAN, f32::INFINITY])),
                &["1.0", "0.1", "10000000000.0", "-0.0", "NaN", "inf"],
            ),
            (
                Arc::new(Float64Array::from(vec![1e15, 1e16, 1e-5, 1e-6, 5e-324, f64::MAX])),
                &[
                    "1000000000000000.0",
                    "1e16",
                    "0.00001",
                    "1e-6",
                    "5e-324",
                    "1.7976931348623157e308",
                ],
            ),
            (
                Arc::new(Decimal32Array::from(vec![-5]).with_precision_and_scale(9, 2).unwrap()),
                &["-0.05"],
            ),
            (
                Arc::new(Decimal64Array::from(vec![12]).with_precision_and_scale(18, 0).unwrap()),
                &["12"],
            ),
            (
                Arc::new(Decimal128Array::from(vec![12]).with_precision_and_scale(9, -2).unwrap()),
                &["1200"],
            ),
            (
                Arc::new(
                    Decimal256Array::from(vec![i256::from_i128(-1230)])
                        .with_precision_and_scale(76, 2)
                        .unwrap(),
                ),
                &["-12.30"],
            ),
            (
                Arc::new(Date32Array::from(vec![-719_529, -1, 2_932_897])),
                &["-0001-12-31", "1969-12-31", "+10000-01-01"],
            ),
            (
                Arc::new(Date64Array::from(vec![-DAY_MILLIS, DAY_MILLIS])),
                &["1969-12-31", "1970-01-02"],
            ),
            (
                Arc::new(Time32MillisecondArray::from(vec![hours, hours + 1])),
                &["01:00:00", "01:00:00.001"],
            ),
            (Arc::new(Time64MicrosecondArray::from(vec![1])), &["00:00:00.000001"]),
            (
                Arc::new(Time64NanosecondArray::from(vec![1, 1_000_000])),
                &["00:00:00.000000001", "00:00:00.001"],
            ),
            (
                Arc::new(TimestampMillisecondArray::from(vec![-1]).with_timezone("Europe/Paris")),
                &["1969-12-31T23:59:59.999Z"],
            ),
            (
                Arc::new(TimestampNanosecondArray::from(vec![i64::MIN, 0])),
                &["1677-09-21T00:12:43.145224192", "1970-01-01T00:00:00"],
            ),
            (
                Arc::new(TimestampSecondArray::from(vec![253_402_300_800]).with_timezone("UTC")),
                &["+10000-01-01T00:00:00Z"],
            ),
            (Arc::new(LargeBinaryArray::from(vec!["é".as_bytes()])), &["é"]),
            (
                Arc::new(BinaryViewArray::from_iter([Some("a longer one than twelve"), None])),
                &["a longer one than twelve", ""],
            ),
            (
                Arc::new(DictionaryArray::<KeyType>::new(
                    Int8Array::from(vec![Some(1), None, Some(0)]),
                    Arc::new(Int64Array::from(vec![None, Some(7)])),
                )),
                &["7", "", ""],
            ),
        ];
        for (array, expected) in cases {
            assert!(has_text_form(array.data_type()), "{}", array.data_type());
            assert_eq!(texts(&array).expect("text"), expected, "{}", array.data_type());
        }
    }

    #[test]
    fn names_of_nested_types_quote_no_value() {
        let secret = || {
            let metadata = [("categories".to_owned(), "secret".to_owned())].into();
            Arc::new(Field::new("secret", DataType::Utf8, true).with_metadata(metadata))
        };
        let entries = Arc::new(Field::new("e", DataType::Struct(vec![secret()].into()), false));
        let union = UnionFields::from_iter([(0, secret())]);
        let nested = [
            (DataType::List(secret()), "list"),
            (DataType::FixedSizeList(secret(), 2), "list"),
            (DataType::LargeListView(secret()), "list"),
            (DataType::Struct(vec![secret()].into()), "struct"),
            (DataType::Map(entries, false), "map"),
            (DataType::Union(union, UnionMode::Sparse), "union"),
            (DataType::RunEndEncoded(secret(), secret()), "run-end encoded Utf8"),
        ];
        for (data_type, name) in nested {
            assert_eq!(type_name(&data_type), name);
            let inner = Box::new(data_type);
            let outer = DataType::Dictionary(Box::new(DataType::Int8), inner);
            assert_eq!(type_name(&outer), format!("dictionary of {name}"));
        }
        assert_eq!(type_name(&DataType::Float64), "Float64");
    }

    #[test]
    fn a_value_that_contradicts_its_type_has_no_text() {
        let damaged: Vec<ArrayRef> = vec![
            Arc::new(Date32Array::from(vec![i32::MAX])),
            Arc::new(Date64Array::from(vec![i64::MAX])),
            Arc::new(TimestampSecondArray::from(vec![i64::MAX])),
            Arc::new(Time32MillisecondArray::from(vec![-1])),
            Arc::new(Time64NanosecondArray::from(vec![DAY_MILLIS * 1_000_000])),
        ];
        for array in damaged {
            assert!(may_lack_text(array.data_type()), "{}", array.data_type());
            assert!(
                matches!(TextColumn::new(&array, CellForm::default()), Err(NoText::Damaged)),
                "{}",
                array.data_type()
            );
        }
        let bytes: ArrayRef = Arc::new(LargeBinaryArray::from(vec![&b"a"[..], b"a\xff"]));
        assert!(matches!(
            TextColumn::new(&bytes, CellForm::default()),
            Err(NoText::NotUtf8 { row: 1, byte: 1 })
        ));
    }
}
