//! The letters of a value, for codes of sounds.

use crate::MAX_CHARS;
use crate::refusal::Refusal;

/// Letters from A to Z in upper case, without what stands between them.
pub(crate) struct Letters {
    bytes: [u8; MAX_CHARS],
    len: usize,
}

impl Letters {
    /// The letters of `value`. A value with other letters than A to Z is refused; digits and signs
    /// are left out.
    pub(crate) fn read(value: &str) -> Result<Self, Refusal> {
        Self::read_with(value, false)
    }

    /// [`Letters::read`], with one blank for the blanks and hyphens between two words.
    pub(crate) fn read_words(value: &str) -> Result<Self, Refusal> {
        Self::read_with(value, true)
    }

    fn read_with(value: &str, keeps_words: bool) -> Result<Self, Refusal> {
        let mut letters = Self { bytes: [0; MAX_CHARS], len: 0 };
        if value.is_ascii() {
            let mut parts = false;
            for byte in value.bytes() {
                if byte.is_ascii_alphabetic() {
                    if parts && letters.len > 0 {
                        letters.push(b' ')?;
                    }
                    parts = false;
                    letters.push(byte.to_ascii_uppercase())?;
                } else {
                    parts |= keeps_words && matches!(byte, b' ' | b'-');
                }
            }
        } else if value.chars().any(|c| c.is_alphabetic() && !c.is_ascii()) {
            return Err(Refusal::OtherLetters);
        } else {
            let ascii: String = value.chars().filter(char::is_ascii).collect();
            return Self::read_with(&ascii, keeps_words);
        }
        if letters.len == 0 { Err(Refusal::NoSound) } else { Ok(letters) }
    }

    fn push(&mut self, byte: u8) -> Result<(), Refusal> {
        *self.bytes.get_mut(self.len).ok_or(Refusal::TooLong)? = byte;
        self.len += 1;
        Ok(())
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(crate) fn text_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.len]
    }

    /// Replaces the last two letters by one.
    pub(crate) fn shorten(&mut self, last: u8) {
        self.len -= 1;
        self.bytes[self.len - 1] = last;
    }
}

/// Whether a letter is one of the five vowels.
pub(crate) fn is_vowel(letter: u8) -> bool {
    matches!(letter, b'A' | b'E' | b'I' | b'O' | b'U')
}
