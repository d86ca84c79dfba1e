//! `trim` and `lower`, and the text rules shared by the other profiles.

use crate::refusal::Refusal;
use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::props::DefaultIgnorableCodePoint;
use icu_properties::{CodePointSetData, CodePointSetDataBorrowed};
use std::borrow::Cow;

/// Blanks below U+0080: tab, line feed, vertical tab, form feed, carriage return, space.
pub(super) fn is_ascii_blank(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// Whether `c` has Unicode's `Default_Ignorable_Code_Point` property: zero-width spaces and
/// joiners, soft hyphens, marks of writing direction, variation selectors, fillers, tags. None is
/// below U+00AD.
pub(super) fn is_ignorable(c: char) -> bool {
    const IGNORABLE: CodePointSetDataBorrowed<'static> =
        CodePointSetData::new::<DefaultIgnorableCodePoint>();
    c >= '\u{ad}' && IGNORABLE.contains(c)
}

/// Whether `c` joins the letters at its sides, or keeps them from joining.
pub(super) fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// The value that a spreadsheet shows for a cell without blanks at its ends: the inside of
/// `="00123"`, which has no quote in it; and `'00123` without its apostrophe, where a digit, `+`,
/// `-`, `=` or `@` follows and no other apostrophe, so that `'t Hooft` and `'quoted'` stay.
#[cold]
fn shown(cell: &str) -> &str {
    let mut cell = cell;
    loop {
        let inside = cell.strip_prefix("=\"").and_then(|rest| rest.strip_suffix('"'));
        let inside = inside.filter(|inside| !inside.contains('"'));
        let marked = cell.strip_prefix('\'').filter(|rest| match rest.as_bytes() {
            // Another character may combine with the sign, as to `≠`.
            [b'=', next, ..] if !next.is_ascii() => false,
            [b'0'..=b'9' | b'+' | b'-' | b'=' | b'@', ..] => !rest.contains('\''),
            _ => false,
        });
        match inside.or(marked) {
            Some(text) => cell = text.trim(),
            None => return cell,
        }
    }
}

/// An ASCII cell as [`trimmed`] gives it; `None` if it is not ASCII.
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
    if let [b'=' | b'\'', ..] = cell {
        cell = str::from_utf8(cell).map_or(cell, |text| shown(text).as_bytes());
    }
    Some(cell)
}

/// A cell as text: without invisible characters, without blanks at its ends, and as a spreadsheet
/// shows it.
///
/// Readers return only valid UTF-8; other bytes would become U+FFFD.
pub fn trimmed(cell: &[u8]) -> Cow<'_, str> {
    trimmed_but(cell, |_| false)
}

/// [`trimmed`], with the ignorable characters that are `kept`.
pub(super) fn trimmed_but(cell: &[u8], kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_dropped = |c: char| is_ignorable(c) && !kept(c);
    match String::from_utf8_lossy(cell) {
        Cow::Borrowed(text) if !text.contains(is_dropped) => Cow::Borrowed(shown(text.trim())),
        text => Cow::Owned(shown(text.replace(is_dropped, "").trim()).to_owned()),
    }
}

/// Unicode normalisation form C.
pub(crate) fn form_c(text: &str) -> Cow<'_, str> {
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
}

/// Trimmed, in lower case.
pub(super) fn lower_case(cell: &[u8]) -> String {
    lower_form(&trimmed(cell))
}

/// Form C, lower case (full mapping), form C again: lower-casing can undo it.
pub(super) fn lower_form(text: &str) -> String {
    form_c(&form_c(text).to_lowercase()).into_owned()
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
