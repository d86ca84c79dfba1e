//! `nysiis`: the code of the New York State Identification and Intelligence System.
//!
//! Robert L. Taft, "Name Search Techniques", NYSIIS Special Report 1, 1970. The code is not cut to
//! six letters as there; `nysiis` followed by `first(6)` cuts it.
//!
//! 1. At the start, MAC becomes MCC, KN NN, K C, PH and PF FF, SCH SSS.
//! 2. At the end, EE and IE become Y; DT, RT, RD, NT and ND become D.
//! 3. The first letter stays.
//! 4. From the second letter on, EV becomes AF and other vowels A; Q becomes G, Z S, M N; KN
//!    becomes N and other Ks C; SCH becomes SSS, PH FF; H becomes the letter before it, unless both
//!    its neighbours are vowels; W after a vowel becomes that vowel. A letter equal to the one
//!    before is dropped.
//! 5. At the end, S is dropped, then AY becomes Y, then A is dropped; the first letter stays.

use crate::letters::{Letters, is_vowel};
use crate::refusal::Refusal;
use crate::texts::Texts;

pub(crate) fn nysiis(value: &str, out: &mut Texts) -> Result<(), Refusal> {
    let mut letters = Letters::read(value)?;
    for (start, becomes) in [
        (&b"MAC"[..], &b"MCC"[..]),
        (b"KN", b"NN"),
        (b"K", b"C"),
        (b"PH", b"FF"),
        (b"PF", b"FF"),
        (b"SCH", b"SSS"),
    ] {
        if letters.text().starts_with(start) {
            letters.text_mut()[..start.len()].copy_from_slice(becomes);
            break;
        }
    }
    match letters.text() {
        [.., b'E' | b'I', b'E'] => letters.shorten(b'Y'),
        [.., b'D', b'T'] | [.., b'R' | b'N', b'T' | b'D'] => letters.shorten(b'D'),
        _ => {}
    }
    let text = letters.text_mut();
    // The code is never longer than what is read, and takes its place.
    let mut len = 1;
    let mut before = text[0];
    for at in 1..text.len() {
        translate(text, at, before);
        if text[at] != before {
            before = text[at];
            text[len] = before;
            len += 1;
        }
    }
    let mut code = &text[..len];
    if let [rest @ .., b'S'] = code
        && !rest.is_empty()
    {
        code = rest;
    }
    match code {
        [rest @ .., b'A', b'Y'] if !rest.is_empty() => {
            let end = code.len() - 2;
            text[end] = b'Y';
            code = &text[..=end];
        }
        [rest @ .., b'A'] if !rest.is_empty() => code = rest,
        _ => {}
    }
    out.push_ascii(code);
    Ok(())
}

/// Translates the letter at `at`, and those after it that belong to it; `before` is the translation
/// of the letter before.
fn translate(text: &mut [u8], at: usize, before: u8) {
    let next = text.get(at + 1).copied();
    match text[at] {
        b'E' if next == Some(b'V') => text[at..at + 2].copy_from_slice(b"AF"),
        letter if is_vowel(letter) => text[at] = b'A',
        b'Q' => text[at] = b'G',
        b'Z' => text[at] = b'S',
        b'M' => text[at] = b'N',
        b'K' => text[at] = if next == Some(b'N') { b'N' } else { b'C' },
        b'S' if text[at..].starts_with(b"SCH") => text[at..at + 3].copy_from_slice(b"SSS"),
        b'P' if next == Some(b'H') => text[at..at + 2].copy_from_slice(b"FF"),
        b'H' if !is_vowel(before) || !next.is_some_and(is_vowel) => text[at] = before,
        b'W' if is_vowel(before) => text[at] = before,
        _ => {}
    }
}
