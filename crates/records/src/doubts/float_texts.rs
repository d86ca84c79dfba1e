//! Numbers in text as programs write floating-point numbers: `123.0`, `1.5e+10`.
//!
//! Spreadsheets and data frames make such numbers of whole ones, for example where a column has
//! gaps. As text they equal no whole number of the other side.

use crate::faults::FIRST_PLACES;
use crate::key::KeyColumn;
use vesica_inputs::error::Place;
use vesica_tables::Row;

/// Values of one text column that look like floating-point numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FloatTexts {
    /// The column in the file.
    pub column: String,
    /// How many rows.
    pub count: u64,
    /// The first of them, at most five.
    pub first: Vec<Place>,
}

/// Counts them in the key columns that are compared as text.
pub(crate) struct FloatWatch {
    watched: Vec<Watched>,
    scratch: Vec<u8>,
}

struct Watched {
    /// Its position in the key.
    key: usize,
    found: FloatTexts,
}

impl FloatWatch {
    pub(crate) fn new(columns: &[KeyColumn]) -> Self {
        let is_watched = |(_, column): &(usize, &KeyColumn)| column.profile.keeps_numbers();
        let watched = |(key, column): (usize, &KeyColumn)| {
            let found = FloatTexts { column: column.column.clone(), count: 0, first: Vec::new() };
            Watched { key, found }
        };
        let watched = columns.iter().enumerate().filter(is_watched).map(watched).collect();
        Self { watched, scratch: Vec::new() }
    }

    #[inline]
    pub(crate) fn look(&mut self, row: &impl Row) {
        for Watched { key, found } in &mut self.watched {
            if is_float(row.cell(*key, &mut self.scratch)) {
                found.count += 1;
                if found.first.len() < FIRST_PLACES {
                    found.first.push(row.place());
                }
            }
        }
    }

    /// The columns in which most values look so; `filled` has the number of values in each column
    /// of the key.
    pub(crate) fn finish(self, filled: &[u64]) -> Vec<FloatTexts> {
        let most = self.watched.into_iter().filter(|one| one.found.count > filled[one.key] / 2);
        most.map(|one| one.found).collect()
    }
}

/// Digits and `.0`, or a number with an exponent that has a sign.
#[inline]
fn is_float(cell: &[u8]) -> bool {
    match cell.trim_ascii_end() {
        [number @ .., b'.', b'0'] => is_signed_digits(number),
        [head @ .., last] if last.is_ascii_digit() && head.contains(&b'+') => has_exponent(cell),
        _ => false,
    }
}

fn is_signed_digits(text: &[u8]) -> bool {
    let digits = text.trim_ascii_start();
    is_digits(digits.strip_prefix(b"-").unwrap_or(digits))
}

fn is_digits(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Digits, perhaps a point and digits, `e+` and digits.
#[cold]
fn has_exponent(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    let Some(at) = cell.iter().position(|byte| matches!(byte, b'e' | b'E')) else { return false };
    let (number, exponent) = (&cell[..at], &cell[at + 1..]);
    let mut parts = number.splitn(2, |byte| *byte == b'.');
    let whole = parts.next().is_some_and(is_signed_digits);
    whole
        && parts.next().is_none_or(is_digits)
        && exponent.strip_prefix(b"+").is_some_and(is_digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_told_from_other_texts() {
        for text in ["123.0", "-1.0", " 7.0 ", "1.5e+10", "1E+16", "-2.25E+05", "0.0"] {
            assert!(is_float(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            ".0",
            "123",
            "12.5",
            "12.00",
            "1.2.0",
            "v1.0",
            "+44.0",
            "a+1",
            "1e5",
            "1e-5",
            "1e+",
            "e+5",
            "1.e+5",
            "+49 30 1234",
            "1+1",
            "1.0.",
        ] {
            assert!(!is_float(text.as_bytes()), "{text}");
        }
    }
}
