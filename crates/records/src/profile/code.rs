//! `digits` and `hex`: identifiers and values hashed beforehand.

use super::Refusal;
use super::text::trimmed;
use std::fmt;

/// Digits without their separators. Full-width digits count as digits.
///
/// Blanks, hyphens and dashes, dots, commas, slashes, parentheses, apostrophes and underscores
/// separate. One dot or comma before the last one or two digits and no other separator is a
/// decimal number: dropping its point would make `12.5` and `125` equal.
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
    let mut separators = 0;
    let mut point = None;
    for c in text.chars() {
        match c {
            '0'..='9' => out.push(c as u8),
            '\u{ff10}'..='\u{ff19}' => out.push(b'0' + (c as u32 - 0xff10) as u8),
            '.' | ',' => {
                separators += 1;
                point = Some(out.len());
            }
            '-' | '/' | '(' | ')' | '\'' | '_' | '\u{2010}'..='\u{2015}' | '\u{2019}' => {
                separators += 1;
            }
            _ if c.is_whitespace() => separators += 1,
            _ => return Err(Refusal::NotDigits),
        }
    }
    if out.len() == start {
        return Err(Refusal::NotDigits);
    }
    match point {
        Some(point) if separators == 1 && out.len() - point <= 2 => Err(Refusal::DecimalNumber),
        _ => Ok(()),
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
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().0)
    }
}

/// Lower-case hexadecimal digits without the prefix `0x`, `0X` or `\x`.
pub(super) fn hex(cell: &[u8], digest: Option<Digest>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let text = trimmed(cell);
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
