//! The records of a text file: streamed, checked, and numbered by physical line.

mod faults;

use super::marks::Marks;
use super::scan::{Scan, Span, line_ends, scan, unescape};
use super::stream::ByteStream;
use crate::error::{InputError, Misquoted, Stray};
use memchr::{memchr, memchr2};

/// Buffer of a reader; it grows only for a record that does not fit.
const BUFFER_BYTES: usize = 1 << 18;

/// Largest record: a missing quote must not fill the machine's memory.
pub const RECORD_LIMIT_BYTES: usize = 64 << 20;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// One record of a text file: the last that its reader has found. A reference is all that moves
/// from row to row.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    reader: &'a RecordReader,
}

/// Where a record is in the buffer.
#[derive(Clone, Copy, Default)]
struct Extent {
    start: usize,
    /// Its bytes without and with the line end.
    body: usize,
    len: usize,
    line: u64,
}

impl<'a> Record<'a> {
    /// How many cells it has, at least one.
    #[expect(clippy::len_without_is_empty, reason = "no record is empty")]
    pub fn len(&self) -> usize {
        self.reader.spans.len()
    }

    /// Whether a cell has no character.
    pub fn has_empty_cell(&self, index: usize) -> bool {
        self.span(index).0.is_empty()
    }

    /// Physical line on which the record starts, from 1.
    pub fn line(&self) -> u64 {
        self.reader.found.line
    }

    /// The bytes in the file, without and with the line end.
    #[inline]
    pub fn raw(&self) -> (&'a [u8], &'a [u8]) {
        let Extent { start, body, len, .. } = self.reader.found;
        let data = &self.reader.buf[start..start + len];
        (&data[..body], data)
    }

    /// The bytes of a cell without quotes around it, where they begin in the record, and whether
    /// quotes are doubled in it.
    #[inline]
    fn span(&self, index: usize) -> (&'a [u8], usize, bool) {
        let Span { start, end, escaped } = self.reader.spans[index];
        let (from, start) = (self.reader.found.start, start as usize);
        (&self.reader.buf[from + start..from + end as usize], start, escaped)
    }

    /// How a cell is quoted, if CSV does not define that. A cell in proper quotes may contain
    /// anything.
    #[inline]
    pub fn misquoted(&self, index: usize) -> Option<Misquoted> {
        let (cell, start, _) = self.span(index);
        let before = || self.reader.buf[self.reader.found.start + start - 1];
        match cell.first() {
            Some(b' ' | b'\t' | b'\'') if start == 0 || before() != b'"' => misquoted(cell),
            _ => None,
        }
    }

    /// The text of a cell; `scratch` holds it if quotes had to be undoubled.
    #[inline]
    pub fn cell<'b>(&'b self, index: usize, scratch: &'b mut Vec<u8>) -> &'b [u8] {
        let (cell, _, escaped) = self.span(index);
        if !escaped {
            return cell;
        }
        scratch.clear();
        unescape(cell, scratch);
        scratch
    }
}

/// The same for an unquoted cell.
#[cold]
fn misquoted(cell: &[u8]) -> Option<Misquoted> {
    match cell.trim_ascii() {
        [b'"', ..] => Some(Misquoted::BlankBeforeQuote),
        [b'\'', _, .., b'\''] => Some(Misquoted::SingleQuotes),
        _ => None,
    }
}

/// The first bad byte of the buffer.
#[derive(Clone, Copy)]
struct Flaw {
    at: usize,
    kind: FlawKind,
}

#[derive(Clone, Copy)]
enum FlawKind {
    Nul,
    NotUtf8,
}

/// Reads records in sequence.
///
/// Checks that every byte of the file is UTF-8 without NUL, a buffer at a time; the cells it
/// returns are therefore always valid UTF-8.
pub struct RecordReader {
    stream: ByteStream,
    buf: Vec<u8>,
    /// Of the filled part of the buffer.
    marks: Marks,
    pos: usize,
    end: usize,
    /// The bytes before are UTF-8, or were passed over.
    checked: usize,
    /// No byte before is NUL, or it was passed over; at most `checked`.
    without_nul: usize,
    at_end: bool,
    flaw: Option<Flaw>,
    /// Whether the file has had a flaw.
    is_flawed: bool,
    /// The record found last, and its cells.
    found: Extent,
    spans: Vec<Span>,
    delimiter: u8,
    line: u64,
    names: Vec<String>,
    /// Cells that every record must have; 0 if that is not known.
    cells: usize,
    /// Whether the last of them is empty, and no column.
    ends_with_delimiter: bool,
    had_bom: bool,
    /// Whether a faulty record is skipped, so that the next one can be read.
    goes_on: bool,
    /// The fault of a record that is still being read.
    pending: Option<InputError>,
    /// Whether a fault hid the rest of the file.
    is_cut: bool,
}

impl RecordReader {
    pub fn new(stream: ByteStream, delimiter: u8) -> Result<Self, InputError> {
        Self::with_buffer(stream, delimiter, BUFFER_BYTES)
    }

    /// A reader with a first buffer of `buffer_bytes`, at least three for a byte order mark.
    fn with_buffer(
        stream: ByteStream,
        delimiter: u8,
        buffer_bytes: usize,
    ) -> Result<Self, InputError> {
        let mut reader = Self {
            stream,
            buf: vec![0; buffer_bytes],
            marks: Marks::default(),
            pos: 0,
            end: 0,
            checked: 0,
            without_nul: 0,
            at_end: false,
            flaw: None,
            is_flawed: false,
            found: Extent::default(),
            spans: Vec::new(),
            delimiter,
            line: 1,
            names: Vec::new(),
            cells: 0,
            ends_with_delimiter: false,
            had_bom: false,
            goes_on: false,
            pending: None,
            is_cut: false,
        };
        reader.refill()?;
        if reader.buf[..reader.end].starts_with(BOM) {
            reader.pos = BOM.len();
            reader.had_bom = true;
        }
        Ok(reader)
    }

    /// Counts `lines` lines as read before the first one.
    pub fn count_lines_before(&mut self, lines: u64) {
        self.line += lines;
    }

    /// From now on, every record must have as many cells as there are `names`, and then a delimiter
    /// if it `ends_with_delimiter`.
    pub fn expect(&mut self, names: &[String], ends_with_delimiter: bool) {
        self.names = names.to_vec();
        self.cells = names.len() + usize::from(ends_with_delimiter);
        self.ends_with_delimiter = ends_with_delimiter;
    }

    /// From now on, the record after a faulty one can be read, unless the fault hides the rest of
    /// the file.
    pub fn go_on_after_faults(&mut self) {
        self.goes_on = true;
    }

    /// Whether nothing can be read after the last error.
    pub fn is_cut(&self) -> bool {
        self.is_cut || !self.goes_on
    }

    pub fn had_bom(&self) -> bool {
        self.had_bom
    }

    pub fn bytes_done(&self) -> u64 {
        self.stream.bytes_done()
    }

    /// The digest of the bytes of the file that were read so far, if one was wanted.
    pub fn digest(&self) -> Option<u128> {
        self.stream.digest()
    }

    /// The next record that is not a blank line.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, InputError> {
        loop {
            if matches!(self.buf[self.pos..self.end].first(), Some(b'\n' | b'\r') | None)
                && !self.skip_blank_lines()?
            {
                return Ok(None);
            }
            let (buf, marks) = (&self.buf[..self.end], &self.marks);
            match scan(buf, marks, self.pos, self.at_end, self.delimiter, &mut self.spans) {
                Scan::Record { body, len, lines } => {
                    self.look_at_flaws(self.pos + len)?;
                    let (start, line) = (self.pos, self.line);
                    self.found = Extent { start, body, len, line };
                    self.pos += len;
                    self.line += lines;
                    // Taking nothing would move a whole error.
                    if self.pending.is_some()
                        && let Some(error) = self.pending.take()
                    {
                        return Err(error);
                    }
                    if self.cells != 0 && self.spans.len() != self.cells {
                        return Err(self.ragged(self.cells));
                    }
                    if lines > 1 || self.ends_with_delimiter {
                        self.check_cells()?;
                    }
                    return Ok(Some(Record { reader: self }));
                }
                Scan::Incomplete => self.make_room()?,
                Scan::Unterminated(at) => {
                    self.look_at_flaws(self.end)?;
                    let opened = self.pos + at;
                    self.is_cut = true;
                    if let Some(quote) = self.backslash_after(opened + 1, self.end) {
                        return Err(self.stray(quote, Stray::AfterBackslash));
                    }
                    let (line, _) = self.locate(opened);
                    let path = self.stream.path().to_path_buf();
                    return Err(InputError::UnterminatedQuote { path, line });
                }
                Scan::AfterQuote(at) => {
                    let at = self.pos + at;
                    if at >= self.checked && self.flaw.is_none() && !self.at_end {
                        // The byte may be the start of a character that is cut off here.
                        self.make_room()?;
                        continue;
                    }
                    self.look_at_flaws(at + 1)?;
                    let stray = self.after_quote(at);
                    if self.goes_on {
                        self.skip_line(at)?;
                    }
                    return Err(self.pending.take().unwrap_or(stray));
                }
            }
        }
    }

    /// Looks at the cells of a record on several lines, or with a delimiter at its end, which is
    /// taken away.
    fn check_cells(&mut self) -> Result<(), InputError> {
        if let Some(error) = self.backslashed() {
            return Err(error);
        }
        if self.ends_with_delimiter {
            if self.spans.last().is_none_or(|cell| cell.start < cell.end) {
                return Err(self.ragged(self.names.len()));
            }
            self.spans.pop();
        }
        Ok(())
    }

    /// Makes flaws before `end` the record's error: at once, or when its end is found.
    #[inline]
    fn look_at_flaws(&mut self, end: usize) -> Result<(), InputError> {
        match self.flaw {
            Some(flaw) if flaw.at < end => self.pass_over_flaws(end),
            _ => Ok(()),
        }
    }

    #[cold]
    fn pass_over_flaws(&mut self, end: usize) -> Result<(), InputError> {
        if let Some(flaw) = self.flaw
            && self.pending.is_none()
        {
            let error = self.flawed(flaw);
            if !self.goes_on {
                return Err(error);
            }
            self.pending = Some(error);
        }
        // A record has one error: to look for more of them one by one could take very long.
        let cut = self.buf[end..self.end].iter().take_while(|byte| (0x80..0xc0).contains(*byte));
        self.pass_over(end + cut.count());
        self.check();
        Ok(())
    }

    /// Takes the bytes before `end` for checked.
    fn pass_over(&mut self, end: usize) {
        self.flaw = None;
        self.is_flawed = true;
        self.without_nul = end;
        self.checked = self.checked.max(end);
    }

    /// Moves to the beginning of the line after the one of byte `at`.
    #[cold]
    fn skip_line(&mut self, at: usize) -> Result<(), InputError> {
        let mut from = at;
        loop {
            let found = memchr2(b'\n', b'\r', &self.buf[from..self.end]).map(|len| from + len);
            let passed = found.unwrap_or(self.end);
            self.line += line_ends(&self.buf[self.pos..passed]);
            self.pos = passed;
            // Skipped bytes are not checked.
            self.pass_over(passed);
            match self.buf[passed..self.end] {
                [] if self.at_end => return Ok(()),
                [] | [b'\r'] if !self.at_end => self.refill()?,
                [b'\r', b'\n', ..] => self.pos += 2,
                _ => self.pos += 1,
            }
            if found.is_some() && self.pos > passed {
                self.line += 1;
                self.pass_over(self.pos);
                self.check();
                return Ok(());
            }
            from = self.pos;
        }
    }

    /// False at the end of the file.
    #[cold]
    fn skip_blank_lines(&mut self) -> Result<bool, InputError> {
        loop {
            match self.buf[self.pos..self.end] {
                [b'\r', b'\n', ..] => self.pos += 2,
                [b'\r'] if !self.at_end => {
                    self.make_room()?;
                    continue;
                }
                [b'\n' | b'\r', ..] => self.pos += 1,
                [_, ..] => return Ok(true),
                [] if self.at_end => return Ok(false),
                [] => {
                    self.refill()?;
                    continue;
                }
            }
            self.line += 1;
        }
    }

    /// Reads more, after the buffer did not hold a whole record.
    #[cold]
    fn make_room(&mut self) -> Result<(), InputError> {
        self.look_at_flaws(self.end)?;
        if self.pos == 0 && self.end == self.buf.len() {
            if self.buf.len() >= RECORD_LIMIT_BYTES {
                self.is_cut = true;
                return Err(InputError::RecordTooLong {
                    path: self.stream.path().to_path_buf(),
                    line: self.line,
                    limit_bytes: RECORD_LIMIT_BYTES as u64,
                });
            }
            self.buf.resize((self.buf.len() * 2).min(RECORD_LIMIT_BYTES), 0);
        }
        self.refill()
    }

    fn refill(&mut self) -> Result<(), InputError> {
        self.buf.copy_within(self.pos..self.end, 0);
        self.end -= self.pos;
        self.checked = self.checked.saturating_sub(self.pos);
        self.without_nul = self.without_nul.saturating_sub(self.pos);
        if let Some(flaw) = &mut self.flaw {
            flaw.at = flaw.at.saturating_sub(self.pos);
        }
        self.pos = 0;
        let room = self.buf.len() - self.end;
        let filled = self.stream.fill(&mut self.buf[self.end..])?;
        self.end += filled;
        self.at_end = filled < room;
        self.marks.set(&self.buf[..self.end], self.delimiter);
        self.check();
        Ok(())
    }

    /// Finds the first invalid byte among the unchecked bytes.
    fn check(&mut self) {
        if self.flaw.is_some() {
            return;
        }
        let new = &self.buf[self.checked..self.end];
        let (valid, whole) = match std::str::from_utf8(new) {
            Ok(_) => (new.len(), true),
            // A character cut by the end of the buffer is checked again with the next bytes.
            Err(error) => (error.valid_up_to(), error.error_len().is_none() && !self.at_end),
        };
        self.checked += valid;
        let new = &self.buf[self.without_nul..self.checked];
        // Whether there is one takes less than where: almost no file has one.
        let has_nul = self.is_flawed || new.iter().fold(false, |has, byte| has | (*byte == 0));
        self.flaw = if has_nul && let Some(at) = memchr(0, new) {
            Some(Flaw { at: self.without_nul + at, kind: FlawKind::Nul })
        } else {
            self.without_nul = self.checked;
            (!whole).then_some(Flaw { at: self.checked, kind: FlawKind::NotUtf8 })
        };
    }
}

/// A byte order mark, or Latin text with every other byte zero.
pub fn looks_like_utf16(data: &[u8]) -> bool {
    if data.starts_with(&[0xff, 0xfe]) || data.starts_with(&[0xfe, 0xff]) {
        return true;
    }
    let head = &data[..data.len().min(1024) & !1];
    let zeros = |odd: usize| head.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let half = head.len() / 2;
    half >= 2 && (zeros(0) > half / 2) != (zeros(1) > half / 2)
}

#[cfg(test)]
mod tests;
