//! The error for a column that a file has not, and what helps to find it.

use super::{Layout, Source};
use vesica_inputs::error::{Columns, InputError};
use vesica_inputs::text::marks::Marks;
use vesica_inputs::text::scan::{Scan, scan, unescape};
use vesica_inputs::text::stream::ByteStream;
use vesica_inputs::text::top::Lines;

/// Lines at the top of a file in which the header is looked for.
const TOP_LINES: u64 = 20;

/// Rows that are compared with the header.
const FIRST_ROWS: usize = 1000;

/// Delimiters tried for a line of column names, in addition to the file's delimiter.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

impl Source {
    /// The error for a column `name` that there is not.
    pub(super) fn missing(&self, name: &str) -> InputError {
        let from_header = matches!(&self.layout, Layout::Text(layout) if layout.header);
        let mut columns = Columns::new(&self.columns, from_header);
        if from_header {
            // The header itself may have the name between blanks.
            if !self.columns.iter().any(|known| known.trim() == name) {
                // A fault of reading is none of this error.
                columns.line = self.line_with(name).unwrap_or_default();
            }
            if self.repeats_its_header().unwrap_or(true) {
                columns.names.clear();
            }
        }
        InputError::ColumnMissing {
            path: self.path().to_path_buf(),
            column: name.to_owned(),
            nearest: nearest(name, &self.columns),
            guessed: self.guessed,
            columns: Box::new(columns),
        }
    }

    /// Whether one of the first rows has the same cell in a column as the header: then that is a
    /// row, probably.
    fn repeats_its_header(&self) -> Result<bool, InputError> {
        let (mut reader, _) = self.records()?;
        let mut scratch = Vec::new();
        for _ in 0..FIRST_ROWS {
            let Some(row) = reader.next_record()? else { break };
            let is_name = |(index, name): (usize, &String)| {
                !name.is_empty() && row.cell(index, &mut scratch) == name.as_bytes()
            };
            if self.columns.iter().enumerate().any(is_name) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The physical line, among the first ones, that has a field `name`, and is not the header.
    fn line_with(&self, name: &str) -> Result<Option<u64>, InputError> {
        let stream = ByteStream::new(self.known.reopen()?, self.format.codec, self.path())?;
        let mut lines = Lines::new(stream);
        let (head, _) = lines.head()?;
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        let mut rest = text;
        for line in 1..=TOP_LINES {
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let len = end.unwrap_or(rest.len());
            let delimiters = self.delimiter().into_iter().chain(DELIMITERS);
            if delimiters.into_iter().any(|delimiter| has_field(&rest[..len], delimiter, name)) {
                return Ok(Some(line));
            }
            let Some(end) = end else { break };
            rest = match rest[end..] {
                [b'\r', b'\n', ref next @ ..] => next,
                [_, ref next @ ..] => next,
                [] => break,
            };
        }
        Ok(None)
    }
}

/// Whether a line has the field `name`, blanks around it aside.
fn has_field(line: &[u8], delimiter: u8, name: &str) -> bool {
    let mut spans = Vec::new();
    let Scan::Record { .. } =
        scan(line, &Marks::of(line, delimiter), 0, true, delimiter, &mut spans)
    else {
        return false;
    };
    let mut cell = Vec::new();
    spans.iter().any(|span| {
        let text = &line[span.start as usize..span.end as usize];
        cell.clear();
        if span.escaped {
            unescape(text, &mut cell);
        } else {
            cell.extend_from_slice(text);
        }
        cell.trim_ascii() == name.as_bytes()
    })
}

/// At most three of `names` that are like `name`, nearest first.
///
/// In a file without a header they are values, which no message may hold: so they are the same
/// letters and digits, have one mistake, or are a few words of which the name is one, and tell next
/// to nothing that was not asked for.
fn nearest(name: &str, names: &[String]) -> Vec<String> {
    let bare = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let wanted = bare(name);
    let likeness = |known: &String| {
        let is_text = |c: char| c.is_alphabetic() || matches!(c, ' ' | '_' | '-' | '(' | ')');
        let is_word = || known.split([' ', '_', '-']).any(|word| bare(word) == wanted);
        match strsim::osa_distance(&wanted, &bare(known)) {
            _ if wanted.is_empty() => None,
            0 => Some(0),
            // A number one digit off, or an address, would be a value.
            _ if !known.chars().all(is_text) => None,
            1 if wanted.chars().count() >= 4 => Some(1),
            _ if is_word() => Some(2),
            _ => None,
        }
    };
    let mut near: Vec<(u32, &String)> =
        names.iter().filter_map(|known| Some((likeness(known)?, known))).collect();
    near.sort_by_key(|(likeness, _)| *likeness);
    near.into_iter().take(3).map(|(_, known)| known.clone()).collect()
}
