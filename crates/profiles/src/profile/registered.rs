//! `ssn-us`, `nhs`, `iban` and `lei`: numbers that registers give to people, accounts and firms.

use super::compact::{Compact, are_digits, digit, modulo_97, weighted};
use super::text::trimmed;
use crate::refusal::Refusal;

/// Social Security numbers that were printed in advertisements and are given to no person.
const ADVERTISED: [&[u8]; 3] = [b"078051120", b"219099999", b"457555462"];

/// A Social Security number of the United States: nine digits, in groups of three, two and four.
///
/// The first group is not 000, 666 or above 899, the second not 00, the third not 0000 (Social
/// Security Administration, "Social Security Number Randomization", 2011; 20 CFR 422.103). There is
/// no check digit.
pub(super) fn ssn_us(cell: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let text = trimmed(cell);
    if text.is_empty() {
        return Ok(());
    }
    let read = Compact::<9>::read(&text, &[]).ok_or(Refusal::NotAnSsn)?;
    let digits = read.text();
    if digits.len() != 9 || !are_digits(digits) || !read.has_separators_at(&[3, 5]) {
        return Err(Refusal::NotAnSsn);
    }
    let is_given = !matches!(digits, [b'0', b'0', b'0', ..] | [b'6', b'6', b'6', ..] | [b'9', ..])
        && digits[3..5] != *b"00"
        && digits[5..] != *b"0000"
        && !ADVERTISED.contains(&digits);
    if !is_given {
        return Err(Refusal::NeverIssued);
    }
    out.extend_from_slice(digits);
    Ok(())
}

/// An NHS number of the United Kingdom: ten digits, the last of them the check digit modulo 11 (NHS
/// Data Model and Dictionary, "NHS NUMBER").
///
/// A number of ten equal digits has a right check digit and is a placeholder.
pub(super) fn nhs(cell: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let text = trimmed(cell);
    if text.is_empty() {
        return Ok(());
    }
    let read = Compact::<10>::read(&text, &[]).ok_or(Refusal::NotAnNhsNumber)?;
    let digits = read.text();
    if digits.len() != 10 || !are_digits(digits) {
        return Err(Refusal::NotAnNhsNumber);
    }
    // 11 minus the remainder; 11 counts as 0, and 10 is no digit.
    let sum = weighted(&digits[..9], &[10, 9, 8, 7, 6, 5, 4, 3, 2]);
    if !(sum + digit(digits[9])).is_multiple_of(11) {
        return Err(Refusal::CheckDigits);
    }
    if digits.iter().all(|digit| *digit == digits[0]) {
        return Err(Refusal::NeverIssued);
    }
    out.extend_from_slice(digits);
    Ok(())
}

/// The countries of the IBAN registry (ISO 13616-2, kept by SWIFT) and the lengths of their IBANs.
const IBANS: &str = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 \
                     CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 \
                     GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 \
                     LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 \
                     NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 \
                     SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30 ";

/// Bytes of a row of [`IBANS`], with the blank.
const IBAN_ROW: usize = 5;

/// The length of the IBANs of a country.
fn iban_len(country: &[u8]) -> Option<usize> {
    let row = IBANS.as_bytes().chunks_exact(IBAN_ROW).find(|row| row[..2] == *country)?;
    Some((digit(row[2]) * 10 + digit(row[3])) as usize)
}

/// An international bank account number: two letters, two check digits and the account, in upper
/// case without blanks. The check digits are those of ISO 7064, MOD 97-10, from 02 to 98.
pub(super) fn iban(cell: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let text = trimmed(cell);
    if text.is_empty() {
        return Ok(());
    }
    let read = Compact::<38>::read(&text, &[':']).ok_or(Refusal::NotAnIban)?;
    // No country has the code IB.
    let iban = read.text().strip_prefix(b"IBAN").unwrap_or(read.text());
    if text.contains(':') && iban.len() == read.text().len() {
        return Err(Refusal::NotAnIban);
    }
    let [a, b, c, d, account @ ..] = iban else { return Err(Refusal::NotAnIban) };
    if iban_len(&[*a, *b]) != Some(iban.len()) || !are_digits(&[*c, *d]) {
        return Err(Refusal::NotAnIban);
    }
    let checked = account.iter().chain([a, b, c, d]).copied();
    if !has_check_digits(*c, *d) || modulo_97(checked) != 1 {
        return Err(Refusal::CheckDigits);
    }
    out.extend_from_slice(iban);
    Ok(())
}

/// A legal entity identifier (ISO 17442): 18 letters and digits and two check digits of ISO 7064,
/// MOD 97-10, in upper case.
pub(super) fn lei(cell: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let text = trimmed(cell);
    if text.is_empty() {
        return Ok(());
    }
    let read = Compact::<20>::read(&text, &[]).ok_or(Refusal::NotAnLei)?;
    let lei = read.text();
    if lei.len() != 20 || !are_digits(&lei[18..]) {
        return Err(Refusal::NotAnLei);
    }
    if !has_check_digits(lei[18], lei[19]) || modulo_97(lei.iter().copied()) != 1 {
        return Err(Refusal::CheckDigits);
    }
    out.extend_from_slice(lei);
    Ok(())
}

/// Whether the check digits are among those that MOD 97-10 computes, 02 to 98: 00, 01 and 99 have
/// the remainders of 97, 98 and 02.
fn has_check_digits(tens: u8, ones: u8) -> bool {
    (2..=98).contains(&(digit(tens) * 10 + digit(ones)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_of_ibans_is_sorted_and_complete() {
        let rows: Vec<&str> = IBANS.split_ascii_whitespace().collect();
        assert_eq!(rows.len(), 89);
        assert!(rows.is_sorted());
        assert!(rows.iter().all(|row| row.len() == IBAN_ROW - 1));
        assert_eq!((iban_len(b"NO"), iban_len(b"MT"), iban_len(b"US")), (Some(15), Some(31), None));
    }
}
