//! The encoding of a composite key. It is injective: two keys are equal exactly when all their
//! columns are.
//!
//! A key of *k* columns is the concatenation, in the order of the column names, of *k* parts:
//!
//! ```text
//! part = tag (1 byte) ‖ length (4 bytes, little-endian) ‖ value (length bytes)
//! ```
//!
//! `value` is the output of the column's profile, in UTF-8; `length` is its length in bytes. `tag`
//! is the kind of value:
//!
//! | tag | kind | profiles |
//! |---|---|---|
//! | 1 | text | `exact`, `trim`, `lower` |
//! | 2 | e-mail address | `email`, `email:google` |
//! | 3 | telephone number | `phone:<REGION>` |
//! | 4 | day | `date`, `date:dmy`, `date:mdy` |
//! | 5 | digits | `digits` |
//! | 6 | hexadecimal | `hex`, `hex:<DIGEST>` |
//! | 7 | integer | `integer:<BITS>` |
//! | 8 | IPv4 address | `ipv4` |
//! | 9 | UUID | `uuid` |
//! | 10 to 17 | those of [`Profile`] after these | `person-name` and others |
//!
//! The parts can be parsed in sequence, so the encoding is injective over all sequences of (tag,
//! value): ("a,b", "c") and ("a", "b,c") differ. A key with an empty column has no encoding; its
//! row is skipped and counted. Vectors: `vectors/encoding.json`.
//!
//! A key under one of several rules begins with a part of tag 0, whose value is the number of the
//! rule, four bytes, little-endian. The other parts are those of the rule's columns, in the order
//! of their names. What transforms made of a value is a text.

use vesica_profiles::{Normalised, Profile, Refusal};

/// Bytes of a part before its value.
pub const PART_HEADER_LEN: usize = 5;

/// The tag of the part that names a rule.
const RULE_TAG: u8 = 0;

/// Appends the part of the rule with this number to `out`.
pub(crate) fn push_rule(rule: usize, out: &mut Vec<u8>) {
    let number = (rule as u32).to_le_bytes();
    out.push(RULE_TAG);
    out.extend_from_slice(&(number.len() as u32).to_le_bytes());
    out.extend_from_slice(&number);
}

/// The number of the rule that begins a key under rules, and the parts after it.
pub(crate) fn split_rule(key: &[u8]) -> (Option<usize>, &[u8]) {
    match key.split_first_chunk() {
        Some(([RULE_TAG, _, _, _, _, a, b, c, d], parts)) => {
            (Some(u32::from_le_bytes([*a, *b, *c, *d]) as usize), parts)
        }
        _ => (None, key),
    }
}

/// The tag of a text.
const TEXT_TAG: u8 = 1;

/// Appends the part of what transforms made of a value to `out`.
pub(crate) fn push_text(text: &str, out: &mut Vec<u8>) {
    out.push(TEXT_TAG);
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// Appends the part of one column to `out`; unless the result is [`Normalised::Value`], `out` is
/// unchanged. `cell` is UTF-8, as its reader has checked.
///
/// # Errors
/// The profile's reason, if it refuses the value.
#[inline]
pub fn push_cell(profile: Profile, cell: &[u8], out: &mut Vec<u8>) -> Result<Normalised, Refusal> {
    let start = out.len();
    let value = start + PART_HEADER_LEN;
    out.extend_from_slice(&[profile.tag(), 0, 0, 0, 0]);
    let done = profile.normalise_cell(cell, out);
    if let Ok(Normalised::Value) = done {
        // A cell has at most 64 MiB, and no profile makes it more than three times as long.
        let len = (out.len() - value) as u32;
        out[start + 1..value].copy_from_slice(&len.to_le_bytes());
    } else {
        out.truncate(start);
    }
    done
}
