//! Parts of texts.

use crate::refusal::Refusal;
use crate::texts::Texts;

/// The first `len` characters; a shorter value whole.
pub(crate) fn first(value: &str, len: usize, out: &mut Texts) -> Result<(), Refusal> {
    let end = value.char_indices().nth(len).map_or(value.len(), |(at, _)| at);
    push_whole(&value[..end], out)
}

/// The last `len` characters; a shorter value whole.
pub(crate) fn last(value: &str, len: usize, out: &mut Texts) -> Result<(), Refusal> {
    let start = value.char_indices().nth_back(len - 1).map_or(0, |(at, _)| at);
    push_whole(&value[start..], out)
}

/// The value in lower case with its Latin letters in ASCII: [`vesica_profiles::fold`].
pub(crate) fn fold(value: &str, out: &mut Texts) -> Result<(), Refusal> {
    push_whole(&vesica_profiles::fold(value), out)
}

fn push_whole(text: &str, out: &mut Texts) -> Result<(), Refusal> {
    if text.is_empty() {
        return Err(Refusal::NoWord);
    }
    out.push(text);
    Ok(())
}

/// The words between hyphens and blanks, and, if there are several, all of them without what is
/// between: `garcia-marquez` gives `garcia`, `marquez` and `garciamarquez`.
///
/// A word of one letter, such as an initial, is a text only if it is the whole value: too many
/// names have it.
pub(crate) fn split(value: &str, out: &mut Texts) -> Result<(), Refusal> {
    if value.chars().nth(crate::MAX_CHARS).is_some() {
        return Err(Refusal::TooLong);
    }
    let words = || value.split(|c: char| c == '-' || c.is_whitespace()).filter(|w| !w.is_empty());
    match words().count() {
        0 => return Err(Refusal::NoWord),
        1 => {
            words().for_each(|word| out.push(word));
            return Ok(());
        }
        _ => {}
    }
    for (at, word) in words().enumerate() {
        let is_again = words().take(at).any(|earlier| earlier == word);
        if word.chars().nth(1).is_some() && !is_again {
            out.push(word);
        }
    }
    let pieces: Vec<&str> = words().collect();
    out.push_joined(&pieces);
    Ok(())
}
