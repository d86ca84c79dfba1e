//! `phone:<REGION>`: E.164 (ITU-T E.164), read by a port of Google's libphonenumber.
//!
//! A number is taken if its length is possible in its country. Whether its range is in use is
//! not asked: ranges open every month, and two parties with different releases of the metadata
//! must not disagree about who has a key.

use super::Refusal;
use super::text::trimmed;
use rlibphonenumber::{NumberLengthType, PHONE_NUMBER_UTIL, PhoneNumberFormat};
use std::fmt;

/// Longest text tried; every written form of a number is shorter.
const TEXT_MAX_BYTES: usize = 250;

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
    // The library would look for a number inside any text.
    let starts = |c: char| c.is_numeric() || matches!(c, '+' | '\u{ff0b}' | '(' | '\u{ff08}');
    let is_uri = text.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("tel:"));
    if !text.starts_with(starts) && !is_uri {
        return Err(Refusal::NotAPhone);
    }
    let number = PHONE_NUMBER_UTIL.parse(&*text, Some(region.0)).map_err(|_| Refusal::NotAPhone)?;
    if number.extension.as_ref().is_some_and(|extension| !extension.is_empty()) {
        return Err(Refusal::PhoneExtension);
    }
    match number.is_possible_with_reason() {
        Ok(NumberLengthType::IsPossible) => {}
        _ => return Err(Refusal::ImpossiblePhone),
    }
    out.extend_from_slice(number.format_as(PhoneNumberFormat::E164).as_bytes());
    Ok(())
}
