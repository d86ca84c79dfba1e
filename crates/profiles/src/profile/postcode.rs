//! `postcode:<COUNTRY>`: postal codes in the form in which a country writes them.
//!
//! Upper case, with the separator that the country's post prints. A blank or a hyphen at its place
//! may be left out or be the other, and there may be a country code before the digits: `D-10115`,
//! `PL 00-950`. Codes that lost a leading zero are refused (`1067` for Dresden): which digits are
//! missing is not certain.
//!
//! Forms and ranges: Universal Postal Union, "Postal addressing systems", and the posts named in
//! [`COUNTRIES`].

use super::compact::{are_digits, is_separator, number};
use super::text::trimmed;
use crate::refusal::Refusal;
use std::fmt;

/// A country and the form of its postcodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Country {
    /// Its place in [`COUNTRIES`].
    row: u8,
}

struct Row {
    /// ISO 3166-1.
    code: &'static str,
    /// What the vehicles of the country have, as people write it before a code (`D-10115`).
    vehicles: &'static str,
    /// `9` is a digit, `A` a letter, `X` either; a blank or a hyphen is printed, `~` is not.
    form: &'static str,
    /// The lowest and highest number that the digits make, for codes of digits alone.
    range: (u64, u64),
}

const fn row(
    code: &'static str,
    vehicles: &'static str,
    form: &'static str,
    range: (u64, u64),
) -> Row {
    Row { code, vehicles, form, range }
}

/// All codes: for forms with letters.
const ANY: (u64, u64) = (0, u64::MAX);

const COUNTRIES: [Row; 29] = [
    row("AT", "A", "9999", (1000, 9999)),
    // Australia Post; 0200 is the Australian National University.
    row("AU", "", "9999", (200, 9999)),
    row("BE", "B", "9999", (1000, 9999)),
    row("BR", "", "99999-999", (1_000_000, 99_999_999)),
    // Canada Post: no D, F, I, O, Q or U, and neither W nor Z first.
    row("CA", "", "A9A 9A9", ANY),
    // With Liechtenstein.
    row("CH", "", "9999", (1000, 9999)),
    row("CZ", "", "999 99", (10_000, 79_999)),
    row("DE", "D", "99999", (1001, 99_998)),
    row("DK", "DK", "9999", (500, 9999)),
    // The first two digits are the province, 01 to 52.
    row("ES", "E", "99999", (1000, 52_999)),
    row("FI", "FIN", "99999", (2, 99_999)),
    // The first two digits are the department; 98 is overseas.
    row("FR", "F", "99999", (1000, 98_999)),
    row("GB", "", "", ANY),
    // Eircode: a routing key, `D6W` the one with a letter at its end, and four characters.
    row("IE", "", "A9X XXXX", ANY),
    row("IN", "", "999~999", (100_000, 999_999)),
    row("IT", "I", "99999", (10, 98_168)),
    row("JP", "", "999-9999", (10_000, 9_999_999)),
    row("LT", "", "99999", (1, 99_999)),
    row("LU", "L", "9999", (1000, 9999)),
    row("LV", "", "9999", (1000, 9999)),
    // PostNL: no zero first, and neither SA, SD nor SS.
    row("NL", "", "9999 AA", ANY),
    row("NO", "N", "9999", (1, 9999)),
    row("NZ", "", "9999", (100, 9999)),
    row("PL", "", "99-999", (1, 99_999)),
    row("PT", "P", "9999-999", (1_000_000, 9_999_999)),
    row("SE", "S", "999 99", (10_000, 99_999)),
    row("SI", "", "9999", (1000, 9999)),
    row("SK", "", "999 99", (1, 99_999)),
    // The ZIP code; of ZIP+4 its first five digits.
    row("US", "", "99999", (501, 99_950)),
];

impl Country {
    /// The country of a code of two capital letters, if its postcodes are known.
    pub(super) fn new(code: &str) -> Option<Self> {
        let at = COUNTRIES.iter().position(|row| row.code == code)?;
        Some(Self { row: at as u8 })
    }

    fn row(self) -> &'static Row {
        &COUNTRIES[usize::from(self.row)]
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().code)
    }
}

/// Longest text that is read: a country, a code and separators.
const TEXT_MAX_BYTES: usize = 20;

pub(super) fn postcode(cell: &[u8], country: Country, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let text = trimmed(cell);
    if text.is_empty() {
        return Ok(());
    }
    let mut room = [0; TEXT_MAX_BYTES];
    let start = out.len();
    let row = country.row();
    let is_one = plain(&text, &mut room).is_some_and(|text| match row.code {
        "GB" => push_british(text, out),
        "US" => push_zip(without_country(text, row), row, out),
        _ if row.form.starts_with('9') => push_form(without_country(text, row), row, out),
        _ => push_form(text, row, out),
    });
    if is_one && has_its_letters(row.code, &out[start..]) {
        return Ok(());
    }
    Err(Refusal::NotAPostcode)
}

/// `text` in upper case, its blanks as spaces and its dashes as hyphens; `None` if another
/// character than a letter or a digit is in it, or too many are.
fn plain<'a>(text: &str, room: &'a mut [u8; TEXT_MAX_BYTES]) -> Option<&'a [u8]> {
    let mut len = 0;
    for c in text.chars() {
        *room.get_mut(len)? = match c {
            'A'..='Z' | '0'..='9' => c as u8,
            'a'..='z' => c.to_ascii_uppercase() as u8,
            '\u{ff10}'..='\u{ff19}' => b'0' + (c as u32 - 0xff10) as u8,
            _ if c.is_whitespace() => b' ',
            _ if is_separator(c) => b'-',
            _ => return None,
        };
        len += 1;
    }
    Some(&room[..len])
}

/// A code of digits without the country before it.
fn without_country<'a>(text: &'a [u8], row: &Row) -> &'a [u8] {
    let vehicles = text.strip_prefix(row.vehicles.as_bytes());
    if let Some(rest) = vehicles.and_then(|rest| rest.strip_prefix(b"-"))
        && !row.vehicles.is_empty()
    {
        return rest;
    }
    let Some(rest) = text.strip_prefix(row.code.as_bytes()) else { return text };
    rest.strip_prefix(b"-").or(rest.strip_prefix(b" ")).unwrap_or(rest)
}

/// Appends a text of the row's form; false if it is of another.
fn push_form(text: &[u8], row: &Row, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let mut rest = text;
    for part in row.form.bytes() {
        if matches!(part, b' ' | b'-' | b'~') {
            if let [b' ' | b'-', after @ ..] = rest {
                rest = after;
            }
            if part != b'~' {
                out.push(part);
            }
            continue;
        }
        let [byte, after @ ..] = rest else { return false };
        let fits = match part {
            b'9' => byte.is_ascii_digit(),
            b'A' => byte.is_ascii_uppercase(),
            _ => byte.is_ascii_alphanumeric(),
        };
        if !fits {
            return false;
        }
        out.push(*byte);
        rest = after;
    }
    let digits = out[start..].iter().filter(|byte| byte.is_ascii_digit());
    let value = digits.fold(0, |value, byte| value * 10 + number(&[*byte]));
    rest.is_empty() && (row.range.0..=row.range.1).contains(&value)
}

/// What the form of a code does not say.
fn has_its_letters(country: &str, code: &[u8]) -> bool {
    let letters = || code.iter().filter(|byte| byte.is_ascii_uppercase());
    match country {
        "CA" => {
            !letters().any(|letter| b"DFIOQU".contains(letter)) && !matches!(code[0], b'W' | b'Z')
        }
        "IE" => {
            let is_known = |letter: &u8| b"ACDEFHKNPRTVWXY".contains(letter);
            letters().all(is_known) && (code[2].is_ascii_digit() || code.starts_with(b"D6W"))
        }
        "NL" => code[0] != b'0' && !matches!(&code[5..], b"SA" | b"SD" | b"SS"),
        _ => true,
    }
}

/// A ZIP code, of ZIP+4 only its first part: it is the same place, and fewer lists have the rest.
fn push_zip(text: &[u8], row: &Row, out: &mut Vec<u8>) -> bool {
    let zip = match text.split_at_checked(5) {
        Some((zip, [])) => zip,
        Some((zip, [b'-' | b' ', more @ ..] | more)) if more.len() == 4 && are_digits(more) => zip,
        _ => return false,
    };
    push_form(zip, row, out)
}

/// A postcode of the United Kingdom, of Jersey, Guernsey or the Isle of Man: an outward code of two
/// to four characters, a blank, and a digit with two letters (BS 7666; Royal Mail, "Programmers'
/// guide to PAF"). In the outward code Q, V and X are not first, I, J and Z not second; the inward
/// code has no C, I, K, M, O or V.
fn push_british(text: &[u8], out: &mut Vec<u8>) -> bool {
    let Some((outward, inward)) = text.split_at_checked(text.len().saturating_sub(3)) else {
        return false;
    };
    let outward = outward.trim_ascii_end();
    let outward = outward.strip_suffix(b"-").unwrap_or(outward);
    let is_inward = matches!(inward, [b'0'..=b'9', rest @ ..]
        if rest.iter().all(|byte| byte.is_ascii_uppercase() && !b"CIKMOV".contains(byte)));
    let (area, district) =
        outward.split_at(outward.iter().take_while(|byte| byte.is_ascii_uppercase()).count());
    let is_area = match area {
        [first] => !b"QVX".contains(first),
        [first, second] => !b"QVX".contains(first) && !b"IJZ".contains(second),
        _ => false,
    };
    let is_district = match district {
        [first] => first.is_ascii_digit(),
        [first, second] => first.is_ascii_digit() && second.is_ascii_alphanumeric(),
        _ => false,
    };
    // Once of the Girobank, and still in the tables.
    let is_girobank = outward == b"GIR" && inward == b"0AA";
    if !(is_girobank || is_inward && is_area && is_district) {
        return false;
    }
    out.extend_from_slice(outward);
    out.push(b' ');
    out.extend_from_slice(inward);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_are_sorted_and_their_codes_are_unique() {
        assert!(COUNTRIES.is_sorted_by(|a, b| a.code < b.code));
        for row in &COUNTRIES {
            assert_eq!(Country::new(row.code).unwrap().to_string(), row.code);
        }
        for unknown in ["", "de", "UK", "XX", "DEU"] {
            assert_eq!(Country::new(unknown), None);
        }
    }
}
