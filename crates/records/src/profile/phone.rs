//! `phone:<REGION>`: E.164 (ITU-T E.164), parsed by a port of Google's libphonenumber.
//!
//! A number starts with a digit, a plus or a parenthesis, optionally after `tel:`, and has no letters.
//! Its length must be possible in its country. Whether its range is in use is not checked: ranges open
//! every month, and two parties with different releases of the metadata must not disagree about which
//! rows have a key.

use super::Refusal;
use super::text::trimmed;
use rlibphonenumber::{NumberLengthType, PHONE_NUMBER_UTIL, PhoneNumberFormat};
use std::fmt;

/// Longest accepted text; every written form of a number is shorter.
const TEXT_MAX_BYTES: usize = 250;

/// RFC 3966.
const URI_SCHEME: &str = "tel:";

/// A region of ISO 3166-1 that has a numbering plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Region(rlibphonenumber::Region);

impl Region {
    /// From two capital letters.
    pub(super) fn new(code: &str) -> Option<Self> {
        if code.len() != 2 || !code.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return None;
        }
        let region = rlibphonenumber::Region::try_from(code).ok()?;
        PHONE_NUMBER_UTIL.get_country_code_for_region(region).map(|_| Self(region))
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.as_region_str())
    }
}

pub(super) fn e164(cell: &[u8], region: Region, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let text = trimmed(cell);
    if text.is_empty() {
        return Ok(());
    }
    if text.len() > TEXT_MAX_BYTES {
        return Err(Refusal::NotAPhone);
    }
    // The library would search for a number inside any text, and map letters as on a keypad.
    let starts = |c: char| c.is_numeric() || matches!(c, '+' | '\u{ff0b}' | '(' | '\u{ff08}');
    let number = match text.get(..URI_SCHEME.len()) {
        Some(scheme) if scheme.eq_ignore_ascii_case(URI_SCHEME) => &text[URI_SCHEME.len()..],
        _ => &text,
    };
    if !number.starts_with(starts) {
        return Err(Refusal::NotAPhone);
    }
    let parsed = PHONE_NUMBER_UTIL.parse(number, Some(region.0)).map_err(|_| Refusal::NotAPhone)?;
    if parsed.extension.as_ref().is_some_and(|extension| !extension.is_empty()) {
        return Err(Refusal::PhoneExtension);
    }
    if number.contains(char::is_alphabetic) {
        return Err(Refusal::NotAPhone);
    }
    let Ok(NumberLengthType::IsPossible) = parsed.is_possible_with_reason() else {
        return Err(Refusal::ImpossiblePhone);
    };
    let written = parsed.format_as(PhoneNumberFormat::E164);
    // Superfluous zeros can survive one parse and not the next. A party that already holds the number
    // in E.164 must get the same value.
    match PHONE_NUMBER_UTIL.parse(&*written, None) {
        Ok(again) if again.format_as(PhoneNumberFormat::E164) == written => {}
        _ => return Err(Refusal::ImpossiblePhone),
    }
    out.extend_from_slice(written.as_bytes());
    Ok(())
}
