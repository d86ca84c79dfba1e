//! `delete-one` and `replace-one`: the texts that one typing error leaves.
//!
//! Characters are those of Unicode (scalar values).

use crate::MAX_CHARS;
use crate::refusal::Refusal;
use crate::texts::Texts;

/// What stands in for the replaced character. Values of people and numbers never have it.
const MARK: &str = "\0";

/// The value, and the value without one of its characters, each text once.
///
/// Two values meet exactly if one text is left of both when at most one character is removed from
/// each, and that text is not empty. These are the equal values, those at edit distance one (a
/// character more, fewer or another), and those in which one character stands at another place,
/// such as two neighbours exchanged.
pub(crate) fn delete_one(value: &str, out: &mut Texts) -> Result<(), Refusal> {
    require_short(value)?;
    out.push(value);
    let mut before = None;
    for (at, c) in value.char_indices() {
        let (head, tail) = (&value[..at], &value[at + c.len_utf8()..]);
        // Of equal characters side by side it is the same which is removed. Every other two texts
        // differ.
        let is_new = before.replace(c) != Some(c);
        if is_new && !(head.is_empty() && tail.is_empty()) {
            out.push_joined(&[head, tail]);
        }
    }
    Ok(())
}

/// The value with each of its characters in turn replaced by a mark.
///
/// Two values meet exactly if they have the same length and differ in at most one place.
pub(crate) fn replace_one(value: &str, out: &mut Texts) -> Result<(), Refusal> {
    require_short(value)?;
    if value.contains(MARK) {
        return Err(Refusal::Mark);
    }
    for (at, c) in value.char_indices() {
        out.push_joined(&[&value[..at], MARK, &value[at + c.len_utf8()..]]);
    }
    Ok(())
}

fn require_short(value: &str) -> Result<(), Refusal> {
    if value.is_empty() {
        return Err(Refusal::NoWord);
    }
    if value.chars().nth(MAX_CHARS).is_some() { Err(Refusal::TooLong) } else { Ok(()) }
}
