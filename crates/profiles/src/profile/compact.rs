//! Letters and digits of an identifier, without what separates its groups.

/// The letters and digits of an identifier, in upper case, at most `N` of them.
pub(super) struct Compact<const N: usize> {
    bytes: [u8; N],
    len: usize,
    /// Bit `i` is set if there is a separator before the character `i`.
    separated: u64,
}

impl<const N: usize> Compact<N> {
    /// Reads `text`, in which blanks, hyphens and dashes, and the characters of `more` separate
    /// groups. Full-width digits count as digits.
    ///
    /// `None` if there is another character, a separator at an end, or more than `N` characters.
    pub(super) fn read(text: &str, more: &[char]) -> Option<Self> {
        const { assert!(N < 64) }
        let mut read = Self { bytes: [0; N], len: 0, separated: 0 };
        let mut is_separated = false;
        for c in text.chars() {
            let byte = match c {
                '0'..='9' | 'A'..='Z' => c as u8,
                'a'..='z' => c.to_ascii_uppercase() as u8,
                '\u{ff10}'..='\u{ff19}' => b'0' + (c as u32 - 0xff10) as u8,
                _ if is_separator(c) || more.contains(&c) => {
                    if read.len == 0 {
                        return None;
                    }
                    is_separated = true;
                    continue;
                }
                _ => return None,
            };
            *read.bytes.get_mut(read.len)? = byte;
            read.separated |= u64::from(is_separated) << read.len;
            is_separated = false;
            read.len += 1;
        }
        (!is_separated).then_some(read)
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Whether separators stand exactly before the characters at `places`, or nowhere.
    pub(super) fn has_separators_at(&self, places: &[usize]) -> bool {
        let right = places.iter().fold(0, |mask, place| mask | 1 << place);
        self.separated == 0 || self.separated == right
    }
}

/// Whether `c` is a blank, a hyphen or a dash.
pub(super) fn is_separator(c: char) -> bool {
    c == '-' || c.is_whitespace() || matches!(c, '\u{2010}'..='\u{2015}')
}

/// The value of a decimal digit.
pub(super) fn digit(byte: u8) -> u32 {
    u32::from(byte.wrapping_sub(b'0'))
}

/// The number that `digits` write; short enough for 64 bits.
pub(super) fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |number: u64, byte| number * 10 + u64::from(digit(*byte)))
}

/// Whether there are only decimal digits.
pub(super) fn are_digits(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_digit)
}

/// The remainder modulo 97 of letters and digits in which `A` to `Z` represent 10 to 35, as in ISO
/// 7064, MOD 97-10. 1 if the check digits are right.
pub(super) fn modulo_97(text: impl Iterator<Item = u8>) -> u32 {
    text.fold(0, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + digit(byte)) % 97,
        _ => (rest * 100 + u32::from(byte.wrapping_sub(b'A')) + 10) % 97,
    })
}

/// The sum of the digits of `digits`, every second one doubled, the last as it is (ISO/IEC 7812-1,
/// annex B). A multiple of 10 if the check digit is right.
pub(super) fn luhn(digits: &[u8]) -> u32 {
    let doubled = |digit: u32| digit * 2 / 10 + digit * 2 % 10;
    let digits = digits.iter().rev().enumerate();
    digits.map(|(at, byte)| if at % 2 == 1 { doubled(digit(*byte)) } else { digit(*byte) }).sum()
}

/// The sum of the digits, each times its weight.
pub(super) fn weighted(digits: &[u8], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(byte, weight)| digit(*byte) * weight).sum()
}
