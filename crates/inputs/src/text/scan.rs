//! Finds one record in a buffer: RFC 4180, and variants found in practice.
//!
//! A record ends at LF, CRLF or a lone CR outside quotes. A cell that starts with a quote ends at
//! the next quote that is not doubled, which a delimiter or a line end must follow. A quote at any
//! other place of a cell is an ordinary character.

use super::marks::Marks;
use memchr::{memchr, memchr2};

/// The position of a cell in its record, without its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: u32,
    pub end: u32,
    /// The cell contains doubled quotes.
    pub escaped: bool,
}

/// The result of [`scan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan {
    /// A record of `body` bytes, `len` with its line end, on `lines` physical lines.
    Record { body: usize, len: usize, lines: u64 },
    /// The record does not end in the buffer.
    Incomplete,
    /// The quote at this offset is not closed before the end of the file.
    Unterminated(usize),
    /// The byte at this offset follows a closing quote and is not a delimiter.
    AfterQuote(usize),
}

/// Finds the record of `buf` that begins at `start`, and its cells. `marks` are those of `buf` for
/// `delimiter`; `at_end` means that no byte follows `buf`. Offsets are from `start`.
///
/// `buf` must be shorter than 4 GiB.
#[inline]
pub fn scan(
    buf: &[u8],
    marks: &Marks,
    start: usize,
    at_end: bool,
    delimiter: u8,
    spans: &mut Vec<Span>,
) -> Scan {
    let data = &buf[start..];
    spans.clear();
    let mut ends = marks.from(start);
    let mut lines = 1;
    let mut at = 0;
    loop {
        let end;
        if data.get(at) == Some(&b'"') {
            let (close, escaped) = match closing_quote(data, at + 1, at_end) {
                Quote::Closed { at, escaped } => (at, escaped),
                Quote::Incomplete => return Scan::Incomplete,
                Quote::Open => return Scan::Unterminated(at),
            };
            lines += line_ends(&data[at + 1..close]);
            spans.push(Span { start: at as u32 + 1, end: close as u32, escaped });
            end = close + 1;
            ends = marks.from(start + end);
            match data.get(end) {
                None => {}
                // The mark at `end`.
                Some(_) if ends.next() == Some(start + end) => {}
                Some(_) => return Scan::AfterQuote(end),
            }
        } else {
            end = ends.next().map_or(data.len(), |end| end - start);
            spans.push(Span { start: at as u32, end: end as u32, escaped: false });
        }
        match data.get(end) {
            Some(&byte) if byte == delimiter => at = end + 1,
            Some(b'\n') => return Scan::Record { body: end, len: end + 1, lines },
            Some(_) => match data.get(end + 1) {
                Some(b'\n') => return Scan::Record { body: end, len: end + 2, lines },
                None if !at_end => return Scan::Incomplete,
                _ => return Scan::Record { body: end, len: end + 1, lines },
            },
            None if at_end => return Scan::Record { body: end, len: end, lines },
            None => return Scan::Incomplete,
        }
    }
}

enum Quote {
    Closed { at: usize, escaped: bool },
    Incomplete,
    Open,
}

fn closing_quote(data: &[u8], from: usize, at_end: bool) -> Quote {
    let mut at = from;
    let mut escaped = false;
    loop {
        match memchr(b'"', &data[at..]) {
            None if at_end => return Quote::Open,
            None => return Quote::Incomplete,
            Some(offset) => at += offset,
        }
        match data.get(at + 1) {
            Some(b'"') => {
                escaped = true;
                at += 2;
            }
            // The quote may be the first half of a doubled one.
            None if !at_end => return Quote::Incomplete,
            _ => return Quote::Closed { at, escaped },
        }
    }
}

/// Line ends in `data`: LF, CRLF and lone CR count one each.
pub fn line_ends(data: &[u8]) -> u64 {
    let mut count = 0;
    let mut rest = data;
    while let Some(at) = memchr2(b'\n', b'\r', rest) {
        count += 1;
        let pair = rest[at] == b'\r' && rest.get(at + 1) == Some(&b'\n');
        rest = &rest[at + 1 + usize::from(pair)..];
    }
    count
}

/// Appends the cell to `out` with doubled quotes undoubled.
pub fn unescape(cell: &[u8], out: &mut Vec<u8>) {
    let mut rest = cell;
    while let Some(at) = memchr(b'"', rest) {
        out.extend_from_slice(&rest[..=at]);
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}
