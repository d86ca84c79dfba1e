//! `person-name` and `person-name:de`: personal names, whole or a part.
//!
//! In lower case, with Latin letters in ASCII ([`folded`]) and one blank between words:
//!
//! * Hyphens, points and blanks part words: `Jean-Pierre` equals `Jean Pierre`.
//! * Apostrophes are removed: `O'Brien` becomes `obrien`. A blank after that of `d'`, `l'`, `o'`,
//!   `dell'` or `dall'` goes with it: `d' Angelo` equals `D'Angelo`. So does the raised point of
//!   Catalan.
//! * A particle, such as `van`, `de la` or `al`, is joined to the word that follows: `van der Berg`
//!   equals `Vanderberg`, and `Al-Hassan` equals `Alhassan`.
//! * The titles `Dr`, `Prof`, `Mr`, `Mrs` and `Ms` before a name are dropped: none of them is a
//!   name. Others can be one (`Herr`, `Dame`, `Don`), and `Jr` tells a son from his father; they
//!   stay.
//!
//! Letters of other scripts stay, in lower case. Anything else is refused: digits, commas (which
//! name comes first is not certain), brackets, two names with `&` or `/` between them.

use super::text::{form_c, trimmed, trimmed_ascii};
use crate::fold::{Umlauts, folded, is_mark};
use crate::refusal::Refusal;

/// Whether a word is joined to the next. A single letter is not here: it may be an initial.
fn is_particle(word: &[u8]) -> bool {
    matches!(
        word,
        // Dutch, Flemish, German, Scandinavian.
        b"van" | b"von" | b"vom" | b"vander" | b"vanden" | b"der" | b"den" | b"des" | b"dem"
            | b"ter" | b"ten" | b"te" | b"zu" | b"zum" | b"zur" | b"af" | b"av"
            // French, Italian, Spanish, Portuguese.
            | b"de" | b"du" | b"del" | b"della" | b"delle" | b"dello" | b"degli" | b"di" | b"da"
            | b"das" | b"do" | b"dos" | b"la" | b"las" | b"le" | b"les" | b"lo" | b"los"
            // Arabic, Irish, Scottish, Norman.
            | b"al" | b"el" | b"abu" | b"ibn" | b"bin" | b"mac" | b"mc" | b"fitz"
    )
}

/// Whether a word before a name is a title.
fn is_title(word: &[u8]) -> bool {
    matches!(word, b"dr" | b"prof" | b"mr" | b"mrs" | b"ms")
}

/// Whether a blank after `word` and an apostrophe does not end the word.
fn is_elided(word: &[u8]) -> bool {
    matches!(word, b"d" | b"l" | b"o" | b"dell" | b"dall")
}

pub(super) fn name(cell: &[u8], umlauts: Umlauts, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let start = out.len();
    if let Some(ascii) = trimmed_ascii(cell) {
        let mut words = Words::new(out);
        for byte in ascii {
            words.take(char::from(byte.to_ascii_lowercase()))?;
        }
        return if ascii.is_empty() { Ok(()) } else { words.end() };
    }
    let text = trimmed(cell);
    if text.is_empty() {
        return Ok(());
    }
    // Ordinal signs, as in `Mª`, abbreviate some letters. Folded they are letters.
    if text.contains(['\u{aa}', '\u{ba}']) {
        return Err(Refusal::NotAName);
    }
    let folded = folded(&text, umlauts);
    let mut words = Words::new(out);
    for c in folded.chars() {
        words.take(c)?;
    }
    words.end()?;
    if !out[start..].is_ascii() {
        // An apostrophe may have stood between characters that combine.
        let whole = String::from_utf8_lossy(&out[start..]).into_owned();
        out.truncate(start);
        out.extend_from_slice(form_c(&whole).as_bytes());
    }
    Ok(())
}

/// The words of a name, as they are appended.
struct Words<'a> {
    out: &'a mut Vec<u8>,
    /// Where the name begins.
    start: usize,
    /// Where the last word begins, with the particles in it.
    word: usize,
    /// Where the last piece of it begins.
    piece: usize,
    /// What was taken last.
    last: Taken,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    Nothing,
    Letter,
    Apostrophe,
    Separator,
}

impl<'a> Words<'a> {
    fn new(out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        Self { out, start, word: start, piece: start, last: Taken::Nothing }
    }

    /// Takes a character of a folded text.
    #[inline]
    fn take(&mut self, c: char) -> Result<(), Refusal> {
        match c {
            'a'..='z' => {
                self.begin_letter();
                self.out.push(c as u8);
            }
            '\'' | '`' | '\u{b7}' => {
                // At the start of a word it parts nothing: `'t Hooft`.
                if self.last == Taken::Letter {
                    self.last = Taken::Apostrophe;
                }
            }
            ' ' if self.last == Taken::Apostrophe && is_elided(&self.out[self.piece..]) => {}
            '-' | '.' | ' ' | '\u{30fb}' => self.separate(),
            _ if c.is_whitespace() => self.separate(),
            _ if is_mark(c) && self.last != Taken::Letter => return Err(Refusal::NotAName),
            _ if c.is_alphabetic() || is_mark(c) => {
                self.begin_letter();
                self.out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => return Err(Refusal::NotAName),
        }
        Ok(())
    }

    fn separate(&mut self) {
        if self.last != Taken::Nothing {
            self.last = Taken::Separator;
        }
    }

    /// Before a letter: ends the word before it, or joins the two.
    fn begin_letter(&mut self) {
        let is_new = self.last == Taken::Separator;
        self.last = Taken::Letter;
        if !is_new {
            return;
        }
        if self.word == self.start && is_title(&self.out[self.word..]) {
            self.out.truncate(self.start);
        } else if !is_particle(&self.out[self.piece..]) && !is_particle(&self.out[self.word..]) {
            self.out.push(b' ');
            self.word = self.out.len();
        }
        self.piece = self.out.len();
    }

    /// After the last character of a text that is not empty.
    fn end(self) -> Result<(), Refusal> {
        if self.out.len() == self.start { Err(Refusal::NotAName) } else { Ok(()) }
    }
}
