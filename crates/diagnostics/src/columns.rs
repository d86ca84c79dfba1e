//! Typed columns that cannot be used, of Parquet files and frames.

use crate::{Message, Speech};
use vesica_tables::InputError;

/// A column whose type, or what it holds, cannot be read as the agreement or the result asks.
pub(crate) fn unusable(error: &InputError, say: Speech) -> Message {
    match error {
        InputError::UnsupportedKeyType { path, column, type_name } if type_name == "struct" => {
            Message::here(
                format!("{}: column {column:?} is a struct and cannot be a key", path.display()),
                format!("name one of its fields, for example {:?}", format!("{column}.email")),
            )
        }
        InputError::UnsupportedKeyType { path, column, type_name } => Message::here(
            format!("{}: column {column:?} of type {type_name} cannot be a key", path.display()),
            say.either(
                "export the column as text, a whole number, a decimal or a date",
                "make the column text, whole numbers, decimals or dates",
            ),
        ),
        InputError::DayWithTimeZone { path, column } => Message::here(
            format!(
                "{}: column {column:?} has times with a time zone, and the day of such a time \
                 depends on the zone",
                path.display()
            ),
            "make dates of them, in the zone of the people or events that they belong to",
        ),
        InputError::SixteenBytes { path, column } => Message::here(
            format!(
                "{}: column {column:?} has 16 bytes in each cell, which the profile cannot compare \
                 with text",
                path.display()
            ),
            "if they are UUIDs, agree on the profile uuid; if they are MD5 digests, on hex:md5; \
             otherwise make text of them",
        ),
        InputError::TimestampRange { path, column } => Message::here(
            format!(
                "{}: column {column:?} has INT96 timestamps that no unit of 64 bits holds together",
                path.display()
            ),
            "some have parts of a microsecond, others are before 1677 or after 2262: round them to \
             microseconds, or write the column as text",
        ),
        InputError::UnsupportedValueType { path, column, type_name } => Message::here(
            format!(
                "{}: column {column:?} of type {type_name} does not hold whole numbers",
                path.display()
            ),
            say.either(
                "export the column as whole numbers, or as text",
                "make the column whole numbers, or text",
            ),
        ),
        error => Message::here(error.to_string(), "make text of the column"),
    }
}
