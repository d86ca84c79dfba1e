//! Values of a known number of bytes in Base64 (RFC 4648), an alternative to the hexadecimal digits
//! that are compared.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// The most bytes that are read: those of the longest digest.
pub(super) const MAX_BYTES: usize = 64;

/// Padding may be left out; bits that no byte has must be 0, so that a value has one text.
const CONFIG: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
/// With `+` and `/`.
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
/// With `-` and `_`.
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);

/// The decoder may ask for the room of whole groups of three bytes.
pub(super) type Room = [u8; MAX_BYTES + 2];

/// The bytes that `text` encodes, if it is Base64 of exactly `len` bytes, at most [`MAX_BYTES`],
/// with padding or without, in either alphabet.
///
/// A text of hexadecimal digits alone does not count as Base64: it is far likelier to be a part of
/// a hexadecimal value.
pub(super) fn decode<'a>(text: &[u8], len: usize, room: &'a mut Room) -> Option<&'a [u8]> {
    let lens = [(len * 4).div_ceil(3), len.div_ceil(3) * 4];
    if !lens.contains(&text.len()) || text.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let has_url_safe = text.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let engine = if has_url_safe { URL_SAFE } else { STANDARD };
    match engine.decode_slice(text, room) {
        Ok(found) if found == len => Some(&room[..len]),
        _ => None,
    }
}

/// Appends the two lower-case hexadecimal digits of each byte.
pub(super) fn push_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_alphabets_with_and_without_padding_are_read() {
        for len in [16, 20, 28, 32, 48, 64] {
            // 0xfb and 0xff give the characters in which the alphabets differ.
            let bytes: Vec<u8> = (0..len).map(|i| [0xfb, 0xff, i as u8][i % 3]).collect();
            for engine in [STANDARD, URL_SAFE] {
                let padded = engine.encode(&bytes);
                for text in [padded.as_str(), padded.trim_end_matches('=')] {
                    let mut room = [0; MAX_BYTES + 2];
                    assert_eq!(decode(text.as_bytes(), len, &mut room), Some(&bytes[..]), "{text}");
                    assert_eq!(decode(text.as_bytes(), len + 3, &mut room), None, "{text}");
                }
            }
        }
    }

    #[test]
    fn other_texts_are_none() {
        let mut room = [0; MAX_BYTES + 2];
        for text in [
            // Hexadecimal digits alone.
            "0123456789abcdef012345",
            // Bits that no byte has.
            "AAAAAAAAAAAAAAAAAAAAAB",
            // Both alphabets at once.
            "+_AAAAAAAAAAAAAAAAAAAA",
            // One sign of padding where there are two.
            "zAAAAAAAAAAAAAAAAAAAAA=",
            "z==AAAAAAAAAAAAAAAAAAA==",
            "zAAAAAAAAA AAAAAAAAAAA",
        ] {
            assert_eq!(decode(text.as_bytes(), 16, &mut room), None, "{text}");
        }
    }
}
