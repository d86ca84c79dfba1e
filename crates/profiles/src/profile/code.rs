//! `digits` and `hex`: identifiers, and values hashed beforehand.

use super::base64;
use super::text::trimmed;
use crate::refusal::Refusal;
use std::fmt;

/// Digits without their separators. Full-width digits count as digits.
///
/// Blanks, hyphens and dashes, dots, commas, slashes, parentheses, apostrophes and underscores are
/// separators, unless they make a decimal number: dropping its point would make `12.5` and `125`
/// equal. A decimal number has both a point and a comma, such as `1.234,50`; or one of them alone,
/// as its last separator, before at most two digits, with only thousands separators before it, such
/// as `12.5` or `1 234,50`; or before zeros alone that are no group of thousands, such as
/// `12345.000`.
pub(super) fn digits(cell: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    if !cell.is_empty() && cell.iter().all(u8::is_ascii_digit) {
        out.extend_from_slice(cell);
        return Ok(());
    }
    let text = trimmed(cell);
    if text.is_empty() {
        return Ok(());
    }
    let start = out.len();
    let mut seen = Separators::default();
    for c in text.chars() {
        match c {
            '0'..='9' => {
                seen.digit(out.len() > start);
                out.push(c as u8);
            }
            '\u{ff10}'..='\u{ff19}' => {
                seen.digit(out.len() > start);
                out.push(b'0' + (c as u32 - 0xff10) as u8);
            }
            '.' | ',' => {
                seen.points += u32::from(c == '.');
                seen.commas += u32::from(c == ',');
                seen.last_mark = Some(out.len() - start);
            }
            '\'' | '_' | '\u{2019}' => seen.group(),
            _ if c.is_whitespace() => seen.group(),
            '-' | '/' | '(' | ')' | '\u{2010}'..='\u{2015}' => seen.pending += 1,
            _ => return Err(Refusal::NotDigits),
        }
    }
    if out.len() == start {
        return Err(Refusal::NotDigits);
    }
    if seen.are_of_a_decimal(&out[start..]) { Err(Refusal::DecimalNumber) } else { Ok(()) }
}

/// The separators of a value.
#[derive(Default)]
struct Separators {
    points: u32,
    commas: u32,
    /// Those between digits that do not occur inside numbers.
    others: u32,
    /// The same since the last digit: at the ends of a number they are its sign.
    pending: u32,
    /// Digits before the last point or comma, if no other separator follows.
    last_mark: Option<usize>,
    /// There is another separator of thousands.
    has_groups: bool,
}

impl Separators {
    /// Records a digit; `is_inside` means that it is not the first.
    fn digit(&mut self, is_inside: bool) {
        self.others += if is_inside { self.pending } else { 0 };
        self.pending = 0;
    }

    /// Records a separator of thousands.
    fn group(&mut self) {
        self.last_mark = None;
        self.has_groups = true;
    }

    fn are_of_a_decimal(&self, digits: &[u8]) -> bool {
        if self.points > 0 && self.commas > 0 {
            return true;
        }
        let Some((whole, part)) = self.last_mark.and_then(|at| digits.split_at_checked(at)) else {
            return false;
        };
        let are_zeros = part.iter().all(|digit| *digit == b'0');
        let are_thousands = part.len() == 3 && (1..=3).contains(&whole.len());
        self.points + self.commas == 1
            && self.others == 0
            && (part.len() <= 2 || are_zeros && !self.has_groups && !are_thousands)
    }
}

/// Digests whose length `hex:<DIGEST>` checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Digest {
    Md5,
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

impl Digest {
    const ALL: [(Digest, &str, usize); 6] = [
        (Digest::Md5, "md5", 32),
        (Digest::Sha1, "sha1", 40),
        (Digest::Sha224, "sha224", 56),
        (Digest::Sha256, "sha256", 64),
        (Digest::Sha384, "sha384", 96),
        (Digest::Sha512, "sha512", 128),
    ];

    pub(super) fn new(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == name).map(|(digest, ..)| *digest)
    }

    fn row(self) -> (&'static str, usize) {
        let (_, name, digits) = Self::ALL[self as usize];
        (name, digits)
    }

    /// The digest of an empty text, in hexadecimal digits.
    fn of_nothing(self) -> &'static str {
        match self {
            Digest::Md5 => "d41d8cd98f00b204e9800998ecf8427e",
            Digest::Sha1 => "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            Digest::Sha224 => "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f",
            Digest::Sha256 => "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            Digest::Sha384 => {
                "38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da\
                 274edebfe76f65fbd51ad2f14898b95b"
            }
            Digest::Sha512 => {
                "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce\
                 47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
            }
        }
    }

    /// Its length in bytes.
    pub(super) fn bytes(self) -> usize {
        self.row().1 / 2
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().0)
    }
}

/// Lower-case hexadecimal digits without the prefix `0x`, `0X` or `\x`. Of a digest, also out of
/// its Base64: for none of them has the Base64 as many characters as the hexadecimal digits.
pub(super) fn hex(cell: &[u8], digest: Option<Digest>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let start = out.len();
    digits_or_base64(cell, digest, out)?;
    match digest {
        // Programs hash missing values too: those of two files would match.
        Some(digest) if out[start..] == *digest.of_nothing().as_bytes() => {
            Err(Refusal::DigestOfNothing)
        }
        _ => Ok(()),
    }
}

fn digits_or_base64(cell: &[u8], digest: Option<Digest>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let text = trimmed(cell);
    let mut room = [0; base64::MAX_BYTES + 2];
    if let Some(digest) = digest
        && let Some(bytes) = base64::decode(text.as_bytes(), digest.bytes(), &mut room)
    {
        base64::push_hex(bytes, out);
        return Ok(());
    }
    let digits = match text.as_bytes() {
        [] => return Ok(()),
        [b'0', b'x' | b'X', digits @ ..] | [b'\\', b'x', digits @ ..] => digits,
        digits => digits,
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err(Refusal::NotHex);
    }
    let right_len = match digest {
        Some(digest) => digits.len() == digest.row().1,
        None => digits.len().is_multiple_of(2),
    };
    if !right_len {
        return Err(Refusal::HexLen);
    }
    out.extend(digits.iter().map(u8::to_ascii_lowercase));
    Ok(())
}
