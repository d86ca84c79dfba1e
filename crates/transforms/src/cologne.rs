//! `cologne`: Kölner Phonetik, for German names.
//!
//! Hans Joachim Postel, "Die Kölner Phonetik. Ein Verfahren zur Identifizierung von Personennamen
//! auf der Grundlage der Gestaltanalyse", IBM-Nachrichten 19, 1969, pages 925–931.
//!
//! | letter | code |
//! |---|---|
//! | A, E, I, J, O, U, Y | 0 |
//! | B; P not before H | 1 |
//! | D, T not before C, S, Z | 2 |
//! | F, V, W; P before H | 3 |
//! | G, K, Q; C first, before A, H, K, L, O, Q, R, U, X; C not after S, Z, before A, H, K, O, Q, U, X | 4 |
//! | X not after C, K, Q | 48 |
//! | L | 5 |
//! | M, N | 6 |
//! | R | 7 |
//! | S, Z; other C; D, T before C, S, Z; X after C, K, Q | 8 |
//! | H | none |
//!
//! Then equal codes side by side count once, and every 0 is dropped but one at the start. H has no
//! code, so it does not part equal ones.

use crate::letters::Letters;
use crate::refusal::Refusal;
use crate::texts::Texts;

pub(crate) fn cologne(value: &str, out: &mut Texts) -> Result<(), Refusal> {
    let letters = Letters::read(value)?;
    let text = letters.text();
    let mut code = Code { bytes: [0; 2 * crate::MAX_CHARS], len: 0, last: None };
    for (at, letter) in text.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| text[at]);
        let next = text.get(at + 1).copied();
        let is_next = |letters: &[u8]| next.is_some_and(|next| letters.contains(&next));
        let is_before = |letters: &[u8]| before.is_some_and(|before| letters.contains(&before));
        let digit = match letter {
            b'A' | b'E' | b'I' | b'J' | b'O' | b'U' | b'Y' => b'0',
            b'H' => continue,
            b'B' => b'1',
            b'P' if is_next(b"H") => b'3',
            b'P' => b'1',
            b'D' | b'T' if is_next(b"CSZ") => b'8',
            b'D' | b'T' => b'2',
            b'F' | b'V' | b'W' => b'3',
            b'G' | b'K' | b'Q' => b'4',
            b'C' => {
                let is_hard = if at == 0 {
                    is_next(b"AHKLOQRUX")
                } else {
                    !is_before(b"SZ") && is_next(b"AHKOQUX")
                };
                if is_hard { b'4' } else { b'8' }
            }
            b'X' => {
                if !is_before(b"CKQ") {
                    code.push(b'4');
                }
                b'8'
            }
            b'L' => b'5',
            b'M' | b'N' => b'6',
            b'R' => b'7',
            _ => b'8',
        };
        code.push(digit);
    }
    if code.len == 0 {
        return Err(Refusal::NoSound);
    }
    out.push_ascii(&code.bytes[..code.len]);
    Ok(())
}

struct Code {
    bytes: [u8; 2 * crate::MAX_CHARS],
    len: usize,
    last: Option<u8>,
}

impl Code {
    fn push(&mut self, digit: u8) {
        let is_new = self.last.replace(digit) != Some(digit);
        if is_new && (digit != b'0' || self.len == 0) {
            self.bytes[self.len] = digit;
            self.len += 1;
        }
    }
}
