//! `soundex`: the code of the United States census.
//!
//! A letter and three digits. Robert C. Russell, US patent 1,261,167, 1918, in the form of the
//! National Archives, "Soundex: The Soundex Indexing System" (General Information Leaflet 55):
//! letters of one code side by side count once, also with the first letter, and with H or W between
//! them; with a vowel or Y between them they count twice.

use crate::letters::Letters;
use crate::refusal::Refusal;
use crate::texts::Texts;

/// The code of each letter from A to Z; 0 for vowels and Y.
const CODES: &[u8; 26] = b"01230120022455012623010202";

pub(crate) fn soundex(value: &str, out: &mut Texts) -> Result<(), Refusal> {
    let letters = Letters::read(value)?;
    let code_of = |letter: u8| CODES[usize::from(letter - b'A')];
    let [first, rest @ ..] = letters.text() else { return Err(Refusal::NoSound) };
    let mut code = [*first, b'0', b'0', b'0'];
    let mut len = 1;
    let mut last = code_of(*first);
    for letter in rest {
        if len == code.len() {
            break;
        }
        if matches!(letter, b'H' | b'W') {
            continue;
        }
        let digit = code_of(*letter);
        if digit != b'0' && digit != last {
            code[len] = digit;
            len += 1;
        }
        last = digit;
    }
    out.push_ascii(&code);
    Ok(())
}
