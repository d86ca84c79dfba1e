//! `uuid`: universally unique identifiers (RFC 9562) as 32 lower-case hexadecimal digits with
//! dashes.
//!
//! Accepted, in any case: `123e4567-e89b-12d3-a456-426614174000`, the same without dashes, in
//! braces, or after `urn:uuid:`; and its 16 bytes in Base64, with padding or without, in either
//! alphabet. Any version and variant is a value.

use super::base64;
use super::text::trimmed;
use crate::refusal::Refusal;

/// Bytes of a UUID.
pub(super) const BYTES: usize = 16;

/// Where dashes stand in the text of 36 characters.
const DASHES: [usize; 4] = [8, 13, 18, 23];

const URN: &[u8] = b"urn:uuid:";

pub(super) fn uuid(cell: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let text = trimmed(cell);
    if text.is_empty() {
        return Ok(());
    }
    let text = text.as_bytes();
    let mut room = [0; base64::MAX_BYTES + 2];
    if let Some(bytes) = base64::decode(text, BYTES, &mut room) {
        let mut digits = Vec::with_capacity(2 * BYTES);
        base64::push_hex(bytes, &mut digits);
        push(&digits, out);
        return Ok(());
    }
    let digits = match text {
        [b'{', inner @ .., b'}'] => inner,
        _ if text.get(..URN.len()).is_some_and(|head| head.eq_ignore_ascii_case(URN)) => {
            &text[URN.len()..]
        }
        _ => text,
    };
    if digits.is_empty() || !digits.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-') {
        return Err(Refusal::NotAUuid);
    }
    let has_dashes = digits.contains(&b'-');
    let is_dash = |(at, byte): (usize, &u8)| (*byte == b'-') == DASHES.contains(&at);
    if !has_dashes && digits.len() == 2 * BYTES {
        push(digits, out);
    } else if digits.len() == 2 * BYTES + DASHES.len() && digits.iter().enumerate().all(is_dash) {
        out.extend(digits.iter().map(u8::to_ascii_lowercase));
    } else if digits.iter().filter(|byte| **byte != b'-').count() == 2 * BYTES {
        return Err(Refusal::UuidDashes);
    } else {
        return Err(Refusal::UuidLen);
    }
    Ok(())
}

/// Appends 32 hexadecimal digits in lower case, with dashes.
fn push(digits: &[u8], out: &mut Vec<u8>) {
    for (at, digit) in digits.iter().enumerate() {
        if matches!(at, 8 | 12 | 16 | 20) {
            out.push(b'-');
        }
        out.push(digit.to_ascii_lowercase());
    }
}
