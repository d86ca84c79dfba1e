//! `double-metaphone`: one or two codes of at most four characters.
//!
//! Lawrence Philips, "The Double Metaphone Search Algorithm", C/C++ Users Journal 18(6), June 2000.
//! The second code is that of another pronunciation, where the spelling allows one. Two names meet
//! if they have a code in common.
//!
//! Values have only letters from A to Z here, so the rules for Ç and Ñ do not occur. `0` is the
//! sound of *th*, `X` that of *sh*.

mod consonants;
mod groups;

use crate::letters::Letters;
use crate::refusal::Refusal;
use crate::texts::Texts;

/// Longest code.
const CODE_MAX_LEN: usize = 4;

pub(crate) fn double_metaphone(value: &str, out: &mut Texts) -> Result<(), Refusal> {
    let letters = Letters::read_words(value)?;
    let mut word = Word::new(letters.text());
    word.encode();
    let (first, second) = (word.first.text(), word.second.text());
    if !first.is_empty() {
        out.push_ascii(first);
    }
    if !second.is_empty() && second != first {
        out.push_ascii(second);
    }
    if first.is_empty() && second.is_empty() { Err(Refusal::NoSound) } else { Ok(()) }
}

/// A code of at most [`CODE_MAX_LEN`] characters; what is appended after that is dropped.
#[derive(Clone, Copy, Default)]
struct Code {
    bytes: [u8; CODE_MAX_LEN],
    len: usize,
}

impl Code {
    fn push(&mut self, text: &str) {
        for byte in text.bytes().take(CODE_MAX_LEN - self.len) {
            self.bytes[self.len] = byte;
            self.len += 1;
        }
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// A value in upper case, and its codes up to a place.
struct Word<'a> {
    text: &'a [u8],
    /// The place of the letter that is looked at.
    at: usize,
    /// Whether the spelling is Slavic or Germanic.
    is_slavo_germanic: bool,
    first: Code,
    second: Code,
}

impl<'a> Word<'a> {
    fn new(text: &'a [u8]) -> Self {
        let has = |part: &[u8]| text.windows(part.len()).any(|window| window == part);
        // `WITZ` has a W.
        let is_slavo_germanic = has(b"W") || has(b"K") || has(b"CZ");
        Self { text, at: 0, is_slavo_germanic, first: Code::default(), second: Code::default() }
    }

    fn encode(&mut self) {
        if self.starts_with(&["GN", "KN", "PN", "WR", "PS"]) {
            self.at = 1;
        }
        // The sound of `Xavier`.
        if self.text[0] == b'X' {
            self.add("S");
            self.at = 1;
        }
        while self.at < self.text.len()
            && (self.first.len < CODE_MAX_LEN || self.second.len < CODE_MAX_LEN)
        {
            self.at += self.step();
        }
    }

    /// Adds the sound of the letters from the current one on, and gives how many they are.
    fn step(&mut self) -> usize {
        match self.text[self.at] {
            b'A' | b'E' | b'I' | b'O' | b'U' | b'Y' => {
                if self.at == 0 {
                    self.add("A");
                }
                1
            }
            // As in `dumb`; a double letter counts once.
            b'B' => self.plain("P", "B"),
            b'C' => self.c(),
            b'D' => self.d(),
            b'F' => self.plain("F", "F"),
            b'G' => self.g(),
            b'H' => self.h(),
            b'J' => self.j(),
            b'K' => self.plain("K", "K"),
            b'L' => self.l(),
            b'M' => self.m(),
            b'N' => self.plain("N", "N"),
            b'P' => self.p(),
            b'Q' => self.plain("K", "Q"),
            b'R' => self.r(),
            b'S' => self.s(),
            b'T' => self.t(),
            b'V' => self.plain("F", "V"),
            b'W' => self.w(),
            b'X' => self.x(),
            b'Z' => self.z(),
            _ => 1,
        }
    }

    /// Adds a sound; if one of the letters `also` follows, it belongs to it.
    fn plain(&mut self, sound: &str, also: &str) -> usize {
        self.add(sound);
        self.with_next(also)
    }

    /// 2 if one of the letters `also` follows, 1 otherwise.
    fn with_next(&self, also: &str) -> usize {
        if also.as_bytes().contains(&self.letter(1)) { 2 } else { 1 }
    }

    /// Adds a sound to both codes.
    fn add(&mut self, sound: &str) {
        self.add_two(sound, sound);
    }

    fn add_two(&mut self, first: &str, second: &str) {
        self.first.push(first);
        self.second.push(second);
    }

    /// The letter at `offset` from the current one; a blank outside the word.
    fn letter(&self, offset: isize) -> u8 {
        let at = self.at.checked_add_signed(offset);
        at.and_then(|at| self.text.get(at)).copied().unwrap_or(b' ')
    }

    /// Whether one of `texts` begins at `offset` from the current letter. There are blanks after
    /// the word, and nothing before it.
    fn has(&self, offset: isize, texts: &[&str]) -> bool {
        self.at.checked_add_signed(offset).is_some_and(|at| self.has_at(at, texts))
    }

    fn has_at(&self, at: usize, texts: &[&str]) -> bool {
        let rest = self.text.get(at..).unwrap_or_default();
        texts.iter().any(|text| {
            let letters = rest.iter().copied().chain(std::iter::repeat(b' '));
            text.bytes().zip(letters).all(|(expected, letter)| expected == letter)
        })
    }

    /// Whether the word starts with one of `texts`.
    fn starts_with(&self, texts: &[&str]) -> bool {
        self.has_at(0, texts)
    }

    /// Whether the name shows by its start that it is German or Dutch.
    fn is_germanic(&self) -> bool {
        self.starts_with(&["VAN ", "VON ", "SCH"])
    }

    fn is_first(&self) -> bool {
        self.at == 0
    }

    fn is_last(&self) -> bool {
        self.at + 1 == self.text.len()
    }

    /// Whether the letter at `offset` from the current one is a vowel or Y.
    fn is_vowel(&self, offset: isize) -> bool {
        matches!(self.letter(offset), b'A' | b'E' | b'I' | b'O' | b'U' | b'Y')
    }
}
