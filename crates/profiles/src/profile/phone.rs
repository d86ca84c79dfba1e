//! `phone:<REGION>`: E.164 (ITU-T E.164), parsed by a port of Google's libphonenumber.
//!
//! A number starts with a digit, a plus or a parenthesis, optionally after `tel:`, and has no
//! letters. Its length must be possible in its country. Whether its range is in use is not checked:
//! ranges open every month, and two parties with different releases of the metadata must not
//! disagree about which rows have a key.
//!
//! Two questions have no other answer than the ranges: whether the first digits of a number without
//! a plus are a country code ([`without_plus`]), and whether a cell holds two numbers
//! ([`spelling`]). There the answer depends on the release, so the version of the profile is tied
//! to one release of the library, which `Cargo.toml` names exactly: another release raises the
//! version.

mod region;
mod spelling;

pub(super) use region::Region;

use super::text::trimmed;
use crate::refusal::Refusal;
use region::{is_plus, is_possible};
use rlibphonenumber::{PHONE_NUMBER_UTIL, PhoneNumber, PhoneNumberFormat};

/// Longest accepted text; every written form of a number is shorter.
const TEXT_MAX_BYTES: usize = 250;

/// RFC 3966.
const URI_SCHEME: &str = "tel:";

pub(super) fn e164(cell: &[u8], region: Region, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let text = trimmed(cell);
    if text.is_empty() {
        return Ok(());
    }
    if text.len() > TEXT_MAX_BYTES {
        return Err(Refusal::NotAPhone);
    }
    let number = match text.get(..URI_SCHEME.len()) {
        Some(scheme) if scheme.eq_ignore_ascii_case(URI_SCHEME) => &text[URI_SCHEME.len()..],
        _ => &text,
    };
    if spelling::is_decimal(number) {
        return Err(Refusal::DecimalNumber);
    }
    // The library would search for a number inside any text, and map letters as on a keypad.
    let starts = |c: char| c.is_numeric() || is_plus(c) || matches!(c, '(' | '\u{ff08}');
    if !number.starts_with(starts) {
        return Err(Refusal::NotAPhone);
    }
    let parsed = PHONE_NUMBER_UTIL.parse(number, Some(region.0)).map_err(|_| Refusal::NotAPhone);
    if let Ok(PhoneNumber { extension: Some(extension), .. }) = &parsed
        && !extension.is_empty()
    {
        return Err(Refusal::PhoneExtension);
    }
    if number.contains(char::is_alphabetic) {
        return Err(Refusal::NotAPhone);
    }
    if spelling::holds_two(number, region) {
        return Err(Refusal::TwoPhones);
    }
    let read = without_plus(number, region, parsed?)?;
    if !is_possible(&read) {
        return Err(Refusal::ImpossiblePhone);
    }
    let written = read.format_as(PhoneNumberFormat::E164);
    // Superfluous zeros can survive one parse and not the next. A party that already holds the
    // number in E.164 must get the same value.
    match PHONE_NUMBER_UTIL.parse(&*written, None) {
        Ok(again) if again.format_as(PhoneNumberFormat::E164) == written => {}
        _ => return Err(Refusal::ImpossiblePhone),
    }
    out.extend_from_slice(written.as_bytes());
    Ok(())
}

/// The number that `text` means, which the library has `read` as one of `region`.
///
/// Without a plus, the digits may have another reading: the country code of the region may stand
/// before them, or `00`, which is dialled before a country code in most regions but not in all. If
/// the other reading has a possible length, or the first digits are `00`, the ranges decide: one of
/// the two must be valid.
fn without_plus(text: &str, region: Region, read: PhoneNumber) -> Result<PhoneNumber, Refusal> {
    if text.contains(is_plus) {
        return Ok(read);
    }
    let digits = PHONE_NUMBER_UTIL.normalize_digits_only(text);
    let code = PHONE_NUMBER_UTIL.get_country_code_for_region(region.0).unwrap_or_default();
    let is_dialled = digits.starts_with("00");
    if !is_dialled && !digits.starts_with(&code.to_string()) {
        return Ok(read);
    }
    let international = if is_dialled { &digits["00".len()..] } else { &digits };
    let other = PHONE_NUMBER_UTIL.parse(format!("+{international}"), None).ok();
    let other = other.filter(is_possible);
    let is = |read: &PhoneNumber, other: &PhoneNumber| {
        read.format_as(PhoneNumberFormat::E164) == other.format_as(PhoneNumberFormat::E164)
    };
    let Some(other) = other else {
        // No number of a region begins with `00`, but for a few free ones.
        return if !is_dialled || read.is_valid() {
            Ok(read)
        } else {
            Err(Refusal::ImpossiblePhone)
        };
    };
    let mut read = read;
    if is(&read, &other) {
        // The library has removed a country code, by what it knows of the region. Regions that
        // share the code have other numbers.
        match PHONE_NUMBER_UTIL.parse(format!("+{code}{digits}"), None) {
            Ok(national) if !is_dialled && national.is_valid() => read = national,
            _ => return Ok(read),
        }
    }
    if is(&read, &other) {
        return Ok(read);
    }
    match (read.is_valid(), other.is_valid()) {
        (true, false) => Ok(read),
        (false, true) => Ok(other),
        _ if is_possible(&read) => Err(Refusal::AmbiguousPhone),
        _ => Err(Refusal::ImpossiblePhone),
    }
}
