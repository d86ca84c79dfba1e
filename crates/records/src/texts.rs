//! The texts of keys, for results with keys that are in no row of the own file.
//!
//! The text of a key of one column is the output of its profile. With several columns, each but the
//! last has its length before it, two bytes, little-endian: both parties compute the same text for
//! the same key, and it can be parsed into its columns.

use crate::encoding::PART_HEADER_LEN;
use crate::key::KeyColumn;
use std::path::Path;
use vesica_inputs::error::{InputError, Place};

/// Bytes of the length before a column.
const LEN_BYTES: usize = 2;

/// A list of texts of keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyTexts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl KeyTexts {
    /// The number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Text number `index`.
    ///
    /// # Panics
    /// Unless `index` is below [`len`](Self::len).
    pub fn get(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[index]]
    }

    /// Appends a text.
    pub fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    /// All texts in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Keeps the texts at these positions, in this order.
    pub(crate) fn keep(&mut self, positions: impl Iterator<Item = u32>) {
        let mut kept = Self::default();
        positions.for_each(|position| kept.push(self.get(position as usize)));
        *self = kept;
    }
}

/// Parses the text of a key of `columns` columns; `None` if it is too short for its parts, has an
/// empty part, or is not UTF-8.
pub fn key_values(text: &[u8], columns: usize) -> Option<Vec<&str>> {
    let mut values = Vec::with_capacity(columns);
    let mut rest = text;
    for _ in 1..columns {
        let (len, after) = rest.split_first_chunk::<LEN_BYTES>()?;
        let (value, after) = after.split_at_checked(u16::from_le_bytes(*len).into())?;
        values.push(value);
        rest = after;
    }
    values.push(rest);
    let texts = values.into_iter().map(|value| match value {
        [] => None,
        value => std::str::from_utf8(value).ok(),
    });
    texts.collect()
}

/// Collects texts from encoded keys.
pub(crate) struct TextCollector {
    pub(crate) texts: KeyTexts,
    max_bytes: usize,
}

impl TextCollector {
    /// With texts of at most `max_bytes`.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { texts: KeyTexts::default(), max_bytes }
    }

    /// Adds the text of the key `encoded`; `place` is the place of its row.
    pub(crate) fn take(
        &mut self,
        encoded: &[u8],
        columns: &[KeyColumn],
        path: &Path,
        place: impl FnOnce() -> Place,
    ) -> Result<(), InputError> {
        let mut rest = encoded;
        let start = self.texts.bytes.len();
        let max_bytes = self.max_bytes;
        for (index, column) in columns.iter().enumerate() {
            // Written by the encoder.
            let len = match rest {
                [_, a, b, c, d, ..] => u32::from_le_bytes([*a, *b, *c, *d]) as usize,
                _ => 0,
            };
            let (value, after) = rest[PART_HEADER_LEN.min(rest.len())..].split_at(len);
            rest = after;
            let is_last = index + 1 == columns.len();
            let short = u16::try_from(len);
            let so_far = self.texts.bytes.len() - start + len + if is_last { 0 } else { LEN_BYTES };
            if so_far > max_bytes || (!is_last && short.is_err()) {
                let max_bytes = max_bytes.min(u16::MAX.into());
                let (path, column) = (path.to_path_buf(), column.column.clone());
                self.texts.bytes.truncate(start);
                return Err(InputError::KeyTooLong { path, place: place(), column, max_bytes });
            }
            if let (false, Ok(short)) = (is_last, short) {
                self.texts.bytes.extend_from_slice(&short.to_le_bytes());
            }
            self.texts.bytes.extend_from_slice(value);
        }
        self.texts.ends.push(self.texts.bytes.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::push_cell;
    use vesica_profiles::Profile;

    fn text(values: &[&str], max_bytes: usize) -> Result<Vec<u8>, InputError> {
        let mut encoded = Vec::new();
        for value in values {
            push_cell(Profile::EXACT, value.as_bytes(), &mut encoded).unwrap();
        }
        let column = |name: usize| KeyColumn {
            name: name.to_string(),
            column: name.to_string(),
            profile: Profile::EXACT,
            never: Vec::new(),
        };
        let columns: Vec<_> = (0..values.len()).map(column).collect();
        let mut collector = TextCollector::new(max_bytes);
        collector.take(&encoded, &columns, Path::new("a.csv"), || Place::Line(7))?;
        Ok(collector.texts.get(0).to_vec())
    }

    #[test]
    fn texts_parse_into_their_columns() {
        for values in [&["a"][..], &["a,b", "c"], &["a", "b,c"], &["x", "\u{e9}\n", "z"]] {
            let text = text(values, usize::MAX).unwrap();
            assert_eq!(key_values(&text, values.len()).unwrap(), values);
        }
        assert_eq!(text(&["abc"], usize::MAX).unwrap(), b"abc", "one column is its value");
    }

    #[test]
    fn an_invalid_text_of_a_key_is_refused() {
        for (bytes, columns) in
            [(&b""[..], 1), (b"\xff", 1), (b"\x05", 2), (b"\x02\x00a", 2), (b"\x01\x00a", 2)]
        {
            assert_eq!(key_values(bytes, columns), None, "{bytes:?}");
        }
        assert_eq!(key_values(b"\x01\x00ab", 2), Some(vec!["a", "b"]));
    }

    #[test]
    fn a_key_that_is_too_long_names_its_line_and_column() {
        assert!(text(&["12345"], 5).is_ok());
        assert!(text(&["123", "45"], 7).is_ok());
        for (values, max_bytes, column) in
            [(&["123456"][..], 5, "0"), (&["123", "456"], 7, "1"), (&["123456", "4"], 7, "0")]
        {
            let expected = InputError::KeyTooLong {
                path: "a.csv".into(),
                place: Place::Line(7),
                column: column.to_owned(),
                max_bytes,
            };
            assert_eq!(text(values, max_bytes).unwrap_err(), expected);
        }
        let long = "x".repeat(70_000);
        assert!(text(&["a", &long], usize::MAX).is_ok());
        assert!(matches!(text(&[&long, "a"], usize::MAX), Err(InputError::KeyTooLong { .. })));
    }
}
