//! `vat-eu`: VAT identification numbers of the European Union and the United Kingdom.
//!
//! The country, two letters, and the number without separators, in upper case. Every number has
//! check digits, and they are checked. Forms: European Commission, "VAT identification numbers"
//! (VIES, question 11); Council Directive 2006/112/EC, article 215. Greece is `EL`, and `GR` is
//! read as that. A number without its country is refused: that of another may look the same.
//!
//! The rules of Bulgaria, Cyprus, Czechia, Latvia and Lithuania are not here; their numbers are
//! refused.

use super::compact::{Compact, are_digits, digit, luhn, modulo_97, number, weighted};
use super::text::trimmed;
use crate::refusal::Refusal;

/// What a rule says of a number.
type Checked = Result<(), Refusal>;

pub(super) fn vat(cell: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let text = trimmed(cell);
    if text.is_empty() {
        return Ok(());
    }
    let read = Compact::<16>::read(&text, &['.', '/']).ok_or(Refusal::NotAVatNumber)?;
    let Some((country, number)) = read.text().split_at_checked(2) else {
        return Err(Refusal::NotAVatNumber);
    };
    if !country.iter().all(u8::is_ascii_uppercase) {
        return Err(Refusal::VatCountry);
    }
    let country = if country == b"GR" { b"EL".as_slice() } else { country };
    let start = out.len();
    out.extend_from_slice(country);
    if country == b"BE" && number.len() == BELGIAN_LEN - 1 {
        out.push(b'0');
    }
    out.extend_from_slice(number);
    check(country, &out[start + country.len()..])
}

fn check(country: &[u8], number: &[u8]) -> Checked {
    match country {
        b"AT" => austria(number),
        b"BE" => belgium(number),
        b"DE" => modulo_11_10(number, GERMAN_LEN),
        b"HR" => modulo_11_10(number, 11),
        b"DK" => denmark(number),
        b"EE" => simple(number, &[3, 7, 1, 3, 7, 1, 3, 7, 1], 10),
        b"EL" => greece(number),
        b"ES" => spain(number),
        b"FI" => simple(number, &[7, 9, 10, 5, 8, 4, 2, 1], 11),
        b"FR" => france(number),
        b"GB" | b"XI" => britain(number),
        b"HU" => simple(number, &[9, 7, 3, 1, 9, 7, 3, 1], 10),
        b"IE" => ireland(number),
        b"IT" => italy(number),
        b"LU" => luxembourg(number),
        b"MT" => malta(number),
        b"NL" => netherlands(number),
        b"PL" => poland(number),
        b"PT" => portugal(number),
        b"RO" => romania(number),
        b"SE" => sweden(number),
        b"SI" => slovenia(number),
        b"SK" => slovakia(number),
        _ => Err(Refusal::VatCountry),
    }
}

/// Requires exactly `len` digits.
fn digits(number: &[u8], len: usize) -> Checked {
    let are = number.len() == len && are_digits(number);
    if are { Ok(()) } else { Err(Refusal::NotAVatNumber) }
}

fn require(is_right: bool) -> Checked {
    if is_right { Ok(()) } else { Err(Refusal::CheckDigits) }
}

/// Digits whose weighted sum is a multiple of `modulus`, the check digit among them.
fn simple(number: &[u8], weights: &[u32], modulus: u32) -> Checked {
    digits(number, weights.len())?;
    require(weighted(number, weights).is_multiple_of(modulus))
}

/// Digits of a German number, the first not 0.
const GERMAN_LEN: usize = 9;

/// ISO 7064, MOD 11,10: Germany, Croatia.
fn modulo_11_10(number: &[u8], len: usize) -> Checked {
    digits(number, len)?;
    let product = number[..len - 1].iter().fold(10, |product, byte| {
        let sum = (digit(*byte) + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    let may_start = number[0] != b'0' || len != GERMAN_LEN;
    require(may_start && (product + digit(number[len - 1])) % 10 == 1)
}

/// `U` and eight digits, whose sum, every second one doubled, is a multiple of 10 with four added.
fn austria(number: &[u8]) -> Checked {
    let Some(number) = number.strip_prefix(b"U") else { return Err(Refusal::NotAVatNumber) };
    digits(number, 8)?;
    require((luhn(&number[..7]) + 4 + digit(number[7])).is_multiple_of(10))
}

/// Digits of a Belgian number. Those of nine digits, from before 2008, have a 0 in front since.
const BELGIAN_LEN: usize = 10;

/// The first digit is 0 or 1, and the last two are 97 less the remainder of the others.
fn belgium(text: &[u8]) -> Checked {
    digits(text, BELGIAN_LEN)?;
    if !matches!(text[0], b'0' | b'1') {
        return Err(Refusal::NotAVatNumber);
    }
    require(97 - number(&text[..8]) % 97 == number(&text[8..]))
}

/// Eight digits, the first not 0.
fn denmark(number: &[u8]) -> Checked {
    simple(number, &[2, 7, 6, 5, 4, 3, 2, 1], 11)?;
    require(number[0] != b'0')
}

/// Nine digits.
fn greece(number: &[u8]) -> Checked {
    digits(number, 9)?;
    let sum = weighted(number, &[256, 128, 64, 32, 16, 8, 4, 2]);
    require(sum % 11 % 10 == digit(number[8]))
}

/// The letters of the check of a Spanish person's number.
const SPANISH: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";

/// Nine characters: of a person (DNI) eight digits and a letter, of a foreigner (NIE) `X`, `Y` or
/// `Z` in place of the first, of a firm (CIF) a letter, seven digits and a digit or a letter.
fn spain(text: &[u8]) -> Checked {
    let ([first, middle @ .., last], 9) = (text, text.len()) else {
        return Err(Refusal::NotAVatNumber);
    };
    if !are_digits(middle) {
        return Err(Refusal::NotAVatNumber);
    }
    let of_person = |head: u64| {
        let letter = SPANISH[((head * 10_000_000 + number(middle)) % 23) as usize];
        if last.is_ascii_uppercase() {
            require(*last == letter)
        } else {
            Err(Refusal::NotAVatNumber)
        }
    };
    match first {
        b'0'..=b'9' => of_person(u64::from(digit(*first))),
        b'X' | b'Y' | b'Z' => of_person(u64::from(first - b'X')),
        b'K' | b'L' | b'M' => of_person(0),
        b'A'..=b'H' | b'J' | b'N' | b'P'..=b'S' | b'U' | b'V' | b'W' => {
            let mut with_check = [b'0'; 8];
            with_check[..7].copy_from_slice(middle);
            let check = (10 - luhn(&with_check) % 10) % 10;
            let (as_digit, as_letter) = (b'0' + check as u8, b"JABCDEFGHI"[check as usize]);
            // Sources disagree on which kinds of firms have a digit and which a letter.
            require(*last == as_digit || *last == as_letter)
        }
        _ => Err(Refusal::NotAVatNumber),
    }
}

/// Two characters and a SIREN of nine digits, whose last is Luhn's. Two digits are a remainder of
/// the SIREN modulo 97; with a letter among them, which is not I or O, the remainder is one modulo
/// 11. SIRENs of Monaco begin with 000 and have no check digit.
fn france(text: &[u8]) -> Checked {
    const KEYS: &[u8; 34] = b"0123456789ABCDEFGHJKLMNPQRSTUVWXYZ";
    let Some((key, siren)) = text.split_at_checked(2) else { return Err(Refusal::NotAVatNumber) };
    digits(siren, 9)?;
    let place = |byte: u8| KEYS.iter().position(|known| *known == byte).map(|at| at as u64);
    let (Some(first), Some(second)) = (place(key[0]), place(key[1])) else {
        return Err(Refusal::NotAVatNumber);
    };
    require(siren.starts_with(b"000") || luhn(siren).is_multiple_of(10))?;
    if are_digits(key) {
        return require((number(siren) * 100 + 12) % 97 == number(key));
    }
    let check = if first < 10 { first * 24 + second - 10 } else { first * 34 + second - 100 };
    require((number(siren) + 1 + check / 11) % 11 == check % 11)
}

/// Nine digits, or twelve with those of a branch: the weighted sum with the last two is a multiple
/// of 97, or 55 less than one. Numbers of departments (`GD`) and health authorities (`HA`) have no
/// check digits and are refused.
fn britain(text: &[u8]) -> Checked {
    digits(text, if text.len() == 12 { 12 } else { 9 })?;
    let rest = weighted(text, &[8, 7, 6, 5, 4, 3, 2, 10, 1]) % 97;
    // The second rule is for numbers from 2009 on, all above 100 million.
    require(rest == 0 || rest == 42 && text[0] != b'0')
}

/// Seven digits and a letter, or a second letter, `A` to `I` or `W`: the weighted sum modulo 23, of
/// which `W` is 0. In numbers of the old form the second character is a letter, `+` or `*`; they
/// are refused.
fn ireland(text: &[u8]) -> Checked {
    let (number, letter, more) = match text {
        [number @ .., letter] if text.len() == 8 => (number, *letter, 0),
        [number @ .., letter, more @ (b'A'..=b'I' | b'W')] if text.len() == 9 => {
            (number, *letter, if *more == b'W' { 0 } else { u32::from(more - b'A' + 1) })
        }
        _ => return Err(Refusal::NotAVatNumber),
    };
    digits(number, 7)?;
    let sum = weighted(number, &[8, 7, 6, 5, 4, 3, 2]) + 9 * more;
    require(b"WABCDEFGHIJKLMNOPQRSTUV"[(sum % 23) as usize] == letter)
}

/// Eleven digits, the last Luhn's; the eighth to tenth are the office, 001 to 100 or a few more.
fn italy(text: &[u8]) -> Checked {
    digits(text, 11)?;
    let is_office = matches!(number(&text[7..10]), 1..=100 | 120 | 121 | 888 | 999);
    require(luhn(text).is_multiple_of(10) && is_office && text[..7] != *b"0000000")
}

/// Eight digits, of which the last two are the remainder modulo 89.
fn luxembourg(text: &[u8]) -> Checked {
    digits(text, 8)?;
    require(number(&text[..6]) % 89 == number(&text[6..]))
}

/// Eight digits.
fn malta(text: &[u8]) -> Checked {
    digits(text, 8)?;
    let sum = u64::from(weighted(&text[..6], &[3, 4, 6, 7, 8, 9]));
    require(text[0] != b'0' && 37 - sum % 37 == number(&text[6..]))
}

/// Nine digits, `B` and two digits: the weighted sum modulo 11, or, of persons since 2020, ISO
/// 7064, MOD 97-10, of the whole with its country.
fn netherlands(text: &[u8]) -> Checked {
    let ([number @ .., b'B', a, b], 12) = (text, text.len()) else {
        return Err(Refusal::NotAVatNumber);
    };
    digits(number, 9)?;
    digits(&[*a, *b], 2)?;
    if [*a, *b] == *b"00" {
        return Err(Refusal::NotAVatNumber);
    }
    let is_old = weighted(number, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11 == digit(number[8]);
    let whole = b"NL".iter().chain(text).copied();
    require(is_old || modulo_97(whole) == 1)
}

/// Ten digits.
fn poland(number: &[u8]) -> Checked {
    digits(number, 10)?;
    require(weighted(number, &[6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 == digit(number[9]))
}

/// Nine digits, the first not 0.
fn portugal(number: &[u8]) -> Checked {
    digits(number, 9)?;
    let check = (11 - weighted(number, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 11 % 10;
    require(number[0] != b'0' && check == digit(number[8]))
}

/// Two to ten digits, the first not 0.
fn romania(text: &[u8]) -> Checked {
    if !(2..=10).contains(&text.len()) || !are_digits(text) || text[0] == b'0' {
        return Err(Refusal::NotAVatNumber);
    }
    let (number, check) = text.split_at(text.len() - 1);
    let weights = &[7, 5, 3, 2, 1, 7, 5, 3, 2][9 - number.len()..];
    require(weighted(number, weights) * 10 % 11 % 10 == digit(check[0]))
}

/// Ten digits, the last Luhn's, and 01.
fn sweden(text: &[u8]) -> Checked {
    digits(text, 12)?;
    require(text.ends_with(b"01") && luhn(&text[..10]).is_multiple_of(10))
}

/// Eight digits, the first not 0. Remainders that give 11 belong to no number.
fn slovenia(number: &[u8]) -> Checked {
    digits(number, 8)?;
    let check = 11 - weighted(number, &[8, 7, 6, 5, 4, 3, 2]) % 11;
    require(number[0] != b'0' && check != 11 && check % 10 == digit(number[7]))
}

/// Ten digits that make a multiple of 11: of a firm with 2, 3, 4, 7, 8 or 9 at the third place, of
/// a person the birth number, in which fifty is added to the months of women and may be twenty.
fn slovakia(text: &[u8]) -> Checked {
    digits(text, 10)?;
    let (month, day) = (number(&text[2..4]) % 50, number(&text[4..6]));
    let is_person = matches!(month, 1..=12 | 21..=32) && (1..=31).contains(&day);
    let is_firm = text[0] != b'0' && matches!(text[2], b'2'..=b'4' | b'7'..=b'9');
    require((is_firm || is_person) && number(text).is_multiple_of(11))
}
