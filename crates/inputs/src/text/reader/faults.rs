//! What is wrong with a record, and where.

use super::{Extent, Flaw, FlawKind, RecordReader};
use crate::error::{EncodingGuess, InputError, Place, Stray};
use crate::text::backslash;
use crate::text::scan::line_ends;

impl RecordReader {
    /// The error for a record that has not `expected` cells.
    #[cold]
    pub(super) fn ragged(&self, expected: usize) -> InputError {
        if let Some(error) = self.backslashed() {
            return error;
        }
        let (path, line) = (self.stream.path().to_path_buf(), self.found.line);
        InputError::Ragged { path, line, expected, found: self.spans.len() }
    }

    /// The error for the record found last, if its cells show that quotes are written with a
    /// backslash.
    pub fn backslashed(&self) -> Option<InputError> {
        let Extent { start, body, .. } = self.found;
        let record = &self.buf[start..start + body];
        let at = backslash::first_in(record, &self.spans, self.delimiter)?;
        Some(self.stray_in(start, self.found.line, start + at, Stray::AfterBackslash))
    }

    /// The first quote after a backslash in the quoted text between two places of the buffer.
    pub(super) fn backslash_after(&self, from: usize, to: usize) -> Option<usize> {
        backslash::closed_by_twin(&self.buf[from..to], self.delimiter).map(|at| from + at)
    }

    /// The error for a byte that follows the quote at which a cell ends.
    #[cold]
    pub(super) fn after_quote(&self, at: usize) -> InputError {
        let cell = self.spans.last().map_or(0, |cell| cell.start as usize);
        let quote = match self.buf[..at - 1].last() {
            Some(b'\\') => Some(at - 1),
            _ => self.backslash_after(self.pos + cell, at - 1),
        };
        match quote {
            Some(quote) => self.stray(quote, Stray::AfterBackslash),
            None => self.stray(at, Stray::AfterQuote),
        }
    }

    /// Physical line of a byte of the current record, and its position in that line from 1.
    pub(super) fn locate(&self, at: usize) -> (u64, u64) {
        self.locate_from(self.pos, self.line, at)
    }

    /// The same for a byte after `start`, which is the first one of `line`.
    fn locate_from(&self, start: usize, line: u64, at: usize) -> (u64, u64) {
        let before = &self.buf[start..at.max(start)];
        let line_start =
            before.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1);
        (line + line_ends(before), (before.len() - line_start) as u64 + 1)
    }

    pub(super) fn stray(&self, at: usize, stray: Stray) -> InputError {
        self.stray_in(self.pos, self.line, at, stray)
    }

    /// The error for byte `at` of the record that begins at `start` in `line`.
    fn stray_in(&self, start: usize, line: u64, at: usize, stray: Stray) -> InputError {
        let (line, byte) = self.locate_from(start, line, at);
        InputError::Stray { path: self.stream.path().to_path_buf(), line, byte, stray }
    }

    #[cold]
    pub(super) fn flawed(&self, flaw: Flaw) -> InputError {
        let FlawKind::NotUtf8 = flaw.kind else {
            return self.stray(flaw.at, Stray::Nul);
        };
        let (line, byte) = self.locate(flaw.at);
        let offset = flaw.at.saturating_sub(self.pos);
        let index = self
            .spans
            .iter()
            .position(|span| offset <= span.end as usize)
            .unwrap_or(self.spans.len());
        InputError::InvalidUtf8 {
            path: self.stream.path().to_path_buf(),
            place: Place::Line(line),
            byte,
            column: self.names.get(index).cloned(),
            guess: guess_encoding(&self.buf[..self.end], flaw.at),
        }
    }
}

/// The likely encoding of text whose byte `at` is not UTF-8. UTF-16 is checked when a file is
/// opened.
fn guess_encoding(data: &[u8], at: usize) -> EncodingGuess {
    let continues = |byte: &u8| (0x80..0xc0).contains(byte);
    match data.get(at) {
        Some(0xa0..) if !data.get(at + 1).is_some_and(continues) => EncodingGuess::SingleByte,
        // Quotation marks, dashes and the euro sign of Windows-1252, after ASCII or a line end.
        Some(0x80..=0x9f) if at == 0 || data[at - 1].is_ascii() => EncodingGuess::SingleByte,
        _ => EncodingGuess::Unknown,
    }
}
