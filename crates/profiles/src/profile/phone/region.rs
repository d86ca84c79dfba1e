//! Regions, and which numbers they can have.

use rlibphonenumber::{NumberLengthType, PHONE_NUMBER_UTIL, PhoneNumber, PhoneNumberFormat};
use std::fmt;

/// Most digits of a number, with its country code (E.164, section 6.1).
const DIGITS_MAX: usize = 15;

/// A region of ISO 3166-1 that has a numbering plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::profile) struct Region(pub(super) rlibphonenumber::Region);

impl Region {
    /// From two capital letters.
    pub(in crate::profile) fn new(code: &str) -> Option<Self> {
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

pub(super) fn is_plus(c: char) -> bool {
    matches!(c, '+' | '\u{ff0b}')
}

/// Whether a number has a length that its country has, and at most the digits that E.164 has.
pub(super) fn is_possible(number: &PhoneNumber) -> bool {
    matches!(number.is_possible_with_reason(), Ok(NumberLengthType::IsPossible))
        && number.format_as(PhoneNumberFormat::E164).len() <= "+".len() + DIGITS_MAX
}
