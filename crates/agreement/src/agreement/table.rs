//! The tables of an agreement, and the faults of the words in them.

use super::error::{AgreementError, AgreementFault, TextFault};
use vesica_link::PublicIdentity;
pub(crate) use vesica_strict_toml::{At, Field, nearest};

/// One table of an agreement.
pub(crate) type Table<'a> = vesica_strict_toml::Table<'a, AgreementFault>;

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

/// The identity in the table's field of that name.
pub(super) fn identity(table: &Table<'_>) -> Result<At<PublicIdentity>, AgreementError> {
    let At { value, span, field } = table.required("identity", Table::text)?;
    match value.parse() {
        Ok(value) => Ok(At { value, span, field }),
        Err(cause) => Err(table.error(span, AgreementFault::BadIdentity { field, cause })),
    }
}
