//! The payloads of keys: cells of agreed columns, which the other party gets with common keys.
//!
//! A payload has the same length for every row, so that its length reveals nothing. A text has its
//! length before it, two bytes, and zeros after it; an integer and a date have a byte before them
//! that is 1, or 0 for an empty cell, whose other bytes are then zeros too. Numbers are
//! little-endian; a date is its number of days after 1970-01-01.

use crate::values::{Duplicates, Places, parse};
use jiff::civil::{Date, date};
use std::fmt;
use std::str::FromStr;
use vesica_inputs::error::{InFile, InputError, ValueFault};
use vesica_profiles::trimmed;
use vesica_tables::{AddedCell, AddedType, Row};

/// The longest text that can be agreed, in bytes.
pub const CELL_MAX_BYTES: u16 = 4000;

const EPOCH: Date = date(1970, 1, 1);

/// What the cells of a column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellType {
    /// A text of at most this many bytes of UTF-8.
    Text {
        /// From 1 to [`CELL_MAX_BYTES`].
        max_bytes: u16,
    },
    /// A whole number from −2^63 to 2^63 − 1.
    Integer,
    /// A day from 0001-01-01 to 9999-12-31, written as `2026-11-29`.
    Date,
}

/// A word names no type of cells.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is no type of a column")]
pub struct CellTypeError {
    /// The word.
    pub found: String,
}

impl FromStr for CellType {
    type Err = CellTypeError;

    fn from_str(word: &str) -> Result<Self, CellTypeError> {
        let text = |number: &str| {
            let max_bytes = number.parse().ok()?;
            (1..=CELL_MAX_BYTES).contains(&max_bytes).then_some(Self::Text { max_bytes })
        };
        let known = match word.split_once(' ') {
            None if word == "integer" => Some(Self::Integer),
            None if word == "date" => Some(Self::Date),
            Some(("text", number)) => text(number),
            _ => None,
        };
        known.ok_or_else(|| CellTypeError { found: word.to_owned() })
    }
}

/// The word in an agreement: `text 24`, `integer`, `date`.
impl fmt::Display for CellType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { max_bytes } => write!(f, "text {max_bytes}"),
            Self::Integer => f.write_str("integer"),
            Self::Date => f.write_str("date"),
        }
    }
}

/// Whether other libraries also have this day: from the year 1 to 9999.
fn is_day(days: i32) -> bool {
    let day = jiff::Span::new().try_days(days).and_then(|span| EPOCH.checked_add(span));
    day.is_ok_and(|day| (1..=9999).contains(&day.year()))
}

impl CellType {
    /// Bytes of a cell in a payload.
    pub const fn byte_len(self) -> usize {
        match self {
            Self::Text { max_bytes } => 2 + max_bytes as usize,
            Self::Integer => 1 + size_of::<i64>(),
            Self::Date => 1 + size_of::<i32>(),
        }
    }

    /// Appends the `cell` of a file in the form of a payload.
    fn push(self, cell: &[u8], payload: &mut Vec<u8>) -> Result<(), ValueFault> {
        let end = payload.len() + self.byte_len();
        match self {
            Self::Text { max_bytes } => {
                let len = u16::try_from(cell.len()).unwrap_or(u16::MAX);
                if len > max_bytes {
                    return Err(ValueFault::TooLong { max_bytes });
                }
                payload.extend_from_slice(&len.to_le_bytes());
                payload.extend_from_slice(cell);
            }
            Self::Integer => {
                if let Some(number) = parse(cell, 64, true)? {
                    payload.push(1);
                    payload.extend_from_slice(&number.to_le_bytes());
                }
            }
            Self::Date => {
                let text = trimmed(cell);
                if !text.is_empty() {
                    let day: Date = text.parse().map_err(|_| ValueFault::NotADate)?;
                    // Other forms are accepted by the parser, but by no other reader of dates.
                    if day.to_string() != *text {
                        return Err(ValueFault::NotADate);
                    }
                    let days = EPOCH.until(day).map_err(|_| ValueFault::NotADate)?.get_days();
                    if !is_day(days) {
                        return Err(ValueFault::NotADate);
                    }
                    payload.push(1);
                    payload.extend_from_slice(&days.to_le_bytes());
                }
            }
        }
        payload.resize(end, 0);
        Ok(())
    }

    /// What a column of such cells holds in a result.
    pub const fn in_result(self) -> AddedType {
        match self {
            Self::Text { .. } => AddedType::Text,
            Self::Integer => AddedType::Integer,
            Self::Date => AddedType::Date,
        }
    }

    /// The cell of these bytes; `None` if they are not of this form.
    fn read(self, bytes: &[u8]) -> Option<AddedCell> {
        let are_zeros = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
        if let Self::Text { max_bytes } = self {
            let (len, rest) = bytes.split_first_chunk()?;
            let len = u16::from_le_bytes(*len);
            let (text, padding) = rest.split_at_checked(len.into())?;
            if len > max_bytes || !are_zeros(padding) {
                return None;
            }
            let text = std::str::from_utf8(text).ok()?;
            return Some(match text {
                "" => AddedCell::Empty,
                text => AddedCell::Text(text.to_owned()),
            });
        }
        match (self, bytes) {
            (_, [0, rest @ ..]) if are_zeros(rest) => Some(AddedCell::Empty),
            (Self::Integer, [1, rest @ ..]) => {
                Some(AddedCell::Integer(i64::from_le_bytes(rest.try_into().ok()?)))
            }
            (Self::Date, [1, rest @ ..]) => {
                let days = i32::from_le_bytes(rest.try_into().ok()?);
                is_day(days).then_some(AddedCell::Days(days))
            }
            _ => None,
        }
    }
}

/// Bytes of the payload of a row with these columns.
pub fn payload_len(types: &[CellType]) -> usize {
    types.iter().map(|of| of.byte_len()).sum()
}

/// The cells of a payload; `None` if it is not of this form.
pub fn cells(types: &[CellType], payload: &[u8]) -> Option<Vec<AddedCell>> {
    let mut rest = payload;
    let cells = types.iter().map(|of| {
        let (cell, after) = rest.split_at_checked(of.byte_len())?;
        rest = after;
        of.read(cell)
    });
    let cells = cells.collect::<Option<Vec<_>>>()?;
    rest.is_empty().then_some(cells)
}

/// The columns whose cells are the payloads of a party's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadColumns {
    /// Their names in this party's file, and what they hold. At least one.
    pub columns: Vec<(String, CellType)>,
    /// How rows with the same key are treated; never [`Duplicates::Sum`].
    pub duplicates: Duplicates,
}

impl PayloadColumns {
    /// Their names in this party's file.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.clone()).collect()
    }
}

/// The payloads of the rows that have a key, in the order of the rows.
pub(crate) struct Payloads<'a> {
    columns: &'a PayloadColumns,
    /// Position of the first column among the columns that are read.
    at: usize,
    len: usize,
    kept: Vec<u8>,
    scratch: Vec<u8>,
}

impl<'a> Payloads<'a> {
    pub(crate) fn new(columns: &'a PayloadColumns, at: usize) -> Self {
        let len = columns.columns.iter().map(|(_, of)| of.byte_len()).sum();
        Self { columns, at, len, kept: Vec::new(), scratch: Vec::new() }
    }

    /// Adds the payload of a row that has a key. A cell whose fault `bad` accepts counts as empty.
    pub(crate) fn take(
        &mut self,
        row: &impl Row,
        mut bad: impl FnMut(&str, ValueFault) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        for (index, (column, of)) in self.columns.columns.iter().enumerate() {
            let start = self.kept.len();
            let cell = row.cell(self.at + index, &mut self.scratch);
            if let Err(fault) = of.push(cell, &mut self.kept) {
                bad(column, fault)?;
                self.kept.truncate(start);
                self.kept.resize(start + of.byte_len(), 0);
            }
        }
        Ok(())
    }

    /// Keeps the payload of the first row of each group, in the order of the groups. `places` are
    /// the places of the rows.
    pub(crate) fn merge<'g>(
        &mut self,
        groups: impl Iterator<Item = &'g [u32]> + Clone,
        places: &Places,
        fault: &mut dyn FnMut(InputError, &InFile) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        if self.columns.duplicates == Duplicates::Refuse {
            places.refuse_repeated(groups.clone(), fault)?;
        }
        let mut merged = Vec::new();
        for group in groups {
            merged.extend_from_slice(&self.kept[group[0] as usize * self.len..][..self.len]);
        }
        self.kept = merged;
        Ok(())
    }

    /// The payloads of the items, in their order.
    pub(crate) fn into_payloads(self) -> Vec<u8> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPES: [CellType; 3] =
        [CellType::Text { max_bytes: 5 }, CellType::Integer, CellType::Date];

    fn payload(row: [&str; 3]) -> Result<Vec<u8>, ValueFault> {
        let mut payload = Vec::new();
        for (of, cell) in TYPES.iter().zip(row) {
            of.push(cell.as_bytes(), &mut payload)?;
        }
        assert_eq!(payload.len(), payload_len(&TYPES));
        Ok(payload)
    }

    #[test]
    fn cells_read_back() {
        for (row, shown) in [
            (["ab", "-7", "2026-11-29"], ["ab", "-7", "2026-11-29"]),
            (["", "", ""], ["", "", ""]),
            (
                ["\u{e9}\u{e9}\n", " 9223372036854775807 ", "1899-12-31"],
                ["\u{e9}\u{e9}\n", "9223372036854775807", "1899-12-31"],
            ),
            (["12345", "0", "1970-01-01"], ["12345", "0", "1970-01-01"]),
        ] {
            let payload = payload(row).unwrap();
            let read: Vec<String> =
                cells(&TYPES, &payload).unwrap().iter().map(AddedCell::to_string).collect();
            assert_eq!(read, shown);
        }
    }

    #[test]
    fn cells_of_another_type_are_refused() {
        let of = |row| payload(row).unwrap_err();
        assert_eq!(of(["123456", "", ""]), ValueFault::TooLong { max_bytes: 5 });
        assert_eq!(of(["", "1.5", ""]), ValueFault::NotPlain);
        assert_eq!(of(["", "x", ""]), ValueFault::NotANumber);
        assert_eq!(of(["", "9223372036854775808", ""]), ValueFault::OutOfRange { bits: 64 });
        for text in
            ["29.11.2026", "2026-11-31", "20261129", "2026-11-29T10:00", "today", "0000-12-31"]
        {
            assert_eq!(of(["", "", text]), ValueFault::NotADate, "{text}");
        }
    }

    #[test]
    fn a_payload_of_another_form_is_refused() {
        let good = payload(["abc", "5", "2000-02-29"]).unwrap();
        assert!(cells(&TYPES, &good).is_some());
        assert_eq!(cells(&TYPES, &good[1..]), None);
        assert_eq!(cells(&TYPES, &[&good[..], &[0]].concat()), None);
        // The length of the text, its padding, its bytes, and the marks of what follows.
        for (at, byte) in [(0, 6), (0, 2), (6, 1), (2, 0xff), (7, 0), (7, 2), (16, 7), (20, 0x7f)] {
            let mut bad = good.clone();
            bad[at] = byte;
            assert_eq!(cells(&TYPES, &bad), None, "byte {at} is {byte}");
        }
    }

    #[test]
    fn types_have_one_spelling() {
        for word in ["text 1", "text 4000", "integer", "date"] {
            assert_eq!(word.parse::<CellType>().unwrap().to_string(), word);
        }
        for word in ["text", "text 0", "text 4001", "text  9", "Integer", "date 3", "text -1", ""] {
            assert!(word.parse::<CellType>().is_err(), "{word:?}");
        }
    }
}
