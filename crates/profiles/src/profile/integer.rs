//! `integer:<BITS>` and `ipv4`: values of a small domain, which some protocols compare at lower
//! cost.

use super::text::trimmed;
use crate::refusal::Refusal;

/// Most bits of an integer.
const MAX_BITS: u32 = 64;

/// The number of bits that `text` names, 1 to 64.
pub(super) fn bits(text: &str) -> Option<u32> {
    let bits = text.parse().ok().filter(|bits| (1..=MAX_BITS).contains(bits))?;
    // One spelling for each: `+8` and `08` parse too.
    (text == bits.to_string()).then_some(bits)
}

/// Decimal digits without leading zeros, for a number below 2^`bits`.
pub(super) fn integer(cell: &[u8], bits: u32, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let text = trimmed(cell);
    if text.is_empty() {
        return Ok(());
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Refusal::NotAnInteger);
    }
    let digits = text.trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    let number: u64 = digits.parse().map_err(|_| Refusal::IntegerTooLarge)?;
    if u64::BITS - number.leading_zeros() > bits {
        return Err(Refusal::IntegerTooLarge);
    }
    out.extend_from_slice(digits.as_bytes());
    Ok(())
}

/// Four decimal numbers below 256 separated by dots; leading zeros are refused, because some
/// programs read them as octal.
pub(super) fn ipv4(cell: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let text = trimmed(cell);
    if text.is_empty() {
        return Ok(());
    }
    let mut parts = 0;
    for part in text.split('.') {
        parts += 1;
        let is_number = match part.as_bytes() {
            [b'0'] => true,
            [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
            _ => false,
        };
        if !is_number || part.parse::<u8>().is_err() {
            return Err(Refusal::NotAnIpv4Address);
        }
    }
    if parts != 4 {
        return Err(Refusal::NotAnIpv4Address);
    }
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// The number of a normal form of [`integer`].
pub(super) fn number(normal: &[u8]) -> u64 {
    normal.iter().fold(0, |number: u64, digit| {
        number.wrapping_mul(10).wrapping_add(u64::from(digit.wrapping_sub(b'0')))
    })
}

/// The number of a normal form of [`ipv4`]; the first part is the highest byte.
pub(super) fn address(normal: &[u8]) -> u64 {
    normal.split(|byte| *byte == b'.').fold(0, |address, part| address << 8 | number(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_normal_form_gives_back_its_number() {
        for number_ in [0, 7, 10, 4_294_967_295, u64::MAX] {
            let mut normal = Vec::new();
            integer(format!(" 00{number_}").as_bytes(), 64, &mut normal).unwrap();
            assert_eq!(number(&normal), number_);
        }
        let addresses =
            [("0.0.0.0", 0), ("10.1.2.3", 0x0a01_0203), ("255.255.255.255", 0xffff_ffff)];
        for (text, expected) in addresses {
            assert_eq!(address(text.as_bytes()), expected);
        }
    }

    #[test]
    fn bits_have_one_spelling() {
        assert_eq!(bits("32"), Some(32));
        for bad in ["0", "65", "032", "+8", "", "x", "-1", "99999999999"] {
            assert_eq!(bits(bad), None, "{bad}");
        }
    }
}
