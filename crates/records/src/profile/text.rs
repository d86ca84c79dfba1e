//! `trim` and `lower`, and the text rules shared by the other profiles.

use super::Refusal;
use icu_normalizer::ComposingNormalizerBorrowed;
use std::borrow::Cow;

/// Blanks below U+0080: tab, line feed, vertical tab, form feed, carriage return, space.
pub(super) fn is_ascii_blank(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// White space, and zero-width characters that copying leaves at the ends of a value: the zero-width
/// space, the byte order mark, and Unicode's `Bidi_Control`, which spreadsheets and chats put around
/// numbers and addresses.
fn is_blank(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\u{200b}' | '\u{feff}')
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// An ASCII cell without blanks at its ends; `None` if it is not ASCII.
#[inline]
pub(super) fn trimmed_ascii(cell: &[u8]) -> Option<&[u8]> {
    if !cell.is_ascii() {
        return None;
    }
    let mut cell = cell;
    while let [first, rest @ ..] = cell
        && is_ascii_blank(*first)
    {
        cell = rest;
    }
    while let [rest @ .., last] = cell
        && is_ascii_blank(*last)
    {
        cell = rest;
    }
    Some(cell)
}

/// A cell without blanks at its ends, as text. Readers return only valid UTF-8; other bytes would
/// become U+FFFD.
pub(crate) fn trimmed(cell: &[u8]) -> Cow<'_, str> {
    match String::from_utf8_lossy(cell) {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_matches(is_blank)),
        Cow::Owned(text) => Cow::Owned(text.trim_matches(is_blank).to_string()),
    }
}

/// Unicode normalisation form C.
pub(super) fn form_c(text: &str) -> Cow<'_, str> {
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
}

/// Trimmed, form C, lower case (full mapping), form C again: lower-casing can undo it.
pub(super) fn lower_case(cell: &[u8]) -> String {
    form_c(&form_c(&trimmed(cell)).to_lowercase()).into_owned()
}

#[inline]
pub(super) fn trim(cell: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    match trimmed_ascii(cell) {
        Some(ascii) => out.extend_from_slice(ascii),
        None => out.extend_from_slice(form_c(&trimmed(cell)).as_bytes()),
    }
    Ok(())
}

#[inline]
pub(super) fn lower(cell: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    match trimmed_ascii(cell) {
        Some(ascii) => {
            let start = out.len();
            out.extend_from_slice(ascii);
            out[start..].make_ascii_lowercase();
        }
        None => out.extend_from_slice(lower_case(cell).as_bytes()),
    }
    Ok(())
}
