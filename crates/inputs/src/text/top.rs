//! The lines of a text file above its header.

use super::stream::ByteStream;
use crate::error::InputError;
use memchr::memchr2;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Decompressed bytes that are held at a time, and looked at to find the delimiter.
const HEAD_BYTES: usize = 1 << 16;

/// A line `sep=;` is no longer than this, with quotes and its line end.
const SEP_LINE_BYTES: usize = 16;

/// Which lines to skip, in addition to the line with the delimiter.
#[derive(Clone, Copy)]
pub struct Skip {
    /// Physical lines at the top of the file, blank ones too.
    pub rows: u64,
    /// The first byte of further lines to skip.
    pub comment: Option<u8>,
}

/// The line `sep=;`, by which a file tells Excel its delimiter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SepLine {
    pub delimiter: u8,
    /// Its bytes with the line end.
    pub raw: Vec<u8>,
}

/// The lines above the header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Top {
    /// Their length with the line ends, in decompressed bytes.
    pub bytes: u64,
    /// Their number.
    pub lines: u64,
    /// Whether they begin with a byte order mark.
    pub had_bom: bool,
    /// The first line, where it holds the delimiter.
    pub sep: Option<SepLine>,
}

/// The beginning of a file, line by line.
pub struct Lines {
    stream: ByteStream,
    buf: Vec<u8>,
    pos: usize,
    end: usize,
    at_end: bool,
}

impl Lines {
    pub fn new(stream: ByteStream) -> Self {
        Self { stream, buf: vec![0; HEAD_BYTES], pos: 0, end: 0, at_end: false }
    }

    /// The next bytes, at most as many as the buffer holds, and whether the file ends with them.
    pub fn head(&mut self) -> Result<(&[u8], bool), InputError> {
        self.ahead(HEAD_BYTES)?;
        Ok((&self.buf[self.pos..self.end], self.at_end))
    }

    /// The next bytes, `len` or more unless the file ends before; at most as many as the buffer
    /// holds.
    fn ahead(&mut self, len: usize) -> Result<&[u8], InputError> {
        if self.end - self.pos < len && !self.at_end {
            self.buf.copy_within(self.pos..self.end, 0);
            self.end -= self.pos;
            self.pos = 0;
            let room = self.buf.len() - self.end;
            let filled = self.stream.fill(&mut self.buf[self.end..])?;
            self.end += filled;
            self.at_end = filled < room;
        }
        Ok(&self.buf[self.pos..self.end])
    }

    /// Goes past the next line, and adds it to `top`.
    fn skip_line(&mut self, top: &mut Top) -> Result<(), InputError> {
        loop {
            self.ahead(2)?;
            let ahead = &self.buf[self.pos..self.end];
            let (len, is_whole) = match memchr2(b'\n', b'\r', ahead) {
                None => (ahead.len(), false),
                Some(at) => match ahead[at..] {
                    [b'\r', b'\n', ..] => (at + 2, true),
                    // A line feed may follow.
                    [b'\r'] if !self.at_end => (at, false),
                    _ => (at + 1, true),
                },
            };
            self.pos += len;
            top.bytes += len as u64;
            if is_whole || (self.at_end && self.pos == self.end) {
                top.lines += 1;
                return Ok(());
            }
        }
    }

    /// Goes past the lines above the header.
    ///
    /// # Errors
    /// [`InputError::AllSkipped`] if the file ends before `skip.rows` lines; errors of reading.
    pub fn skip_top(&mut self, skip: Skip) -> Result<Top, InputError> {
        let mut top = Top::default();
        if self.ahead(BOM.len())?.starts_with(BOM) {
            top.had_bom = true;
            top.bytes = BOM.len() as u64;
            self.pos += BOM.len();
        }
        if let Some(delimiter) = delimiter_of(self.ahead(SEP_LINE_BYTES)?) {
            let from = self.pos;
            self.skip_line(&mut top)?;
            // It is shorter than the buffer, which was not filled again.
            top.sep = Some(SepLine { delimiter, raw: self.buf[from..self.pos].to_vec() });
        }
        while top.lines < skip.rows {
            if self.ahead(1)?.is_empty() {
                let path = self.stream.path().to_path_buf();
                return Err(InputError::AllSkipped { path, lines: top.lines });
            }
            self.skip_line(&mut top)?;
        }
        if let Some(comment) = skip.comment {
            let is_above = |byte: &u8| *byte == comment || matches!(byte, b'\n' | b'\r');
            while self.ahead(1)?.first().is_some_and(is_above) {
                self.skip_line(&mut top)?;
            }
        }
        // A byte order mark alone is the reader's.
        Ok(if top.lines == 0 { Top::default() } else { top })
    }
}

/// The delimiter that a first line gives: `sep=;`, also in quotes, and with `\t` for a tab.
fn delimiter_of(head: &[u8]) -> Option<u8> {
    let end = memchr2(b'\n', b'\r', head).unwrap_or(head.len());
    let line = &head[..end];
    let line = match line {
        [b'"', inner @ .., b'"'] => inner,
        line => line,
    };
    let (name, value) = line.split_at_checked(4)?;
    match value {
        _ if !name.eq_ignore_ascii_case(b"sep=") => None,
        b"\\t" => Some(b'\t'),
        [b'\t'] => Some(b'\t'),
        [byte] if byte.is_ascii_punctuation() && *byte != b'"' => Some(*byte),
        [b' '] => Some(b' '),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(text: &[u8], rows: u64, comment: Option<u8>) -> Result<(Top, Vec<u8>), InputError> {
        let mut lines = Lines::new(ByteStream::from_memory(text.to_vec()));
        let top = lines.skip_top(Skip { rows, comment })?;
        Ok((top, lines.head()?.0.to_vec()))
    }

    #[test]
    fn a_line_with_the_delimiter_is_known_in_all_its_spellings() {
        for (line, delimiter) in [
            ("sep=;", Some(b';')),
            ("SEP=,", Some(b',')),
            ("\"sep=|\"", Some(b'|')),
            ("sep=\t", Some(b'\t')),
            ("sep=\\t", Some(b'\t')),
            ("sep=", None),
            ("sep=a", None),
            ("sep=\"", None),
            ("sep=;;", None),
            ("sept;", None),
            ("", None),
        ] {
            for end in ["", "\n", "\r\n", "\r"] {
                let text = format!("{line}{end}");
                assert_eq!(delimiter_of(text.as_bytes()), delimiter, "{text:?}");
            }
        }
    }

    #[test]
    fn lines_are_skipped_whatever_their_ends() {
        for text in ["a\nb\nid\n", "a\r\nb\r\nid\n", "a\rb\rid\n", "\n\nid\n", "a,\"\nb\nid\n"] {
            let (top, rest) = skip(text.as_bytes(), 2, None).unwrap();
            assert_eq!((top.lines, &rest[..]), (2, &b"id\n"[..]), "{text:?}");
            assert_eq!(top.bytes as usize, text.len() - 3);
        }
        let long = [&b"x".repeat(3 * HEAD_BYTES - 1)[..], b"\r\n#y\r\n\r\nid\n"].concat();
        let (top, rest) = skip(&long, 1, Some(b'#')).unwrap();
        assert_eq!((top.lines, &rest[..]), (3, &b"id\n"[..]));
    }

    #[test]
    fn more_lines_than_there_are_cannot_be_skipped() {
        for (text, lines) in [("a\nb\n", 2), ("a\nb", 2), ("sep=;", 1)] {
            let error = skip(text.as_bytes(), lines + 1, None).unwrap_err();
            assert_eq!(error, InputError::AllSkipped { path: "memory".into(), lines });
        }
    }

    #[test]
    fn a_byte_order_mark_alone_stays_for_the_reader() {
        assert_eq!(skip(b"\xef\xbb\xbfid\n", 0, None).unwrap().0, Top::default());
        let (top, rest) = skip(b"\xef\xbb\xbfsep=;\nid\n", 0, None).unwrap();
        assert_eq!((top.bytes, top.had_bom, &rest[..]), (9, true, &b"id\n"[..]));
    }
}
